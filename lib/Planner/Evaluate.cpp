//===- Evaluate.cpp - seconds and bytes of one fully chosen layout --------===//
//
// Sums per segment, cut into stages so that the slowest stage is fastest, then the pipeline
// schedule is run. With one stage the result equals the weighted sum that the assignment minimises.
//
// Example: 4 segments of 1 ms forward and 2 ms backward, pp=2, 4 micro-batches: stages of 2 + 4 ms,
// (4 + 2 - 1) * 6 = 30 ms, of which 6 ms are bubble.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"
#include "gpucc/Planner/Plan.h"
#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace gpucc::planner {

namespace {

constexpr double gradientBucketBytes = 25e6; // two buckets are in flight

struct SegmentCost {
  double forward = 0, backward = 0, update = 0; ///< seconds of one run
  double communication = 0;                     ///< per step, part of the above
};

/// Contiguous cut of the segments into `stages` parts with the least largest weight.
std::vector<int> cutStages(const std::vector<double> &weight, int stages) {
  int n = static_cast<int>(weight.size());
  std::vector<double> prefix(n + 1, 0);
  for (int i = 0; i < n; ++i)
    prefix[i + 1] = prefix[i] + weight[i];
  double infinite = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(stages + 1, std::vector<double>(n + 1, infinite));
  std::vector<std::vector<int>> from(stages + 1, std::vector<int>(n + 1, 0));
  best[0][0] = 0;
  for (int s = 1; s <= stages; ++s)
    for (int end = s; end <= n; ++end)
      for (int begin = s - 1; begin < end; ++begin) {
        double value = std::max(best[s - 1][begin], prefix[end] - prefix[begin]);
        if (value < best[s][end]) {
          best[s][end] = value;
          from[s][end] = begin;
        }
      }
  std::vector<int> first(stages);
  for (int s = stages, end = n; s >= 1; --s)
    end = first[s - 1] = from[s][end];
  return first;
}

class Evaluator {
public:
  Evaluator(const PlanProblem &problem, const Candidate &candidate, const LayoutProblem &layout,
            const std::vector<int> &choice)
      : p(problem), c(candidate), l(layout), choice(choice) {}

  LayoutCost run() {
    sumSegments();
    std::vector<double> weight;
    for (const SegmentCost &s : segments)
      weight.push_back(s.forward + s.backward);
    cost.firstSegment = cutStages(weight, static_cast<int>(c.pp));
    stageOf.resize(segments.size());
    for (int s = 0; s < static_cast<int>(segments.size()); ++s)
      stageOf[s] =
          static_cast<int>(std::upper_bound(cost.firstSegment.begin(), cost.firstSegment.end(), s) -
                           cost.firstSegment.begin()) -
          1;
    time();
    memory();
    return cost;
  }

private:
  void add(int segment, Phase phase, double seconds, bool again, bool isCommunication) {
    SegmentCost &s = segments[segment];
    double m = static_cast<double>(c.microBatches);
    switch (phase) {
    case Phase::Forward:
      s.forward += seconds;
      if (again)
        s.backward += seconds;
      break;
    case Phase::Backward:
      s.backward += seconds;
      break;
    case Phase::Update:
      s.update += seconds;
      m = 1;
      break;
    }
    if (isCommunication)
      s.communication += seconds * m * (again && phase == Phase::Forward ? 2 : 1);
  }

  bool runsAgain(const LayoutNode &node) const {
    if (c.recompute == RecomputeMode::None)
      return false;
    if (node.kind != LayoutNode::Op)
      return c.recompute == RecomputeMode::Full;
    const PlanOp &op = p.ops[node.index];
    return !op.noRecompute && (c.recompute == RecomputeMode::Full || op.cheap);
  }

  double edgeSeconds(const LayoutEdge &e) const {
    return e
        .seconds[static_cast<size_t>(choice[e.from]) * l.nodes[e.to].seconds.size() + choice[e.to]];
  }

  void sumSegments() {
    segments.assign(p.numSegments, {});
    for (size_t i = 0; i < l.nodes.size(); ++i)
      add(l.nodes[i].segment, l.nodes[i].phase, l.nodes[i].seconds[choice[i]],
          runsAgain(l.nodes[i]), l.nodes[i].kind != LayoutNode::Op);
    for (const LayoutEdge &e : l.edges)
      add(e.segment, e.phase, edgeSeconds(e) * (e.gradientSum ? 1 - p.gradientOverlap : 1),
          runsAgain(l.nodes[e.to]), true);
  }

  int stage(int node) const { return stageOf[l.nodes[node].segment]; }

  /// dp and tp layout of the value that leaves a node.
  double bytesLeaving(const LayoutEdge &e) const {
    const LayoutNode &from = l.nodes[e.from];
    int dim = p.tensors[e.tensor].batchDim;
    int dp = dim >= 0 && c.dp > 1 ? dim : replicatedLayout, tp = replicatedLayout;
    if (from.kind != LayoutNode::Op) {
      tp = from.layouts[choice[e.from]];
    } else {
      const std::vector<int> &results = p.ops[from.index].results;
      auto at = std::find(results.begin(), results.end(), e.tensor) - results.begin();
      tp = std::max(replicatedLayout, from.strategies[choice[e.from]].resultTp[at]);
    }
    return localBytes(p, e.tensor, dp, tp, c, false);
  }

  /// The slowest transfer between two stages for one micro-batch in one direction.
  double sendSeconds() const {
    std::map<std::pair<int, int>, double> bytes;
    std::set<std::tuple<int, int, int>> sent; // a value is sent once per stage
    for (const LayoutEdge &e : l.edges) {
      bool moves = l.nodes[e.from].kind != LayoutNode::State && e.phase != Phase::Update &&
                   stage(e.from) != stage(e.to);
      if (moves && sent.insert({stage(e.from), stage(e.to), e.tensor}).second)
        bytes[{stage(e.from), stage(e.to)}] += bytesLeaving(e);
    }
    double slowest = 0;
    for (const auto &[ends, sum] : bytes)
      slowest = std::max(slowest, cost::collectiveSeconds(p.machine, cost::Collective::SendRecv,
                                                          sum, {2, c.dp * c.tp}));
    return slowest;
  }

  void time() {
    std::vector<double> forward(c.pp, 0), backward(c.pp, 0), update(c.pp, 0), comm(c.pp, 0);
    for (size_t s = 0; s < segments.size(); ++s) {
      forward[stageOf[s]] += segments[s].forward;
      backward[stageOf[s]] += segments[s].backward;
      update[stageOf[s]] += segments[s].update;
      comm[stageOf[s]] += segments[s].communication;
    }
    solvers::PipelineSchedule schedule =
        solvers::makeSchedule(c.schedule, static_cast<int>(c.pp), static_cast<int>(c.microBatches));
    inFlight = solvers::microBatchesInFlight(schedule);
    solvers::ScheduleTiming timing =
        solvers::timeSchedule(schedule, forward, backward, c.pp > 1 ? sendSeconds() : 0);
    size_t slowest = std::max_element(timing.busy.begin(), timing.busy.end()) - timing.busy.begin();
    cost.updateSeconds = *std::max_element(update.begin(), update.end());
    cost.seconds = timing.total + cost.updateSeconds;
    cost.bubbleSeconds = timing.total - timing.busy[slowest];
    cost.communicationSeconds = comm[slowest];
    cost.computeSeconds = timing.busy[slowest] + update[slowest] - comm[slowest];
  }

  /// Kept bytes of one micro-batch of the values that `node` provides.
  double keptBytes(size_t i, bool onlyCheap, bool onlyFixed) const {
    const LayoutNode &node = l.nodes[i];
    auto counts = [&](const PlanOp *op) {
      bool cheap = op && op->cheap && !op->noRecompute;
      return (!onlyCheap || cheap) && (!onlyFixed || (op && op->noRecompute));
    };
    if (node.kind == LayoutNode::Hub) {
      if (!l.isKept[node.index] || !counts(producerOf(node.index)))
        return 0;
      int dim = p.tensors[node.index].batchDim;
      int dp = dim >= 0 && c.dp > 1 ? dim : replicatedLayout;
      return localBytes(p, node.index, dp, node.layouts[choice[i]], c, false);
    }
    if (node.kind != LayoutNode::Op || !counts(&p.ops[node.index]))
      return 0;
    double bytes = 0;
    const PlanOp &op = p.ops[node.index];
    const Strategy &s = node.strategies[choice[i]];
    for (size_t r = 0; r < op.results.size(); ++r)
      if (l.isKept[op.results[r]] && l.nodeOfTensor[op.results[r]] < 0)
        bytes += localBytes(p, op.results[r], s.resultDp[r], s.resultTp[r], c, false);
    return bytes;
  }

  const PlanOp *producerOf(int tensor) const {
    if (producers.empty()) {
      producers.assign(p.tensors.size(), -1);
      for (int op = 0; op < static_cast<int>(p.ops.size()); ++op)
        for (int t : p.ops[op].results)
          producers[t] = op;
    }
    return producers[tensor] < 0 ? nullptr : &p.ops[producers[tensor]];
  }

  void addStates(std::vector<cost::RankMemory> &memory) const {
    for (size_t i = 0; i < l.nodes.size(); ++i) {
      if (l.nodes[i].kind != LayoutNode::State)
        continue;
      const PlanTensor &t = p.tensors[l.nodes[i].index];
      double local =
          localBytes(p, l.nodes[i].index, replicatedLayout, l.nodes[i].layouts[choice[i]], c, true);
      double share = local / std::max(1.0, t.bytes());
      cost::RankMemory part = cost::stateMemory(
          {local, share * t.gradientBytes, share * t.optimizerBytes, c.zero, c.dp});
      std::set<int> stages{stageOf[l.nodes[i].segment]}; // a shared weight is on every reader's
      for (const LayoutEdge &e : l.edges)
        if (e.from == static_cast<int>(i))
          stages.insert(stage(e.to));
      for (int s : stages) {
        memory[s].parameters += part.parameters;
        memory[s].gradients += part.gradients;
        memory[s].optimizer += part.optimizer;
      }
    }
  }

  void addActivations(std::vector<cost::RankMemory> &memory) const {
    std::vector<double> all(p.numSegments, 0), cheap(p.numSegments, 0), fixed(p.numSegments, 0),
        entering(p.numSegments, 0);
    for (size_t i = 0; i < l.nodes.size(); ++i) {
      int s = l.nodes[i].segment;
      all[s] += keptBytes(i, false, false);
      cheap[s] += keptBytes(i, true, false);
      fixed[s] += keptBytes(i, false, true);
    }
    std::set<std::pair<int, int>> counted; // tensor, segment
    for (const LayoutEdge &e : l.edges)
      if (e.phase == Phase::Forward && l.nodes[e.from].kind != LayoutNode::State &&
          l.nodes[e.from].segment != l.nodes[e.to].segment &&
          counted.insert({e.tensor, l.nodes[e.to].segment}).second)
        entering[l.nodes[e.to].segment] += bytesLeaving(e);
    for (int s = 0; s < p.numSegments; ++s) {
      cost::RankMemory &m = memory[stageOf[s]];
      double flight = inFlight[stageOf[s]], again = 0;
      if (c.recompute == RecomputeMode::None)
        m.activations += flight * all[s];
      else if (c.recompute == RecomputeMode::Selective)
        m.activations += flight * (all[s] - cheap[s]), again = cheap[s];
      else
        m.activations += flight * (entering[s] + fixed[s]), again = all[s];
      m.workspace = std::max(m.workspace, again);
    }
  }

  /// Temporary values: the widest op of each stage, twice (its inputs are still being produced).
  void addWorkspace(std::vector<cost::RankMemory> &memory) const {
    std::vector<double> widest(c.pp, 0);
    for (size_t i = 0; i < l.nodes.size(); ++i) {
      if (l.nodes[i].kind != LayoutNode::Op)
        continue;
      const PlanOp &op = p.ops[l.nodes[i].index];
      const Strategy &s = l.nodes[i].strategies[choice[i]];
      double bytes = 0;
      for (size_t r = 0; r < op.results.size(); ++r)
        if (op.newStateOf.empty() || op.newStateOf[r] < 0)
          bytes += localBytes(p, op.results[r], s.resultDp[r], s.resultTp[r], c,
                              op.phase == Phase::Update);
      int at = stageOf[l.nodes[i].segment];
      widest[at] = std::max(widest[at], bytes);
    }
    for (int64_t s = 0; s < c.pp; ++s)
      memory[s].workspace += 2 * widest[s];
  }

  void memory() {
    std::vector<cost::RankMemory> memory(c.pp);
    addStates(memory);
    addActivations(memory);
    addWorkspace(memory);
    for (cost::RankMemory &m : memory) {
      m.context = p.machine.device.contextBytes;
      if (c.dp > 1)
        m.communication += std::min(2 * gradientBucketBytes, m.gradients);
    }
    auto fullest = std::max_element(memory.begin(), memory.end(), [](const auto &a, const auto &b) {
      return a.total() < b.total();
    });
    cost.memory = *fullest;
    cost.fullestStage = static_cast<int>(fullest - memory.begin());
    cost.fits = cost.memory.total() <= p.memoryPerRank();
  }

  const PlanProblem &p;
  const Candidate &c;
  const LayoutProblem &l;
  const std::vector<int> &choice;
  std::vector<SegmentCost> segments;
  std::vector<int> stageOf, inFlight;
  mutable std::vector<int> producers;
  LayoutCost cost;
};

} // namespace

LayoutCost evaluateLayout(const PlanProblem &problem, const Candidate &candidate,
                          const LayoutProblem &layout, const std::vector<int> &choice) {
  return Evaluator(problem, candidate, layout, choice).run();
}

} // namespace gpucc::planner
