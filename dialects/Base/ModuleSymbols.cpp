//===- ModuleSymbols.cpp - what programs name exists in their module ------===//
//
// Kernels, weights and other stages stand beside a program, not in it, and come
// from other dialects; the phase verifiers of sched and plan, and the writer of
// plan files, ask here.
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Commands.h"
#include "gpucc/Support/Types.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::base;

LogicalResult base::verifyKernel(Operation *op, FlatSymbolRefAttr kernel, ArrayAttr views,
                                 const SymbolTable &module) {
  Operation *symbol = module.lookup(kernel.getValue());
  auto function = dyn_cast_or_null<FunctionOpInterface>(symbol);
  if (!function || symbol->getName().getStringRef() != "kernel.func")
    return op->emitOpError() << "(C3) runs kernel " << kernel
                             << ", which the module does not have; gpucc-outline-kernels puts "
                                "kernel.func ops beside the programs";
  auto bytesOf = [](Type view) -> int64_t {
    auto memory = dyn_cast<MemRefType>(view);
    auto dtype = memory ? toDType(memory.getElementType()) : std::nullopt;
    return dtype ? byteSize(*dtype, memory.getNumElements()) : -1;
  };
  bool fits = function.getNumArguments() == views.size();
  for (auto [type, view] : llvm::zip(function.getArgumentTypes(), views))
    fits &= bytesOf(type) == cast<ViewAttr>(view).getBytes();
  if (fits)
    return success();
  InFlightDiagnostic error = op->emitOpError()
                             << "(C3) gives kernel " << kernel << " " << views.size()
                             << " views of other sizes or number "
                                "than it takes";
  error.attachNote(symbol->getLoc()) << "the kernel takes views " << function.getArgumentTypes();
  return error;
}

LogicalResult base::verifyWeight(Operation *op, FlatSymbolRefAttr key, const SymbolTable &module) {
  Operation *symbol = module.lookup(key.getValue());
  if (symbol && symbol->getName().getStringRef() == "graph.weight_data")
    return success();
  return op->emitOpError()
         << "(C4) begins with weight " << key
         << ", which is no graph.weight_data of the module; import writes the table";
}

LogicalResult base::verifyStages(ArrayRef<ProgramShape> programs) {
  std::map<int64_t, const ProgramShape *> stages;
  auto ranksOf = [](const ProgramShape &p) {
    int64_t ranks = 1;
    for (int64_t size : p.shape)
      ranks *= size;
    return ranks;
  };
  for (const ProgramShape &program : programs) {
    const ProgramShape *first = stages.try_emplace(program.stage, &program).first->second;
    bool equal = first->mesh == program.mesh && first->shape == program.shape;
    if (!equal || ranksOf(program) != ranksOf(programs.front())) {
      InFlightDiagnostic error = program.program->emitOpError()
                                 << "(C3) has a mesh of " << program.mesh << " = [" << program.shape
                                 << "]";
      error.attachNote((equal ? programs.front() : *first).program->getLoc())
          << "programs of a stage have one mesh, stages have equally many ranks; compare this one";
      return error;
    }
  }
  int64_t next = 0;
  for (auto [stage, program] : stages)
    if (stage != next++)
      return program->program->emitOpError()
             << "(C4) is stage " << stage << ", and there is no stage " << next - 1
             << "; stages count up from 0 without gaps";
  return success();
}
