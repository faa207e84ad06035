//===- StepMemory.cpp - bytes of every pipeline rank ----------------------===//
//
// State by ZeRO stage and precision, activations by the schedule, logits, workspace, buffers.
//
// Example: 1F1B on 8 stages keeps 8 micro-batches on the first rank and one on the last.
//
//===----------------------------------------------------------------------===//
#include "Step.h"
#include <algorithm>

namespace gpucc::simulate {

using namespace workload;

namespace {

class StepMemory {
public:
  StepMemory(StepCost &cost, const cost::Machine &machine, const Workload &workload,
             const Layout &layout, const cost::Calibration &calibration,
             const solvers::PipelineSchedule *schedule)
      : cost(cost), machine(machine), w(workload), l(layout), calibration(calibration),
        schedule(schedule), m(layout.microBatches()) {}

  void run() {
    size_t p = static_cast<size_t>(l.pp);
    cost.memory.assign(p, {});
    std::vector<double> parameters(p, 0), experts(p, 0), kept(p, 0), work(p, 0), logits(p, 0);
    for (const ChunkCost &chunk : cost.chunks) {
      size_t r = static_cast<size_t>(chunk.rank);
      parameters[r] += chunk.parameters;
      experts[r] += chunk.expertParameters;
      work[r] = std::max(work[r], chunk.workspaceBytes);
      logits[r] = std::max(logits[r], chunk.logitBytes);
    }
    bool severalNodes = l.ranks() > machine.devicesPerNode;
    for (size_t r = 0; r < p; ++r) {
      cost::RankMemory &to = cost.memory[r];
      state(to, parameters[r], groupOf(l, Axis::Gradient).size);
      state(to, experts[r], groupOf(l, Axis::ExpertData).size);
      to.activations = peakKept(static_cast<int>(r)) + pairKept(static_cast<int>(r)) - logits[r];
      to.logits = 2.5 * logits[r]; // f32 logits are kept; 16-bit ones and their gradient pass by
      to.workspace = work[r];
      // One bucket being filled or scattered, one being gathered.
      double all = (parameters[r] + experts[r]) * l.recipe.gradientBytes;
      if (l.zeroStage > 0 && groupOf(l, Axis::Gradient).size > 1)
        to.communication += 2 * std::min(l.recipe.bucketBytes, all);
      cost::Machine own = machineOfRank(machine, l, static_cast<int>(r));
      cost::addOverheads(to, own, severalNodes, calibration);
      double limit = own.device.memoryBytes;
      if (r == 0 || to.total() / limit > fullestShare) {
        fullestShare = to.total() / limit;
        cost.fullest = static_cast<int>(r);
        cost.memoryLimit = limit;
      }
    }
    cost.fits = fullestShare <= 1;
  }

private:
  void state(cost::RankMemory &to, double elements, int64_t sharers) {
    if (elements <= 0)
      return;
    bool wide = l.recipe.precision == Precision::F32 || l.recipe.precision == Precision::Tf32;
    cost::StateInputs in;
    in.parameterBytes = elements * (wide ? 4 : 2);
    in.gradientBytes = elements * (l.recipe.gradientBytes + l.recipe.secondGradientBytes);
    in.optimizerBytes = elements * l.recipe.optimizerBytes * (1 - l.offloadOptimizer);
    in.zeroStage = l.zeroStage;
    in.dp = l.zeroGroup > 0 ? std::min(l.zeroGroup, sharers) : sharers;
    cost::RankMemory add = cost::stateMemory(in);
    to.parameters += add.parameters;
    to.gradients += add.gradients;
    to.optimizer += add.optimizer;
    if (l.zeroStage >= 3) // two gathered layers and one layer's whole gradient
      to.communication += elements / std::max<double>(1, layersPerRank()) *
                          (2.0 * (wide ? 4 : 2) + l.recipe.gradientBytes);
  }

  double layersPerRank() const {
    return static_cast<double>(w.layers + w.predictAhead) / static_cast<double>(l.pp);
  }

  /// Most bytes kept at once on a rank while its row runs.
  double peakKept(int rank) const {
    double now = 0, peak = 0;
    if (l.schedule == solvers::ScheduleKind::GPipe && l.pp > 1)
      return static_cast<double>(m) * cost.chunks[static_cast<size_t>(rank)].keptBytes;
    if (!schedule)
      return closedFormKept(rank);
    for (const solvers::Action &a : schedule->stages[static_cast<size_t>(rank)]) {
      if (a.kind == solvers::ActionKind::Update)
        continue;
      double bytes = cost.chunks[static_cast<size_t>(schedule->stageOf(rank, a))].keptBytes;
      if (a.kind == solvers::ActionKind::Forward)
        now += bytes;
      peak = std::max(peak, now);
      // Weights read the inputs that were kept; the rest goes with the backward of inputs.
      if (a.kind == solvers::ActionKind::Backward || a.kind == solvers::ActionKind::BackwardWeight)
        now -= bytes;
    }
    return peak;
  }

  /// Expert traffic beside another pass needs one more forward chunk before the first backward one
  /// (Megatron-Core, get_pp_rank_microbatches); DualPipe's schedule has it.
  double pairKept(int rank) const {
    bool dual = l.schedule == solvers::ScheduleKind::DualPipe ||
                l.schedule == solvers::ScheduleKind::DualPipeV;
    bool more = l.recipe.overlapExperts && l.ep > 1 && m > 1 && canOverlapExperts(l);
    double most = 0;
    for (const ChunkCost &chunk : cost.chunks)
      if (more && !(dual && l.pp > 1) && chunk.rank == rank)
        most = std::max(most, chunk.keptBytes - chunk.logitBytes);
    return most;
  }

  double closedFormKept(int rank) const {
    double bytes = 0, held = 0;
    for (const ChunkCost &chunk : cost.chunks)
      if (chunk.rank == rank) {
        bytes += chunk.keptBytes;
        ++held;
      }
    if (hasTwoCopies(l))
      bytes /= held; // a micro-batch passes one of the two copies
    return bytes * solvers::keptMicroBatches(l.schedule, static_cast<int>(l.pp),
                                             static_cast<int>(m), static_cast<int>(l.virtualStages),
                                             rank);
  }

  StepCost &cost;
  const cost::Machine &machine;
  const Workload &w;
  const Layout &l;
  const cost::Calibration &calibration;
  const solvers::PipelineSchedule *schedule;
  int64_t m;
  double fullestShare = 0;
};

} // namespace

void addMemory(StepCost &cost, const cost::Machine &machine, const Workload &workload,
               const Layout &layout, const cost::Calibration &calibration,
               const solvers::PipelineSchedule *schedule) {
  StepMemory(cost, machine, workload, layout, calibration, schedule).run();
}

} // namespace gpucc::simulate
