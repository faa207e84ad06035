//===- Passes.td - kernels, before the two lowerings part --*- tablegen -*-===//
#ifndef GPUCC_TRANSFORMS_KERNEL_PASSES
#define GPUCC_TRANSFORMS_KERNEL_PASSES

include "mlir/Pass/PassBase.td"

def ExpandSkeletons : Pass<"gpucc-expand-skeletons", "::gpucc::kernel::FuncOp"> {
  let summary = "turns contract, convolution and attention into programs of loops";
  let description = [{
    The way of last resort: any type, any shape, no matrix unit. One program per row of the result,
    one loop over the row, an inner loop over what is summed.

    Before: `kernel.contract %a, %b extents [1, 8, 4, 16] ... epilogue { ^bb0(%acc, %b, %i, %j): E }`

    After:
    ```
    kernel.program (%b, %i) in (1, 8) {
      kernel.loop (%j) in (4) {
        %acc = kernel.loop (%k) in (16) -> (add f32) { a[b,i,k] * b[b,k,j] }
        E
      }
    }
    ```
  }];
  let dependentDialects = ["::gpucc::kernel::KernelDialect"];
  let options = [Option<"attentionRows", "attention-rows", "int64_t", "16",
                        "Most query rows per program of attention">];
  let statistics = [Statistic<"numExpanded", "expanded", "Skeletons turned into loops">];
}

def CollapseLoops : Pass<"gpucc-collapse-loops", "::gpucc::kernel::FuncOp"> {
  let summary = "joins neighbouring dimensions of loops that walk memory as one";
  let description = [{
    Only dimensions that occur in nothing but the maps of loads and stores, all of which step by
    the extent of the next dimension. The order of reductions, a function of the linear index, does
    not change. Vectors then run over 49 elements instead of 7 times 7.

    Before: `kernel.loop (%i, %j) in (7, 7) -> (add f32) { x[%r, %i, %j] : memref<8x7x7xf32> }`

    After: `kernel.loop (%n) in (49) -> (add f32) { x[%r, %n floordiv 7, %n mod 7] }`, whose offset
    is linear in %n.
  }];
  let dependentDialects = ["::gpucc::kernel::KernelDialect"];
  let statistics = [Statistic<"numCollapsed", "collapsed", "Dimensions joined with their neighbour">];
}

def ExpandMath : Pass<"gpucc-expand-math", "::gpucc::kernel::FuncOp"> {
  let summary = "writes math functions as arithmetic, once, on scalars";
  let description = [{
    Both targets then run the same operations in the same order and give the same bits. f16 and bf16
    are computed in f32 and rounded after each operation. exp, log, tanh, erf, pow of f32
    are our own (faster and closer than upstream's polynomials, which serve for the rest); f64 stays
    with the target's library. f8 and packed i4 become bytes and integer arithmetic.

    Before: `%y = math.exp %x : f32`

    After: `%y` from fma, shift and select of `%x`; within 1 ulp, zero below 2^-126.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
  let statistics = [Statistic<"numWidened", "widened", "f16 and bf16 operations computed in f32">];
}

def ExpandSines : Pass<"gpucc-expand-sines", "::mlir::func::FuncOp"> {
  let summary = "writes sine, cosine and tangent as arithmetic, with a branch for large arguments";
  let description = [{
    Runs on the scalars of a thread and on the vectors of a loop alike, and gives the same bits for
    both. Up to 2^20 the quadrant and the rest come from three multiplications. Above, 2/π is needed
    to 200 bits: 64-bit integer arithmetic that a block of lanes does only if one of them is so far
    out.

    Before: `%y = math.sin %x : vector<16xf32>`

    After:
    ```
    %near = ... : vector<16xf32>                       // x - n π/2
    %far = |%x| >= 2^20 and finite : vector<16xi1>
    %any = vector.reduction <or>, %far : vector<16xi1> into i1
    %rest, %quadrant = scf.if %any { ... exact ... } else { yield %near, %n }
    %y = polynomial of the quadrant in %rest
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [Statistic<"numReduced", "reduced", "Arguments reduced to a quadrant">];
}

#endif // GPUCC_TRANSFORMS_KERNEL_PASSES
