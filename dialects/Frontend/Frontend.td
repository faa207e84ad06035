//===- Frontend.td - a model as its file says it -----------*- tablegen -*-===//
//
// One generic op. Importers turn bytes into this dialect and understand
// nothing; Conversion/FrontendToGraph understands, and can be tested from text.
//
//   module attributes {frontend.files = ["mlp.onnx"]} {
//     frontend.graph @mlp attributes {ir_version = 8 : i64, opsets = {"ai.onnx" = 17 : i64},
//         inputs = ["x"], dims = [["batch", ""]], outputs = ["y"], output_dims = [["batch", ""]]} {
//     ^bb0(%x: tensor<?x16xf32>):
//       %w = frontend.initializer "fc.weight" {file = 0 : i64, offset = 96 : i64, bytes = 256 : i64} : tensor<16x4xf32>
//       %y = frontend.op "onnx.MatMul"(%x, %w) {version = 17 : i64, node = "fc", names = ["y"]}
//              : (tensor<?x16xf32>, tensor<16x4xf32>) -> !frontend.value
//       frontend.yield %y : !frontend.value
//     }
//   }
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FRONTEND
#define GPUCC_FRONTEND

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Frontend_Dialect : Dialect {
  let name = "frontend";
  let cppNamespace = "::gpucc::frontend";
  let summary = "models as their files say them: one generic op";
  let useDefaultTypePrinterParser = 1;
}

def Frontend_ValueType : TypeDef<Frontend_Dialect, "Value"> {
  let mnemonic = "value";
  let summary = "a value whose type the file does not say, or says in words we have no type for";
  let description = [{
    `!frontend.value` is unknown until conversion; `!frontend.value<"sequence of tensors">` is known
    to be something that no tensor type expresses.
  }];
  let parameters = (ins StringRefParameter<"what it is", "\"\"">:$what);
  let assemblyFormat = "(`<` $what^ `>`)?";
}

class Frontend_Op<string mnemonic, list<Trait> traits = []>
    : Op<Frontend_Dialect, mnemonic, traits>;

def GraphOp : Frontend_Op<"graph", [Symbol, IsolatedFromAbove, SingleBlock]> {
  let summary = "a model: inputs, nodes in an order that can be executed, outputs";
  let description = [{
    `inputs`, `dims` name the block's arguments and their dimensions (an unnamed one is ""; every
    dimension `?` has a name); `outputs`, `output_dims` the values of the terminating `frontend.yield`.
    `opsets` gives the version of each domain; the default domain is written `ai.onnx`.

    Constraints: (C1) one name and one list of dimension names per argument. (C2) dimension names
    fit the ranks, and a `?` has a name. (C3) one output name and one list of dimension names per yielded
    value. (C4) `frontend.declared`, where it stands, has one type per output, with as many dimensions as
    that output has names of them.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$ir_version, DictionaryAttr:$opsets,
                       StrArrayAttr:$inputs, ArrayAttr:$dims, StrArrayAttr:$outputs,
                       ArrayAttr:$output_dims);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def InitializerOp : Frontend_Op<"initializer", [Pure]> {
  let summary = "a tensor stored in the model";
  let description = [{
    By reference: `bytes` bytes, row-major and little-endian, at `offset` of file number `file` in
    the module's `frontend.files`. Or inline, `value`.

    Example: `%w = frontend.initializer "w" {value = dense<1.0> : tensor<4xf32>} : tensor<4xf32>`

    Constraints: (C1) either value, or file, offset and bytes. (C2) `file` indexes
    `frontend.files`. (C3) `bytes` is the size of the type. (C4) value has the result's type.
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$file, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$bytes, OptionalAttr<ElementsAttr>:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$name attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def AbsentOp : Frontend_Op<"absent", [Pure]> {
  let summary = "an optional operand that was left out";
  let results = (outs Frontend_ValueType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def NodeOp : Frontend_Op<"op"> {
  let summary = "one node of the model";
  let description = [{
    `kind` is format, dot, operator (`onnx.Conv`); `domain` is there when it is not the default one;
    `version` is the opset version of the domain; `node` the node's name, `names` those of its
    results; `params` the attributes of the node. Nested graphs (bodies of If, Loop, Scan) are regions,
    called `body_names`; they read values of the outer graph directly and end in `frontend.yield`.

    Example:
    ```
    %y = frontend.op "onnx.Relu"(%x) {version = 17 : i64, node = "relu1", names = ["y"]}
           : (tensor<?x4xf32>) -> !frontend.value
    ```
    Constraints: (C1) one name per result. (C2) one body name per region. (C3) `version` is at
    least 1.
  }];
  let arguments = (ins StrAttr:$kind, Variadic<AnyType>:$inputs,
                       DefaultValuedOptionalAttr<StrAttr, "\"\"">:$domain, I64Attr:$version,
                       StrAttr:$node, StrArrayAttr:$names,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$params,
                       DefaultValuedOptionalAttr<StrArrayAttr, "{}">:$body_names);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = [{
    $kind `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) ($bodies^)?
  }];
  let hasVerifier = 1;
}

def YieldOp : Frontend_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["GraphOp", "NodeOp"]>]> {
  let summary = "the outputs of a graph";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // GPUCC_FRONTEND
