//===- Dist.td - placement: meshes, shardings, who talks ---*- tablegen -*-===//
//
// Where tensors lie on the ranks, and what ranks tell each other.
//
// Before partitioning every value is global and carries a sharding:
//
//   dist.mesh @mesh <["dp" = 2, "tp" = 2]>
//   %1 = graph.contract %x, %w {..., dist.sharding = [#dist.sharding<[{"dp"}, {} ], partial = ["tp"] sum>]}
//   %2 = dist.reshard %1 on @mesh from <[{"dp"}, {} ], partial = ["tp"] sum> to <[{"dp"}, {} ]>
//
// After it values are blocks of one rank and collectives are explicit:
//
//   %1 = graph.contract %x, %w ... : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
//   %2 = dist.all_reduce sum %1 on @mesh over ["tp"] : tensor<4x4xf32>
//
// All ranks of a pipeline stage run the same program; a rank's coordinates enter only through
// dist.axis_index. The mesh axis "pp", when there is one, is the major one and counts the stages:
// no sharding uses it, only collectives between the stages' programs do.
//
// There are no start/wait ops at this level: in value semantics the place of a collective is its
// start and its first use is its wait. `dist.async` marks those that gpucc-overlap-collectives
// moved apart; the pair becomes explicit in `sched`.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_DIST
#define GPUCC_DIST

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_Dialect : Dialect {
  let name = "dist";
  let cppNamespace = "::gpucc::dist";
  let summary = "meshes, shardings, and communication between ranks";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = "void registerAttributes();";
}

// Same order as gpucc::ReduceKind (Facts/ShardingRule.h).
def Combiner : I32EnumAttr<"Combiner", "how partial values are put together", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Prod", 3, "prod">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::gpucc::dist";
}
def CombinerAttr : EnumAttr<Dist_Dialect, Combiner, "combiner"> {
  let assemblyFormat = "$value";
}

def MeshAttr : AttrDef<Dist_Dialect, "Mesh"> {
  let mnemonic = "mesh";
  let summary = "named axes, major to minor";
  let description = [{
    `#dist.mesh<["dp" = 2, "tp" = 4]>`: rank 6 has dp = 1, tp = 2.

    Constraints: (C1) sizes are at least 1. (C2) names differ.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes, ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static MeshAttr get(::mlir::MLIRContext *context, const ::gpucc::Mesh &mesh);
    ::gpucc::Mesh toMesh() const;
  }];
}

def ShardingAttr : AttrDef<Dist_Dialect, "Sharding"> {
  let mnemonic = "sharding";
  let summary = "how a tensor lies on a mesh (Facts/Sharding.h)";
  let description = [{
    Per dimension the axes it is split over, major to minor, in equal blocks of ceil(size/parts);
    then the axes over which the value is not yet reduced, and how to reduce it. Axes that appear
    nowhere hold copies: `#dist.sharding<[{"dp"}, {} ], partial = ["tp"] sum>`.

    Constraints: (C1) an axis appears at most once.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::ArrayAttr">:$dims,
                        ArrayRefParameter<"::mlir::StringAttr">:$partial,
                        "::gpucc::dist::Combiner":$combiner);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static ShardingAttr get(::mlir::MLIRContext *context, const ::gpucc::Sharding &sharding);
    ::gpucc::Sharding toSharding() const;
  }];
}

def ActionAttr : AttrDef<Dist_Dialect, "Action"> {
  let mnemonic = "action";
  let summary = "one step of a stage's script: run a function on a micro-batch in a slot";
  let description = [{
    `#dist.action<@stage0_forward, 3, slot = 1>` runs the function on micro-batch 3; values that
    forward saves for backward live in copy 1 of their storage.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$function, "int64_t":$micro_batch, "int64_t":$slot);
  let assemblyFormat = "`<` $function `,` $micro_batch `,` `slot` `=` $slot `>`";
}

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::gpucc::dist";
  let description = [{
    An op that every rank of a group executes together. Its meaning stands here once: what each
    member gets from what all members bring.
  }];
  let methods = [
    InterfaceMethod<"The mesh, by name.", "::mlir::FlatSymbolRefAttr", "getMeshName", (ins), [{
      return $_op.getMeshAttr();
    }]>,
    InterfaceMethod<"Axes of the group; members are in row-major order of their coordinates on them.",
      "::std::vector<::std::string>", "getAxisNames", (ins), [{
        return ::gpucc::dist::toStrings($_op.getAxes());
      }]>,
    InterfaceMethod<[{
      `inputs[i]` is what member i brings; `outputs[i]` comes zeroed with the result's shape.
    }], "void", "evaluateGroup", (ins "::llvm::ArrayRef<::gpucc::HostTensor>":$inputs,
                                      "::llvm::MutableArrayRef<::gpucc::HostTensor>":$outputs)>,
    InterfaceMethod<"Bytes that one member sends with the bandwidth-optimal algorithm.",
      "double", "getSentBytes", (ins "int64_t":$members)>
  ];
}

#endif // GPUCC_DIST
