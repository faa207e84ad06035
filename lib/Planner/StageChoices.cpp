//===- StageChoices.cpp - layers of each stage ----------------------------===//
//
// The first stage also embeds and may hold layers of another kind, the last also makes logits, and
// devices may differ: layers go to the stage that would end first.
//
// Example: Gemma 2 9B (42 layers, 256,000 words) on eight H100: six stages of six layers, then
// five, and one layer beside the logits.
//
//===----------------------------------------------------------------------===//
#include "LayoutSpace.h"
#include <algorithm>
#include <map>

namespace gpucc::planner {

using namespace workload;
using solvers::ScheduleKind;

namespace {

/// Equal stages are what people run; layers move away from the logits for no less than this share
/// of the longest stage.
constexpr double worthMoving = 0.05;

/// What one micro-batch costs each stage: a layer, and what it has besides layers.
struct StageWork {
  std::vector<double> perLayer, extra;
  /// Stages of at most that work, the later ones filled first; empty: there are none.
  std::vector<int64_t> fromBehind(double seconds, int64_t layers) const {
    std::vector<int64_t> stages(extra.size(), 0);
    for (size_t r = extra.size() - 1; r > 0; --r) {
      int64_t room = static_cast<int64_t>((seconds - extra[r]) / perLayer[r] + 1e-9);
      int64_t most = std::max<int64_t>(0, layers - static_cast<int64_t>(r)); // one for each before
      stages[r] = std::clamp<int64_t>(room, 0, most);
      layers -= stages[r];
    }
    stages[0] = layers;
    bool fits = extra[0] + perLayer[0] * static_cast<double>(layers) <= seconds * (1 + 1e-9);
    return fits ? stages : std::vector<int64_t>();
  }
  double most(const std::vector<int64_t> &layers) const {
    double most = 0;
    for (size_t r = 0; r < layers.size(); ++r)
      most = std::max(most, extra[r] + perLayer[r] * static_cast<double>(layers[r]));
    return most;
  }
};

StageWork stageWork(simulate::BlockCache &cache, const SearchProblem &problem,
                    const Layout &layout) {
  const Workload &w = problem.workload;
  std::vector<BlockKind> blocks = blocksOf(w);
  auto total = [&](int rank, BlockKind kind) {
    const simulate::BlockCost &b =
        cache.get(simulate::machineOfRank(problem.machine, layout, rank), layout, kind);
    return b.forward.total() + b.backwardInput.total() + b.backwardWeight.total();
  };
  std::map<BlockKind, double> share; // of the layers
  double layers = static_cast<double>(blocks.size()) - 2;
  for (size_t k = 1; k + 1 < blocks.size(); ++k)
    share[blocks[k]] += 1 / layers;
  StageWork work;
  work.extra.assign(static_cast<size_t>(layout.pp), 0);
  bool mixed = problem.machine.mixed();
  for (int r = 0; r < layout.pp; ++r) {
    double mean = 0;
    if (mixed || r == 0)
      for (auto [kind, part] : share)
        mean += part * total(r, kind);
    work.perLayer.push_back(mixed || r == 0 ? mean : work.perLayer.front());
  }
  work.extra.front() += total(0, blocks.front());
  // The first layers may be no mixtures: what they differ from the mean.
  int64_t chunks = solvers::chunksPerRank(layout.schedule, static_cast<int>(layout.virtualStages));
  int64_t first = std::max<int64_t>(1, static_cast<int64_t>(layers) / (layout.pp * chunks));
  for (int64_t k = 1; k <= first && share.size() > 1; ++k)
    work.extra.front() += total(0, blocks[static_cast<size_t>(k)]) - work.perLayer.front();
  bool folded = layout.schedule == ScheduleKind::ZbV || layout.schedule == ScheduleKind::DualPipeV;
  double &last = folded ? work.extra.front() : work.extra.back(); // whose are the logits
  last += total(folded ? 0 : static_cast<int>(layout.pp) - 1, blocks.back()) *
          static_cast<double>(1 + w.predictAhead);
  return work;
}

} // namespace

std::vector<Layout> stageChoices(simulate::BlockCache &cache, const SearchProblem &problem,
                                 const Layout &variant) {
  bool mixed = problem.machine.mixed();
  bool twice = variant.schedule == ScheduleKind::DualPipe; // long and short stages share a rank
  if (variant.pp == 1 || problem.pinned.count("stage-layers") || (twice && !mixed))
    return {variant};
  const Workload &w = problem.workload;
  StageWork work = stageWork(cache, problem, variant);
  // Give each layer to the stage that would end first.
  std::vector<int64_t> stages(static_cast<size_t>(variant.pp), 0);
  for (int64_t k = 0; k < w.layers + w.predictAhead; ++k) {
    size_t best = 0;
    double least = 0;
    for (size_t r = 0; r < stages.size(); ++r) {
      double then = work.extra[r] + work.perLayer[r] * static_cast<double>(stages[r] + 1);
      if (r == 0 || then < least) {
        best = r;
        least = then;
      }
    }
    ++stages[best];
  }
  Layout moved = variant;
  moved.stageLayers = stages;
  if (mixed)
    return {moved};
  double most = work.most(stages),
         worth = (1 - worthMoving) * work.most(layersOfStages(w, variant));
  if (most > worth || (problem.accept && !problem.accept(problem.workload, moved)))
    return {variant};
  // Earlier stages keep more, which may not fit: a layer more than the least leaves the first one
  // few of them, and equal stages are tried as well.
  Layout late = variant;
  late.stageLayers = work.fromBehind(most + work.perLayer.front(), w.layers + w.predictAhead);
  if (!late.stageLayers.empty() && work.most(late.stageLayers) <= worth && late != moved)
    return {moved, late, variant};
  return {moved, variant};
}

} // namespace gpucc::planner
