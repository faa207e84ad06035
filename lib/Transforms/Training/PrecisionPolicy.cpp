//===- PrecisionPolicy.cpp - which ops run in low precision ---------------===//
#include "PrecisionPolicy.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc::graph;
using namespace gpucc::training;

/// Functions whose relative error grows with the argument's rounding, or that overflow early.
static bool isSensitive(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Exp:
  case UnaryKind::Expm1:
  case UnaryKind::Log:
  case UnaryKind::Log1p:
  case UnaryKind::Rsqrt:
  case UnaryKind::Reciprocal:
  case UnaryKind::Sqrt:
  case UnaryKind::Sinh:
  case UnaryKind::Cosh:
  case UnaryKind::Tan:
  case UnaryKind::Acos:
  case UnaryKind::Asin:
    return true;
  default:
    return false;
  }
}

Policy gpucc::training::policyOf(Operation *op, bool embedding) {
  return llvm::TypeSwitch<Operation *, Policy>(op)
      .Case<ContractOp, ConvolutionOp, ConvolutionInputGradOp, ConvolutionFilterGradOp,
            AttentionOp>([](auto) { return Policy::Low; })
      .Case([&](GatherOp) { return embedding ? Policy::Low : Policy::Follow; })
      .Case<SoftmaxOp, LayerNormOp, RmsNormOp, BatchNormOp>([](auto) { return Policy::WideInside; })
      .Case<CrossEntropyOp, ScanOp>([](auto) { return Policy::Wide; })
      .Case([](ReduceOp reduce) {
        bool adds =
            reduce.getKind() == ReductionKind::Sum || reduce.getKind() == ReductionKind::Prod;
        return adds ? Policy::Wide : Policy::Follow;
      })
      .Case([](UnaryOp unary) {
        return isSensitive(unary.getKind()) ? Policy::Wide : Policy::Follow;
      })
      .Case([](BinaryOp binary) {
        return binary.getKind() == BinaryKind::Pow ? Policy::Wide : Policy::Follow;
      })
      .Default([](Operation *) { return Policy::Follow; });
}
