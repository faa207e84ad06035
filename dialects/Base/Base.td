//===- Base.td - attributes that several dialects share ----*- tablegen -*-===//
//
// No ops. What functions say of their arguments and results, from import to
// the plan (docs/conventions.md):
//
//   func.func @main(%x: tensor<8x16xf32> {base.name = "x", base.kind = "input",
//                                         base.dims = ["batch", "feature"]},
//                   %w: tensor<16x4xf32> {base.name = "fc.weight", base.kind = "state",
//                                         base.state = #base.state<param>})
//       -> (tensor<8x4xf32> {base.name = "y", base.kind = "output"},
//           tensor<16x4xf32> {base.name = "fc.weight", base.kind = "state", base.alias = 1 : i64})
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BASE
#define GPUCC_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Base_Dialect : Dialect {
  let name = "base";
  let cppNamespace = "::gpucc::base";
  let summary = "attributes and types that several dialects share; no ops";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

def StateRole : I32EnumAttr<"StateRole", "what a state tensor is for", [
    I32EnumAttrCase<"Param", 0, "param">,          // an initializer of the model
    I32EnumAttrCase<"Stat", 1, "stat">,            // BatchNorm running statistics
    I32EnumAttrCase<"Master", 2, "master">,        // f32 copy of a low-precision parameter
    I32EnumAttrCase<"Moment1", 3, "moment1">,      // momentum, Adam m
    I32EnumAttrCase<"Moment2", 4, "moment2">,      // Adam v
    I32EnumAttrCase<"Accumulator", 5, "accumulator">, // gradient or loss sum over micro-batches
    I32EnumAttrCase<"Counter", 6, "counter">]> {   // step, micro-batch
  let genSpecializedAttr = 0;
  let cppNamespace = "::gpucc::base";
}

def StateAttr : AttrDef<Base_Dialect, "State"> {
  let mnemonic = "state";
  let summary = "role of a state tensor and the parameter it belongs to";
  let description = [{
    `of` names the parameter that a moment, master or accumulator belongs to (empty for a parameter
    itself). `trainable` is false for frozen parameters and statistics. `start` gives the first
    index of this tensor inside the named initializer when it is only a piece of it (a fused
    projection that was split); empty means the whole.
  }];
  let parameters = (ins
    EnumParameter<StateRole>:$role,
    StringRefParameter<"", "\"\"">:$of,
    DefaultValuedParameter<"bool", "true">:$trainable,
    OptionalArrayRefParameter<"int64_t">:$start);
  let hasCustomAssemblyFormat = 1; // each optional part begins with a comma
}

def ProfileAttr : AttrDef<Base_Dialect, "Profile"> {
  let mnemonic = "profile";
  let summary = "bindings of the model's symbolic dimensions";
  let parameters = (ins StringRefParameter<>:$name, ArrayRefParameter<"::mlir::StringAttr">:$symbols,
                        ArrayRefParameter<"int64_t">:$values);
  let assemblyFormat = "`<` $name `,` `[` $symbols `]` `=` `[` $values `]` `>`";
  let genVerifyDecl = 1;
}

def RankValueAttr : AttrDef<Base_Dialect, "RankValue"> {
  let mnemonic = "rank_value";
  let summary = "an integer that depends on the rank's mesh coordinates and the micro-batch slot";
  let description = [{
    `(base + sum of strides[i] * coordinate(axes[i]) + slot_step * slot) mod modulo`; modulo 0: no mod.

    Example, first row of a rank's block of 8 rows over dp, 16 rows per micro-batch:
    `#base.rank_value<0, ["dp"], [8], 16, 0>`
  }];
  let parameters = (ins "int64_t":$base, OptionalArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalArrayRefParameter<"int64_t">:$strides, "int64_t":$slot_step,
                        "int64_t":$modulo);
  let assemblyFormat = "`<` $base `,` `[` (`]`) : ($axes^ `]`)? `,` `[` (`]`) : ($strides^ `]`)? `,` $slot_step `,` $modulo `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static RankValueAttr constant(::mlir::MLIRContext *context, int64_t value);
  }];
}

def SliceAttr : AttrDef<Base_Dialect, "Slice"> {
  let mnemonic = "slice";
  let summary = "the part of one global dimension that a rank holds: [start, start + size), padding beyond the extent";
  let parameters = (ins "RankValueAttr":$start, "int64_t":$size);
  let assemblyFormat = "`<` $start `,` $size `>`";
}

def ViewAttr : AttrDef<Base_Dialect, "View"> {
  let mnemonic = "view";
  let summary = "bytes [offset, offset + bytes) of a buffer's slot";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$buffer, "int64_t":$offset, "int64_t":$bytes);
  let assemblyFormat = "`<` $buffer `,` $offset `,` $bytes `>`";
}

def OperandAttr : AttrDef<Base_Dialect, "Operand"> {
  let mnemonic = "operand";
  let summary = "a view with a shape, for library calls; strides in elements";
  let parameters = (ins "ViewAttr":$view, "::mlir::RankedTensorType":$type,
                        OptionalArrayRefParameter<"int64_t">:$strides);
  let assemblyFormat = "`<` $view `,` $type `,` `[` (`]`) : ($strides^ `]`)? `>`";
}

#endif // GPUCC_BASE
