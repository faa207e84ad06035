//===- SkeletonOps.td - products with a fixed inner loop ---*- tablegen -*-===//
//
// A skeleton stands alone in its function. Its inner product is a template on
// the device, a library call or a plain loop on the CPU; its epilogue is
// ordinary scalar IR that runs once per result element and stores it.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_SKELETON_OPS
#define GPUCC_KERNEL_SKELETON_OPS

include "dialects/Kernel/KernelBase.td"

class Kernel_Skeleton<string mnemonic, list<Trait> traits = []>
    : Kernel_Op<mnemonic, !listconcat(traits, [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects])> {
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
}

defvar EpilogueBuilder =
  "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>";

def ContractOp : Kernel_Skeleton<"contract"> {
  let summary = "batched matrix product with an epilogue";
  let description = [{
    acc[b, i, j] = sum over k of lhs[lhs_map(b, i, k)] * rhs[rhs_map(b, k, j)], accumulated in the
    type of the epilogue's first argument. Transposes and head splits are in the maps.

    Example, y = x · wᵀ + bias:
    ```
    kernel.contract %x, %w extents [1, 128, 192, 64] maps #lhs, #rhs : memref<128x64xf32>, memref<192x64xf32> epilogue {
    ^bb0(%acc: f32, %b: index, %i: index, %j: index):
      %0 = kernel.load %bias[%j] : memref<192xf32>
      %1 = arith.addf %acc, %0 : f32
      kernel.store %1, %y[%i, %j] : memref<128x192xf32>
    }
    ```
    Constraints: (C1) extents are batch, M, N, K ≥ 1. (C2) equal element types. (C3) each map has
    three inputs and one result per dimension, and constant strides in the last two inputs.
    (C4) the epilogue takes (accumulator, b, i, j); the accumulator is f32 for floats up to 32 bits,
    f64 for f64, i32 or i64 for integers. (C5) `tf32` is for f32 only.
  }];
  let arguments = (ins Arg<View, "", [MemRead]>:$lhs, Arg<View, "", [MemRead]>:$rhs, DenseI64ArrayAttr:$extents,
                       AffineMapAttr:$lhs_map, AffineMapAttr:$rhs_map,
                       DefaultValuedAttr<MathModeAttr, "::gpucc::kernel::MathMode::Strict">:$math);
  let assemblyFormat = [{
    $lhs `,` $rhs `extents` $extents `maps` $lhs_map `,` $rhs_map attr-dict `:` type($lhs) `,` type($rhs) `epilogue` $epilogue
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::llvm::ArrayRef<int64_t>":$extents,
    "::mlir::AffineMap":$lhsMap, "::mlir::AffineMap":$rhsMap, "::gpucc::kernel::MathMode":$math,
    "::mlir::Type":$accumulator, EpilogueBuilder:$epilogue)>];
}

def ConvolutionOp : Kernel_Skeleton<"convolution"> {
  let summary = "convolution or one of its gradients, with an epilogue";
  let description = [{
    Layouts as graph.convolution: input N,C,spatial…; filter O,C/groups,spatial…; output
    N,O,spatial…. `forward` takes (input, filter), `input_grad` (output gradient, filter),
    `filter_grad` (input, output gradient). `result_shape` is the shape of what is computed; the
    epilogue runs once per element with (accumulator, one index per dimension).

    Constraints: (C1) ranks of lhs, rhs and result are equal, 3 to 5, lists fit. (C2) the shapes are
    those of one convolution with these attributes. (C3) the epilogue takes (accumulator, indices);
    the accumulator is f32, or f64 for f64. (C4) equal element types.
  }];
  let arguments = (ins ConvolutionKindAttr:$kind, Arg<View, "", [MemRead]>:$lhs, Arg<View, "", [MemRead]>:$rhs,
                       DenseI64ArrayAttr:$result_shape, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$pads_low, DenseI64ArrayAttr:$pads_high,
                       DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                       DefaultValuedAttr<MathModeAttr, "::gpucc::kernel::MathMode::Strict">:$math);
  let assemblyFormat = [{
    $kind $lhs `,` $rhs `result` $result_shape `strides` $strides `pads` $pads_low `,` $pads_high `dilations` $dilations
    `groups` $groups attr-dict `:` type($lhs) `,` type($rhs) `epilogue` $epilogue
  }];
  let builders = [OpBuilder<(ins "::gpucc::kernel::ConvolutionKind":$kind, "::mlir::Value":$lhs, "::mlir::Value":$rhs,
    "::llvm::ArrayRef<int64_t>":$resultShape, "::llvm::ArrayRef<int64_t>":$strides,
    "::llvm::ArrayRef<int64_t>":$padsLow, "::llvm::ArrayRef<int64_t>":$padsHigh,
    "::llvm::ArrayRef<int64_t>":$dilations, "int64_t":$groups, "::gpucc::kernel::MathMode":$math,
    "::mlir::Type":$accumulator, EpilogueBuilder:$epilogue)>];
  let extraClassDeclaration = [{
    /// The shapes of the forward convolution that this op belongs to.
    ::llvm::SmallVector<int64_t> getInputShape();
    ::llvm::SmallVector<int64_t> getFilterShape();
    ::llvm::SmallVector<int64_t> getOutputShape();
  }];
}

def AttentionOp : Kernel_Skeleton<"attention"> {
  let summary = "softmax(scale · Q·Kᵀ + bias, causal mask) · V with an epilogue";
  let description = [{
    extents = [B, H, K, S, T, D, E]: batch, query heads, key/value heads (H a multiple of K, query
    head h uses h / (H/K)), query length, key length, head size of q and k, head size of v. Maps
    take (b, h, s, d) for q, (b, k, t, d) for k, (b, k, t, e) for v, (b, h, s, t) for bias to element
    indices. With `causal` row s sees columns t ≤ s + (T - S). A row that sees nothing is zero. The
    epilogue takes (accumulator f32 — f64 for f64 —, b, h, s, e).

    Constraints: (C1) seven extents ≥ 1, H a multiple of K. (C2) maps have four inputs, one result
    per dimension and constant strides in all inputs but the first two. (C3) q, k, v have equal
    element types. (C4) bias and its map come together.
  }];
  let arguments = (ins Arg<View, "", [MemRead]>:$q, Arg<View, "", [MemRead]>:$k, Arg<View, "", [MemRead]>:$v,
                       Optional<View>:$bias, DenseI64ArrayAttr:$extents, AffineMapAttr:$q_map,
                       AffineMapAttr:$k_map, AffineMapAttr:$v_map, OptionalAttr<AffineMapAttr>:$bias_map,
                       F64Attr:$scale, UnitAttr:$causal);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`bias` $bias^ `:` type($bias))? `extents` $extents `maps` $q_map `,` $k_map `,` $v_map
    (`bias_map` $bias_map^)? `scale` $scale (`causal` $causal^)? attr-dict `:` type($q) `,` type($k) `,` type($v) `epilogue` $epilogue
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$q, "::mlir::Value":$k, "::mlir::Value":$v, "::mlir::Value":$bias,
    "::llvm::ArrayRef<int64_t>":$extents, "::mlir::AffineMap":$qMap, "::mlir::AffineMap":$kMap,
    "::mlir::AffineMap":$vMap, "::mlir::AffineMap":$biasMap, "double":$scale, "bool":$causal,
    "::mlir::Type":$accumulator, EpilogueBuilder:$epilogue)>];
}

#endif // GPUCC_KERNEL_SKELETON_OPS
