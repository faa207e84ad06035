//===- Locate.cpp - who made a wrong value --------------------------------===//
#include "Locate.h"

#include "plan_generated.h"

#include <cstring>

using namespace gpucc;
using namespace gpucc::tool;
namespace fb = gpucc::rt::plan;

namespace {

bool isView(const fb::View *view, uint32_t buffer) { return view && view->buffer() == buffer; }

/// The command writes into the buffer.
bool writes(const fb::Plan &plan, const fb::Command &command, uint32_t buffer) {
  if (const fb::Launch *launch = command.body_as_Launch()) {
    const auto *arguments = plan.kernels()->Get(launch->kernel())->arguments();
    for (uint32_t i = 0; launch->arguments() && i < launch->arguments()->size(); ++i)
      if (arguments && i < arguments->size() && arguments->Get(i)->access() != fb::Access::read &&
          isView(launch->arguments()->Get(i)->view(), buffer))
        return true;
    return false;
  }
  if (const fb::LibraryCall *call = command.body_as_LibraryCall())
    return isView(call->operands()->Get(call->operands()->size() - 1)->view(), buffer);
  if (const fb::Copy *copy = command.body_as_Copy())
    return isView(copy->destination(), buffer);
  if (const fb::Fill *fill = command.body_as_Fill())
    return isView(fill->destination(), buffer);
  const fb::Collective *collective = command.body_as_Collective();
  return collective && isView(collective->output(), buffer);
}

/// Buffer of the tensor (or of a piece of it) in a program; -1 when it has none.
int64_t bufferOf(const fb::Plan &plan, const fb::Program &program, const std::string &tensor) {
  for (uint32_t v = 0; program.views() && v < program.views()->size(); ++v) {
    const fb::TensorView &view = *program.views()->Get(v);
    const fb::Tensor &entry = *plan.tensors()->Get(view.tensor());
    bool piece = entry.source_name() && entry.source_name()->str() == tensor;
    if (piece || entry.name()->str() == tensor)
      return view.buffer();
  }
  return -1;
}

/// In order of the stages: the last writer of the first program that has the tensor.
std::string writerOf(const fb::Plan &plan, const std::string &tensor) {
  for (const fb::Program *program : *plan.profiles()->Get(0)->programs()) {
    int64_t buffer = bufferOf(plan, *program, tensor);
    const fb::Command *last = nullptr;
    for (uint32_t s = 0; buffer >= 0 && program->segments() && s < program->segments()->size();
         ++s) {
      const fb::Segment &segment = *program->segments()->Get(s);
      // The update zeroes accumulators: what put the wrong value there is before it.
      if (segment.name()->str() == "update" && last)
        continue;
      for (uint32_t c = 0; segment.commands() && c < segment.commands()->size(); ++c)
        if (writes(plan, *segment.commands()->Get(c), static_cast<uint32_t>(buffer)))
          last = segment.commands()->Get(c);
    }
    if (last)
      return "by '" + (last->name() ? last->name()->str() : std::string()) + "' (" +
             fb::EnumNameCommandBody(last->body_type()) + ", stage " +
             std::to_string(program->stage()) + ")";
  }
  return "";
}

} // namespace

std::string tool::locate(gpucc_rt::RankGroup &group, const PlanFile &plan,
                         const std::string &tensor, const gpucc_rt::Array &expected,
                         int64_t index) {
  std::string text = writerOf(plan.plan(), tensor), ranks;
  int count = 0;
  uint64_t width = gpucc_rt::dtypeBytes(expected.dtype, 1);
  for (uint32_t rank = 0; index >= 0 && rank < group.size(); ++rank) {
    // What the rank does not hold stays as expected.
    gpucc_rt::Array array = expected;
    if (group.readPart(rank, tensor, array) ||
        std::memcmp(array.bytes.data() + static_cast<uint64_t>(index) * width,
                    expected.bytes.data() + static_cast<uint64_t>(index) * width, width) == 0)
      continue;
    ranks += (count++ ? ", " : "") + std::to_string(rank);
  }
  if (count)
    text += std::string(text.empty() ? "" : " ") + (count > 1 ? "on ranks " : "on rank ") + ranks;
  return text;
}
