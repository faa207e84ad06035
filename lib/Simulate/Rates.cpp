//===- Rates.cpp - peak of a precision, FLOP that the hardware does -------===//
//
// The two quantities that MFU and HFU divide by and count.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Simulate/StepCost.h"
#include <algorithm>

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

double hardwareFlops(const Workload &w, const Layout &l) {
  FlopCount f = countFlops(w);
  double attention = l.recipe.flashAttention ? f.attentionCausal : f.attentionFull;
  double once = f.linear + attention, share = 1;
  if (l.recomputeLayers >= 0)
    share = std::min(1.0, static_cast<double>(l.recomputeLayers * l.pp) /
                              static_cast<double>(w.layers + w.predictAhead));
  double again = l.recompute == Recompute::Full        ? once
                 : l.recompute == Recompute::Selective ? attention
                                                       : 0;
  return (3 * once + 3 * f.logits + share * again) * static_cast<double>(l.globalBatch);
}

} // namespace gpucc::simulate
