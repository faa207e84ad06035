//===- ScheduleKinds.cpp - the rows of every kind of schedule -------------===//
//
// Each generator writes one rank's row from counts that depend on p, m and the rank only:
//   1F1B       rank i of p: min(m, p - 1 - i) forwards, then F B pairs, then the backwards left.
//   ZB-H1/H2   1F1B with the backward split; weights lag i (H1) or 2i (H2) micro-batches behind
//              inputs, so that the ranks that start late have weights left for the end.
//   ZB-V       two chunks in a V: rank i holds stages i and 2p - 1 - i.
//   DualPipe   two copies of the pipeline run through the ranks in opposite directions, half of the
//              micro-batches each; DualPipe-V folds them into a V.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Schedules.h"
#include <algorithm>

namespace gpucc::solvers {

const std::vector<ScheduleKind> &allScheduleKinds() {
  static const std::vector<ScheduleKind> kinds = {
      ScheduleKind::GPipe,    ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
      ScheduleKind::ZbH1,     ScheduleKind::ZbH2,     ScheduleKind::ZbV,
      ScheduleKind::DualPipe, ScheduleKind::DualPipeV};
  return kinds;
}

const char *name(ScheduleKind kind) {
  static const char *const names[] = {"gpipe", "1f1b", "interleaved", "zb-h1",
                                      "zb-h2", "zb-v", "dualpipe",    "dualpipe-v"};
  return names[static_cast<size_t>(kind)];
}

std::optional<ScheduleKind> parseScheduleKind(const std::string &text) {
  for (ScheduleKind kind : allScheduleKinds())
    if (text == name(kind))
      return kind;
  return std::nullopt;
}

std::optional<ScheduleKind> parseGraphScheduleKind(const std::string &text) {
  std::optional<ScheduleKind> kind = parseScheduleKind(text);
  if (kind != ScheduleKind::GPipe && kind != ScheduleKind::OneFOneB)
    return std::nullopt;
  return kind;
}

int chunksPerRank(ScheduleKind kind, int virtualStages) {
  switch (kind) {
  case ScheduleKind::Interleaved:
    return std::max(1, virtualStages);
  case ScheduleKind::ZbV:
  case ScheduleKind::DualPipe:
  case ScheduleKind::DualPipeV:
    return 2;
  default:
    return 1;
  }
}

bool splitsBackward(ScheduleKind kind) {
  return kind != ScheduleKind::GPipe && kind != ScheduleKind::OneFOneB &&
         kind != ScheduleKind::Interleaved;
}

std::string checkScheduleShape(ScheduleKind kind, int p, int m, int v) {
  auto message = [&](const char *key, int found, const std::string &allowed, int nearest) {
    return std::string(key) + ": found " + std::to_string(found) + ", allowed " + allowed +
           " with schedule " + name(kind) + "; the nearest that works is " + key + "=" +
           std::to_string(nearest);
  };
  if (kind != ScheduleKind::Interleaved && v > 1)
    return message("virtual-stages", v, "1", 1);
  if (p == 1)
    return "";
  if (kind == ScheduleKind::Interleaved && v < 2)
    return message("virtual-stages", v, "2 or more", 2);
  if (kind == ScheduleKind::Interleaved && m % p != 0)
    return message("micro-batches", m, "a multiple of pp = " + std::to_string(p),
                   std::max(p, (m + p / 2) / p * p));
  if (kind == ScheduleKind::DualPipe && p % 2 != 0)
    return message("pp", p, "an even number", p + 1);
  if (kind == ScheduleKind::DualPipe && m % 2 != 0)
    return message("micro-batches", m, "an even number", m + 1);
  bool twice = kind == ScheduleKind::ZbV || kind == ScheduleKind::DualPipe ||
               kind == ScheduleKind::DualPipeV;
  int least = twice ? 2 * p : 1;
  if (m < least)
    return message("micro-batches", m, "at least 2 pp = " + std::to_string(least), least);
  return "";
}

namespace {

using Row = std::vector<Action>;

/// Appends actions and counts, per stage and kind, which micro-batch is next.
class RowWriter {
public:
  explicit RowWriter(Row &row) : row(row) {}
  int count(ActionKind kind, int stage) {
    for (Counter &c : counters)
      if (c.kind == kind && c.stage == stage)
        return c.next;
    return 0;
  }
  void add(ActionKind kind, int stage, int first = 0) {
    // Full backwards and backwards of inputs take micro-batches from the same line.
    ActionKind line = kind == ActionKind::Backward ? ActionKind::BackwardInput : kind;
    row.push_back({kind, first + next(line, stage), stage});
  }
  Row &row;

private:
  struct Counter {
    ActionKind kind;
    int stage, next;
  };
  int next(ActionKind kind, int stage) {
    for (Counter &c : counters)
      if (c.kind == kind && c.stage == stage)
        return c.next++;
    counters.push_back({kind, stage, 1});
    return 0;
  }
  std::vector<Counter> counters;
};

void oneChunkRow(ScheduleKind kind, int p, int m, int i, Row &row) {
  RowWriter to(row);
  bool zero = kind == ScheduleKind::ZbH1 || kind == ScheduleKind::ZbH2;
  int rounds = kind == ScheduleKind::ZbH2 ? 2 : 1, lag = zero ? rounds * i : 0;
  int warmUp = kind == ScheduleKind::GPipe ? m : std::min(m, rounds * (p - 1 - i));
  int forward = 0, weights = 0;
  for (; forward < warmUp; ++forward)
    to.add(ActionKind::Forward, i);
  for (int backward = 0; backward < m; ++backward) {
    if (forward < m) {
      to.add(ActionKind::Forward, i);
      ++forward;
    }
    to.add(zero ? ActionKind::BackwardInput : ActionKind::Backward, i);
    if (zero && backward + 1 - weights > lag) {
      to.add(ActionKind::BackwardWeight, i);
      ++weights;
    }
  }
  for (; zero && weights < m; ++weights)
    to.add(ActionKind::BackwardWeight, i);
}

/// Micro-batches go in groups of p through all chunks of a rank before the next group.
void interleavedRow(int p, int m, int v, int i, Row &row) {
  auto action = [&](ActionKind kind, int k) {
    int chunk = k / p % v;
    if (kind == ActionKind::Backward)
      chunk = v - 1 - chunk;
    row.push_back({kind, k / (p * v) * p + k % p, chunk * p + i});
  };
  int all = m * v, forward = 0;
  int warmUp = std::min(all, 2 * (p - 1 - i) + (v - 1) * p);
  for (; forward < warmUp; ++forward)
    action(ActionKind::Forward, forward);
  for (int backward = 0; backward < all; ++backward) {
    if (forward < all)
      action(ActionKind::Forward, forward++);
    action(ActionKind::Backward, backward);
  }
}

void zbVRow(int p, int m, int i, Row &row) {
  RowWriter to(row);
  int down = i, up = 2 * p - 1 - i;
  auto run = [&](int stage, std::initializer_list<ActionKind> kinds) {
    for (ActionKind kind : kinds)
      to.add(kind, stage);
  };
  using enum ActionKind;
  for (int k = 0; k < 2 * (p - i) - 1; ++k)
    run(down, {Forward});
  for (int k = 0; k < i; ++k) {
    run(up, {Forward});
    run(down, {Forward});
  }
  for (int k = 0; k < p - i; ++k)
    run(up, {Forward, BackwardInput, BackwardWeight});
  while (to.count(Forward, up) < m) {
    if (to.count(Forward, down) < m)
      run(down, {Forward});
    run(down, {BackwardInput, BackwardWeight});
    run(up, {Forward, BackwardInput, BackwardWeight});
  }
  for (int k = 0; k < i; ++k) {
    run(down, {BackwardInput});
    run(up, {BackwardInput});
  }
  for (int k = 0; k < p - i; ++k)
    run(down, {BackwardInput, BackwardWeight});
  for (int stage : {up, down})
    while (to.count(BackwardWeight, stage) < to.count(BackwardInput, stage))
      run(stage, {BackwardWeight});
}

/// One rank of DualPipe. `near` is the stage whose micro-batches enter first here, `far` the other
/// direction's; `depth` counts from the end of the pipeline that is nearer (0 = outermost).
class DualRow {
public:
  DualRow(Row &row, int near, int far, int nearFirst, int farFirst)
      : to(row), stage{near, far}, first{nearFirst, farFirst} {}

  void fill(int half, int depth, int perDirection) {
    int behind = half - depth - 1;
    for (int k = 0; k < 2 * behind; ++k)
      forward(0);
    for (int k = 0; k <= depth; ++k) {
      forward(0);
      forward(1);
    }
    for (int k = 0; k < behind; ++k) {
      backward(1, true);
      weight();
      forward(1);
    }
    for (int k = 0; k < perDirection - 2 * half + depth + 1; ++k) {
      // Innermost ranks have nothing to overlap the first pair with: its backward waits for it.
      pair(0, 1, k > 0 || behind > 0);
      pair(1, 0, true);
    }
    for (int k = 0; k < behind; ++k) {
      backward(1, false);
      pair(1, 0, true);
    }
    drain(behind, depth);
  }

private:
  void drain(int behind, int depth) {
    int middle = (depth + 1) / 2;
    bool split = false;
    for (int k = 0; k <= depth; ++k) {
      split |= k == middle && depth % 2 == 1;
      backward(1, split);
      split |= k == middle && depth % 2 == 0;
      backward(0, split);
    }
    for (int k = 0; k < behind; ++k) {
      weight();
      backward(0, true);
    }
    for (int k = 0; k <= depth; ++k)
      weight();
  }
  void forward(int side) { to.add(ActionKind::Forward, stage[side], first[side]); }
  void backward(int side, bool split) {
    to.add(split ? ActionKind::BackwardInput : ActionKind::Backward, stage[side], first[side]);
    if (split)
      waiting.push_back(to.row.back());
  }
  void weight() {
    Action action = waiting.front();
    waiting.erase(waiting.begin());
    action.kind = ActionKind::BackwardWeight;
    to.row.push_back(action);
  }
  void pair(int forwardSide, int backwardSide, bool overlapped) {
    forward(forwardSide);
    to.row.back().withNext = overlapped;
    backward(backwardSide, false);
  }

  RowWriter to;
  int stage[2], first[2];
  Row waiting;
};

void dualRow(ScheduleKind kind, int p, int m, int i, Row &row) {
  if (kind == ScheduleKind::DualPipeV) {
    DualRow(row, i, 2 * p - 1 - i, 0, 0).fill(p, i, m);
    return;
  }
  // Down: stages 0..p-1 with the first m/2 micro-batches; up: stages p..2p-1 with the others.
  int down = i, up = p + (p - 1 - i);
  if (i < p / 2)
    DualRow(row, down, up, 0, m / 2).fill(p / 2, i, m / 2);
  else
    DualRow(row, up, down, m / 2, 0).fill(p / 2, p - 1 - i, m / 2);
}

} // namespace

PipelineSchedule makeSchedule(ScheduleKind kind, int ranks, int microBatches, int virtualStages) {
  PipelineSchedule schedule;
  schedule.microBatches = microBatches;
  if (ranks == 1)
    kind = ScheduleKind::OneFOneB;
  for (int i = 0; i < ranks; ++i) {
    Row row;
    switch (kind) {
    case ScheduleKind::GPipe:
    case ScheduleKind::OneFOneB:
    case ScheduleKind::ZbH1:
    case ScheduleKind::ZbH2:
      oneChunkRow(kind, ranks, microBatches, i, row);
      break;
    case ScheduleKind::Interleaved:
      interleavedRow(ranks, microBatches, virtualStages, i, row);
      break;
    case ScheduleKind::ZbV:
      zbVRow(ranks, microBatches, i, row);
      break;
    case ScheduleKind::DualPipe:
    case ScheduleKind::DualPipeV:
      dualRow(kind, ranks, microBatches, i, row);
      break;
    }
    row.push_back({ActionKind::Update, 0, i});
    schedule.stages.push_back(std::move(row));
  }
  return schedule;
}

double bubbleSeconds(ScheduleKind kind, int p, int v, StageSeconds share, double pairShare) {
  double F = share.forward, I = share.backwardInput, W = share.backwardWeight, B = I + W;
  if (p == 1)
    return 0;
  switch (kind) {
  case ScheduleKind::GPipe:
  case ScheduleKind::OneFOneB:
    return (p - 1) * (F + B);
  case ScheduleKind::Interleaved:
    return (p - 1) * (F + B) / std::max(1, v);
  case ScheduleKind::ZbH1:
    return (p - 1) * std::max(0.0, F + I - W);
  case ScheduleKind::ZbH2:
    return (p - 1) * std::max(0.0, F + I - 2 * W);
  case ScheduleKind::ZbV:
    // Zero for equal times. Else every rank waits once for what the longest of the three is longer
    // than the shortest (read off the tables' exact times; no published form).
    return (p - 1) * (std::max({F, I, W}) - std::min({F, I, W}));
  case ScheduleKind::DualPipe:
    return (p / 2.0 - 1) * std::max(0.0, pairShare * (F + B) + B - 3 * W);
  case ScheduleKind::DualPipeV:
    return (p - 1) * std::max(0.0, pairShare * (F + B) + B - 3 * W) / 2;
  }
  return 0;
}

double keptMicroBatches(ScheduleKind kind, int p, int m, int v, int rank) {
  double all = m;
  if (p == 1)
    return 1;
  switch (kind) {
  case ScheduleKind::GPipe:
    return all;
  case ScheduleKind::OneFOneB:
    return std::min<double>(all, p - rank);
  case ScheduleKind::Interleaved:
    return std::min<double>(all, (2.0 * (p - 1 - rank) + (v - 1) * p + 1) / v);
  case ScheduleKind::ZbH1:
  case ScheduleKind::ZbV:
    return std::min<double>(all, p);
  case ScheduleKind::ZbH2:
    return std::min<double>(all, 2 * p - 1);
  case ScheduleKind::DualPipe:
    return std::min<double>(all, p + 1);
  case ScheduleKind::DualPipeV:
    return std::min<double>(all, p + 0.5);
  }
  return all;
}

} // namespace gpucc::solvers
