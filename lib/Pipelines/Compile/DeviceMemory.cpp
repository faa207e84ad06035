//===- DeviceMemory.cpp - what a plan takes of a device -------------------===//
#include "DeviceMemory.h"

#include "dialects/Plan/Plan.h"

using namespace mlir;
using namespace gpucc;

std::string DeviceMemory::dump() const {
  std::string text;
  for (auto &[name, size] : arenas)
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(size);
  return text;
}

DeviceMemory gpucc::measureMemory(ModuleOp planned) {
  std::map<int64_t, DeviceMemory> stages;
  for (auto program : planned.getOps<plan::ProgramOp>()) {
    auto number = static_cast<int64_t>(program.getStage());
    DeviceMemory &memory = stages[number];
    memory.stage = number;
    for (auto arena : program.getOps<plan::ArenaOp>()) {
      int64_t &size = memory.arenas[arena.getSymName().str()];
      size = std::max(size, static_cast<int64_t>(arena.getBytes()));
    }
  }
  DeviceMemory fullest;
  for (auto &[number, memory] : stages) {
    for (auto &[name, size] : memory.arenas)
      memory.bytes += size;
    if (memory.bytes > fullest.bytes)
      fullest = memory;
  }
  return fullest;
}

void MemoryShortage::emit(ModuleOp module, ArrayRef<std::string> notes) const {
  InFlightDiagnostic error = module.emitError();
  error << limit.bytes << " bytes per rank (" << limit.origin << ") do not hold this plan: ";
  if (without)
    error << "the least that recomputation reaches is " << least.bytes << " bytes; without it "
          << without << " are needed";
  else
    error << "it needs " << least.bytes << " bytes";
  error.attachNote() << "a rank of stage " << least.stage << " has the arenas " << least.dump();
  for (const std::string &note : notes)
    error.attachNote() << note;
  error.attachNote() << "raise the budget, make the batch or the micro-batches smaller (--pin "
                        "micro-batches=N), or spread the model over more ranks (--ranks, --pin)";
}
