//===- Weights.h - Constants and initial state, from the plan or beside it
//----------------------===//
//
// A weight's recipe is evaluated when a session is prepared: slice what the rank holds, permute,
// cast, and put it into its arena. Example: W [768, 3072] f32 in "model.onnx.data" at 4096; tp=2,
// rank 1: columns [1536, 3072), cast to bf16.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_WEIGHTS_H
#define GPUCC_RT_PLAN_WEIGHTS_H

#include "plan/PlanImage.h"
#include "plan/RankContext.h"

#include <functional>

namespace gpucc::rt {

/// Where finished bytes go: (arena, offset, bytes, size).
using WeightSink =
    std::function<Status(uint32_t arena, uint64_t offset, const char *data, uint64_t bytes)>;

/// Evaluates all weights of the rank's stage. `verify`: compare source bytes with their hashes.
Status loadWeights(const PlanImage &plan, const RankContext &rank, bool verify,
                   const WeightSink &sink);

} // namespace gpucc::rt

#endif // GPUCC_RT_PLAN_WEIGHTS_H
