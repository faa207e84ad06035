//===- DistOps.td - ops on shardings and between ranks -----*- tablegen -*-===//
#ifndef GPUCC_DIST_OPS
#define GPUCC_DIST_OPS

include "dialects/Dist/Dist.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Interfaces/OpInterfaces.td"

def Dist_Tensor : StaticShapeTensorOf<[AnyFloat, AnyInteger]>;
def Dist_Index : 0DTensorOf<[I64]>;

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

def MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "the machine's ranks as named axes";
  let description = [{
    Example: `dist.mesh @mesh <["dp" = 2, "tp" = 2]>`. A module has at most one.

    Constraints: (C1) an axis "pp" comes first.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, MeshAttr:$mesh);
  let assemblyFormat = "$sym_name $mesh attr-dict";
  let hasVerifier = 1;
}

//===-- Before partitioning -----------------------------------------------===//

def ConstraintOp : Dist_Op<"constraint", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value must have this sharding";
  let description = [{
    A pin; gpucc-propagate obeys it or says which rule forbids it, and replaces it.

    Example: `%1 = dist.constraint %0 on @mesh <[{"dp"}, {} ]> : tensor<8x4xf32>`

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the sharding fits the mesh and the rank of the
    tensor. (C3) it divides the dimensions evenly.
  }];
  let arguments = (ins Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, ShardingAttr:$sharding);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$x `on` $mesh $sharding attr-dict `:` type($x)";
}

def ReshardOp : Dist_Op<"reshard", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the same global value under another sharding";
  let description = [{
    gpucc-partition turns it into the cheapest sequence of collectives and local slices.

    Example: `%1 = dist.reshard %0 on @mesh from <[{"dp"}, {} ], partial = ["tp"] sum> to <[{"dp"}, {} ]> : tensor<8x4xf32>`

    Constraints: (C1) `mesh` names a dist.mesh. (C2) both shardings fit the mesh and the rank of
    the tensor. (C3) they divide the dimensions evenly. (C4) axes that are partial only in `to`
    need the combiner sum.
  }];
  let arguments = (ins Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, ShardingAttr:$from, ShardingAttr:$to);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$x `on` $mesh `from` $from `to` $to attr-dict `:` type($x)";
}

//===-- After partitioning ------------------------------------------------===//

def AxisIndexOp : Dist_Op<"axis_index", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "this rank's row-major index on mesh axes, times a scale";
  let description = [{
    On a mesh dp=2, tp=4, `dist.axis_index on @mesh over ["tp"] scale 8` is 16 on ranks with tp = 2. In
    the plan it is a constant of the rank.

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it.
  }];
  let arguments = (ins FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, I64Attr:$scale);
  let results = (outs Dist_Index:$result);
  let assemblyFormat = "`on` $mesh `over` $axes `scale` $scale attr-dict `:` type($result)";
}

class Dist_Collective<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat(traits, [
        DeclareOpInterfaceMethods<CollectiveOpInterface, ["evaluateGroup", "getSentBytes"]>,
        DeclareOpInterfaceMethods<CostOpInterface>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>])> {
  let results = (outs Dist_Tensor:$result);
}

def AllReduceOp : Dist_Collective<"all_reduce", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "every member gets the combination of all";
  let description = [{
    Example: `%1 = dist.all_reduce sum %0 on @mesh over ["tp"] : tensor<4x4xf32>`

    Over the axis "pp" the programs of different stages meet: then `channel` numbers the meeting
    (equal in all programs that take part), and `stages` lists those that do; none = all.

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it, at least one.
    (C3) `channel` is present exactly when "pp" is among the axes, `stages` only then, ascending and
    in range. (C4) and, or need integers or i1; the others no i1.
  }];
  let arguments = (ins CombinerAttr:$combiner, Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes,
                       OptionalAttr<I64Attr>:$channel, OptionalAttr<DenseI64ArrayAttr>:$stages);
  let assemblyFormat = [{
    $combiner $x `on` $mesh `over` $axes (`channel` $channel^)? (`stages` $stages^)? attr-dict `:` type($x)
  }];
}

def AllGatherOp : Dist_Collective<"all_gather", [Pure]> {
  let summary = "every member gets the blocks of all, joined along one dimension";
  let description = [{
    Example: `%1 = dist.all_gather %0 on @mesh over ["tp"] dim 1 : tensor<4x4xf32> -> tensor<4x8xf32>`

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it, at least one.
    (C3) `dim` is in range. (C4) the result has the operand's type but `members` times its size in `dim`.
  }];
  let arguments = (ins Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, I64Attr:$dim);
  let assemblyFormat = "$x `on` $mesh `over` $axes `dim` $dim attr-dict `:` type($x) `->` type($result)";
}

def ReduceScatterOp : Dist_Collective<"reduce_scatter", [Pure]> {
  let summary = "member i gets block i of the combination of all";
  let description = [{
    Example: `%1 = dist.reduce_scatter sum %0 on @mesh over ["dp"] dim 0 : tensor<8x4xf32> -> tensor<4x4xf32>`

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it, at least one.
    (C3) `dim` is in range. (C4) the operand has the result's type but `members` times its size in
    `dim`. (C5) and, or need integers or i1; the others no i1.
  }];
  let arguments = (ins CombinerAttr:$combiner, Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes,
                       I64Attr:$dim);
  let assemblyFormat = [{
    $combiner $x `on` $mesh `over` $axes `dim` $dim attr-dict `:` type($x) `->` type($result)
  }];
}

def AllToAllOp : Dist_Collective<"all_to_all", [Pure]> {
  let summary = "block i along `split` goes to member i; what comes is joined along `concat`";
  let description = [{
    Example: `%1 = dist.all_to_all %0 on @mesh over ["tp"] split 0 concat 1 : tensor<8x4xf32> -> tensor<4x8xf32>`

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it, at least one.
    (C3) `split` and `concat` are in range. (C4) the result is the operand with `split` divided and `concat`
    multiplied by the number of members.
  }];
  let arguments = (ins Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, I64Attr:$split, I64Attr:$concat);
  let assemblyFormat = [{
    $x `on` $mesh `over` $axes `split` $split `concat` $concat attr-dict `:` type($x) `->` type($result)
  }];
}

def PermuteOp : Dist_Collective<"permute", [Pure, SameOperandsAndResultType]> {
  let summary = "every member gets the value of the member `shift` places before it, around";
  let description = [{
    Example: `%1 = dist.permute %0 on @mesh over ["tp"] shift 1 : tensor<4x4xf32>` brings member i the value of
    member i - 1, and member 0 that of the last.

    Constraints: (C1) `mesh` names a dist.mesh. (C2) the axes are different axes of it, at least one.
  }];
  let arguments = (ins Dist_Tensor:$x, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes, I64Attr:$shift);
  let assemblyFormat = "$x `on` $mesh `over` $axes `shift` $shift attr-dict `:` type($x)";
}

def SendOp : Dist_Op<"send", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "sends to the rank with the same coordinates in another stage";
  let description = [{
    Does not wait for the receiver. Values of one channel arrive in the order they were sent.

    Example: `dist.send %0 to 1 channel 4 : tensor<4x4xf32>`

    Constraints: (C1) `stage` and `channel` are not negative. (C2) `stage` is not the function's own.
  }];
  let arguments = (ins Dist_Tensor:$x, I64Attr:$stage, I64Attr:$channel);
  let assemblyFormat = "$x `to` $stage `channel` $channel attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def RecvOp : Dist_Op<"recv", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "receives from the rank with the same coordinates in another stage";
  let description = [{
    Example: `%0 = dist.recv from 0 channel 4 : tensor<4x4xf32>`

    Constraints: (C1) `stage` and `channel` are not negative. (C2) `stage` is not the function's own.
  }];
  let arguments = (ins I64Attr:$stage, I64Attr:$channel);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "`from` $stage `channel` $channel attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // GPUCC_DIST_OPS
