//===- ThreadOps.td - what exists only after KernelToThreads *- tablegen -*-===//
//
// The CUDA printer knows a closed list: arith, some of math, scf.for/if,
// memref and vector accesses, gpu ids and barriers, and these.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_KERNEL_THREAD_OPS
#define GPUCC_KERNEL_THREAD_OPS

include "dialects/Kernel/KernelBase.td"

def GroupReduceOp : Kernel_Op<"group_reduce"> {
  let summary = "combines the accumulators of all threads of a program by the tree of rows";
  let description = [{
    `value` holds each thread's accumulators (consecutive residues). Every thread gets the result.
    Prints as `gk_reduce<gk_add, threads, packed>(value)`.
  }];
  let arguments = (ins LoopResultKindAttr:$kind, I64Attr:$threads, I64Attr:$packed,
                       Arg<AnyMemRef, "", [MemRead, MemWrite]>:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value `over` $threads `packed` $packed attr-dict `:` type($value) `->` type($result)";
}

def GroupReduceToOp : Kernel_Op<"group_reduce_to"> {
  let summary = "the same over the leading dimensions: one sum per column, left in shared memory";
  let description = [{
    Prints as `gk_reduce_to<gk_add, threads, columns, parts>(value, out)`: the block holds 32 rows of
    `columns` accumulators, `parts` strips of them per thread.
  }];
  let arguments = (ins LoopResultKindAttr:$kind, I64Attr:$threads, I64Attr:$columns, I64Attr:$parts,
                       Arg<AnyMemRef, "", [MemRead, MemWrite]>:$value, Arg<AnyMemRef, "", [MemWrite]>:$out);
  let assemblyFormat = "$kind $value `over` $threads `columns` $columns `parts` $parts `to` $out attr-dict `:` type($value) `,` type($out)";
}

def SkeletonCallOp : Kernel_Op<"skeleton_call", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "an instance of a device skeleton with its epilogue lowered to arrays";
  let description = [{
    `callee<template_arguments>(operands..., [&](accumulator, indices...) { epilogue }, trailing...)`.
    Operands are texts in which `$0`, `$1`, ... stand for the views. The epilogue's first argument is
    the accumulator (a scalar, or an array of neighbouring columns), the rest are indices; where
    `parameters` lists names, they are the lambda's, and "" stands for one that the epilogue lacks.
  }];
  let arguments = (ins StrAttr:$header, StrAttr:$callee, StrAttr:$template_arguments, StrAttr:$preamble,
                       StrArrayAttr:$operands, StrArrayAttr:$parameters, StrArrayAttr:$trailing,
                       Arg<Variadic<AnyMemRef>, "", [MemRead]>:$views);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $callee `<` $template_arguments `>` `(` $operands `)` `over` $views `:` type($views) `epilogue` $epilogue attr-dict
  }];
}

#endif // GPUCC_KERNEL_THREAD_OPS
