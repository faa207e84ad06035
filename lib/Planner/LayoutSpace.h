//===- LayoutSpace.h - which layouts the search considers --------*- C++ -*-===//
#ifndef GPUCC_LIB_PLANNER_LAYOUTSPACE_H
#define GPUCC_LIB_PLANNER_LAYOUTSPACE_H

#include "gpucc/Planner/LayoutSearch.h"

namespace gpucc::planner {

/// Degrees and micro-batch; schedule, ZeRO, recomputation and offload are still those of `base`.
std::vector<workload::Layout> meshes(const SearchProblem &problem);

/// Schedules with virtual stages, ZeRO stages with groups, and offload of a mesh; recomputation is
/// still none.
std::vector<workload::Layout> variants(const SearchProblem &problem, const workload::Layout &mesh);

/// Recomputation choices of a variant as chains, each in the order of rising time and falling
/// memory: by what is repeated of every layer (by operator on its own, since of a mixture it may
/// keep more or less than cheap), and by how many layers are repeated in full.
std::vector<std::vector<workload::Layout>> recomputations(const SearchProblem &problem,
                                                          const workload::Layout &variant);

/// The variant with layers per stage such that the longest stage is short: by the speed of each
/// stage's devices, and fewer beside heavy logits. On equal devices that is tried where much is to
/// be gained, and equal stages as well.
std::vector<workload::Layout> stageChoices(simulate::BlockCache &cache,
                                           const SearchProblem &problem,
                                           const workload::Layout &variant);

/// Alternatives in the order of their times, near ties in that of their simplicity.
void orderNearTies(std::vector<Choice> &choices);

} // namespace gpucc::planner
#endif // GPUCC_LIB_PLANNER_LAYOUTSPACE_H
