//===- OpInterfaces.td - what every graph op answers -------*- tablegen -*-===//
//
// One op, one home: an op says once what it means, and every user asks through
// these interfaces. No pass switches over op names.
//
//   interface       | answers                        | used by
//   InferType       | result types (MLIR's own)      | import, partition
//   Evaluate        | the values, on the CPU         | Reference, folding, tests
//   ShardingRule    | its loops; its per-rank form   | propagate, search, partition
//   Differentiable  | vector-Jacobian product        | differentiate, recompute
//   Cost            | flops by unit, bytes           | cost model, planning
//   ScalarBody      | the scalar expression          | code generation
//   Decomposable    | the expansion                  | decompose, defaults of the others
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_INTERFACES_OPINTERFACES
#define GPUCC_INTERFACES_OPINTERFACES

include "mlir/IR/OpBase.td"

def EvaluateOpInterface : OpInterface<"EvaluateOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = [{
    Computes the op's results plainly on the CPU. Floats of 32 bits and less are computed in double
    and rounded once to the result type; integers keep all their bits.
  }];
  let methods = [
    InterfaceMethod<[{
      `operands[i]` has the shape and type of operand i. `results` comes with one HostTensor of the
      right shape and type per result, zeroed, to be filled. A failure has emitted its error.
    }], "::llvm::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<::gpucc::HostTensor>":$operands,
           "::llvm::MutableArrayRef<::gpucc::HostTensor>":$results)>
  ];
}

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = [{
    Tells which dimensions of operands and results are the same loop and which loops may be split
    (include/gpucc/Facts/ShardingRule.h), and builds the op that one rank executes.
  }];
  let methods = [
    InterfaceMethod<"The op's loops (static shapes are required).",
      "::gpucc::ShardingRule", "getShardingRule", (ins)>,
    InterfaceMethod<[{
      Builds the op for one rank: local operands in, results of the given local types out. The
      default clones the op. Ops whose attributes hold extents (reshape, broadcast, slice, iota)
      adapt them. `offsets[d]` is the first global index of this rank in dimension d of result 0
      as a `tensor<i64>`, or null when that is 0 on every rank.
    }], "::llvm::SmallVector<::mlir::Value>", "buildLocal",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "::mlir::TypeRange":$resultTypes, "::llvm::ArrayRef<::mlir::Value>":$offsets),
      [{}], [{
        return ::gpucc::cloneWithTypes(builder, $_op, operands, resultTypes);
      }]>
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = [{
    The vector-Jacobian product as graph ops. What the product uses (operands, results) is what
    must be kept from forward to backward.
  }];
  let methods = [
    InterfaceMethod<[{
      `resultGrads[i]` is the gradient of result i, null when it is zero. Sets `operandGrads[i]`
      (comes as null) for each operand with `needed[i]`; leaves null where the gradient is zero.
      Fails with an error that says why when the op cannot be differentiated.
    }], "::llvm::LogicalResult", "buildVjp",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
           "::llvm::ArrayRef<bool>":$needed,
           "::llvm::MutableArrayRef<::mlir::Value>":$operandGrads)>
  ];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = "Facts for the cost model: flops by unit and bytes, never seconds.";
  let methods = [
    InterfaceMethod<"Work of one execution on the op's static shapes.",
      "::gpucc::OpFacts", "getFacts", (ins)>
  ];
}

def ScalarBodyOpInterface : OpInterface<"ScalarBodyOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = [{
    A pointwise op as a scalar expression in `arith` and `math`; for a reduction, its combiner.
    Unsigned types arrive signless; the op knows its signedness from its own operand types.
  }];
  let methods = [
    InterfaceMethod<"One scalar per result from one scalar per operand.",
      "::llvm::SmallVector<::mlir::Value>", "buildScalarBody",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "::mlir::ValueRange":$args)>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::gpucc";
  let description = [{
    A composite as simpler graph ops. Evaluate, Differentiable and Cost default to the
    decomposition (dialects/Graph/Decomposition.h).
  }];
  let methods = [
    InterfaceMethod<"Builds the expansion; one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "buildDecomposition",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands)>
  ];
}

#endif // GPUCC_INTERFACES_OPINTERFACES
