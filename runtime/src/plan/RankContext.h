//===- RankContext.h - What makes one rank different from another
//-------------------------------===//
//
// A plan has one SPMD program per stage; a rank is a point of the stage's mesh. With stage
// {first_rank 4, axes dp=2, tp=3}, rank 8 has coordinates dp=1, tp=1 (8 - 4 = 1*3 + 1; the last
// axis varies fastest), and the RankValue {base 10, terms [{tp, 100}], slot_step 1} is 112 there in
// slot 2.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_RANKCONTEXT_H
#define GPUCC_RT_PLAN_RANKCONTEXT_H

#include "comm/Communicator.h"
#include "plan_generated.h"

#include <cstdint>
#include <vector>

namespace gpucc::rt {

/// Ranks of a stage: the product of its axes. The verifier has excluded overflow.
uint32_t stageRanks(const plan::Stage &stage);

struct RankContext {
  uint32_t rank = 0;
  uint32_t stage = 0;
  std::vector<uint32_t> coordinates; ///< per axis of the stage

  /// The place of `rank`; the verifier has made sure that stages cover all ranks.
  static RankContext of(const plan::Plan &plan, uint32_t rank);

  int64_t evaluate(const plan::RankValue *value, uint32_t slot) const;
};

/// The members of communicator `id` that contains `rank`; false when the rank is in none.
bool communicatorOf(const plan::Plan &plan, uint32_t id, const RankContext &rank,
                    CommunicatorSpec &spec);

} // namespace gpucc::rt

#endif // GPUCC_RT_PLAN_RANKCONTEXT_H
