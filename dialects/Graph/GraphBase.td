//===- GraphBase.td - the graph dialect: whole tensors -----*- tablegen -*-===//
//
// Whole tensors, value semantics, static shapes. Each family of ops has a
// folder with one .td (what it is) and .cpp files (what it means: verify,
// infer, evaluate, sharding rule, local form, derivative, facts, scalar body
// or decomposition).
// A family's .cpp files are cut by question (PointwiseVjp.cpp); an op that is
// added alone may have one file with all its answers.
//
// Rules that hold for every op:
//   * shapes are static and known (profiles are bound while importing);
//   * operands have equal shapes where the op is pointwise; broadcasting is an
//     op of its own;
//   * result types follow from operands and attributes (InferType);
//   * its constraints C1…Cn are checked where its types are inferred (Infer.h),
//     so that builders, the parser and the verifier meet the same check.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_GRAPH_BASE
#define GPUCC_GRAPH_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "dialects/Interfaces/OpInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::gpucc::graph";
  let summary = "tensor programs: the meaning of a model";
  let hasConstantMaterializer = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::gpucc::base::BaseDialect"];
}

class Graph_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::gpucc::graph";
}
class Graph_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<Graph_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def UnaryKind : Graph_Enum<"UnaryKind", "function of one element", [
    I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Abs", 1, "abs">,
    I32EnumAttrCase<"Sign", 2, "sign">, I32EnumAttrCase<"Exp", 3, "exp">,
    I32EnumAttrCase<"Expm1", 4, "expm1">, I32EnumAttrCase<"Log", 5, "log">,
    I32EnumAttrCase<"Log1p", 6, "log1p">, I32EnumAttrCase<"Sqrt", 7, "sqrt">,
    I32EnumAttrCase<"Rsqrt", 8, "rsqrt">, I32EnumAttrCase<"Reciprocal", 9, "reciprocal">,
    I32EnumAttrCase<"Tanh", 10, "tanh">, I32EnumAttrCase<"Erf", 11, "erf">,
    I32EnumAttrCase<"Logistic", 12, "logistic">, I32EnumAttrCase<"Relu", 13, "relu">,
    I32EnumAttrCase<"Sin", 14, "sin">, I32EnumAttrCase<"Cos", 15, "cos">,
    I32EnumAttrCase<"Tan", 16, "tan">, I32EnumAttrCase<"Asin", 17, "asin">,
    I32EnumAttrCase<"Acos", 18, "acos">, I32EnumAttrCase<"Atan", 19, "atan">,
    I32EnumAttrCase<"Sinh", 20, "sinh">, I32EnumAttrCase<"Cosh", 21, "cosh">,
    I32EnumAttrCase<"Asinh", 22, "asinh">, I32EnumAttrCase<"Acosh", 23, "acosh">,
    I32EnumAttrCase<"Atanh", 24, "atanh">, I32EnumAttrCase<"Floor", 25, "floor">,
    I32EnumAttrCase<"Ceil", 26, "ceil">, I32EnumAttrCase<"RoundEven", 27, "round_even">,
    I32EnumAttrCase<"Not", 28, "not">, I32EnumAttrCase<"IsNan", 29, "is_nan">,
    I32EnumAttrCase<"IsInf", 30, "is_inf">]>;
def UnaryKindAttr : Graph_EnumAttr<UnaryKind, "unary">;

def BinaryKind : Graph_Enum<"BinaryKind", "function of two elements", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
    I32EnumAttrCase<"Pow", 4, "pow">,
    I32EnumAttrCase<"Max", 5, "max">,   // NaN if either is NaN
    I32EnumAttrCase<"Min", 6, "min">,   // NaN if either is NaN
    I32EnumAttrCase<"Rem", 7, "rem">,   // sign of the dividend (C fmod)
    I32EnumAttrCase<"Mod", 8, "mod">,   // sign of the divisor (Python %)
    I32EnumAttrCase<"And", 9, "and">, I32EnumAttrCase<"Or", 10, "or">,
    I32EnumAttrCase<"Xor", 11, "xor">,
    I32EnumAttrCase<"Shl", 12, "shl">, I32EnumAttrCase<"Shr", 13, "shr">]>;
def BinaryKindAttr : Graph_EnumAttr<BinaryKind, "binary">;

def CompareKind : Graph_Enum<"CompareKind", "ordered comparison; ne is true on NaN", [
    I32EnumAttrCase<"Eq", 0, "eq">, I32EnumAttrCase<"Ne", 1, "ne">,
    I32EnumAttrCase<"Lt", 2, "lt">, I32EnumAttrCase<"Le", 3, "le">,
    I32EnumAttrCase<"Gt", 4, "gt">, I32EnumAttrCase<"Ge", 5, "ge">]>;
def CompareKindAttr : Graph_EnumAttr<CompareKind, "compare">;

def ReductionKind : Graph_Enum<"ReductionKind", "combiner of a reduction", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
    I32EnumAttrCase<"Max", 2, "max">,       // NaN if any is NaN
    I32EnumAttrCase<"Min", 3, "min">,       // NaN if any is NaN
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]>;
def ReductionKindAttr : Graph_EnumAttr<ReductionKind, "reduction">;

def PoolKind : Graph_Enum<"PoolKind", "what a window yields", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Avg", 1, "avg">]>;
def PoolKindAttr : Graph_EnumAttr<PoolKind, "pool">;

def PadKind : Graph_Enum<"PadKind", "what lies outside", [
    I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Reflect", 1, "reflect">,
    I32EnumAttrCase<"Edge", 2, "edge">, I32EnumAttrCase<"Wrap", 3, "wrap">]>;
def PadKindAttr : Graph_EnumAttr<PadKind, "pad_mode">;

def GeluKind : Graph_Enum<"GeluKind", "form of GELU", [
    I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]>;
def GeluKindAttr : Graph_EnumAttr<GeluKind, "gelu_form">;

def Precision : Graph_Enum<"Precision", "how f32 operands enter the matrix unit", [
    I32EnumAttrCase<"Highest", 0, "highest">, I32EnumAttrCase<"Tf32", 1, "tf32">]>;
def PrecisionAttr : Graph_EnumAttr<Precision, "precision">;

def ClusterKind : Graph_Enum<"ClusterKind", "which emitter makes the kernel", [
    I32EnumAttrCase<"Loop", 0, "loop">, I32EnumAttrCase<"Reduction", 1, "reduction">,
    I32EnumAttrCase<"Transpose", 2, "transpose">, I32EnumAttrCase<"Contract", 3, "contract">,
    I32EnumAttrCase<"Convolution", 4, "convolution">, I32EnumAttrCase<"Attention", 5, "attention">,
    I32EnumAttrCase<"Gather", 6, "gather">, I32EnumAttrCase<"Scatter", 7, "scatter">,
    I32EnumAttrCase<"Window", 8, "window">, I32EnumAttrCase<"Scan", 9, "scan">,
    I32EnumAttrCase<"Library", 10, "library">]>;  // a call and the post-ops it takes (Analysis/PostOps.h)
def ClusterKindAttr : Graph_EnumAttr<ClusterKind, "cluster_kind">;

// The element types of include/gpucc/Facts/DType.h.
defvar GraphFloats = [F64, F32, F16, BF16, F8E4M3FN, F8E5M2];
defvar GraphIntegers = [I64, I32, I16, I8, I<4>, I1, UI64, UI32, UI16, UI8, UI<4>];
def Tensor : StaticShapeTensorOf<!listconcat(GraphFloats, GraphIntegers)>;
def FloatTensor : StaticShapeTensorOf<GraphFloats>;
def BoolTensor : StaticShapeTensorOf<[I1]>;
def IndicesTensor : StaticShapeTensorOf<[I32, I64]>;
def ScalarI64 : 0DTensorOf<[I64]>;

/// Every op: pure, infers its types, answers the five interfaces.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, !listconcat(traits, [
        Pure, InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<EvaluateOpInterface>,
        DeclareOpInterfaceMethods<DifferentiableOpInterface>,
        DeclareOpInterfaceMethods<CostOpInterface>])> {
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Its local form is a clone with other types.
def RuleOnly : DeclareOpInterfaceMethods<ShardingRuleOpInterface>;
/// Its attributes hold extents: it builds its own local form.
def RuleAndLocal : DeclareOpInterfaceMethods<ShardingRuleOpInterface, ["buildLocal"]>;
def HasScalarBody : DeclareOpInterfaceMethods<ScalarBodyOpInterface>;
def HasDecomposition : DeclareOpInterfaceMethods<DecomposableOpInterface>;

#endif // GPUCC_GRAPH_BASE
