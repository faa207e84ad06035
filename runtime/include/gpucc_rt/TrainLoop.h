//===- TrainLoop.h - Steps over a data set, with log and checkpoints
//----------------------------===//
//
// What `gpucc train` does, for any training plan:
//   * data: arrays by the names of the plan's inputs plus "labels", samples along the first
//     dimension, taken in order and round again: with 10 samples and 4 per step, steps take 0-3,
//     4-7, 8-9+0-1, ...
//   * FOLDER/log.jsonl: {"step":1,"loss":2.3,"lr":0.001,"grad_norm":1.7} per step;
//   * FOLDER/state.safetensors: every `saveEvery` steps and at the end, written atomically, with
//     the step in its metadata.
// A run that was killed and resumed ends with the same state and the same log as one that was not.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_TRAINLOOP_H
#define GPUCC_RT_TRAINLOOP_H

#include "gpucc_rt/RankGroup.h"

#include <functional>
#include <optional>

namespace gpucc_rt {

struct StepReport {
  uint64_t step; ///< 1 for the first
  std::vector<std::pair<std::string, std::optional<double>>>
      metrics; ///< loss, lr, grad_norm, then the plan's others
};

struct TrainOptions {
  const std::vector<Array> *data = nullptr;
  uint64_t steps = 0;       ///< in total, those before a resume included
  std::string saveFolder;   ///< created if missing; empty: nothing is written
  uint64_t saveEvery = 0;   ///< 0 = only at the end
  std::string resumeFolder; ///< empty: from the plan's initial state; a folder without a state
                            ///< file: likewise
  std::function<void(const StepReport &)> progress;
  std::function<void(const std::string &)> warning; ///< what a person should know; a run goes on
};

struct TrainResult {
  uint64_t firstStep = 0; ///< steps that were already done when the run began
  std::optional<double> lastLoss;
};

Status train(RankGroup &group, const TrainOptions &options, TrainResult &result);

/// One line of log.jsonl, without the newline.
std::string formatStep(const StepReport &report);

} // namespace gpucc_rt

#endif // GPUCC_RT_TRAINLOOP_H
