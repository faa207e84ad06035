//===- KernelBase.td - what one kernel computes ------------*- tablegen -*-===//
//
// One IR per fused cluster, two lowerings: vector loops for the CPU
// (Conversion/KernelToLoops) and CUDA threads (Conversion/KernelToThreads).
// It says what is computed over a grid of independent programs, never how a
// machine does it: there is no thread, no shared memory, no barrier here.
//
//   kernel.func @softmax(%x: memref<8x1000xf32> {kernel.name = "logits"},
//                        %y: memref<8x1000xf32> {kernel.name = "probabilities"}) {
//     kernel.program (%r) in (8) {
//       %t, %m = kernel.loop (%c) in (1000) -> (keep tensor<1000xf32>, maxnum f32) {
//         %0 = kernel.load %x[%r, %c] : memref<8x1000xf32>
//         kernel.yield %0, %0 : f32, f32
//       }
//       %e, %s = kernel.loop (%c) in (1000) -> (keep tensor<1000xf32>, add f32) {
//         %0 = kernel.load %t[%c] : tensor<1000xf32>
//         %1 = arith.subf %0, %m : f32
//         %2 = math.exp %1 : f32
//         kernel.yield %2, %2 : f32, f32
//       }
//       kernel.loop (%c) in (1000) {
//         %0 = kernel.load %e[%c] : tensor<1000xf32>
//         %1 = arith.divf %0, %s : f32
//         kernel.store %1, %y[%r, %c] : memref<8x1000xf32>
//       }
//     }
//   }
//
// Bits. A value depends on the operations and the extents alone, never on
// schedule or target: nothing is contracted to fma, math functions are expanded
// once on scalars (Transforms/Kernel), and a reduction has one of three orders:
//   rows     a loop directly in a program that reduces to a scalar: residue =
//            linear index mod P, P = clamp(pow2(points), 32, 1024); each
//            residue accumulates in order, then residues combine by index bits
//            4 and up, then 3, 2, 1, 0;
//   columns  the same with P = 32 over the linear index of the leading
//            dimensions, one result per index of the last;
//   inner    a loop inside a loop belongs to one point: plain order from the
//            identity.
// Shared by both lowerings: Reduction.h, Access.h.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_BASE
#define GPUCC_KERNEL_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::gpucc::kernel";
  let summary = "what one fused kernel computes over a grid of programs";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

class Kernel_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::gpucc::kernel";
}

def LoopResultKind : Kernel_Enum<"LoopResultKind", "what becomes of the values that a loop yields", [
    I32EnumAttrCase<"Keep", 0, "keep">,      // a tile: one element per point
    I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">,        // NaN if any is NaN
    I32EnumAttrCase<"Min", 4, "min">,
    I32EnumAttrCase<"MaxNum", 5, "maxnum">,  // ignores NaN; -inf if all are
    I32EnumAttrCase<"MinNum", 6, "minnum">,
    I32EnumAttrCase<"UMax", 7, "umax">, I32EnumAttrCase<"UMin", 8, "umin">, // unsigned integers
    I32EnumAttrCase<"And", 9, "and">, I32EnumAttrCase<"Or", 10, "or">]>;
def LoopResultKindAttr : EnumAttr<Kernel_Dialect, LoopResultKind, "kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def ConvolutionKind : Kernel_Enum<"ConvolutionKind", "which of the three products of a convolution", [
    I32EnumAttrCase<"Forward", 0, "forward">, I32EnumAttrCase<"InputGrad", 1, "input_grad">,
    I32EnumAttrCase<"FilterGrad", 2, "filter_grad">]>;
def ConvolutionKindAttr : EnumAttr<Kernel_Dialect, ConvolutionKind, "convolution_kind"> {
  let assemblyFormat = "$value";
}

def MathMode : Kernel_Enum<"MathMode", "how f32 operands enter the matrix unit", [
    I32EnumAttrCase<"Strict", 0, "strict">, I32EnumAttrCase<"Tf32", 1, "tf32">]>;
def MathModeAttr : EnumAttr<Kernel_Dialect, MathMode, "math"> { let assemblyFormat = "`<` $value `>`"; }

def ScheduleAttr : AttrDef<Kernel_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "how a machine runs the kernel; never changes bits";
  let description = [{
    CUDA: `threads` work on one program, `packed` programs share a block, each access moves `vec`
    elements. Host: `unroll` vectors are in flight, `stream` stores bypass the cache. 0 = chosen by
    the lowering (Transforms/Kernel/Schedule.h).
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$threads,
    DefaultValuedParameter<"int64_t", "0">:$packed,
    DefaultValuedParameter<"int64_t", "0">:$vec,
    DefaultValuedParameter<"int64_t", "0">:$unroll,
    DefaultValuedParameter<"bool", "false">:$stream);
  let assemblyFormat = "`<` struct(params) `>`";
}

def WorkAttr : AttrDef<Kernel_Dialect, "Work"> {
  let mnemonic = "work";
  let summary = "operations of one launch, for cost models; never changes bits";
  let description = [{
    Facts of the cluster that the kernel was made of (OpFacts.h): `matrix` FLOP of products (a multiply-add is 2; causal
    attention counts what it keeps), `alu` and `special` operations; the largest product is `batch` times m x n x k in
    elements of `type`. Attention gives the head's elements and the keys of a query. 0: there is none.

    Example: `#kernel.work<matrix = 24576, alu = 64, m = 4, n = 16, k = 192, batch = 1, type = f32>`.
  }];
  let parameters = (ins
    DefaultValuedParameter<"int64_t", "0">:$matrix,
    DefaultValuedParameter<"int64_t", "0">:$alu,
    DefaultValuedParameter<"int64_t", "0">:$special,
    DefaultValuedParameter<"int64_t", "0">:$m,
    DefaultValuedParameter<"int64_t", "0">:$n,
    DefaultValuedParameter<"int64_t", "0">:$k,
    DefaultValuedParameter<"int64_t", "0">:$batch,
    DefaultValuedParameter<"int64_t", "0">:$headDim,
    DefaultValuedParameter<"int64_t", "0">:$keys,
    OptionalParameter<"::mlir::Type">:$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def View : StaticShapeMemRefOf<[AnyType]>;
def Tile : StaticShapeTensorOf<[AnyType]>;

#endif // GPUCC_KERNEL_BASE
