//===- LocateWriter.cpp - the command that writes an element last ---------===//
//
// A tensor that the plan holds in pieces (query, key and value of one fused
// projection) has a buffer and a writer for each:
//
//   writerOf(plan, "c_attn.weight", {0, 130})
//     -> "by 'optimizer' (Launch), in update of stage 0", the writer of the third piece
//
//===----------------------------------------------------------------------===//
#include "Locate.h"

#include "plan_generated.h"

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

/// The piece of a saved tensor holds the element; a tensor that is no piece holds all of its own.
bool holds(const fb::Tensor &piece, const std::vector<int64_t> &element) {
  if (!piece.source_base() || element.size() != piece.source_base()->size())
    return true;
  for (uint32_t d = 0; d < piece.source_base()->size(); ++d) {
    int64_t at = element[d] - piece.source_base()->Get(d);
    if (at < 0 || at >= piece.dims()->Get(d)->size())
      return false;
  }
  return true;
}

/// Buffer of the tensor (or of that piece of it which holds the element) in a program; -1 when it
/// has none.
int64_t bufferOf(const fb::Plan &plan, const fb::Program &program, const std::string &tensor,
                 const std::vector<int64_t> &element) {
  for (uint32_t v = 0; program.views() && v < program.views()->size(); ++v) {
    const fb::TensorView &view = *program.views()->Get(v);
    const fb::Tensor &entry = *plan.tensors()->Get(view.tensor());
    bool piece =
        entry.source_name() && entry.source_name()->str() == tensor && holds(entry, element);
    if (piece || entry.name()->str() == tensor)
      return view.buffer();
  }
  return -1;
}

std::string describe(const fb::Command &command) {
  return "'" + (command.name() ? command.name()->str() : std::string()) + "' (" +
         fb::EnumNameCommandBody(command.body_type()) + ")";
}

/// The last command before number `end` of the segment that writes the buffer; -1 for none.
int64_t writerBefore(const fb::Plan &plan, const fb::Segment &segment, int64_t end,
                     uint32_t buffer) {
  for (int64_t c = end; c-- > 0;)
    if (writes(plan, *segment.commands()->Get(static_cast<uint32_t>(c)), buffer))
      return c;
  return -1;
}

} // namespace

/// In order of the stages: the last writer in the first program that has the tensor. The update
/// zeroes accumulators: what put a wrong sum there is before it.
std::string tool::writerOf(const fb::Plan &plan, const std::string &tensor,
                           const std::vector<int64_t> &element) {
  for (const fb::Program *program : *plan.profiles()->Get(0)->programs()) {
    int64_t buffer = bufferOf(plan, *program, tensor, element);
    std::string last;
    for (uint32_t s = 0; buffer >= 0 && program->segments() && s < program->segments()->size();
         ++s) {
      const fb::Segment &segment = *program->segments()->Get(s);
      if (!segment.commands() || (segment.name()->str() == "update" && !last.empty()))
        continue;
      auto place = static_cast<uint32_t>(buffer);
      int64_t at = writerBefore(plan, segment, segment.commands()->size(), place);
      if (at < 0)
        continue;
      last = "by " + describe(*segment.commands()->Get(static_cast<uint32_t>(at)));
      last += ", in " + segment.name()->str() + " of stage " + std::to_string(program->stage());
    }
    if (!last.empty())
      return last;
  }
  return "";
}
