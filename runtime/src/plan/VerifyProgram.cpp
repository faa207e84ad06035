//===- VerifyProgram.cpp - Buffers, views, segments and scripts
//---------------------------------===//
#include "plan/Verify.h"

#include <set>

using namespace gpucc::rt;
using namespace gpucc::rt::verify;

static Status checkBuffer(const plan::Stage &stage, const plan::Buffer &buffer) {
  GPUCC_RT_REQUIRE(buffer.arena() < length(stage.arenas()), "arena ", buffer.arena());
  const plan::Arena &arena = *stage.arenas()->Get(buffer.arena());
  GPUCC_RT_REQUIRE(buffer.slots() >= 1 && buffer.slots() <= maxSlots, buffer.slots(), " slots");
  GPUCC_RT_REQUIRE(buffer.size() <= arena.size() && buffer.offset() <= arena.size() - buffer.size(),
                   buffer.size(), " bytes at ", buffer.offset(), " leave the arena '",
                   arena.name()->str(), "' of ", arena.size());
  if (buffer.slots() == 1)
    return {};
  uint64_t room = arena.size() - buffer.size() - buffer.offset();
  GPUCC_RT_REQUIRE(buffer.slot_stride() <= room / (buffer.slots() - 1), buffer.slots(),
                   " slots of stride ", buffer.slot_stride(), " leave the arena '",
                   arena.name()->str(), "'");
  GPUCC_RT_REQUIRE(!buffer.bindable(), "a buffer with slots cannot be bindable");
  return {};
}

static Status checkTap(const plan::Program &program, const plan::TapPoint &tap) {
  GPUCC_RT_REQUIRE(tap.segment() < length(program.segments()), "segment ", tap.segment());
  uint32_t commands = length(program.segments()->Get(tap.segment())->commands());
  GPUCC_RT_REQUIRE(tap.first() <= tap.last() && tap.last() < commands, "commands ", tap.first(),
                   " to ", tap.last(), ", the segment has ", commands);
  return {};
}

static Status checkView(const plan::Plan &plan, const plan::Program &program,
                        const plan::TensorView &view) {
  const plan::Stage &stage = *plan.stages()->Get(program.stage());
  GPUCC_RT_REQUIRE(view.tensor() < length(plan.tensors()), "tensor ", view.tensor());
  const plan::Tensor &tensor = *plan.tensors()->Get(view.tensor());
  GPUCC_RT_REQUIRE(view.buffer() < length(program.buffers()), "buffer ", view.buffer());
  const plan::Buffer &buffer = *program.buffers()->Get(view.buffer());
  uint64_t bytes = 0, count = 0;
  GPUCC_RT_TRY(spannedBytes(tensor.dtype(), view.local_shape(), view.local_strides(), bytes)
                   .prefixed("local_shape"));
  GPUCC_RT_REQUIRE(bytes <= buffer.size() && view.offset() <= buffer.size() - bytes, bytes,
                   " bytes at ", view.offset(), " leave the buffer of ", buffer.size());
  GPUCC_RT_TRY(countElements(view.global_shape(), count).prefixed("global_shape"));
  GPUCC_RT_REQUIRE(dtypeBytes(tensor.dtype(), count) <= maxBytes, "global_shape is too large");
  GPUCC_RT_REQUIRE(length(view.global_shape()) == length(view.local_shape()),
                   "global and local rank differ");
  GPUCC_RT_REQUIRE(view.flat() ? length(view.global_shape()) == 1
                               : length(view.global_shape()) == length(tensor.dims()),
                   "global_shape has rank ", length(view.global_shape()), ", the tensor ",
                   length(tensor.dims()));
  GPUCC_RT_REQUIRE(view.slots() >= 1 &&
                       (view.slots() == 1 || view.slots() <= buffer.slots() || view.tap()),
                   view.slots(), " slots, the buffer has ", buffer.slots());
  GPUCC_RT_REQUIRE(view.slots() <= maxSlots, view.slots(), " slots");
  GPUCC_RT_TRY(slices(view.slices(), length(view.global_shape()), stage));
  for (uint32_t d = 0; d < length(view.global_shape()); ++d) {
    int64_t size =
        length(view.slices()) ? view.slices()->Get(d)->size() : view.global_shape()->Get(d);
    GPUCC_RT_REQUIRE(size == view.local_shape()->Get(d), "dimension ", d, ": the slice has ", size,
                     " elements, the local shape ", view.local_shape()->Get(d));
  }
  GPUCC_RT_REQUIRE(dtypeBits(tensor.dtype()) >= 8 ||
                       (length(view.slices()) == 0 && length(view.partial_axes()) == 0),
                   "4-bit tensors cannot be sliced");
  for (uint32_t i = 0; i < length(view.partial_axes()); ++i)
    GPUCC_RT_REQUIRE(view.partial_axes()->Get(i) < length(stage.axes()), "partial axis ",
                     view.partial_axes()->Get(i));
  GPUCC_RT_REQUIRE(tensor.role() != plan::Role::tap || view.tap(), "a tap without a tap point");
  if (view.tap())
    GPUCC_RT_TRY(checkTap(program, *view.tap()).prefixed("tap"));
  return {};
}

/// The program that writes an output whose size varies also counts its entries, in one piece each.
static Status checkVarying(const plan::Plan &plan, const plan::Program &program,
                           const plan::TensorView &view) {
  const plan::Tensor &tensor = *plan.tensors()->Get(view.tensor());
  if (tensor.varying_dim() < 0 && tensor.role() != plan::Role::count)
    return {};
  GPUCC_RT_REQUIRE(view.slots() == 1 && !view.flat() && length(view.slices()) == 0 &&
                       length(view.partial_axes()) == 0 && !view.partial_stages(),
                   "a size that varies, or its count, in pieces");
  if (tensor.varying_dim() < 0)
    return {};
  bool counted = false;
  for (const plan::TensorView *other : *program.views())
    counted |= other->tensor() == static_cast<uint32_t>(tensor.count());
  GPUCC_RT_REQUIRE(counted, "the program does not count the entries of '", tensor.name()->str(),
                   "'");
  return {};
}

static Status checkRankConstant(const plan::Plan &plan, const plan::Program &program,
                                const plan::RankConstant &constant) {
  GPUCC_RT_TRY(rankValue(constant.value(), *plan.stages()->Get(program.stage())));
  GPUCC_RT_REQUIRE(constant.buffer() < length(program.buffers()), "buffer ", constant.buffer());
  uint64_t size = program.buffers()->Get(constant.buffer())->size();
  GPUCC_RT_REQUIRE(size >= 8 && constant.offset() <= size - 8, "8 bytes at ", constant.offset(),
                   " leave the buffer of ", size);
  return {};
}

/// State lies at one place under all profiles, or a change of profile would lose it.
static Status checkStatePlaces(const plan::Plan &plan, const plan::Program &program) {
  const plan::Program &first = *plan.profiles()->Get(0)->programs()->Get(program.stage());
  if (&first == &program)
    return {};
  for (uint32_t i = 0; i < length(program.views()); ++i) {
    const plan::TensorView &view = *program.views()->Get(i);
    plan::Role role = plan.tensors()->Get(view.tensor())->role();
    if (role < plan::Role::parameter || role > plan::Role::counter)
      continue;
    const plan::Buffer &buffer = *program.buffers()->Get(view.buffer());
    bool found = false;
    for (uint32_t j = 0; j < length(first.views()); ++j) {
      const plan::TensorView &other = *first.views()->Get(j);
      if (other.tensor() != view.tensor())
        continue;
      const plan::Buffer &otherBuffer = *first.buffers()->Get(other.buffer());
      found = buffer.arena() == otherBuffer.arena() &&
              buffer.offset() + view.offset() == otherBuffer.offset() + other.offset();
    }
    GPUCC_RT_REQUIRE(found, "state '", plan.tensors()->Get(view.tensor())->name()->str(),
                     "' is elsewhere than under the first profile");
  }
  return {};
}

Status verify::view(const plan::Program &program, const plan::View *view) {
  if (!view)
    return {};
  GPUCC_RT_REQUIRE(view->buffer() < length(program.buffers()), "buffer ", view->buffer(),
                   ", the program has ", length(program.buffers()));
  uint64_t size = program.buffers()->Get(view->buffer())->size();
  GPUCC_RT_REQUIRE(view->size() <= size && view->offset() <= size - view->size(), view->size(),
                   " bytes at ", view->offset(), " leave buffer ", view->buffer(), " of ", size);
  return {};
}

Status verify::program(const plan::Plan &plan, const plan::Program &program) {
  const plan::Stage &stage = *plan.stages()->Get(program.stage());
  GPUCC_RT_TRY(forEach(program.buffers(), "buffers", [&](const plan::Buffer &buffer, uint32_t) {
    return checkBuffer(stage, buffer);
  }));
  std::set<uint32_t> seen;
  GPUCC_RT_TRY(
      forEach(program.views(), "views", [&](const plan::TensorView &view, uint32_t) -> Status {
        GPUCC_RT_TRY(checkView(plan, program, view));
        GPUCC_RT_TRY(checkVarying(plan, program, view));
        GPUCC_RT_REQUIRE(seen.insert(view.tensor()).second, "second view of tensor ",
                         view.tensor());
        return {};
      }));
  GPUCC_RT_TRY(forEach(program.rank_constants(), "rank_constants",
                       [&](const plan::RankConstant &constant, uint32_t) {
                         return checkRankConstant(plan, program, constant);
                       }));
  GPUCC_RT_REQUIRE(length(program.streams()) >= 1 && program.streams()->size() <= 64,
                   length(program.streams()), " streams, allowed are 1 to 64");
  GPUCC_RT_REQUIRE(program.events() <= (1u << 20), program.events(), " events");
  GPUCC_RT_TRY(forEach(program.segments(), "segments", [&](const plan::Segment &segment, uint32_t) {
    return forEach(segment.commands(), "commands", [&](const plan::Command &command, uint32_t) {
      return verify::command(plan, program, command)
          .prefixed("'" + (command.name() ? command.name()->str() : "") + "'");
    });
  }));
  GPUCC_RT_REQUIRE(length(program.scripts()) >= 1, "no scripts, a program has at least 'main'");
  GPUCC_RT_REQUIRE(program.scripts()->Get(0)->name()->str() == "main",
                   "the first script is not 'main'");
  GPUCC_RT_TRY(
      forEach(program.scripts(), "scripts", [&](const plan::Script &script, uint32_t) -> Status {
        // FlatBuffers writes no vector for an empty one.
        GPUCC_RT_REQUIRE(length(script.steps()) >= 1, "no steps, a script has at least one");
        for (const plan::Step *step : *script.steps())
          GPUCC_RT_REQUIRE(step->segment() < length(program.segments()) && step->slot() < maxSlots,
                           "step (", step->segment(), ", ", step->slot(), ")");
        return {};
      }));
  return checkStatePlaces(plan, program);
}
