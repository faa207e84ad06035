//===- Layout.cpp - the inner problem of one candidate --------------------===//
//
// Nodes: every op, every state (weights are stored in one layout), and a hub for every produced
// value with several readers, so that one all-gather serves them all. Edges: value flow, priced by
// the change of layout. Weights turn the seconds of one run into seconds of a step: forward and
// backward run once per micro-batch (and per turn of the bubble), the update once; forward twice
// under full recomputation.
//
// Example: y read by three contracts under sequence parallelism: y -> hub costs one all-gather,
// hub -> readers nothing, instead of three all-gathers.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"
#include "gpucc/Planner/Plan.h"
#include <algorithm>

namespace gpucc::planner {

namespace {

class LayoutBuilder {
public:
  LayoutBuilder(const PlanProblem &problem, const Candidate &candidate)
      : p(problem), c(candidate) {}

  LayoutProblem build() {
    countReaders();
    addNodes();
    addEdges();
    addAssign();
    return std::move(out);
  }

private:
  void countReaders() {
    size_t n = p.tensors.size();
    producer.assign(n, -1);
    readers.resize(n);
    out.isKept.assign(n, 0);
    for (int op = 0; op < static_cast<int>(p.ops.size()); ++op) {
      for (int t : p.ops[op].results)
        producer[t] = op;
      for (int t : p.ops[op].operands)
        if (readers[t].empty() || readers[t].back() != op)
          readers[t].push_back(op);
    }
    for (size_t t = 0; t < n; ++t)
      if (producer[t] >= 0 && p.ops[producer[t]].phase == Phase::Forward)
        for (int op : readers[t])
          out.isKept[t] |= p.ops[op].phase == Phase::Backward;
  }

  /// dp layout of a hub: split where the value has a batch dimension, summed up otherwise.
  int hubDp(int tensor) const {
    int dim = p.tensors[tensor].batchDim;
    return dim >= 0 && c.dp > 1 ? dim : replicatedLayout;
  }

  void addNodes() {
    std::vector<char> dpPartial = dpPartialTensors(p);
    out.nodeOfOp.assign(p.ops.size(), -1);
    out.nodeOfTensor.assign(p.tensors.size(), -1);
    for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
      if (p.tensors[t].isState)
        addStored(t, LayoutNode::State, firstReader(t), Phase::Update);
    }
    for (int op = 0; op < static_cast<int>(p.ops.size()); ++op) {
      LayoutNode node{LayoutNode::Op, op, p.ops[op].segment, p.ops[op].phase, {}, {}, {}};
      node.strategies = strategiesOf(p, p.ops[op], c, dpPartial);
      for (const Strategy &s : node.strategies)
        node.seconds.push_back(s.seconds);
      out.nodeOfOp[op] = static_cast<int>(out.nodes.size());
      out.nodes.push_back(std::move(node));
      for (int t : p.ops[op].results)
        if (!p.tensors[t].isState && readers[t].size() > 1) {
          bool allUpdate = std::all_of(readers[t].begin(), readers[t].end(), [&](int reader) {
            return p.ops[reader].phase == Phase::Update;
          });
          addStored(t, LayoutNode::Hub, p.ops[op].segment,
                    allUpdate ? Phase::Update : p.ops[op].phase);
        }
    }
  }

  int firstReader(int tensor) const {
    return readers[tensor].empty() ? 0 : p.ops[readers[tensor].front()].segment;
  }

  void addStored(int tensor, LayoutNode::Kind kind, int segment, Phase phase) {
    LayoutNode node{kind, tensor, segment, phase, {}, {}, {}};
    for (int layout : storedLayouts(p.tensors[tensor], c)) {
      node.layouts.push_back(layout);
      double seconds = 0;
      if (kind == LayoutNode::State && c.zero >= 1 && p.tensors[tensor].optimizerBytes > 0)
        seconds =
            bucketedSeconds(p, cost::Collective::AllGather,
                            localBytes(p, tensor, replicatedLayout, layout, c, true), {c.dp, c.tp});
      node.seconds.push_back(seconds);
    }
    out.nodeOfTensor[tensor] = static_cast<int>(out.nodes.size());
    out.nodes.push_back(std::move(node));
  }

  /// dp and tp layout per choice of the node that provides or takes `tensor`.
  struct Ends {
    std::vector<int> dp, tp;
  };
  Ends stored(int tensor) const {
    const LayoutNode &node = out.nodes[out.nodeOfTensor[tensor]];
    int dp = node.kind == LayoutNode::Hub ? hubDp(tensor) : replicatedLayout;
    return {std::vector<int>(node.layouts.size(), dp), node.layouts};
  }
  Ends ofOp(int op, size_t index, bool isResult) const {
    Ends ends;
    for (const Strategy &s : out.nodes[out.nodeOfOp[op]].strategies) {
      ends.dp.push_back(isResult ? s.resultDp[index] : s.operandDp[index]);
      ends.tp.push_back(isResult ? s.resultTp[index] : s.operandTp[index]);
    }
    return ends;
  }

  void addEdge(int from, const Ends &source, int to, const Ends &target, int tensor, int segment,
               Phase phase) {
    LayoutEdge edge{from, to, tensor, segment, phase, {}, false};
    bool perStep = phase == Phase::Update, any = false;
    for (size_t a = 0; a < source.dp.size(); ++a)
      for (size_t b = 0; b < target.dp.size(); ++b) {
        bool gradientSum = false;
        edge.seconds.push_back(reshardSeconds(p, tensor, source.dp[a], source.tp[a], target.dp[b],
                                              target.tp[b], c, perStep, gradientSum));
        any |= edge.seconds.back() > 0;
        edge.gradientSum |= gradientSum && perStep;
      }
    bool crosses = out.nodes[from].segment != out.nodes[to].segment;
    if (any || crosses)
      out.edges.push_back(std::move(edge));
  }

  void addEdges() {
    for (int op = 0; op < static_cast<int>(p.ops.size()); ++op) {
      const PlanOp &o = p.ops[op];
      int node = out.nodeOfOp[op];
      for (size_t i = 0; i < o.results.size(); ++i) {
        int t = o.results[i], hub = out.nodeOfTensor[t];
        if (hub >= 0 && out.nodes[hub].kind == LayoutNode::Hub)
          addEdge(node, ofOp(op, i, true), hub, stored(t), t, out.nodes[hub].segment,
                  out.nodes[hub].phase);
        int state = o.newStateOf.empty() ? -1 : o.newStateOf[i];
        if (state >= 0 && out.nodeOfTensor[state] >= 0)
          addEdge(node, ofOp(op, i, true), out.nodeOfTensor[state], stored(state), t, o.segment,
                  Phase::Update);
      }
      for (size_t i = 0; i < o.operands.size(); ++i) {
        int t = o.operands[i];
        if (std::find(o.operands.begin(), o.operands.begin() + static_cast<std::ptrdiff_t>(i), t) !=
            o.operands.begin() + static_cast<std::ptrdiff_t>(i))
          continue; // the same value twice is moved once
        if (out.nodeOfTensor[t] >= 0)
          addEdge(out.nodeOfTensor[t], stored(t), node, ofOp(op, i, false), t, o.segment, o.phase);
        else if (producer[t] >= 0)
          addEdge(out.nodeOfOp[producer[t]], ofOp(producer[t], resultIndex(t), true), node,
                  ofOp(op, i, false), t, o.segment, o.phase);
      }
    }
  }

  size_t resultIndex(int tensor) const {
    const std::vector<int> &results = p.ops[producer[tensor]].results;
    return static_cast<size_t>(std::find(results.begin(), results.end(), tensor) - results.begin());
  }

  /// A balanced pipeline takes micro-batches + stages - 1 turns of its slowest stage.
  double runs(Phase phase, bool again) const {
    double m = static_cast<double>(c.microBatches + c.pp - 1);
    return phase == Phase::Update ? 1 : phase == Phase::Forward && again ? 2 * m : m;
  }

  bool runsAgain(const LayoutNode &node) const {
    if (c.recompute == RecomputeMode::None)
      return false;
    if (node.kind != LayoutNode::Op)
      return c.recompute == RecomputeMode::Full;
    const PlanOp &op = p.ops[node.index];
    return !op.noRecompute && (c.recompute == RecomputeMode::Full || op.cheap);
  }

  /// Bytes that a choice keeps for a step, for the memory price: states, and activations in flight.
  double bytesOf(const LayoutNode &node, size_t choice) const {
    double inFlight = static_cast<double>(std::min(c.microBatches, c.pp));
    if (node.kind == LayoutNode::State) {
      const PlanTensor &t = p.tensors[node.index];
      double share = localBytes(p, node.index, replicatedLayout, node.layouts[choice], c, true) /
                     std::max(1.0, t.bytes());
      double zero = c.zero >= 1 ? static_cast<double>(c.dp) : 1;
      return share * (t.bytes() + t.gradientBytes + t.optimizerBytes / zero);
    }
    if (c.recompute == RecomputeMode::Full)
      return 0;
    if (node.kind == LayoutNode::Hub)
      return out.isKept[node.index] ? inFlight * localBytes(p, node.index, hubDp(node.index),
                                                            node.layouts[choice], c, false)
                                    : 0;
    double bytes = 0;
    const PlanOp &op = p.ops[node.index];
    for (size_t i = 0; i < op.results.size(); ++i)
      if (int t = op.results[i]; out.isKept[t] && out.nodeOfTensor[t] < 0)
        bytes += inFlight * localBytes(p, t, node.strategies[choice].resultDp[i],
                                       node.strategies[choice].resultTp[i], c, false);
    return bytes;
  }

  void addAssign() {
    for (const LayoutNode &node : out.nodes) {
      AssignNode assign;
      double weight = runs(node.phase, runsAgain(node));
      for (size_t s = 0; s < node.seconds.size(); ++s) {
        assign.cost.push_back(weight * node.seconds[s]);
        assign.memory.push_back(bytesOf(node, s));
      }
      out.assign.nodes.push_back(std::move(assign));
    }
    for (const LayoutEdge &edge : out.edges) {
      AssignEdge assign{edge.from, edge.to, edge.seconds};
      double weight = runs(edge.phase, runsAgain(out.nodes[edge.to]));
      if (edge.gradientSum)
        weight *= 1 - p.gradientOverlap;
      for (double &seconds : assign.cost)
        seconds *= weight;
      out.assign.edges.push_back(std::move(assign));
    }
  }

  const PlanProblem &p;
  const Candidate &c;
  LayoutProblem out;
  std::vector<int> producer;
  std::vector<std::vector<int>> readers;
};

} // namespace

LayoutProblem buildLayoutProblem(const PlanProblem &problem, const Candidate &candidate) {
  return LayoutBuilder(problem, candidate).build();
}

} // namespace gpucc::planner
