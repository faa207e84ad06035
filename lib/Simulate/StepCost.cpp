//===- StepCost.cpp - chunks, schedule, data parallelism, update ----------===//
#include "gpucc/Simulate/StepCost.h"
#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/OpCost.h"
#include <algorithm>
#include <cmath>

namespace gpucc::simulate {

using namespace workload;
using cost::Collective;

namespace {

/// Host memory over PCIe: what offloaded state crosses, bytes per second and direction.
constexpr double hostLinkBandwidth = 20e9;
/// Of a send beside compute, what the rank waits for: as of whole collectives beside products.
constexpr double sendExposed = 0.1;

class Step {
public:
  Step(BlockCache &cache, const cost::Machine &machine, const Layout &layout, StepOptions options)
      : cache(cache), machine(machine), l(layout), options(options), w(cache.workload),
        calibration(cache.calibration) {}

  /// No schedule can end earlier: a rank's own work, after the first forward has come to it.
  double bound() {
    cost.chunks = options.chunks ? *options.chunks : chunkCosts(cache, machine, l);
    m = l.microBatches();
    size_t p = static_cast<size_t>(l.pp);
    std::vector<double> work(p, 0), start(p, -1);
    std::vector<double> after(p, 0);
    double before = 0, behind = 0, runs = static_cast<double>(m);
    bool twice = l.schedule == solvers::ScheduleKind::DualPipe && l.pp > 1;
    if (twice)
      runs /= 2;
    double gather = shardedSeconds(), share = pairShare(), most = 0;
    // As much time to hide traffic behind as anyone could wish.
    end.assign(p, 1e30);
    busy.assign(p, 0);
    lastBackward = firstForward = end;
    for (const ChunkCost &chunk : cost.chunks) {
      size_t r = static_cast<size_t>(chunk.rank);
      double all = chunk.parts.total();
      double exposed = exposedBeside(all, gather * parameterShare(chunk));
      work[r] += runs * (all + exposed) * share;
      if (start[r] < 0) {
        start[r] = twice ? 0 : before;
        after[r] = behind;
      }
      before += chunk.seconds.forward;
      behind += chunk.seconds.backwardInput + chunk.seconds.backwardWeight;
    }
    dataParallel();
    // With whole backwards a rank ends with one, which the ranks before it still have to pass on.
    bool whole = !solvers::splitsBackward(l.schedule);
    for (size_t r = 0; r < p; ++r)
      most = std::max(most, start[r] + work[r] + (whole ? after[r] : 0) + (whole ? 0 : tailOf(r)));
    if (whole) // the rank of the first chunk is the last to end
      most += tailOf(static_cast<size_t>(cost.chunks.front().rank));
    for (size_t r = 0; r < p; ++r)
      most = std::max(most, start[r] + work[r] + tailOf(r));
    return most;
  }

  double tailOf(size_t r) const {
    const RankTail &tail = cost.tails[r];
    return tail.exposed() + tail.updateSeconds;
  }

  StepCost run() {
    cost.chunks = options.chunks ? *options.chunks : chunkCosts(cache, machine, l);
    m = l.microBatches();
    if (!(options.memoryOnly && options.closedFormMemory))
      chooseSchedule();
    memory();
    if (options.memoryOnly)
      return cost;
    pipeline();
    dataParallel();
    summary();
    return cost;
  }

private:
  double overlap() const { return calibration("overlap"); }

  /// A pipeline repeats in its middle: a long one is timed twice shorter and continued.
  void chooseSchedule() {
    shortM = m;
    int64_t round = std::max<int64_t>(2, l.pp);
    if (options.mostMicroBatches > 0 && m > options.mostMicroBatches + round)
      shortM = options.mostMicroBatches / round * round + m % round;
    schedule = solvers::makeSchedule(l.schedule, static_cast<int>(l.pp), static_cast<int>(shortM),
                                     static_cast<int>(l.virtualStages));
  }

  // --- memory -------------------------------------------------------------------------------

  void memory() {
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
    if (options.closedFormMemory)
      return closedFormKept(rank);
    for (const solvers::Action &a : schedule.stages[static_cast<size_t>(rank)]) {
      if (a.kind == solvers::ActionKind::Update)
        continue;
      double bytes = cost.chunks[static_cast<size_t>(schedule.stageOf(rank, a))].keptBytes;
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
    if (l.schedule == solvers::ScheduleKind::DualPipe && l.pp > 1)
      bytes /= held; // a micro-batch passes one of the two copies
    return bytes * solvers::keptMicroBatches(l.schedule, static_cast<int>(l.pp),
                                             static_cast<int>(m), static_cast<int>(l.virtualStages),
                                             rank);
  }

  // --- time ---------------------------------------------------------------------------------

  void pipeline() {
    std::vector<solvers::StageSeconds> seconds;
    double gather = shardedSeconds();
    for (ChunkCost &chunk : cost.chunks) {
      seconds.push_back(chunk.seconds);
      // Sharded parameters and gradients travel beside the compute of the same chunk.
      double compute = chunk.parts.total();
      double traffic = gather * parameterShare(chunk);
      double exposed = exposedBeside(compute, traffic);
      seconds.back().forward += exposed / 3;
      seconds.back().backwardInput += exposed * 2 / 3;
      gatherExposed.push_back(exposed);
    }
    double offload = offloadSeconds();
    for (solvers::StageSeconds &s : seconds) {
      s.forward += offload / 2;
      s.backwardInput += offload / 2;
    }
    cost.sendSeconds = sendSeconds();
    bool waited =
        l.recipe.sends == Sends::Waited || (l.recipe.sends == Sends::BesideInterleaved &&
                                            l.schedule != solvers::ScheduleKind::Interleaved);
    waitForSends(seconds, waited ? 1 : sendExposed);
    for (size_t c = 0; c < seconds.size(); ++c)
      cost.chunks[c].seconds = seconds[c]; // what the events of the simulator take
    solvers::TimingOptions timing;
    timing.send = cost.sendSeconds;
    timing.pairShare = cost.pairShare = pairShare();
    solvers::ScheduleTiming t = solvers::timeSchedule(schedule, seconds, timing);
    size_t p = static_cast<size_t>(l.pp);
    busy = t.busy;
    end.assign(p, 0);
    lastBackward.assign(p, 0);
    for (size_t r = 0; r < p; ++r)
      end[r] = t.when[r].back().second;
    firstForward.assign(p, 0);
    for (size_t c = 0; c < cost.chunks.size(); ++c) {
      size_t r = static_cast<size_t>(cost.chunks[c].rank);
      lastBackward[r] += seconds[c].backwardInput + seconds[c].backwardWeight;
      firstForward[r] += seconds[c].forward;
    }
    if (shortM < m)
      continueLine(seconds, timing, t);
  }

  /// A rank that waits for its sends is busy with them; what it sent is there when it goes on. Of
  /// those beside compute it waits for as much as of all traffic beside products.
  void waitForSends(std::vector<solvers::StageSeconds> &seconds, double share) {
    double waited = share * cost.sendSeconds, runs = static_cast<double>(m);
    size_t n = seconds.size();
    if (l.schedule == solvers::ScheduleKind::DualPipe && l.pp > 1) {
      runs /= 2; // each of the two copies sees half of the micro-batches
      n /= 2;
    }
    sendBusy.assign(static_cast<size_t>(l.pp), 0);
    for (size_t c = 0; c < seconds.size(); ++c) {
      size_t at = c % n; // in its copy
      auto crosses = [&](size_t other) {
        return cost.chunks[c - at + other].rank != cost.chunks[c].rank;
      };
      double &busy = sendBusy[static_cast<size_t>(cost.chunks[c].rank)];
      if (at + 1 < n && crosses(at + 1)) {
        seconds[c].forward += waited;
        busy += runs * waited;
      }
      if (at > 0 && crosses(at - 1)) {
        seconds[c].backwardInput += waited;
        busy += runs * waited;
      }
    }
    cost.sendSeconds -= waited;
  }

  /// One round more tells what a further round costs.
  void continueLine(const std::vector<solvers::StageSeconds> &seconds,
                    const solvers::TimingOptions &timing, const solvers::ScheduleTiming &t) {
    int64_t round = std::max<int64_t>(2, l.pp);
    solvers::PipelineSchedule longer =
        solvers::makeSchedule(l.schedule, static_cast<int>(l.pp), static_cast<int>(shortM + round),
                              static_cast<int>(l.virtualStages));
    solvers::ScheduleTiming more = solvers::timeSchedule(longer, seconds, timing);
    double rounds = static_cast<double>(m - shortM) / static_cast<double>(round);
    for (size_t r = 0; r < end.size(); ++r) {
      end[r] += rounds * (more.when[r].back().second - end[r]);
      busy[r] += rounds * (more.busy[r] - t.busy[r]);
    }
  }

  /// Of the mean rank's parameters, what this chunk holds.
  double parameterShare(const ChunkCost &chunk) const {
    double all = 0;
    for (const ChunkCost &c : cost.chunks)
      all += c.parameters + c.expertParameters;
    return all > 0 ? (chunk.parameters + chunk.expertParameters) / all * static_cast<double>(l.pp)
                   : 0;
  }

  double exposedBeside(double compute, double traffic) const {
    if (traffic <= 0)
      return 0;
    if (!l.recipe.overlapGradients)
      return traffic;
    return std::max(compute, traffic) + (1 - overlap()) * std::min(compute, traffic) - compute;
  }

  /// Per micro-batch: ZeRO-3 gathers all parameters twice and scatters all gradients once; ZeRO-2
  /// scatters gradients, because nobody holds all of them from one micro-batch to the next.
  double shardedSeconds() const {
    if (l.zeroStage < 2)
      return 0;
    double sum = 0;
    for (auto [elements, axis, layers] : shares(-1)) {
      bool wide = l.recipe.precision == Precision::F32 || l.recipe.precision == Precision::Tf32;
      cost::RankGroup group = shardGroup(axis);
      double n = std::max(1.0, layers);
      double gather = seconds(Collective::AllGather, elements / n * (wide ? 4 : 2), group);
      double scatter =
          seconds(Collective::ReduceScatter, elements / n * l.recipe.gradientBytes, group);
      sum += n * (l.zeroStage >= 3 ? 2 * gather + scatter : scatter);
    }
    return sum;
  }

  struct Share {
    double elements;
    Axis axis;
    double layers;
  };
  /// Parameters of a pipeline rank by who shares them; -1: the mean rank.
  std::vector<Share> shares(int rank) const {
    double dense = 0, experts = 0, layers = 0, ranks = rank < 0 ? static_cast<double>(l.pp) : 1;
    for (const ChunkCost &chunk : cost.chunks)
      if (rank < 0 || chunk.rank == rank) {
        dense += chunk.parameters;
        experts += chunk.expertParameters;
        layers += static_cast<double>(chunk.layers);
      }
    std::vector<Share> result = {{dense / ranks, Axis::Gradient, layers / ranks}};
    if (experts > 0)
      result.push_back({experts / ranks, Axis::ExpertData, layers / ranks});
    return result;
  }

  cost::RankGroup shardGroup(Axis axis) const {
    cost::RankGroup group = groupOf(l, axis);
    if (l.zeroGroup > 0 && l.zeroStage > 0)
      group.size = std::min(group.size, l.zeroGroup);
    return group;
  }

  /// Data-parallel traffic goes in buckets: each pays the latency of its ring.
  double seconds(Collective kind, double bytes, cost::RankGroup group) const {
    double pieces = 1;
    if (l.recipe.bucketBytes > 0 && kind != Collective::SendRecv)
      pieces = std::max(1.0, std::ceil(bytes / l.recipe.bucketBytes));
    return pieces * cache.collective(machine, kind, bytes / pieces, group);
  }

  double sendSeconds() const {
    if (l.pp == 1)
      return 0;
    cost::RankGroup pair{2, groupOf(l, Axis::Pipeline).stride};
    return seconds(Collective::SendRecv, boundaryBytes(w, l), pair);
  }

  /// An overlapped pair of DualPipe hides the expert traffic of one half behind the other.
  double pairShare() const {
    Parts all;
    for (const ChunkCost &chunk : cost.chunks)
      all += chunk.parts;
    double total = all.total();
    return total > 0 ? 1 - overlap() * all.expert / total : 1;
  }

  double offloadSeconds() const {
    if (l.offloadActivations <= 0)
      return 0;
    double bytes = 0, compute = 0;
    for (const ChunkCost &chunk : cost.chunks) {
      bytes += chunk.keptBytes * l.offloadActivations / (1 - std::min(0.99, l.offloadActivations));
      compute += chunk.parts.total();
    }
    double n = static_cast<double>(cost.chunks.size());
    return exposedBeside(compute / n, 2 * bytes / n / hostLinkBandwidth);
  }

  void dataParallel() {
    for (int r = 0; r < l.pp; ++r) {
      RankTail tail;
      double updated = 0;
      for (auto [elements, axis, layers] : shares(r)) {
        auto [reduce, gather] = tailSeconds(elements, axis);
        tail.gradientSeconds += reduce + gather;
        hide(tail, static_cast<size_t>(r), reduce, gather);
        double sharers = l.zeroStage > 0 ? static_cast<double>(shardGroup(axis).size) : 1;
        updated += elements / sharers;
      }
      // Read gradient, moments and master, write them and the parameters.
      double perElement = l.recipe.gradientBytes + 2.0 * l.recipe.optimizerBytes + 2;
      const cost::Machine own = machineOfRank(machine, l, r);
      cost::OpWork update;
      update.kind = cost::OpKind::Pointwise;
      update.facts.bytesRead = updated * perElement;
      tail.updateSeconds = cost::opCost(own.device, update, calibration).seconds;
      // Offloaded state: gradients go out, parameters come back, the host updates at its memory's
      // pace (about as fast as the link).
      tail.updateSeconds +=
          updated * l.offloadOptimizer * (l.recipe.gradientBytes + 2) * 2 / hostLinkBandwidth;
      cost.tails.push_back(tail);
    }
  }

  /// Gradients travel beside the last backward pass; parameters of a sharded optimizer beside the
  /// next step's first forward pass. Stages that end early have the time until the last one ends.
  void hide(RankTail &tail, size_t rank, double gradient, double parameter) const {
    if (!l.recipe.overlapGradients)
      return;
    double share = l.recipe.contiguousBuckets && l.zeroStage < 3 ? calibration("overlap-contiguous")
                                                                 : overlap();
    tail.hiddenGradients += std::min(share * gradient, lastBackward[rank]);
    if (l.recipe.overlapParameters)
      tail.hiddenParameters += std::min(share * parameter, firstForward[rank]);
  }

  /// Reduction of the gradients (with the agreement of copies of a shard) and, where the optimizer
  /// is sharded, gathering of the new parameters.
  std::pair<double, double> tailSeconds(double elements, Axis axis) const {
    cost::RankGroup all = groupOf(l, axis), shard = shardGroup(axis);
    double gradient = elements * l.recipe.gradientBytes, copy = elements * 2;
    if (l.recipe.precision == Precision::F32 || l.recipe.precision == Precision::Tf32)
      copy = elements * 4;
    if (l.zeroStage == 0)
      return {seconds(Collective::AllReduce, gradient, all), 0};
    double reduce = 0, gather = 0;
    if (l.zeroStage == 1)
      reduce = seconds(l.recipe.reduceWhole ? Collective::AllReduce : Collective::ReduceScatter,
                       gradient, shard);
    if (l.zeroStage < 3)
      gather = seconds(Collective::AllGather, copy, shard);
    if (shard.size < all.size)
      reduce += seconds(Collective::AllReduce, gradient / static_cast<double>(shard.size),
                        {all.size / shard.size, all.stride * shard.size});
    return {reduce, gather};
  }

  /// The rank that ends last decides the step; the one that works most decides what to do about it.
  void ranksOfStep() {
    double waited = 0;
    for (size_t r = 0; r < end.size(); ++r) {
      double tail = tailOf(r);
      cost.workSeconds.push_back(busy[r] + tail);
      cost.seconds = std::max(cost.seconds, end[r] + tail);
      if (cost.workSeconds[r] > cost.workSeconds[static_cast<size_t>(cost.busiest)] * (1 + 1e-9))
        cost.busiest = static_cast<int>(r);
    }
    for (double work : cost.workSeconds)
      waited += cost.seconds - work;
    cost.bubbleShare = waited / (cost.seconds * static_cast<double>(end.size()));
  }

  void summary() {
    ranksOfStep();
    size_t r = static_cast<size_t>(cost.busiest);
    const RankTail &tail = cost.tails[r];
    cost.gradientSeconds = tail.gradientSeconds;
    cost.gradientExposed = tail.exposed();
    cost.updateSeconds = tail.updateSeconds;
    double sends = r < sendBusy.size() ? sendBusy[r] : 0;
    cost.bubbleSeconds = cost.seconds - cost.workSeconds[r] + sends;
    double runs = static_cast<double>(m);
    if (l.schedule == solvers::ScheduleKind::DualPipe && l.pp > 1)
      runs /= 2; // each of the two copies sees half of the micro-batches
    double parts = 0;
    for (size_t c = 0; c < cost.chunks.size(); ++c)
      if (cost.chunks[c].rank == cost.busiest) {
        cost.parts += cost.chunks[c].parts.scaled(runs);
        cost.gatherSeconds += gatherExposed[c] * runs;
      }
    parts = cost.parts.total() + cost.gatherSeconds;
    cost.offloadSeconds = busy[r] - parts - sends; // what pairs hide is less than nothing
    double model = countFlops(w).model() * static_cast<double>(l.globalBatch);
    double peak = 0;
    for (int k = 0; k < l.pp; ++k)
      peak += peakOf(machineOfRank(machine, l, k).device, l.recipe.precision) *
              static_cast<double>(l.ranks() / l.pp);
    cost.mfu = model / (cost.seconds * peak);
    cost.mfuCausal =
        countFlops(w).model(true) * static_cast<double>(l.globalBatch) / (cost.seconds * peak);
    cost.hfu = hardwareFlops(w, l) / (cost.seconds * peak);
    cost.tokensPerSecond = static_cast<double>(l.globalBatch * w.sequence) / cost.seconds;
  }

  BlockCache &cache;
  const cost::Machine &machine;
  const Layout &l;
  StepOptions options;
  const Workload &w;
  const cost::Calibration &calibration;
  StepCost cost;
  int64_t m = 1, shortM = 1;
  solvers::PipelineSchedule schedule;
  std::vector<double> busy, end, lastBackward, firstForward, gatherExposed;
  std::vector<double> sendBusy; ///< of a rank's work, what it waits for sends
  double fullestShare = 0;
};

} // namespace

StepCost stepCost(BlockCache &cache, const cost::Machine &machine, const Layout &layout,
                  StepOptions options) {
  return Step(cache, machine, layout, options).run();
}

double stepBound(BlockCache &cache, const cost::Machine &machine, const Layout &layout,
                 const std::vector<ChunkCost> *chunks) {
  StepOptions options;
  options.chunks = chunks;
  return Step(cache, machine, layout, options).bound();
}

StepCost stepCost(const cost::Machine &machine, const Workload &workload, const Layout &layout,
                  const cost::Calibration &calibration) {
  BlockCache cache(workload, calibration);
  return stepCost(cache, machine, layout);
}

} // namespace gpucc::simulate
