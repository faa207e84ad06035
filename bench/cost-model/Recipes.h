//===- Recipes.h - settings of published software ---------------*- C++ -*-===//
//
// What: how the software of a row ran it, as the source or the software's own settings say: what
// its stack does in all rows (Stacks.h), what the rows' precision means there, and what a source
// sets besides. Nothing is per row, per model or per layout but where the source's settings are.
//
// Example: "fp8 rowwise" of torchtitan casts weights in every pass and rescales the results of
// backward products; MXFP8 mixtures of Megatron-Bridge 26.06 on racks launch whole steps as graphs.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_RECIPES_H
#define GPUCC_BENCH_COSTMODEL_RECIPES_H

#include "Row.h"
#include "Stacks.h"

namespace gpucc::bench {

/// What the stack does in all its rows, and the row's precision.
void setStack(Run &run, const Row &row, const Stack &stack);
/// What the row's source sets besides; ZeRO stage and recomputation as the row states them are set.
void setSource(Run &run, const Row &row);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_RECIPES_H
