//===- PlanWriter.h - from the plan dialect to a plan file ------*- C++ -*-===//
//
// One to one: every op of `plan` becomes a table of plan.fbs, nothing is
// decided here. Kernels come compiled (KernelCode), weights are copied from the
// mapped files of the model, or referred to when they lie beside the plan.
//
//   KernelCode code = ...;                         // Target/Host, Target/Cuda
//   PlanOptions options{.producer = "gpucc 0.1.0", .model = "mlp"};
//   if (failed(writePlan(module, code, options, "mlp.plan"))) return failure();
//
// The same module, code and options give the same bytes.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_PLAN_PLANWRITER_H
#define GPUCC_TARGET_PLAN_PLANWRITER_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace gpucc {

/// A piece of code that kernels refer to.
struct CodeBlob {
  enum class Kind { HostImage, Cubin, SimtImage } kind = Kind::HostImage;
  std::string arch; ///< "x86-64-v3", "sm_90a", "simt"
  std::string bytes;
};

struct KernelVariantCode {
  size_t blob = 0; ///< index into KernelCode::blobs
  std::string symbol;
  int64_t programs = 1, grain = 1;             ///< host
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}; ///< cuda
  uint32_t sharedBytes = 0, registers = 0;
};

struct KernelCodeEntry {
  std::string name; ///< symbol of the kernel.func
  std::string source; ///< CUDA text, for `show`; may be empty
  std::vector<KernelVariantCode> variants;
};

struct KernelCode {
  std::vector<CodeBlob> blobs;
  std::vector<KernelCodeEntry> kernels;
};

struct PlanOptions {
  std::string producer, model;
  std::string modelFolder; ///< where the files of `graph.files` lie
  bool cuda = false;       ///< target of the plan
  std::vector<std::string> architectures;
  bool training = false, reproducible = true;
  /// Weights whose file lies in the plan's folder or below are referred to, not copied.
  bool externalWeights = false;
  std::string explanation;
  std::string partitionHash; ///< SHA-256 of the module at the end of Phase::Dist; may be empty
};

/// Writes atomically. Errors are diagnostics at the op or weight concerned.
llvm::LogicalResult writePlan(mlir::ModuleOp module, const KernelCode &code,
                              const PlanOptions &options, llvm::StringRef path);

} // namespace gpucc

#endif // GPUCC_TARGET_PLAN_PLANWRITER_H
