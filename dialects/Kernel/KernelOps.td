//===- KernelOps.td - functions, programs, loops, memory ---*- tablegen -*-===//
#ifndef GPUCC_KERNEL_OPS
#define GPUCC_KERNEL_OPS

include "dialects/Kernel/KernelBase.td"

def FuncOp : Kernel_Op<"func", [IsolatedFromAbove, FunctionOpInterface, SingleBlock]> {
  let summary = "one kernel: views in, views out";
  let description = [{
    Arguments are views: memrefs with static shape and strides, aligned to 256 bytes unless the
    argument says `kernel.align`. `kernel.name` is the model's name, for people; `work` says what one launch
    computes, for cost models. The CPU calls it as
    `void k(void **args, int64_t begin, int64_t end)`, programs [begin, end) in row-major order.

    Example: see the head of KernelBase.td.

    Constraints: (C1) no results, and every argument is a memref with static shape and strides and
    offset 0. (C2) the body holds constants and exactly one `program` or skeleton, and ends in a
    `yield` without values.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs,
                       OptionalAttr<ScheduleAttr>:$schedule, OptionalAttr<WorkAttr>:$work);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::ArrayRef<::mlir::Type>":$views)>];
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// The program or the skeleton.
    ::mlir::Operation *getComputation();
    /// The model's name of a view, or "".
    ::llvm::StringRef getViewName(unsigned index);
    /// Programs that `begin` and `end` of the CPU's call range over; 0 for a skeleton, whose
    /// programs its expansion decides.
    int64_t getProgramCount();
  }];
}

def ProgramOp : Kernel_Op<"program", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "independent programs, one per point of the grid";
  let description = [{
    Example: `kernel.program (%r) in (8) { ... }`; `kernel.program () in () { ... }` is one program.
    The body holds loops, scalar operations and loads with the same value for the whole program.

    Constraints: (C1) one index argument per extent, extents ≥ 1.
    (C2) programs of one kernel do not write what another of them reads or writes (not checked).
  }];
  let arguments = (ins DenseI64ArrayAttr:$extents);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$extents,
    "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
}

def LoopOp : Kernel_Op<"loop", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "one scalar body for every point; each result is kept as a tile or reduced";
  let description = [{
    Points are independent of each other: the order in which they run is not defined (the order of
    reductions is, see KernelBase.td). A loop inside a loop belongs to one point of the outer one:
    it runs in order, so it may also read what it wrote (a scan, a scatter by columns).

    Example, statistics of a row:
    ```
    %sum, %t = kernel.loop (%c) in (1024) -> (add f32, keep tensor<1024xf32>) {
      %0 = kernel.load %x[%r, %c] : memref<8x1024xf32>
      kernel.yield %0, %0 : f32, f32
    }
    ```
    Example, sums of 32 columns: `%s = kernel.loop (%i, %c) in (512, 32) -> (add tensor<32xf32>) ...`

    Constraints: (C1) one index argument per extent, extents ≥ 1. (C2) one kind, one result and one
    yielded value each. (C3) `keep` results are tensors of the extents and the yielded element type,
    and stand in loops directly in a program. (C4) other results have the yielded type, or are 1-d
    tensors of it over the last extent (rank ≥ 2, directly in a program). (C5) reduced types are
    f32, f64, i32, i64, or i1 for and/or; the kind fits the type. (C6) a loop reduces either to
    scalars or to columns.
  }];
  let arguments = (ins DenseI64ArrayAttr:$extents, TypedArrayAttrBase<LoopResultKindAttr, "kinds">:$kinds);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$extents,
    "::llvm::ArrayRef<::gpucc::kernel::LoopResultKind>":$kinds, "::llvm::ArrayRef<::mlir::Type>":$types,
    "::llvm::function_ref<::llvm::SmallVector<::mlir::Value>(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
  let extraClassDeclaration = [{
    ::gpucc::kernel::LoopResultKind getKind(unsigned result) {
      return ::llvm::cast<LoopResultKindAttr>(getKinds()[result]).getValue();
    }
    /// Number of points.
    int64_t getPoints();
    /// True for a loop inside a loop or inside a skeleton's region: it runs in order.
    bool isInner();
    /// True when result `result` has one value per index of the last dimension.
    bool isColumnReduction(unsigned result);
    /// What the body yields at a point.
    ::mlir::OperandRange getYielded();
  }];
}

def LoadOp : Kernel_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "one element of a view or of a tile";
  let description = [{
    The affine map says broadcast, transpose, slice, reshape. An index may be any value of type
    index, so that a table look-up is a load at a loaded index. `if` guards the access (padding,
    concatenation): where the predicate is false the element is the value after `else` and memory is
    not touched.

    Example: `%0 = kernel.load %x[%r floordiv 2, %c + 1] if %inside else %zero : memref<4x16xf32>`

    Constraints: (C1) the map has one result per dimension and one input per index. (C2) predicate
    and other value come together; the value has the element type. (C3) tiles are read in the
    program that made them, after their loop.
  }];
  let arguments = (ins Arg<AnyTypeOf<[View, Tile]>, "", [MemRead]>:$source, Variadic<Index>:$indices,
                       Optional<I1>:$predicate, Optional<AnyType>:$otherwise, AffineMapAttr:$map);
  let results = (outs AnyType:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::AffineMap":$map, "::mlir::ValueRange":$indices,
               CArg<"::mlir::Value", "{}">:$predicate, CArg<"::mlir::Value", "{}">:$otherwise)>,
    OpBuilder<(ins "::mlir::Value":$source, "::mlir::ValueRange":$indices)>];
}

def StoreOp : Kernel_Op<"store", [AttrSizedOperandSegments]> {
  let summary = "writes one element of a view";
  let description = [{
    Example: `kernel.store %0, %y[%r, %c] if %inside : memref<4x16xf32>`

    Constraints: (C1) the map has one result per dimension and one input per index. (C2) the value
    has the element type. (C3) it stands in a loop or in the region of a skeleton, or the program
    stores one scalar.
  }];
  let arguments = (ins AnyType:$value, Arg<View, "", [MemWrite]>:$dest, Variadic<Index>:$indices,
                       Optional<I1>:$predicate, AffineMapAttr:$map);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$dest, "::mlir::AffineMap":$map,
               "::mlir::ValueRange":$indices, CArg<"::mlir::Value", "{}">:$predicate)>,
    OpBuilder<(ins "::mlir::Value":$value, "::mlir::Value":$dest, "::mlir::ValueRange":$indices)>];
}

def YieldOp : Kernel_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a body and hands its values out";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

#endif // GPUCC_KERNEL_OPS
