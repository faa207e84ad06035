//===- Recipes.h - settings of software by precision and release -*- C++ -*-===//
//
// What: the part of a run's recipe that its source does not fix for all its rows: what the rows'
// precision means there, and what the recipes of Megatron-Bridge's releases set.
//
// Example: "fp8 rowwise" of torchtitan casts weights in every pass and rescales the results of
// backward products; MXFP8 mixtures of Megatron-Bridge 26.06 on racks launch whole steps as graphs.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_BENCH_COSTMODEL_RECIPES_H
#define GPUCC_BENCH_COSTMODEL_RECIPES_H

#include "Runs.h"

namespace gpucc::bench {

/// How a software passes stage boundaries on.
workload::Sends sendsOf(const std::string &software);
/// `precision` as the row prints it, in lower case.
void setPrecision(Run &run, const std::string &precision);
/// `name`: the model, in lower case.
void setBridge(Run &run, const std::string &name, const std::string &precision);

} // namespace gpucc::bench
#endif // GPUCC_BENCH_COSTMODEL_RECIPES_H
