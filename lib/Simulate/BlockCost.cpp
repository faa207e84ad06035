//===- BlockCost.cpp - one block in seconds and bytes ---------------------===//
#include "Step.h"
#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/OpCost.h"
#include "gpucc/Simulate/StepCost.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace gpucc::simulate {

using namespace workload;

Parts &Parts::operator+=(const Parts &o) {
  matmul += o.matmul;
  attention += o.attention;
  pointwise += o.pointwise;
  host += o.host;
  tensor += o.tensor;
  context += o.context;
  expert += o.expert;
  recompute += o.recompute;
  return *this;
}

Parts Parts::scaled(double f) const {
  return {matmul * f, attention * f, pointwise * f, host * f,
          tensor * f, context * f,   expert * f,    recompute * f};
}

namespace {

/// Share of a collective that runs beside compute and is still waited for: the pieces at both ends
/// have nothing to hide behind.
constexpr double besideExposed = 0.5;

/// What the host does for one pass through a block.
struct Host {
  double launches = 0, calls = 0;
  void add(const cost::OpWork &work) {
    launches += work.launches;
    calls += work.calls;
  }
};

class Pricing {
public:
  Pricing(const cost::Machine &machine, const Layout &layout, const cost::Calibration &calibration)
      : machine(machine), layout(layout), calibration(calibration) {}

  double add(Parts &to, const cost::OpWork &work) {
    double seconds = cost::opCost(machine.device, work, calibration).seconds;
    switch (work.kind) {
    case cost::OpKind::Matmul:
      to.matmul += seconds;
      break;
    case cost::OpKind::Attention:
      to.attention += seconds;
      break;
    case cost::OpKind::Pointwise:
      to.pointwise += seconds;
      break;
    case cost::OpKind::View:
      break;
    }
    return seconds;
  }

  void add(Parts &to, const BlockCollective &c) {
    cost::RankGroup group = groupOf(layout, c.axis);
    bool once = layout.recipe.expertsOnce && c.axis == Axis::Expert;
    double seconds =
        once ? cost::onceSeconds(machine, c.bytes / static_cast<double>(c.routing.copies), group,
                                 c.routing)
             : cost::collectiveCost(machine, c.kind, c.bytes, group, calibration).seconds;
    double exposed = seconds * (c.beside ? besideExposed : 1);
    if (c.whole)
      (c.kind == cost::Collective::AllGather ? gathers : sums) += seconds;
    else if (c.axis == Axis::Context)
      to.context += seconds; // set against attention at the end
    else if (c.axis == Axis::Tensor)
      to.tensor += exposed;
    else
      to.expert += exposed;
  }

  /// Ring attention hides what fits behind the core.
  void hideContext(Parts &parts) const {
    double all = parts.context;
    if (layout.recipe.gatherContext)
      return; // gathered before the core begins
    parts.context =
        std::max(0.0, all - parts.attention) + wholeExposed * std::min(all, parts.attention);
  }

  /// The forward pass without the ops from number `end` on and their collectives.
  double upTo(const BlockWork &work, size_t end) {
    Parts parts;
    Host host;
    std::set<std::string> skipped;
    for (size_t i = 0; i < work.ops.size(); ++i)
      if (i < end) {
        add(parts, work.ops[i].forward);
        host.add(work.ops[i].forward);
      } else {
        skipped.insert(work.ops[i].name);
      }
    for (const BlockCollective &c : work.collectives)
      if (c.pass == Pass::Forward && !skipped.count(c.name)) {
        add(parts, c);
        host.launches += 1;
      }
    hideContext(parts);
    addHost(parts, host);
    return parts.total();
  }

  /// Backward of the tensor group: the input is gathered beside the input gradient's products, its
  /// gradient summed beside the weight gradient's.
  void hideWhole(BlockCost &cost) const {
    auto exposed = [](double traffic, double products) {
      return std::max(0.0, traffic - products) + wholeExposed * std::min(traffic, products);
    };
    cost.backwardInput.tensor += exposed(gathers, cost.backwardInput.matmul);
    cost.backwardWeight.tensor += exposed(sums, cost.backwardWeight.matmul);
  }

  /// The host issues operators beside the device. Graphs of a part of the layer hold whole
  /// operators, not the calls for single experts, whose number of rows changes from step to step.
  void addHost(Parts &parts, Host host) const {
    if (layout.recipe.cudaGraphs)
      return;
    double device = parts.total();
    double busy = host.launches * layout.recipe.hostShare * calibration("host-seconds") +
                  host.calls * calibration("call-seconds");
    parts.host += layout.recipe.waitedLaunches ? busy : cost::besideHost(device, busy) - device;
  }

private:
  const cost::Machine &machine;
  const Layout &layout;
  const cost::Calibration &calibration;
  double gathers = 0, sums = 0; ///< seconds beside whole products
};

} // namespace

BlockCost blockCost(const cost::Machine &given, const Workload &workload, const Layout &layout,
                    BlockKind kind, const cost::Calibration &calibration) {
  // f32 operands that are rounded to tf32 run at that unit's rate.
  cost::Machine machine = given;
  if (layout.recipe.precision == Precision::Tf32 && machine.device.tf32Peak > 0)
    machine.device.peak[DType::F32] = machine.device.tf32Peak;
  BlockWork work = expandBlock(workload, layout, kind);
  BlockCost cost;
  Pricing price(machine, layout, calibration);
  Parts core, cheap, byOp;
  Host forwardHost, inputHost, weightHost, coreHost, cheapHost, byOpHost;
  for (const BlockOp &op : work.ops) {
    price.add(cost.forward, op.forward);
    forwardHost.add(op.forward);
    if (op.core) {
      price.add(core, op.forward);
      coreHost.add(op.forward);
    }
    if (op.cheap || (op.core && op.forward.kind != cost::OpKind::Attention)) {
      price.add(cheap, op.forward);
      cheapHost.add(op.forward);
    }
    if (op.againByOp > 0) {
      Parts once;
      price.add(once, op.forward);
      byOp += once.scaled(op.againByOp);
      byOpHost.add(op.forward);
    }
    for (const cost::OpWork &back : op.backwardInput) {
      price.add(cost.backwardInput, back);
      inputHost.add(back);
    }
    for (const cost::OpWork &back : op.backwardWeight) {
      price.add(cost.backwardWeight, back);
      weightHost.add(back);
    }
    cost.workspaceBytes = std::max(cost.workspaceBytes, op.forward.facts.bytesWritten * 2);
  }
  for (const BlockCollective &c : work.collectives) {
    bool forward = c.pass == Pass::Forward;
    price.add(forward ? cost.forward : cost.backwardInput, c);
    (forward ? forwardHost : inputHost).launches += 1; // the host issues it like an operator
    if (forward && c.kind == cost::Collective::AllGather && c.axis == Axis::Tensor) {
      price.add(byOp, c); // sums are kept
      byOpHost.launches += 1;
    }
  }
  price.hideContext(cost.forward);
  price.hideContext(cost.backwardInput);
  price.hideWhole(cost);
  price.addHost(cost.forward, forwardHost);
  price.addHost(cost.backwardInput, inputHost);
  price.addHost(cost.backwardWeight, weightHost);
  price.addHost(core, coreHost);
  price.addHost(cheap, cheapHost);
  price.addHost(byOp, byOpHost);
  cost.again[static_cast<int>(Recompute::Selective)] = core.total();
  cost.again[static_cast<int>(Recompute::Cheap)] = cheap.total();
  cost.again[static_cast<int>(Recompute::Ops)] = byOp.total();
  cost.again[static_cast<int>(Recompute::Full)] =
      layout.recipe.stopsRecomputing ? price.upTo(work, work.lastRead()) : cost.forward.total();
  for (Recompute mode :
       {Recompute::None, Recompute::Selective, Recompute::Cheap, Recompute::Full, Recompute::Ops})
    cost.savedBytes[static_cast<int>(mode)] = work.savedBytes(mode);
  cost.parameters = work.parameters;
  cost.expertParameters = work.expertParameters;
  cost.inputBytes = work.inputBytes;
  return cost;
}

double BlockCache::collective(const cost::Machine &machine, cost::Collective kind, double bytes,
                              cost::RankGroup group) {
  std::array<double, 6> key = {static_cast<double>(kind),       bytes,
                               static_cast<double>(group.size), static_cast<double>(group.stride),
                               machine.inter.bandwidth,         machine.intra.bandwidth};
  auto [it, isNew] = collectives.insert({key, 0});
  if (isNew)
    it->second = cost::collectiveCost(machine, kind, bytes, group, calibration).seconds;
  return it->second;
}

int64_t BlockCache::numberOf(const cost::Machine &machine) {
  auto it = std::find_if(nodes.begin(), nodes.end(), [&machine](const Node &node) {
    return node.devices == machine.devicesPerNode && node.device == machine.device &&
           node.intra == machine.intra;
  });
  if (it == nodes.end())
    it = nodes.insert(it, {machine.device, machine.intra, machine.devicesPerNode});
  return it - nodes.begin();
}

const BlockCost &BlockCache::get(const cost::Machine &machine, const Layout &layout,
                                 BlockKind kind) {
  const Recipe &r = layout.recipe;
  // dp decides nothing inside a block; the node is part of the key because machines may be mixed.
  std::vector<int64_t> key = {static_cast<int64_t>(kind.part),
                              kind.experts,
                              kind.windowed,
                              layout.tp,
                              layout.sequenceParallel,
                              layout.cp,
                              layout.ep,
                              layout.expertTp,
                              layout.microBatch,
                              static_cast<int64_t>(r.precision),
                              r.flashAttention,
                              r.fusedPointwise,
                              r.fusedLoss,
                              r.inPlaceLoss,
                              r.fusedExperts,
                              r.quantizedAttention,
                              r.keepQuantized,
                              r.cudaGraphs,
                              r.waitedLaunches,
                              r.gradientBytes,
                              r.overlapTensor,
                              r.asyncTensor,
                              r.separateProducts,
                              r.stopsRecomputing,
                              r.overlapExperts,
                              std::bit_cast<int64_t>(r.attentionRate),
                              std::bit_cast<int64_t>(r.hostShare),
                              std::bit_cast<int64_t>(r.quantizeBytes),
                              std::bit_cast<int64_t>(r.quantizeWeightBytes),
                              std::bit_cast<int64_t>(r.rescaleBytes),
                              r.gatherQuantized,
                              r.fusedAccumulation,
                              r.fusedBiasGradient,
                              r.expertsOnce,
                              r.dispatchQuantized,
                              r.gatherContext,
                              r.keepActivationQuantized,
                              canOverlapExperts(layout),
                              numberOf(machine)};
  auto it = costs.find(key);
  if (it == costs.end())
    it = costs.emplace(std::move(key), blockCost(machine, workload, layout, kind, calibration))
             .first;
  return it->second;
}

} // namespace gpucc::simulate
