//===- RankContext.cpp - Coordinates, values and communicators of a rank
//------------------------===//
#include "plan/RankContext.h"

using namespace gpucc::rt;

uint32_t gpucc::rt::stageRanks(const plan::Stage &stage) {
  uint32_t ranks = 1;
  if (stage.axes())
    for (const plan::Axis *axis : *stage.axes())
      ranks *= axis->size();
  return ranks;
}

RankContext RankContext::of(const plan::Plan &plan, uint32_t rank) {
  RankContext context;
  context.rank = rank;
  for (uint32_t s = 0; s < plan.stages()->size(); ++s) {
    const plan::Stage &stage = *plan.stages()->Get(s);
    if (rank < stage.first_rank() || rank - stage.first_rank() >= stageRanks(stage))
      continue;
    context.stage = s;
    uint32_t index = rank - stage.first_rank();
    uint32_t axes = stage.axes() ? stage.axes()->size() : 0;
    context.coordinates.resize(axes);
    for (uint32_t a = axes; a-- > 0;) {
      uint32_t size = stage.axes()->Get(a)->size();
      context.coordinates[a] = index % size;
      index /= size;
    }
    break;
  }
  return context;
}

int64_t RankContext::evaluate(const plan::RankValue *value, uint32_t slot) const {
  if (!value)
    return 0;
  // Wrapping arithmetic: a hostile plan must not cause undefined behaviour.
  uint64_t result =
      static_cast<uint64_t>(value->base()) + static_cast<uint64_t>(value->slot_step()) * slot;
  if (value->terms())
    for (const plan::Term *term : *value->terms())
      result += static_cast<uint64_t>(term->stride()) * coordinates[term->axis()];
  int64_t signedResult = static_cast<int64_t>(result);
  if (int64_t m = value->modulo()) {
    signedResult %= m;
    if (signedResult < 0)
      signedResult += m;
  }
  return signedResult;
}

bool gpucc::rt::communicatorOf(const plan::Plan &plan, uint32_t id, const RankContext &rank,
                               CommunicatorSpec &spec) {
  const plan::Communicator &entry = *plan.communicators()->Get(id);
  spec = {id, entry.name()->str(), {}, -1};
  auto add = [&](uint32_t member) {
    if (member == rank.rank)
      spec.index = static_cast<int>(spec.members.size());
    spec.members.push_back(static_cast<int>(member));
  };
  const plan::Stage &stage = *plan.stages()->Get(entry.stage());
  if (entry.kind() == plan::CommunicatorKind::stage_pair) {
    for (uint32_t r = 0; r < stageRanks(stage); ++r)
      add(stage.first_rank() + r);
    const plan::Stage &other = *plan.stages()->Get(entry.to_stage());
    for (uint32_t r = 0; r < stageRanks(other); ++r)
      add(other.first_rank() + r);
    return spec.index >= 0;
  }
  if (rank.stage != entry.stage())
    return false;
  // All points of the mesh that agree with this rank outside the communicator's axes, in order of
  // rank. The axes are listed in mesh order (verified), so this is the row-major order of those
  // axes.
  uint32_t axes = static_cast<uint32_t>(rank.coordinates.size());
  std::vector<bool> varies(axes, false);
  if (entry.axes())
    for (uint32_t axis : *entry.axes())
      varies[axis] = true;
  for (uint32_t r = 0; r < stageRanks(stage); ++r) {
    uint32_t index = r;
    bool same = true;
    for (uint32_t a = axes; a-- > 0;) {
      uint32_t size = stage.axes()->Get(a)->size();
      same &= varies[a] || index % size == rank.coordinates[a];
      index /= size;
    }
    if (same)
      add(stage.first_rank() + r);
  }
  return spec.index >= 0;
}
