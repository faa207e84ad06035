//===- Rates.cpp - peak of a precision, FLOP that the hardware does -------===//
//
// The two quantities that MFU and HFU divide by and count, and which precisions a machine has.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Simulate/StepCost.h"
#include "gpucc/Workload/Expand.h"
#include <algorithm>
#include <map>

namespace gpucc::simulate {

using namespace workload;

double peakOf(const cost::DeviceKind &device, Precision precision) {
  switch (precision) {
  case Precision::F32:
    return device.matrixPeak(DType::F32);
  case Precision::Tf32:
    return device.tf32Peak > 0 ? device.tf32Peak : device.matrixPeak(DType::F32);
  case Precision::F16:
    return device.matrixPeak(DType::F16);
  case Precision::BF16:
    return device.matrixPeak(DType::BF16);
  case Precision::F8:
    return device.matrixPeak(DType::F8E4M3);
  case Precision::F4:
    return device.fourBitPeak > 0 ? device.fourBitPeak : device.matrixPeak(DType::F8E4M3);
  }
  return 1;
}

namespace {

/// A rate of its own, not that of a wider type which stands in for it.
bool runs(const cost::DeviceKind &device, Precision precision) {
  auto has = [&](DType type) { return device.peak.count(type) && device.peak.at(type) > 0; };
  switch (precision) {
  case Precision::F32:
    return true; // vector units at least
  case Precision::Tf32:
    return device.tf32Peak > 0;
  case Precision::F16:
    return has(DType::F16);
  case Precision::BF16:
    return has(DType::BF16);
  case Precision::F8:
    return has(DType::F8E4M3);
  case Precision::F4:
    return device.fourBitPeak > 0;
  }
  return false;
}

/// What to take instead, the nearest first.
std::vector<Precision> nearestTo(Precision precision) {
  using enum Precision;
  switch (precision) {
  case F4:
    return {F8, BF16, F16, F32};
  case F8:
    return {BF16, F16, F32};
  case BF16:
    return {F16, F32};
  case F16:
    return {BF16, F32};
  default:
    return {F32};
  }
}

} // namespace

bool canRun(const cost::Machine &machine, Precision precision) {
  for (const cost::NodeGroup &group : machine.groups())
    if (!runs(group.device, precision))
      return false;
  return true;
}

std::string checkPrecision(const cost::Machine &machine, Precision precision) {
  using enum Precision;
  for (const cost::NodeGroup &group : machine.groups()) {
    if (runs(group.device, precision))
      continue;
    std::string allowed, nearest;
    for (Precision other : {F32, Tf32, F16, BF16, F8, F4})
      if (runs(group.device, other))
        allowed += (allowed.empty() ? "" : ", ") + std::string(name(other));
    for (Precision other : nearestTo(precision))
      if (nearest.empty() && canRun(machine, other))
        nearest = name(other);
    return "recipe.precision: found " + std::string(name(precision)) +
           ", allowed the precisions that " + group.device.kind + " has a rate for: " + allowed +
           "; the nearest that works is recipe.precision=" + nearest;
  }
  return "";
}

namespace {

/// Share of the layers' FLOP that recomputation by operator repeats.
double againByOp(const Workload &w, const Layout &l) {
  std::map<BlockKind, int> kinds;
  for (BlockKind kind : blocksOf(w))
    if (kind.part == BlockPart::Layer)
      ++kinds[kind];
  double again = 0, all = 0;
  for (auto [kind, count] : kinds)
    for (const BlockOp &op : expandBlock(w, l, kind).ops) {
      again += count * op.againByOp * op.forward.facts.matrixFlops;
      all += count * op.forward.facts.matrixFlops;
    }
  return all > 0 ? again / all : 0;
}

} // namespace

double hardwareFlops(const Workload &w, const Layout &l) {
  FlopCount f = countFlops(w);
  double attention = l.recipe.flashAttention ? f.attentionCausal : f.attentionFull;
  double once = f.linear + attention, share = 1;
  if (l.recomputeLayers >= 0)
    share = std::min(1.0, static_cast<double>(l.recomputeLayers * l.pp) /
                              static_cast<double>(w.layers + w.predictAhead));
  double again = l.recompute == Recompute::Full        ? once
                 : l.recompute == Recompute::Selective ? attention
                 : l.recompute == Recompute::Ops       ? once * againByOp(w, l)
                                                       : 0;
  return (3 * once + 3 * f.logits + share * again) * static_cast<double>(l.globalBatch);
}

} // namespace gpucc::simulate
