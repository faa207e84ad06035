//===- Quantization.h - scales and zero points ------------------*- C++ -*-===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_QUANTIZATION_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_QUANTIZATION_H

#include "lib/Conversion/FrontendToGraph/Node.h"

namespace gpucc::frontend_to_graph {

/// Scale or zero point in the shape of x; null (after an error) when it does not fit. `block` 0:
/// one number, or one per element of `axis`; else one per block along it.
Value spread(Node &n, Value p, ArrayRef<int64_t> x, int64_t axis, int64_t block);

/// saturate(round_even(x / scale) + zero) as `type`; x in f32 or wider, `zero` may be null.
Value quantized(Node &n, Value x, Value scale, Value zero, Type type);

/// (q - zero) * scale in f32; `zero` may be null.
Value dequantized(GraphBuilder &g, Value q, Value scale, Value zero);

} // namespace gpucc::frontend_to_graph

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_RULES_QUANTIZATION_H
