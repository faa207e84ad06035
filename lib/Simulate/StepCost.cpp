//===- StepCost.cpp - chunks, schedule, data parallelism, update ----------===//
#include "gpucc/Simulate/StepCost.h"
#include "Step.h"
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
    double before = 0, behind = 0;
    double gather = shardedSeconds(), share = pairShare(), most = 0;
    // As much time to hide traffic behind as anyone could wish.
    lastBackward.assign(p, 1e30);
    firstForward = lastBackward;
    for (const ChunkCost &chunk : cost.chunks) {
      size_t r = static_cast<size_t>(chunk.rank);
      double all = chunk.parts.total();
      double exposed = exposedBeside(all, gather * parameterShare(chunk));
      work[r] += runs() * (all + exposed) * share;
      if (start[r] < 0) {
        start[r] = twoCopies() ? 0 : before;
        after[r] = behind;
      }
      before += chunk.seconds.forward;
      behind += chunk.seconds.backwardInput + chunk.seconds.backwardWeight;
    }
    dataParallel();
    // With whole backwards a rank ends with one, which the ranks before it still have to pass on;
    // the rank of the first chunk is the last to end.
    if (!solvers::splitsBackward(l.schedule)) {
      for (size_t r = 0; r < p; ++r)
        most = std::max(most, start[r] + work[r] + after[r]);
      most += tailOf(static_cast<size_t>(cost.chunks.front().rank));
    }
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
    addMemory(cost, machine, w, l, calibration, options.closedFormMemory ? nullptr : &schedule);
    if (options.memoryOnly)
      return cost;
    pipeline();
    dataParallel();
    summary();
    return cost;
  }

private:
  double overlap() const { return calibration("overlap"); }
  bool twoCopies() const { return hasTwoCopies(l); }
  /// Micro-batches that pass a chunk: each of DualPipe's two copies sees half of them.
  double runs() const { return static_cast<double>(m) / (twoCopies() ? 2 : 1); }

  /// A pipeline repeats in its middle: a long one is timed twice shorter and continued.
  void chooseSchedule() {
    shortM = m;
    int64_t round = std::max<int64_t>(2, l.pp);
    if (options.mostMicroBatches > 0 && m > options.mostMicroBatches + round)
      shortM = options.mostMicroBatches / round * round + m % round;
    schedule = solvers::makeSchedule(l.schedule, static_cast<int>(l.pp), static_cast<int>(shortM),
                                     static_cast<int>(l.virtualStages));
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
    waitForSends(seconds, waited ? 1 : wholeExposed);
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
    double waited = share * cost.sendSeconds;
    size_t n = seconds.size() / (twoCopies() ? 2 : 1);
    sendBusy.assign(static_cast<size_t>(l.pp), 0);
    for (size_t c = 0; c < seconds.size(); ++c) {
      size_t at = c % n; // in its copy
      auto crosses = [&](size_t other) {
        return cost.chunks[c - at + other].rank != cost.chunks[c].rank;
      };
      double &waits = sendBusy[static_cast<size_t>(cost.chunks[c].rank)];
      if (at + 1 < n && crosses(at + 1)) {
        seconds[c].forward += waited;
        waits += runs() * waited;
      }
      if (at > 0 && crosses(at - 1)) {
        seconds[c].backwardInput += waited;
        waits += runs() * waited;
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
    cost.bubbleSeconds = cost.seconds - cost.workSeconds[r] + sendBusy[r];
    for (size_t c = 0; c < cost.chunks.size(); ++c)
      if (cost.chunks[c].rank == cost.busiest) {
        cost.parts += cost.chunks[c].parts.scaled(runs());
        cost.gatherSeconds += gatherExposed[c] * runs();
      }
    // What pairs hide is less than nothing.
    cost.offloadSeconds = busy[r] - cost.parts.total() - cost.gatherSeconds - sendBusy[r];
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
