//===- Memory.cpp - state bytes and overheads -----------------------------===//
//
// ZeRO divides what each stage of it says; what is divided is rounded up by nobody, because
// frameworks flatten it.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Memory.h"
#include <algorithm>
#include <sstream>

namespace gpucc::cost {

RankMemory stateMemory(const StateInputs &inputs) {
  double dp = static_cast<double>(std::max<int64_t>(1, inputs.dp));
  RankMemory memory;
  memory.parameters = inputs.parameterBytes / (inputs.zeroStage >= 3 ? dp : 1);
  memory.gradients = inputs.gradientBytes / (inputs.zeroStage >= 2 ? dp : 1);
  memory.optimizer = inputs.optimizerBytes / (inputs.zeroStage >= 1 ? dp : 1);
  return memory;
}

void addOverheads(RankMemory &memory, const Machine &machine, bool severalNodes,
                  const Calibration &calibration) {
  double moving = memory.activations + memory.workspace + memory.logits;
  memory.allocator += calibration("allocator-share") * moving;
  memory.context += std::max(machine.device.contextBytes, calibration("context-bytes"));
  if (severalNodes)
    memory.communication += calibration("communicator-bytes");
}

std::string RankMemory::dump() const {
  std::ostringstream out;
  out.precision(3);
  out << std::fixed;
  auto row = [&](const char *what, double bytes) {
    out << what << ' ' << bytes / 1073741824.0 << " GiB\n";
  };
  row("parameters    ", parameters);
  row("gradients     ", gradients);
  row("optimizer     ", optimizer);
  row("activations   ", activations);
  row("workspace     ", workspace);
  row("logits        ", logits);
  row("communication ", communication);
  row("allocator     ", allocator);
  row("context       ", context);
  row("total         ", total());
  return out.str();
}

} // namespace gpucc::cost
