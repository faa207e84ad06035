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
  let assemblyFormat = "`<` $role (`,` `of` `=` $of^)? (`,` `trainable` `=` $trainable^)? (`,` `start` `=` `[` $start^ `]`)? `>`";
}

def ProfileAttr : AttrDef<Base_Dialect, "Profile"> {
  let mnemonic = "profile";
  let summary = "bindings of the model's symbolic dimensions";
  let parameters = (ins StringRefParameter<>:$name, ArrayRefParameter<"::mlir::StringAttr">:$symbols,
                        ArrayRefParameter<"int64_t">:$values);
  let assemblyFormat = "`<` $name `,` `[` $symbols `]` `=` `[` $values `]` `>`";
  let genVerifyDecl = 1;
}

#endif // GPUCC_BASE
