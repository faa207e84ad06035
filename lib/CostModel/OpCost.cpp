//===- OpCost.cpp - roofline with shapes ----------------------------------===//
//
// A product runs as ceil(m/tm) * ceil(n/tn) tiles in waves over the multiprocessors. The kernel
// library picks the tile shape (and a split of K when there are too few tiles) that ends first; so
// does the model. Relative rates of tile shapes are the ratios of shared-memory traffic per FLOP.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Cost.h"
#include <algorithm>
#include <cmath>

namespace gpucc::cost {

namespace {
struct Tile {
  double m, n, rate;
};
constexpr Tile tiles[] = {
    {256, 128, 1.0}, {128, 256, 1.0}, {128, 128, 0.96}, {128, 64, 0.86}, {64, 64, 0.70}};

double ceilDiv(double a, double b) { return std::ceil(a / b); }

double memoryRate(const DeviceKind &device, const Calibration &calibration) {
  double share =
      device.ownMemoryEfficiency ? device.memoryEfficiency : calibration("memory-efficiency");
  return device.memoryBandwidth * share;
}

double matrixShare(const DeviceKind &device, const Calibration &calibration) {
  return device.ownMatrixEfficiency ? device.matrixEfficiency
                                    : calibration.matrixEfficiency(device.architecture);
}

/// Attention kernels hold a block of queries on chip and stream keys: short sequences end before
/// the pipeline is full.
double attentionUtilization(const OpWork &work, const Calibration &calibration) {
  double sequence = work.sequence > 0 ? static_cast<double>(work.sequence) : 4096;
  return calibration("attention-efficiency") * sequence / (sequence + 512) * work.rateFactor *
         (work.backward ? 0.85 : 1.0);
}

/// Every score needs an exponential, and the special units did not grow with the matrix units: per
/// FLOP of the products there are 1 / (4 headDim) of them. Kernels keep two tiles in flight so that
/// one's exponentials run beside the other's products; this share of them still waits.
double exponentialSeconds(const DeviceKind &device, const OpWork &work,
                          const Calibration &calibration) {
  return calibration("exposed-exponentials") * work.facts.specialFlops /
         std::max(1.0, device.specialPeak);
}

/// FLOP per second that the matrix part reaches.
double matrixRate(const DeviceKind &device, const OpWork &work, const Calibration &calibration) {
  const OpFacts &facts = work.facts;
  double peak = work.fourBit && device.fourBitPeak > 0 ? device.fourBitPeak
                                                       : device.matrixPeak(facts.matrixType);
  if (work.kind == OpKind::Attention) // bound by latency and exponentials, not by power as products
    return peak * attentionUtilization(work, calibration);
  double rate = peak * matrixShare(device, calibration);
  if (bitWidth(facts.matrixType) < 16)
    rate *= calibration("low-precision") *
            (device.architecture == "blackwell" ? calibration("low-precision.blackwell") : 1);
  return rate * shapeUtilization(device, calibration, facts.m, facts.n, facts.k, facts.batch,
                                 bitWidth(facts.matrixType) <= 16, work.acrossRows);
}
} // namespace

double shapeUtilization(const DeviceKind &device, const Calibration &calibration, int64_t m,
                        int64_t n, int64_t k, int64_t batch, bool tensorUnit, bool acrossRows) {
  if (m <= 0 || n <= 0 || k <= 0)
    return 1;
  double align = 1;
  int64_t inner = acrossRows ? m : k; // what a row of the left operand in memory runs along
  if (tensorUnit && (n % 8 != 0 || inner % 8 != 0))
    align = calibration("odd-8");
  else if (tensorUnit && (n % 64 != 0 || inner % 64 != 0))
    align = batch > 1 ? std::max(0.85, calibration("ragged-64")) : calibration("ragged-64");
  double best = 0, sms = device.multiprocessors;
  double prologue = calibration("k-prologue"), hidden = calibration("last-wave");
  double copies = static_cast<double>(std::max<int64_t>(1, batch));
  double work = copies * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for (const Tile &tile : tiles)
    for (double split : {1.0, 2.0, 4.0}) {
      double count = copies * ceilDiv(static_cast<double>(m), tile.m) *
                     ceilDiv(static_cast<double>(n), tile.n);
      if (split > 1 && count >= sms)
        continue;
      double waves = ceilDiv(count * split, sms);
      waves = (1 - hidden) * waves + hidden * std::max(1.0, count * split / sms);
      double depth = ceilDiv(static_cast<double>(k), split) + prologue * (1 + 0.3 * (split - 1));
      double spent = waves * tile.m * tile.n * depth * sms / tile.rate;
      best = std::max(best, work / spent);
    }
  return std::min(1.0, best) * align;
}

double matrixUtilization(const DeviceKind &device, int64_t m, int64_t n, int64_t k, int64_t batch,
                         DType type) {
  return device.matrixEfficiency *
         shapeUtilization(device, Calibration::builtin(), m, n, k, batch, bitWidth(type) <= 16);
}

OpCost opCost(const DeviceKind &device, const OpWork &work, const Calibration &calibration) {
  OpCost result;
  const OpFacts &facts = work.facts;
  double bytes = facts.bytesRead + facts.bytesWritten;
  if (work.kind == OpKind::View ||
      bytes + facts.matrixFlops + facts.aluFlops + facts.specialFlops <= 0)
    return result; // a view is no kernel
  double memory = bytes / memoryRate(device, calibration), matrix = 0;
  bool attention = work.kind == OpKind::Attention;
  if (facts.matrixFlops > 0)
    matrix = facts.matrixFlops / matrixRate(device, work, calibration) +
             (attention ? exponentialSeconds(device, work, calibration) : 0);
  double share =
      device.ownMemoryEfficiency ? device.memoryEfficiency : calibration("memory-efficiency");
  double vector = facts.aluFlops / std::max(1.0, device.aluPeak * share) +
                  (attention ? 0 : facts.specialFlops) / std::max(1.0, device.specialPeak * share);
  double most = std::max({memory, matrix, vector});
  result.boundBy = most == matrix ? "matrix" : most == memory ? "memory" : "vector";
  result.seconds = most + device.launchSeconds;
  bool own = most == matrix ? device.ownMatrixEfficiency : device.ownMemoryEfficiency;
  result.provenance = own ? Provenance::Measured
                          : calibration.provenance(most == matrix ? "matrix-efficiency.ampere"
                                                                  : "memory-efficiency");
  return result;
}

double besideHost(double deviceSeconds, double hostSeconds) {
  return std::hypot(deviceSeconds, hostSeconds);
}

/// What a compiled plan runs: f32 operands may be rounded to tf32.
double opSeconds(const Machine &machine, const OpFacts &facts, bool tf32) {
  OpWork work;
  work.facts = facts;
  work.kind = facts.matrixFlops > 0 ? OpKind::Matmul : OpKind::Pointwise;
  if (!(tf32 && facts.matrixType == DType::F32 && machine.device.tf32Peak > 0))
    return opCost(machine.device, work).seconds;
  DeviceKind device = machine.device;
  device.peak[DType::BF16] = device.tf32Peak;
  work.facts.matrixType = DType::BF16;
  return opCost(device, work).seconds;
}

} // namespace gpucc::cost
