//===- Commands.h - commands of `plan` as tables of plan.fbs ----*- C++ -*-===//
#ifndef GPUCC_LIB_TARGET_PLAN_COMMANDS_H
#define GPUCC_LIB_TARGET_PLAN_COMMANDS_H

#include "Tables.h"

namespace gpucc {

class CommandWriter {
public:
  CommandWriter(fb::PlanT &plan, plan::ProgramOp program,
                const std::map<std::string, uint32_t> &kernels,
                const llvm::StringMap<uint32_t> &buffers)
      : plan(plan), program(program), kernels(kernels), buffers(buffers) {}

  llvm::FailureOr<std::unique_ptr<fb::CommandT>> write(mlir::Operation *op);

  uint32_t events = 0; ///< one more than the greatest event seen

private:
  fb::View view(base::ViewAttr attr) const;
  std::unique_ptr<fb::OperandT> operand(base::OperandAttr attr, bool constant) const;
  llvm::LogicalResult launch(plan::LaunchOp op, fb::CommandT &command);
  llvm::LogicalResult libraryCall(plan::LibraryCallOp op, fb::CommandT &command);
  void postOp(mlir::DictionaryAttr config, fb::LibraryCallT &call);
  llvm::LogicalResult collective(plan::CollectiveOp op, fb::CommandT &command);
  uint32_t communicator(plan::CollectiveOp op);

  fb::PlanT &plan;
  plan::ProgramOp program;
  const std::map<std::string, uint32_t> &kernels;
  const llvm::StringMap<uint32_t> &buffers;
};

} // namespace gpucc

#endif // GPUCC_LIB_TARGET_PLAN_COMMANDS_H
