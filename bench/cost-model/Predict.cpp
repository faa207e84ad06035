//===- Predict.cpp - one run through the model ----------------------------===//
//
// What a source leaves open is what its authors chose well: the micro-batch, virtual stages or
// layout that is fastest among those that fit, and just as many recomputed layers as it takes.
//
//===----------------------------------------------------------------------===//
#include "Runs.h"
#include <algorithm>

namespace gpucc::bench {

using namespace workload;

namespace {

constexpr double usable = 0.95; // of the device: what an expert fills

simulate::StepCost step(simulate::BlockCache &cache, const Run &run, const Layout &layout,
                        bool memoryOnly = false) {
  simulate::StepOptions options;
  options.mostMicroBatches = 2 * layout.pp;
  options.memoryOnly = memoryOnly;
  return simulate::stepCost(cache, run.machine, layout, options);
}

/// The least recomputation that fits: whole layers of dense models, chosen cheap modules (norms,
/// activations, latent up-projections) of mixtures.
Layout withRecompute(simulate::BlockCache &cache, const Run &run, Layout layout) {
  auto fits = [&] {
    simulate::StepCost cost = step(cache, run, layout, true);
    return cost.fullestMemory().total() <= usable * cost.memoryLimit;
  };
  if (fits())
    return layout;
  layout.recompute = run.mixture ? Recompute::Cheap : Recompute::Full;
  if (run.mixture)
    return layout;
  int64_t most = (run.workload.layers + layout.pp - 1) / layout.pp, low = 0, high = most;
  while (low + 1 < high) {
    layout.recomputeLayers = (low + high) / 2;
    (fits() ? high : low) = layout.recomputeLayers;
  }
  layout.recomputeLayers = high;
  return layout;
}

std::vector<Layout> variants(const Run &run) {
  std::vector<Layout> layouts = {run.layout}, result;
  int64_t perNode = run.machine.devicesPerNode;
  if (run.unstated.layout) {
    layouts.clear();
    // Without pipelines a group of tensors may cross nodes, because something has to fit.
    int64_t widest = run.unstated.onlyTensor ? run.gpus : std::min<int64_t>(8, perNode);
    for (int64_t tp = 1; tp <= widest && run.workload.heads % tp == 0; tp *= 2)
      for (int64_t pp = 1; pp <= 64 && tp * pp <= run.gpus; ++pp) {
        bool divides = run.gpus % (tp * pp) == 0 && run.workload.layers % pp == 0;
        if (!divides || (run.unstated.onlyPipeline && (tp > 1 || pp != run.gpus)) ||
            (run.unstated.onlyTensor && pp > 1))
          continue;
        layouts.push_back(run.layout);
        layouts.back().tp = tp, layouts.back().pp = pp;
        layouts.back().dp = run.gpus / tp / pp;
        for (int zero : {1, 3}) // states or weights are cut along the other axis of the mesh
          if (run.unstated.onlyTensor) {
            layouts.push_back(layouts.back());
            layouts.back().zeroStage = zero;
          }
      }
  }
  for (Layout l : layouts)
    for (int64_t mb : {1, 2, 4, 8, 16}) {
      if (run.unstated.microBatch)
        l.microBatch = mb;
      else if (mb > 1)
        break;
      if (run.unstated.microBatch && l.globalBatch % (l.microBatch * l.dp) != 0)
        continue;
      bool open = true;
      for (int64_t v : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12}) {
        open = l.schedule == solvers::ScheduleKind::OneFOneB ||
               l.schedule == solvers::ScheduleKind::Interleaved; // not one that was named
        if (run.unstated.virtualStages && l.pp > 1 && open) {
          l.virtualStages = v;
          if (v > 1 && (run.workload.layers % (l.pp * v) != 0 || l.microBatches() % l.pp != 0))
            continue;
          l.schedule = v > 1 ? solvers::ScheduleKind::Interleaved : solvers::ScheduleKind::OneFOneB;
        } else if (v > 1) {
          break;
        }
        if (!open && !solvers::checkScheduleShape(l.schedule, static_cast<int>(l.pp),
                                                  static_cast<int>(l.microBatches()), 1)
                          .empty())
          continue;
        result.push_back(l);
      }
    }
  return result;
}

} // namespace

Prediction predict(const Run &run, const cost::Calibration &calibration) {
  Prediction best;
  simulate::BlockCache cache(run.workload, calibration);
  if (run.oneLayer) { // the selective-recomputation paper's Table 4
    best.valid = true;
    best.layout = run.layout;
    const simulate::BlockCost &block =
        cache.get(run.machine, run.layout, blocksOf(run.workload)[1]);
    best.parts = block.forward;
    if (run.backwardToo) {
      best.parts += block.backwardInput;
      best.parts += block.backwardWeight;
      best.parts.recompute += block.again[static_cast<int>(run.layout.recompute)];
    }
    best.seconds = best.parts.total();
    return best;
  }
  for (Layout layout : variants(run)) {
    if (run.unstated.recompute)
      layout = withRecompute(cache, run, layout);
    simulate::StepCost cost = step(cache, run, layout);
    bool better = !best.valid || (cost.fits && !best.fits) ||
                  (cost.fits == best.fits && cost.seconds < best.seconds);
    if (!better)
      continue;
    best.valid = true;
    best.seconds = cost.seconds;
    best.memory = cost.fullestMemory();
    best.fits = cost.fits;
    best.layout = layout;
    best.parts = cost.parts;
    best.bubble = cost.bubbleSeconds;
    best.gather = cost.gatherSeconds;
    best.gradient = cost.gradientExposed;
    best.update = cost.updateSeconds;
  }
  if (run.reserved) {
    best.memory.context = 0;
    if (run.gpus > run.machine.devicesPerNode)
      best.memory.communication -= calibration("communicator-bytes");
  }
  if (run.allocated)
    best.memory.allocator = best.memory.context = best.memory.communication = 0;
  return best;
}

} // namespace gpucc::bench
