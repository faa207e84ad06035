//===- Tables.h - ops of `plan` as tables of plan.fbs -----------*- C++ -*-===//
#ifndef GPUCC_LIB_TARGET_PLAN_TABLES_H
#define GPUCC_LIB_TARGET_PLAN_TABLES_H

#include "dialects/Plan/Plan.h"
#include "gpucc/Facts/DType.h"
#include "mlir/IR/BuiltinOps.h"
#include "plan_generated.h"

#include <map>

namespace gpucc {

namespace fb = rt::plan;

fb::DType toPlan(DType type);
/// `axes`: the axes of the stage, in order.
std::unique_ptr<fb::RankValueT> toPlan(base::RankValueAttr value, mlir::ArrayAttr axes);
std::vector<std::unique_ptr<fb::DimSliceT>> toPlan(mlir::ArrayAttr slices, mlir::ArrayAttr axes);

/// Fills stages, communicators, tensors and profiles from the module's plan.program ops.
/// `kernels` maps kernel symbols to their index in the plan.
llvm::LogicalResult fillPrograms(mlir::ModuleOp module, fb::PlanT &plan,
                                 const std::map<std::string, uint32_t> &kernels);

} // namespace gpucc

#endif // GPUCC_LIB_TARGET_PLAN_TABLES_H
