//===- Runs.h - published training runs as workloads and layouts -*- C++ -*-===//
//
// What: reads a CSV of published runs (Tables.cpp: one line per run and metric, or vTrain's form)
// and says what was run (Workload), how (Layout and its Recipe), on what
// (Machine) and what was measured.
//
// Example: "BigScience BLOOM topology sweep", GPT-181B, tp 4, pp 12, dp 8, micro-batch 2 becomes
// the "gpt" family with 72 layers of 14336, on 48 nodes of a100-80gb whose network is that of the
// cluster, and 103.5 s per step.
//
// Only documented settings of the software are put in here (which attention kernel, which
// gradients' type, what overlaps; Stacks.cpp and Recipes.cpp), where the software has them for one
// model only, for that model. Nothing is set to what a measurement wants.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_RUNS_H
#define GPUCC_BENCH_COSTMODEL_RUNS_H

#include "gpucc/Simulate/StepCost.h"
#include <map>
#include <string>
#include <vector>

namespace gpucc::bench {

using Cells = std::map<std::string, std::string>;

/// What the source does not say and an expert would have chosen: tried, the best that fits counts.
struct Unstated {
  bool microBatch = false, virtualStages = false, layout = false, recompute = false;
  bool batch = false;
  bool onlyPipeline = false, onlyTensor = false; ///< `layout` among those
  bool any() const { return microBatch || virtualStages || layout; }
};

struct Run {
  std::string id, source, family, stack, group, date;
  workload::Workload workload;
  workload::Layout layout;
  cost::Machine machine;
  int gpus = 0;
  Unstated unstated;
  bool oneLayer = false;       ///< measured: one layer's passes, not a step
  bool backwardToo = false;    ///< ... its backward pass as well as its forward pass
  bool reserved = false;       ///< ... what PyTorch's allocator held, without context and NCCL
  bool allocated = false;      ///< memory is what tensors took, without context and waste
  bool doubtful = false;       ///< marked CHECK, or an outlier that the source itself shows
  bool mixture = false;        ///< of experts
  bool layersInferred = false; ///< the layer count was not stated
  double seconds = 0;          ///< measured per step; 0: not
  double memoryBytes = 0;      ///< measured; 0: not
  int fits = -1;               ///< 1, 0 or not said
  double hardwareTflops = 0;   ///< printed beside the time (per GPU)
  std::string kind() const { return mixture ? "mixtures of experts" : "dense"; }
};

struct Runs {
  std::vector<Run> runs;
  std::map<std::string, std::map<std::string, int>> skipped; ///< source, reason
};

/// Lines of a CSV file by column; quoted cells may hold commas and line breaks.
std::vector<Cells> readCsv(const std::string &path, std::string &error);

/// Empty, or why the run whose lines (one per metric) are `rows` cannot be described.
std::string describe(const std::vector<Cells> &rows, Run &run);

/// Runs of `path`, in the form of published_runs.csv or of vTrain's tables.
void addRuns(const std::string &path, Runs &runs, std::string &error);

struct Prediction {
  bool valid = false;
  double seconds = 0;
  cost::RankMemory memory;
  bool fits = true;
  workload::Layout layout; ///< the run's, or what was chosen where it is not stated
  simulate::Parts parts;                                   ///< of the busiest pipeline rank
  double bubble = 0, gather = 0, gradient = 0, update = 0; ///< exposed, whole step
};
/// Step seconds and memory of the fullest rank; what the source leaves open is chosen.
Prediction predict(const Run &run, const cost::Calibration &calibration);

/// Sources that share people, software and machine.
std::string familyOf(const std::string &source);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_RUNS_H
