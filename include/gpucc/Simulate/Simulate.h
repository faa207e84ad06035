//===- Simulate.h - a step as events on ranks --------------------*- C++ -*-===//
//
// What: builds the events of one training step (compute, tensor-parallel collectives, sends between
// stages, gradient buckets, update) and runs them in time. Ranks that must behave alike are
// simulated once: one rank stands for a tensor x context group, one pipeline for all data-parallel
// replicas without a straggler.
//
// Example: 16,384 ranks as tp 8 x pp 16 x dp 128 become 16 ranks; with rank 77 slowed by 20 % the
// pipeline it belongs to is a second class: 32 ranks.
//
// `everyRank` simulates all of them; the tests hold both to the same times.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SIMULATE_SIMULATE_H
#define GPUCC_SIMULATE_SIMULATE_H

#include "gpucc/Simulate/StepCost.h"
#include <map>

namespace gpucc::simulate {

/// Interruptions of a long run (Young 1974, Daly 2006).
struct Failures {
  double deviceMtbfHours = 0;    ///< mean time between failures of one device; 0: none
  double checkpointSeconds = 60; ///< the run stands still so long per checkpoint
  double restartSeconds = 600;   ///< from failure to the first new step
};

struct SimulateOptions {
  bool everyRank = false;
  bool keepTrace = false;
  std::map<int64_t, double> stragglers; ///< rank to how many times slower its compute is
  Failures failures;
  int64_t gradientBuckets = 32; ///< per chunk, reduced as its last backward pass goes on
};

struct TraceEvent {
  int64_t rank = 0;               ///< the first rank of the class
  const char *stream = "compute"; ///< "compute", "tensor", "send", "gradient"
  std::string name;
  double start = 0, end = 0;
};

struct Simulation {
  std::string error;          ///< empty: fine
  double seconds = 0;         ///< of the step
  double slowdown = 1;        ///< against the same step without stragglers
  double goodput = 1;         ///< share of the time that failures and checkpoints leave
  double checkpointEvery = 0; ///< seconds between checkpoints that Young's rule asks for
  int64_t ranks = 0, simulated = 0, events = 0;
  StepCost cost; ///< parts, memory, ratios (times without stragglers)
  std::vector<double> computeSeconds, waitSeconds; ///< per pipeline rank of the first replica
  std::vector<TraceEvent> trace;
  /// Per pipeline rank: bytes of activations over time (time, bytes), a step function.
  std::vector<std::vector<std::pair<double, double>>> activations;
  solvers::PipelineSchedule schedule;
  solvers::ScheduleTiming timing; ///< of the schedule, for its picture
};

Simulation simulateStep(BlockCache &cache, const cost::Machine &machine,
                        const workload::Layout &layout, const SimulateOptions &options = {});

/// Chrome / Perfetto trace: one process per rank class, one thread per stream, memory as counters.
std::string traceJson(const Simulation &simulation);
/// The whole report as JSON. `price` per device-hour, 0: leave out.
std::string reportJson(const cost::Machine &machine, const workload::Workload &workload,
                       const workload::Layout &layout, const Simulation &simulation);
/// The same for a person.
std::string reportText(const cost::Machine &machine, const workload::Workload &workload,
                       const workload::Layout &layout, const Simulation &simulation);
/// Memory of every pipeline rank over the step as SVG, by class.
std::string memorySvg(const Simulation &simulation, const std::string &title);

} // namespace gpucc::simulate
#endif // GPUCC_SIMULATE_SIMULATE_H
