//===- Schedules.cpp - GPipe and 1F1B, checked and timed ------------------===//
//
// 1F1B: stage i of p first runs min(m, p - 1 - i) forwards (warm-up), then pairs F, B, then the
// backwards that are left.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Schedules.h"
#include <algorithm>
#include <sstream>

namespace gpucc::solvers {

const char *name(ScheduleKind kind) { return kind == ScheduleKind::GPipe ? "gpipe" : "1f1b"; }

std::optional<ScheduleKind> parseScheduleKind(const std::string &text) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB})
    if (text == name(kind))
      return kind;
  return std::nullopt;
}

PipelineSchedule makeSchedule(ScheduleKind kind, int stages, int microBatches) {
  PipelineSchedule schedule;
  schedule.microBatches = microBatches;
  for (int i = 0; i < stages; ++i) {
    std::vector<Action> row;
    int warmUp =
        kind == ScheduleKind::GPipe ? microBatches : std::min(microBatches, stages - 1 - i);
    int forward = 0, backward = 0;
    while (forward < warmUp)
      row.push_back({ActionKind::Forward, forward++});
    while (backward < microBatches) {
      if (forward < microBatches)
        row.push_back({ActionKind::Forward, forward++});
      row.push_back({ActionKind::Backward, backward++});
    }
    row.push_back({ActionKind::Update, 0});
    schedule.stages.push_back(row);
  }
  return schedule;
}

std::string PipelineSchedule::dump() const {
  std::ostringstream out;
  for (const auto &row : stages) {
    for (size_t k = 0; k < row.size(); ++k) {
      out << (k ? " " : "") << static_cast<char>(row[k].kind);
      if (row[k].kind != ActionKind::Update)
        out << row[k].microBatch;
    }
    out << '\n';
  }
  return out.str();
}

namespace {

/// Run the rows as far as dependencies allow. Returns false when all stages are stuck.
bool execute(const PipelineSchedule &schedule, const std::vector<double> &forward,
             const std::vector<double> &backward, double send, ScheduleTiming &timing) {
  int p = static_cast<int>(schedule.stages.size());
  auto table = [&] {
    return std::vector<std::vector<double>>(p, std::vector<double>(schedule.microBatches, -1));
  };
  std::vector<std::vector<double>> forwardEnd = table(), backwardEnd = table();
  std::vector<size_t> next(p, 0);
  std::vector<double> clock(p, 0);
  timing.busy.assign(p, 0);
  timing.when.assign(p, {});
  bool moved = true;
  while (moved) {
    moved = false;
    for (int i = 0; i < p; ++i)
      while (next[i] < schedule.stages[i].size()) {
        Action a = schedule.stages[i][next[i]];
        double ready = 0, takes = 0;
        if (a.kind == ActionKind::Forward) {
          ready = i == 0 ? 0 : forwardEnd[i - 1][a.microBatch];
          takes = forward[i];
        } else if (a.kind == ActionKind::Backward) {
          ready = i == p - 1 ? forwardEnd[i][a.microBatch] : backwardEnd[i + 1][a.microBatch];
          takes = backward[i];
        }
        if (ready < 0)
          break;
        bool crosses = (a.kind == ActionKind::Forward && i > 0) ||
                       (a.kind == ActionKind::Backward && i < p - 1);
        double start = std::max(clock[i], ready + (crosses ? send : 0));
        clock[i] = start + takes;
        timing.busy[i] += takes;
        timing.when[i].push_back({start, clock[i]});
        if (a.kind == ActionKind::Forward)
          forwardEnd[i][a.microBatch] = clock[i];
        if (a.kind == ActionKind::Backward)
          backwardEnd[i][a.microBatch] = clock[i];
        ++next[i];
        moved = true;
      }
  }
  for (int i = 0; i < p; ++i) {
    if (next[i] < schedule.stages[i].size())
      return false;
    timing.total = std::max(timing.total, clock[i]);
  }
  return true;
}

} // namespace

std::string PipelineSchedule::check() const {
  std::ostringstream out;
  for (size_t i = 0; i < stages.size(); ++i) {
    std::vector<int> forwards(microBatches, 0), backwards(microBatches, 0);
    for (size_t k = 0; k < stages[i].size(); ++k) {
      Action a = stages[i][k];
      bool last = k + 1 == stages[i].size();
      if ((a.kind == ActionKind::Update) != last) {
        out << "stage " << i << ", position " << k << ": the update is the last action and only it";
        return out.str();
      }
      if (last)
        break;
      if (a.microBatch < 0 || a.microBatch >= microBatches) {
        out << "stage " << i << ", position " << k << ": found micro-batch " << a.microBatch
            << ", allowed 0.." << microBatches - 1;
        return out.str();
      }
      if (a.kind == ActionKind::Forward)
        ++forwards[a.microBatch];
      else if (forwards[a.microBatch] == 0 || ++backwards[a.microBatch] > 1) {
        out << "stage " << i << ": B" << a.microBatch << " runs before its F or twice";
        return out.str();
      }
    }
    for (int m = 0; m < microBatches; ++m)
      if (forwards[m] != 1 || backwards[m] != 1) {
        out << "stage " << i << ": micro-batch " << m << " has " << forwards[m] << " F and "
            << backwards[m] << " B, allowed one of each";
        return out.str();
      }
  }
  ScheduleTiming timing;
  std::vector<double> unit(stages.size(), 1);
  if (!execute(*this, unit, unit, 0, timing))
    return "the stages wait for each other: no order of arrival lets every action run";
  return "";
}

std::vector<int> microBatchesInFlight(const PipelineSchedule &schedule) {
  std::vector<int> most;
  for (const auto &row : schedule.stages) {
    int now = 0, peak = 0;
    for (Action a : row) {
      now += a.kind == ActionKind::Forward ? 1 : a.kind == ActionKind::Backward ? -1 : 0;
      peak = std::max(peak, now);
    }
    most.push_back(peak);
  }
  return most;
}

ScheduleTiming timeSchedule(const PipelineSchedule &schedule, const std::vector<double> &forward,
                            const std::vector<double> &backward, double send) {
  ScheduleTiming timing;
  execute(schedule, forward, backward, send, timing);
  return timing;
}

} // namespace gpucc::solvers
