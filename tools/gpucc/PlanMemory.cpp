//===- PlanMemory.cpp - how well a plan's arenas are used -----------------===//
#include "PlanMemory.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

using namespace gpucc;
namespace fb = gpucc::rt::plan;

namespace {

using Visit = std::function<void(uint32_t buffer)>;

void visit(const fb::View *view, const Visit &f) {
  if (view)
    f(view->buffer());
}
void visit(const fb::Operand *operand, const Visit &f) {
  if (operand)
    visit(operand->view(), f);
}

void buffersOf(const fb::LibraryCall &call, const Visit &f) {
  for (const auto *list : {call.operands(), call.extra_operands()})
    if (list)
      for (const fb::Operand *operand : *list)
        visit(operand, f);
  visit(call.bias(), f);
}

/// Every buffer that a command reads or writes.
void buffersOf(const fb::Command &c, const Visit &f) {
  switch (c.body_type()) {
  case fb::CommandBody::Launch:
    if (c.body_as_Launch()->arguments())
      for (const fb::Argument *argument : *c.body_as_Launch()->arguments())
        visit(argument->view(), f);
    break;
  case fb::CommandBody::LibraryCall:
    buffersOf(*c.body_as_LibraryCall(), f);
    break;
  case fb::CommandBody::Copy:
    visit(c.body_as_Copy()->source(), f);
    visit(c.body_as_Copy()->destination(), f);
    break;
  case fb::CommandBody::Fill:
    visit(c.body_as_Fill()->destination(), f);
    break;
  case fb::CommandBody::Collective:
    visit(c.body_as_Collective()->input(), f);
    visit(c.body_as_Collective()->output(), f);
    break;
  default:
    break; // events touch no memory
  }
}

/// When a buffer is alive: commands [first, last] of one segment, or always.
struct Life {
  int segment = -1;
  size_t first = std::numeric_limits<size_t>::max(), last = 0;
  bool always = false;
};

std::vector<Life> livesOf(const fb::Program &program) {
  std::vector<Life> lives(program.buffers() ? program.buffers()->size() : 0);
  for (uint32_t s = 0; program.segments() && s < program.segments()->size(); ++s) {
    const auto *commands = program.segments()->Get(s)->commands();
    for (uint32_t c = 0; commands && c < commands->size(); ++c)
      buffersOf(*commands->Get(c), [&](uint32_t buffer) {
        Life &life = lives[buffer];
        life.always |= life.segment >= 0 && life.segment != static_cast<int>(s);
        life.segment = static_cast<int>(s);
        life.first = std::min<size_t>(life.first, c);
        life.last = std::max<size_t>(life.last, c);
      });
  }
  return lives;
}

uint64_t maxLive(const fb::Program &program, uint32_t arena, uint64_t alignment) {
  std::vector<Life> lives = livesOf(program);
  uint64_t always = 0, most = 0;
  for (uint32_t s = 0; program.segments() && s < program.segments()->size(); ++s) {
    const auto *commands = program.segments()->Get(s)->commands();
    std::vector<int64_t> change(commands ? commands->size() + 1 : 1, 0);
    always = 0;
    for (uint32_t b = 0; b < lives.size(); ++b) {
      const fb::Buffer *buffer = program.buffers()->Get(b);
      if (buffer->arena() != arena)
        continue;
      uint64_t size =
          std::max<uint64_t>(1, (buffer->size() + alignment - 1) / alignment) * alignment;
      if (lives[b].always || buffer->slots() > 1) {
        always += size * buffer->slots();
      } else if (lives[b].segment == static_cast<int>(s)) {
        change[lives[b].first] += static_cast<int64_t>(size);
        change[lives[b].last + 1] -= static_cast<int64_t>(size);
      }
    }
    int64_t alive = 0;
    for (int64_t delta : change)
      most = std::max(most, always + static_cast<uint64_t>(alive += delta));
  }
  return most;
}

} // namespace

uint64_t tool::maxLiveBytes(const fb::Plan &plan, uint32_t stage, uint32_t arena) {
  uint64_t alignment =
      std::max<uint64_t>(1, plan.stages()->Get(stage)->arenas()->Get(arena)->alignment());
  uint64_t most = 0;
  for (const fb::Profile *profile : *plan.profiles())
    for (const fb::Program *program : *profile->programs())
      if (program->stage() == stage)
        most = std::max(most, maxLive(*program, arena, alignment));
  return most;
}
