//===- Commands.td - what a rank does, before and after addresses -*- tablegen -*-===//
//
// `sched` (buffers without addresses, one order) and `plan` (addresses, streams, events) speak of
// the same commands. Their shared shape stands here; each dialect makes its ops from these classes.
//
// Two constraints hold for every #base.view of every op: (V1) its buffer is declared in the program,
// (V2) its bytes lie inside one slot of it. And for every #base.rank_value: (V3) its axes are axes of the
// program's mesh. They are checked where symbols are: with the program.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BASE_COMMANDS
#define GPUCC_BASE_COMMANDS

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def CommandOpInterface : OpInterface<"CommandOpInterface"> {
  let cppNamespace = "::gpucc::base";
  let description = "A command of a segment: which bytes it reads and writes.";
  let methods = [
    InterfaceMethod<"Every view with its access: 'r', 'w' or 'b' (both).",
      "::llvm::SmallVector<::gpucc::base::Access>", "getAccesses", (ins)>
  ];
}

def Base_ViewLike : Attr<CPred<"::llvm::isa<::gpucc::base::ViewAttr>($_self)">, "a #base.view">;
def ViewArray : TypedArrayAttrBase<Base_ViewLike, "views">;
def Base_OperandLike : Attr<CPred<"::llvm::isa<::gpucc::base::OperandAttr>($_self)">, "a #base.operand">;
def OperandArray : TypedArrayAttrBase<Base_OperandLike, "operands">;
def Base_View : Attr<CPred<"::llvm::isa<::gpucc::base::ViewAttr>($_self)">, "a #base.view"> {
  let storageType = "::gpucc::base::ViewAttr";
  let returnType = "::gpucc::base::ViewAttr";
  let convertFromStorage = "$_self";
}
def Base_Profile : Attr<CPred<"::llvm::isa<::gpucc::base::ProfileAttr>($_self)">, "a #base.profile"> {
  let storageType = "::gpucc::base::ProfileAttr";
  let returnType = "::gpucc::base::ProfileAttr";
  let convertFromStorage = "$_self";
}
def Base_RankValue : Attr<CPred<"::llvm::isa<::gpucc::base::RankValueAttr>($_self)">, "a #base.rank_value"> {
  let storageType = "::gpucc::base::RankValueAttr";
  let returnType = "::gpucc::base::RankValueAttr";
  let convertFromStorage = "$_self";
}

class Command<Dialect dialect, string mnemonic>
    : Op<dialect, mnemonic, [DeclareOpInterfaceMethods<CommandOpInterface>,
                             DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let hasVerifier = 1;
}

class LaunchCommand<Dialect d, dag extra> : Command<d, "launch"> {
  let summary = "runs a kernel";
  let description = [{
    `access` has one letter per view: r, w or b. `scalars` follow the views: integers (8-byte bit
    patterns) or #base.rank_value.

    Constraints: (C1) one access letter per view. (C2) `scalars` are of these two kinds. With the module
    (gpucc-verify-phase-sched and -plan): (C3) the kernel exists and has one view of that size per view.
  }];
  let arguments = !con((ins FlatSymbolRefAttr:$kernel, ViewArray:$views, StrAttr:$access,
                        OptionalAttr<ArrayAttr>:$scalars, StrAttr:$name), extra);
  let assemblyFormat = "$kernel $views $access attr-dict";
}

class LibraryCommand<Dialect d, dag extra> : Command<d, "library_call"> {
  let summary = "runs a library primitive (oneDNN on the host)";
  let description = [{
    `kind` is one of matmul, conv, conv_backward_data, conv_backward_weights, reorder, pool_max,
    pool_average, pool_average_include_padding; the operands are those of the plan's LibraryKind,
    the last one is written. `config` may hold strides, dilations, pads_begin, pads_end, window (i64
    arrays), groups (i64), bias (#base.operand), math ("strict", "tf32", "bf16"),
    accumulate (unit: adds to the destination), constant (i64 array: operands that are weights),
    post_ops (array of {kind, alpha, beta, operand}, as the plan's PostOp: kind is its name, alpha and
    beta are f64, operand is a #base.operand).

    Constraints: (C1) `kind` is one of these. (C2) the kind's number of operands is given. (C3) an operand
    has a type that plans know, strides as many as dimensions (or none), and all its elements inside its
    view. (C4) `config` holds these entries only.
  }];
  let arguments = !con((ins StrAttr:$kind, OperandArray:$args, DictionaryAttr:$config,
                        StrAttr:$name), extra);
  let assemblyFormat = "$kind $args `config` $config attr-dict";
}

class CopyCommand<Dialect d, dag extra> : Command<d, "copy"> {
  let summary = "copies rows of bytes";
  let description = [{
    Constraints: (C1) both views hold `rows` rows at their pitches; at least one row, bytes and pitches
    not negative.
  }];
  let arguments = !con((ins Base_View:$source, Base_View:$destination, I64Attr:$bytes,
                        DefaultValuedAttr<I64Attr, "1">:$rows,
                        DefaultValuedAttr<I64Attr, "0">:$source_pitch,
                        DefaultValuedAttr<I64Attr, "0">:$destination_pitch, StrAttr:$name), extra);
  let assemblyFormat = "$source `to` $destination attr-dict";
}

class FillCommand<Dialect d, dag extra> : Command<d, "fill"> {
  let summary = "fills bytes with a pattern";
  let description = [{
    Constraints: (C1) `pattern_size` is 1, 2, 4 or 8 and divides the view's bytes.
  }];
  let arguments = !con((ins Base_View:$destination, I64Attr:$pattern, I64Attr:$pattern_size,
                        StrAttr:$name), extra);
  let assemblyFormat = "$destination attr-dict";
}

class CollectiveCommand<Dialect d, dag extra> : Command<d, "collective"> {
  let summary = "a collective operation";
  let description = [{
    `kind`: all_reduce, all_gather, reduce_scatter, all_to_all, permute over the mesh `axes` of the
    program's stage; send and recv to and from stage `peer_stage`, member `peer`. `channel` numbers the
    value that the pair hands over, on both sides alike: gpucc-verify-plan-collectives tells messages of
    one size apart by it. `count` and the layout are those of the plan's CollectiveKind (members one
    behind the other).

    Constraints: (C1) `kind` is one of these. (C2) send has an input, recv an output, the rest both.
    (C3) axes are given exactly when there is no peer stage. (C4) `type` is one that plans know, `reduce` is
    sum, max, min or mean. (C5) axes are axes of the program's mesh. (C6) views hold `count` elements, or
    one such part per member where parts are gathered from or scattered to. With the module: (C7)
    `peer_stage` is another stage of the module.
  }];
  let arguments = !con((ins StrAttr:$kind, StrArrayAttr:$axes, StrAttr:$reduce, TypeAttr:$type,
                        I64Attr:$count, OptionalAttr<Base_View>:$input, OptionalAttr<Base_View>:$output,
                        OptionalAttr<Base_RankValue>:$peer, OptionalAttr<Base_RankValue>:$source,
                        OptionalAttr<I64Attr>:$peer_stage,
                        OptionalAttr<I64Attr>:$channel, StrAttr:$name), extra);
  let assemblyFormat = "$kind attr-dict";
}

/// Entries of the tensor table: what callers see by name, and where it lies.
class TensorEntry<Dialect d>
    : Op<d, "tensor", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a named global tensor and the part of it that a rank holds";
  let description = [{
    `role`: input, label, output, parameter, moment, master, statistic, counter,
    gradient_accumulator, metric, tap, count. `type` is the global type of what one execution consumes or
    produces, `local` one slot of a rank. `slices` (one #base.slice per dimension; empty =
    replicated). For state: `source_name`, `source_shape`, `source_base` place it inside the saved
    tensor. For an output whose size a run computes: `varying_dim` is the dimension of which only the first
    entries are real, and the tensor named `count` says how many.

    Constraints: (C1) `slices` is empty or has one entry per dimension. (C2) `role` is one of these. (C3)
    `type` and `local` are tensors of one rank and element type that plans know; the view holds `local`.
    (C4) `dims` has one name per dimension. (C5) `source_shape` and `source_base` come with a `source_name`,
    and the tensor lies inside. (C6) `partial_axes` are axes of the mesh, or "pp". With the module (plan):
    (C7) entries of one name and role agree in element type, rank, `source_name`,
    `source_shape`, `source_base`, `varying_dim` and `count`. (C8) `varying_dim` and `count` come together, on an output of one slot and no slices whose
    dimension that is. With the module (plan): (C9) `count` names a tensor of role count of the program, an i64 scalar.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$role, TypeAttr:$type, TypeAttr:$local, Base_View:$view,
                       DefaultValuedAttr<I64Attr, "1">:$slots, ArrayAttr:$slices,
                       OptionalAttr<StrArrayAttr>:$dims, OptionalAttr<StrAttr>:$source_name,
                       OptionalAttr<DenseI64ArrayAttr>:$source_shape,
                       OptionalAttr<DenseI64ArrayAttr>:$source_base,
                       OptionalAttr<StrAttr>:$derived_from,
                       OptionalAttr<StrArrayAttr>:$partial_axes,
                       OptionalAttr<I64Attr>:$varying_dim, OptionalAttr<StrAttr>:$count);
  let assemblyFormat = "$name $role $view attr-dict";
  let hasVerifier = 1;
}

/// What is written into memory at prepare.
class InitializeEntry<Dialect d>
    : Op<d, "initialize", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "writes a weight or constant into a buffer before anything runs";
  let description = [{
    Either `value` (a constant) or `key` (a graph.weight_data of the module), cut by `slices` (one
    #base.slice per dimension of the source; empty = all).

    Constraints: (C1) exactly one of `value` and `key`. (C2) `type` is a tensor that plans know, and the view
    holds it. (C3) `slices` is empty or has one entry per dimension. With the module: (C4) `key` is
    an entry of its weight table.
  }];
  let arguments = (ins StrAttr:$name, Base_View:$view, OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<FlatSymbolRefAttr>:$key, ArrayAttr:$slices, TypeAttr:$type);
  let assemblyFormat = "$name $view attr-dict";
  let hasVerifier = 1;
}

class RankConstantEntry<Dialect d>
    : Op<d, "rank_constant", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an i64 that depends on the rank, written at prepare";
  let description = [{
    Constraints: (C1) the view has 8 bytes.
  }];
  let arguments = (ins Base_View:$view, Base_RankValue:$value);
  let assemblyFormat = "$value $view attr-dict";
  let hasVerifier = 1;
}

class ScriptEntry<Dialect d>
    : Op<d, "script", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the order in which segments run: (segment, slot) pairs";
  let description = [{
    Constraints: (C1) as many slots as segments, none negative. (C2) each names a segment of the program.
  }];
  let arguments = (ins StrAttr:$name, ArrayAttr:$segments, DenseI64ArrayAttr:$slots);
  let assemblyFormat = "$name $segments $slots attr-dict";
  let hasVerifier = 1;
}

class SegmentEntry<Dialect d> : Op<d, "segment", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "commands that run together, in this order";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
}

class ProgramEntry<Dialect d> : Op<d, "program", [Symbol, SymbolTable, NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "what the ranks of one pipeline stage do under one profile";
  let description = [{
    `mesh` names the axes, `mesh_shape` their sizes, of the stage's ranks.

    Constraints: (C1) one size of at least 1 per axis, no axis twice, and at most 2^31 ranks. (C2) `stage`
    is at least 0. With the module: (C3) programs of one stage have one mesh, stages have equally many
    ranks. (C4) stages count up from 0 without gaps. (C5, plan) programs of one stage declare the same
    arenas in the same order, equally persistent.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stage, StrArrayAttr:$mesh,
                       DenseI64ArrayAttr:$mesh_shape, OptionalAttr<Base_Profile>:$profile);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

#endif // GPUCC_BASE_COMMANDS
