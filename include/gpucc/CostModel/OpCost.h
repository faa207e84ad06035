//===- OpCost.h - one op on one device, in seconds --------------*- C++ -*-===//
//
// What: roofline over matrix unit, vector unit, special functions and memory; the matrix rate
// falls with tile and wave quantization, short K and unaligned dimensions; attention cores have a
// rate of their own. Every constant comes from the device (datasheet) or the Calibration.
//
// Example, H100, bf16 product of 8192^3: 2 * 8192^3 FLOP / (989e12 * efficiency) is about 1.7 ms;
// the bytes (3 * 8192^2 * 2) take 0.16 ms, so the matrix unit bounds it: boundBy = "matrix".
//
// Host time is not part of an op: a host that launches `launches` kernels runs beside the device,
// so the two are combined per block of ops (`besideHost`).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_OPCOST_H
#define GPUCC_COSTMODEL_OPCOST_H

#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"
#include "gpucc/Facts/OpFacts.h"

namespace gpucc::cost {

enum class OpKind { Matmul, Attention, Pointwise, View };

/// Facts of one (local) op plus what only some kinds need.
struct OpWork {
  OpFacts facts;
  OpKind kind = OpKind::Matmul;
  int64_t headDim = 0;     ///< Attention: elements of one head of the query
  int64_t sequence = 0;    ///< Attention: length of the keys
  double launches = 1;     ///< operators that the host issues for it
  double calls = 0;        ///< library calls inside its operator beyond the first
  bool backward = false;   ///< Attention: the backward kernel has a lower rate
  bool acrossRows = false; ///< Matmul: sums over rows (a weight gradient); m, n are contiguous
  bool fourBit = false;    ///< Matmul: operands in a 4-bit float (DType has none)
  double rateFactor = 1.0; ///< Attention: speed of the kernel library against FlashAttention 2
};

struct OpCost {
  double seconds = 0;
  const char *boundBy = "nothing";               ///< "matrix", "vector", "memory", "nothing"
  Provenance provenance = Provenance::Datasheet; ///< weakest of the constants used
};

OpCost opCost(const DeviceKind &device, const OpWork &work,
              const Calibration &calibration = Calibration::builtin());

/// Share of `peak * matrixEfficiency` that a product of this shape reaches, 0..1. `acrossRows`: the
/// operands are contiguous along m and n instead of k (and n), so k need not be a multiple of 8.
double shapeUtilization(const DeviceKind &device, const Calibration &calibration, int64_t m,
                        int64_t n, int64_t k, int64_t batch, bool tensorUnit,
                        bool acrossRows = false);

/// Seconds of a block of ops that takes `deviceSeconds` on the device and keeps an eager host busy
/// for `hostSeconds`: the two run beside each other and each waits for the other now and then, so
/// the result is sqrt(device^2 + host^2) (a norm, equal to the larger one far from the crossing).
double besideHost(double deviceSeconds, double hostSeconds);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_OPCOST_H
