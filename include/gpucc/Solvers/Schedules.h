//===- Schedules.h - pipeline schedules as data -----------------*- C++ -*-===//
//
// What: for every stage the order in which it runs forward (F) and backward (B) of micro-batches
// and the update (U). One schedule is one table; the partitioner, the simulator and the planner
// read it.
//
// Example, 1F1B, 2 stages, 3 micro-batches:
//
//     stage 0:  F0 F1 B0 F2 B1 B2 U
//     stage 1:  F0 B0 F1 B1 F2 B2 U
//
// Closed forms the tests hold these tables to (p stages, m micro-batches, F and B times):
//     GPipe and 1F1B  time (m + p - 1)(F + B), bubble (p - 1)(F + B)
//     in flight       GPipe m on every stage; 1F1B min(m, p - i) on stage i
// Sources: GPipe (Huang et al. 2019); 1F1B (Narayanan et al., PipeDream-Flush / Megatron-LM,
// SC'21).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_SCHEDULES_H
#define GPUCC_SOLVERS_SCHEDULES_H

#include <optional>
#include <string>
#include <vector>

namespace gpucc::solvers {

enum class ScheduleKind { GPipe, OneFOneB };
const char *name(ScheduleKind kind); ///< "gpipe", "1f1b"
std::optional<ScheduleKind> parseScheduleKind(const std::string &text);

enum class ActionKind : char { Forward = 'F', Backward = 'B', Update = 'U' };

struct Action {
  ActionKind kind = ActionKind::Forward;
  int microBatch = 0; ///< 0 for Update
  bool operator==(const Action &) const = default;
};

struct PipelineSchedule {
  int microBatches = 1;
  std::vector<std::vector<Action>> stages;

  /// Every stage runs F and B of each micro-batch once, F before B, one U last, and no set of
  /// stages waits for each other. Empty when fine.
  std::string check() const;
  std::string dump() const; ///< one row per stage, "F0 F1 B0 ... U"
};

PipelineSchedule makeSchedule(ScheduleKind kind, int stages, int microBatches);

/// Most micro-batches whose forward ran and whose backward did not end, per stage.
std::vector<int> microBatchesInFlight(const PipelineSchedule &schedule);

/// When each action starts and ends if stage i takes forward[i], backward[i] seconds per
/// micro-batch and a boundary takes `send` seconds. U takes no time.
struct ScheduleTiming {
  double total = 0;                                         ///< seconds until the last action ends
  std::vector<double> busy;                                 ///< per stage
  std::vector<std::vector<std::pair<double, double>>> when; ///< per stage, per action: start, end
};
ScheduleTiming timeSchedule(const PipelineSchedule &schedule, const std::vector<double> &forward,
                            const std::vector<double> &backward, double send = 0);

} // namespace gpucc::solvers
#endif // GPUCC_SOLVERS_SCHEDULES_H
