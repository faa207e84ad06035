//===- Schedules.cpp - a table of actions, checked and timed --------------===//
//
// A micro-batch passes the stages that have a forward of it, in the order of their numbers. Usually
// these are all stages; DualPipe's two halves pass one half of the stages each.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Schedules.h"
#include <algorithm>
#include <map>
#include <sstream>

namespace gpucc::solvers {

int PipelineSchedule::numStages() const {
  int most = 0;
  for (size_t r = 0; r < stages.size(); ++r)
    for (const Action &a : stages[r])
      most = std::max(most, stageOf(static_cast<int>(r), a) + 1);
  return std::max(most, static_cast<int>(stages.size()));
}

namespace {

std::string cell(int rank, const Action &a) {
  std::string out;
  if (a.stage >= 0 && a.stage != rank)
    out += std::to_string(a.stage);
  out += static_cast<char>(a.kind);
  return a.kind == ActionKind::Update ? out : out + std::to_string(a.microBatch);
}

bool isBackward(ActionKind kind) {
  return kind == ActionKind::Backward || kind == ActionKind::BackwardInput;
}

} // namespace

std::string PipelineSchedule::dump() const {
  std::ostringstream out;
  for (size_t r = 0; r < stages.size(); ++r) {
    for (size_t k = 0; k < stages[r].size(); ++k)
      out << (k ? stages[r][k - 1].withNext ? "+" : " " : "")
          << cell(static_cast<int>(r), stages[r][k]);
    out << '\n';
  }
  return out.str();
}

namespace {

/// Runs the rows in time; a rank goes on as far as what it waits for is known.
class Execution {
public:
  Execution(const PipelineSchedule &schedule, const std::vector<StageSeconds> &seconds,
            TimingOptions options, ScheduleTiming &timing)
      : schedule(schedule), seconds(seconds), options(options), timing(timing),
        ranks(static_cast<int>(schedule.stages.size())), stages(schedule.numStages()),
        m(schedule.microBatches) {
    size_t cells = static_cast<size_t>(stages) * static_cast<size_t>(m);
    for (std::vector<double> *ends : {&forwardEnd, &inputEnd, &weightEnd})
      ends->assign(cells, -1);
    before.assign(cells, -1);
    after.assign(cells, -1);
    rankOf.assign(static_cast<size_t>(stages), 0);
    linkStages();
  }

  /// False when all ranks are stuck; `stuck` then says where.
  bool run() {
    next.assign(static_cast<size_t>(ranks), 0);
    clock.assign(static_cast<size_t>(ranks), 0);
    timing.busy.assign(static_cast<size_t>(ranks), 0);
    timing.when.assign(static_cast<size_t>(ranks), {});
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < ranks; ++r)
        while (step(r))
          moved = true;
    }
    for (int r = 0; r < ranks; ++r) {
      size_t at = static_cast<size_t>(r);
      if (next[at] < schedule.stages[at].size()) {
        stuck = "row " + std::to_string(r) + ", cell " + std::to_string(next[at]) + " (" +
                cell(r, schedule.stages[at][next[at]]) + ")";
        return false;
      }
      timing.total = std::max(timing.total, clock[at]);
      double first = timing.when[at].empty() ? 0 : timing.when[at].front().first;
      timing.bubble = std::max(timing.bubble, clock[at] - first - timing.busy[at]);
    }
    return true;
  }
  std::string stuck;

private:
  size_t at(int stage, int microBatch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(m) + static_cast<size_t>(microBatch);
  }

  /// Which stage of a micro-batch comes before and after each of its stages.
  void linkStages() {
    std::vector<int> last(static_cast<size_t>(m), -1);
    std::vector<char> has(before.size(), 0);
    for (int r = 0; r < ranks; ++r)
      for (const Action &a : schedule.stages[static_cast<size_t>(r)]) {
        rankOf[static_cast<size_t>(schedule.stageOf(r, a))] = r;
        if (a.kind == ActionKind::Forward)
          has[at(schedule.stageOf(r, a), a.microBatch)] = 1;
      }
    for (int s = 0; s < stages; ++s)
      for (int b = 0; b < m; ++b) {
        if (!has[at(s, b)])
          continue;
        int &previous = last[static_cast<size_t>(b)];
        before[at(s, b)] = previous;
        if (previous >= 0)
          after[at(previous, b)] = s;
        previous = s;
      }
  }

  /// When the inputs of an action are there; negative: not yet known.
  double ready(const Action &a, int s) const {
    int b = a.microBatch;
    if (a.kind == ActionKind::Update)
      return 0;
    if (a.kind == ActionKind::BackwardWeight)
      return inputEnd[at(s, b)];
    int from = a.kind == ActionKind::Forward ? before[at(s, b)] : after[at(s, b)];
    if (from < 0)
      return a.kind == ActionKind::Forward ? 0 : forwardEnd[at(s, b)];
    double end = a.kind == ActionKind::Forward ? forwardEnd[at(from, b)] : inputEnd[at(from, b)];
    if (isBackward(a.kind) && forwardEnd[at(s, b)] < 0)
      return -1;
    bool crosses = rankOf[static_cast<size_t>(from)] != rankOf[static_cast<size_t>(s)];
    return end < 0 ? end : end + (crosses ? options.send : 0);
  }

  double duration(const Action &a, int s) const {
    const StageSeconds &t = seconds[static_cast<size_t>(s)];
    switch (a.kind) {
    case ActionKind::Forward:
      return t.forward;
    case ActionKind::Backward:
      return t.backwardInput + t.backwardWeight;
    case ActionKind::BackwardInput:
      return t.backwardInput;
    case ActionKind::BackwardWeight:
      return t.backwardWeight;
    case ActionKind::Update:
      return 0;
    }
    return 0;
  }

  /// One action, or an overlapped pair: both start when both can, both end together.
  bool step(int r) {
    size_t rank = static_cast<size_t>(r);
    const std::vector<Action> &row = schedule.stages[rank];
    size_t first = next[rank], count = 1;
    if (first >= row.size())
      return false;
    while (row[first + count - 1].withNext && first + count < row.size())
      ++count;
    double start = clock[rank], takes = 0;
    for (size_t k = first; k < first + count; ++k) {
      int s = schedule.stageOf(r, row[k]);
      double when = ready(row[k], s);
      if (when < 0)
        return false;
      start = std::max(start, when);
      takes += duration(row[k], s);
    }
    takes *= count > 1 ? options.pairShare : 1;
    clock[rank] = start + takes;
    timing.busy[rank] += takes;
    for (size_t k = first; k < first + count; ++k)
      finish(r, row[k], start);
    next[rank] += count;
    return true;
  }

  void finish(int r, const Action &a, double start) {
    double end = clock[static_cast<size_t>(r)];
    timing.when[static_cast<size_t>(r)].push_back({start, end});
    if (a.kind == ActionKind::Update)
      return;
    size_t where = at(schedule.stageOf(r, a), a.microBatch);
    if (a.kind == ActionKind::Forward)
      forwardEnd[where] = end;
    if (isBackward(a.kind))
      inputEnd[where] = end;
    if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardWeight)
      weightEnd[where] = end;
  }

  const PipelineSchedule &schedule;
  const std::vector<StageSeconds> &seconds;
  TimingOptions options;
  ScheduleTiming &timing;
  int ranks, stages, m;
  std::vector<double> forwardEnd, inputEnd, weightEnd, clock;
  std::vector<int> before, after, rankOf;
  std::vector<size_t> next;
};

/// The rules that need no clock; empty when fine.
class Rules {
public:
  explicit Rules(const PipelineSchedule &schedule) : schedule(schedule) {}

  std::string check() {
    for (size_t r = 0; r < schedule.stages.size(); ++r) {
      const std::vector<Action> &row = schedule.stages[r];
      for (size_t k = 0; k < row.size() && problem.empty(); ++k)
        action(static_cast<int>(r), k, row[k], k + 1 == row.size());
      if (problem.empty() && row.empty())
        problem = "row " + std::to_string(r) + ": found no cell, allowed at least the update";
    }
    if (problem.empty())
      complete();
    return problem;
  }

private:
  struct Seen {
    int forward = 0, input = 0, weight = 0;
  };

  void action(int r, size_t k, const Action &a, bool last) {
    std::string place =
        "row " + std::to_string(r) + ", cell " + std::to_string(k) + " (" + cell(r, a) + "): ";
    if ((a.kind == ActionKind::Update) != last) {
      problem = place + "the update is the last action and only it";
      return;
    }
    if (last)
      return;
    if (a.microBatch < 0 || a.microBatch >= schedule.microBatches) {
      problem = place + "found micro-batch " + std::to_string(a.microBatch) + ", allowed 0.." +
                std::to_string(schedule.microBatches - 1);
      return;
    }
    int stage = schedule.stageOf(r, a);
    auto [home, isNew] = rankOf.insert({stage, r});
    if (!isNew && home->second != r) {
      problem = place + "stage " + std::to_string(stage) + " runs on row " +
                std::to_string(home->second) + " already, allowed one row per stage";
      return;
    }
    Seen &seen = cells[{stage, a.microBatch}];
    std::string work = std::to_string(stage) + "/" + std::to_string(a.microBatch);
    if (a.kind == ActionKind::Forward && ++seen.forward > 1)
      problem = place + "the forward of stage/micro-batch " + work + " runs twice";
    else if (isBackward(a.kind) && seen.forward == 0)
      problem = place + "the backward of stage/micro-batch " + work + " runs before its F";
    else if (isBackward(a.kind) && ++seen.input > 1)
      problem = place + "the backward of stage/micro-batch " + work + " runs twice";
    else if (a.kind == ActionKind::BackwardWeight && seen.input == 0)
      problem = place + "the weights of stage/micro-batch " + work + " run before its I";
    if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardWeight)
      if (++seen.weight > 1 && problem.empty())
        problem = place + "the weights of stage/micro-batch " + work + " run twice";
  }

  /// Every started pair is finished; micro-batches pass all stages, or equal shares of them.
  void complete() {
    std::vector<std::vector<int>> paths(static_cast<size_t>(schedule.microBatches));
    for (const auto &[key, seen] : cells) {
      if (seen.forward != 1 || seen.input != 1 || seen.weight != 1)
        problem = "stage " + std::to_string(key.first) + ", micro-batch " +
                  std::to_string(key.second) + ": found " + std::to_string(seen.forward) + " F, " +
                  std::to_string(seen.input) + " backward of inputs, " +
                  std::to_string(seen.weight) + " of weights, allowed one of each";
      if (!problem.empty())
        return;
      paths[static_cast<size_t>(key.second)].push_back(key.first);
    }
    size_t stages = static_cast<size_t>(schedule.numStages());
    for (size_t b = 0; b < paths.size(); ++b) {
      if (paths[b].size() == stages || (paths[b].size() * 2 == stages && isHalf(paths[b], stages)))
        continue;
      int missing = 0;
      while (std::find(paths[b].begin(), paths[b].end(), missing) != paths[b].end())
        ++missing;
      problem = "stage " + std::to_string(missing) + ", micro-batch " + std::to_string(b) +
                ": found 0 F, allowed one: a micro-batch passes all " + std::to_string(stages) +
                " stages";
      return;
    }
  }

  static bool isHalf(const std::vector<int> &path, size_t stages) {
    int half = static_cast<int>(stages / 2);
    bool second = path.front() >= half;
    for (size_t k = 0; k < path.size(); ++k)
      if (path[k] != static_cast<int>(k) + (second ? half : 0))
        return false;
    return true;
  }

  const PipelineSchedule &schedule;
  std::map<std::pair<int, int>, Seen> cells;
  std::map<int, int> rankOf;
  std::string problem;
};

} // namespace

std::string PipelineSchedule::check() const {
  std::string problem = Rules(*this).check();
  if (!problem.empty())
    return problem;
  ScheduleTiming timing;
  std::vector<StageSeconds> unit(static_cast<size_t>(numStages()), {1, 1, 1});
  Execution execution(*this, unit, {}, timing);
  if (!execution.run())
    return execution.stuck + ": the stages wait for each other: no order of arrival lets every "
                             "action run";
  return "";
}

std::vector<int> microBatchesInFlight(const PipelineSchedule &schedule) {
  std::vector<int> most;
  for (const auto &row : schedule.stages) {
    int now = 0, peak = 0;
    for (const Action &a : row) {
      if (a.kind == ActionKind::Forward)
        ++now;
      peak = std::max(peak, now);
      if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardWeight)
        --now;
    }
    most.push_back(peak);
  }
  return most;
}

ScheduleTiming timeSchedule(const PipelineSchedule &schedule,
                            const std::vector<StageSeconds> &stages, TimingOptions options) {
  ScheduleTiming timing;
  Execution(schedule, stages, options, timing).run();
  return timing;
}

ScheduleTiming timeSchedule(const PipelineSchedule &schedule, const std::vector<double> &forward,
                            const std::vector<double> &backward, double send) {
  std::vector<StageSeconds> stages;
  for (size_t i = 0; i < forward.size(); ++i)
    stages.push_back({forward[i], backward[i], 0});
  return timeSchedule(schedule, stages, {send, 1});
}

} // namespace gpucc::solvers
