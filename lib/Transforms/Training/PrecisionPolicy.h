//===- PrecisionPolicy.h - which ops run in low precision -------*- C++ -*-===//
//
//   low     matrix products, convolutions, attention, embeddings: operands are
//           rounded to the low type; products accumulate in f32 anyway
//   wide    sums, exponentials, normalizations, losses: operands are widened to
//           f32. Normalizations and softmax give back the low type when their
//           operand came in it, so that what is kept for backward stays small
//   follow  the rest: the widest type among the activations; parameters and
//           constants adapt to it
//
// The lists are those of the field (apex O2, torch.autocast), by op.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TRANSFORMS_TRAINING_PRECISIONPOLICY_H
#define GPUCC_LIB_TRANSFORMS_TRAINING_PRECISIONPOLICY_H

#include "dialects/Graph/Graph.h"

namespace gpucc::training {

enum class Policy { Low, Wide, WideInside, Follow };

/// `embedding`: a gather whose data is a parameter.
Policy policyOf(mlir::Operation *op, bool embedding);

} // namespace gpucc::training

#endif // GPUCC_LIB_TRANSFORMS_TRAINING_PRECISIONPOLICY_H
