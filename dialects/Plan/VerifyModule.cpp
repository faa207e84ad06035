//===- VerifyModule.cpp - programs that a plan file can be made of --------===//
//
// Happens-before of a segment, by one clock per stream: clock[s][t] = how many
// commands of stream t surely have ended when stream s goes on.
//
//   compute         communication     clock[communication]
//   0 k0                              {compute: 0}
//   1 record e0                       {compute: 0}
//                   2 wait e0         {compute: 2}    commands 0 and 1 have ended
//                   3 all_reduce      may read what k0 wrote
//
// Without the wait, all_reduce and k0 touch the same bytes in no order: an error
// that names both. At its end a segment has brought every stream back to the
// first one, since the next segment only follows that.
//
//===----------------------------------------------------------------------===//
#include "dialects/Plan/Plan.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::plan;

namespace {

/// Bytes of an arena that a view may touch, over all slots of its buffer.
struct Bytes {
  StringRef arena, buffer;
  int64_t begin, end;  ///< in the arena, all slots
  int64_t first, last; ///< in one slot of the buffer
  bool writes;

  /// The slots of one buffer that a segment touches are the same one.
  bool meets(const Bytes &other) const {
    if ((!writes && !other.writes) || arena != other.arena)
      return false;
    return buffer == other.buffer ? first < other.last && other.first < last
                                  : begin < other.end && other.begin < end;
  }
};

struct Issued {
  Operation *command;
  int64_t index; ///< in the segment
  SmallVector<Bytes> touches;
};

class SegmentOrder {
public:
  SegmentOrder(ProgramOp program, const llvm::StringMap<BufferOp> &buffers)
      : buffers(buffers), streams(llvm::range_size(program.getOps<StreamOp>())),
        clock(streams, std::vector<int64_t>(streams, 0)), issued(streams) {}

  LogicalResult check(SegmentOp segment) {
    int64_t index = 0;
    for (Operation &op : segment.getBody().front()) {
      if (failed(step(&op, index++)))
        return failure();
    }
    for (size_t s = 1; s < streams; ++s)
      if (!issued[s].empty() && clock[0][s] <= issued[s].back().index) {
        InFlightDiagnostic error = issued[s].back().command->emitOpError()
                                   << "may still run when the segment ends: stream 0 does not wait "
                                      "for it";
        error.attachNote()
            << "gpucc-sched-to-plan records an event behind it and lets stream 0 wait";
        return error;
      }
    return success();
  }

private:
  LogicalResult step(Operation *op, int64_t index) {
    if (auto record = dyn_cast<EventRecordOp>(op)) {
      size_t s = record.getStream();
      clock[s][s] = index + 1;
      events[record.getEvent()] = clock[s];
      return success();
    }
    if (auto wait = dyn_cast<EventWaitOp>(op)) {
      size_t s = wait.getStream();
      for (auto [mine, theirs] : llvm::zip(clock[s], events[wait.getEvent()]))
        mine = std::max(mine, theirs);
      return success();
    }
    auto command = dyn_cast<base::CommandOpInterface>(op);
    if (!command)
      return op->emitOpError() << "is no command of a plan";
    auto attr = op->getAttrOfType<IntegerAttr>("stream");
    size_t s = attr ? static_cast<size_t>(attr.getInt()) : 0;
    Issued here{op, index, {}};
    for (const base::Access &access : command.getAccesses())
      here.touches.push_back(bytesOf(access));
    for (size_t t = 0; t < streams; ++t)
      if (t != s && failed(ordered(here, t, clock[s][t])))
        return failure();
    issued[s].push_back(std::move(here));
    return success();
  }

  /// Commands of stream t from position `known` on may run beside `here`.
  LogicalResult ordered(const Issued &here, size_t t, int64_t known) {
    for (const Issued &other : llvm::reverse(issued[t])) {
      if (other.index < known)
        break;
      for (const Bytes &a : here.touches)
        for (const Bytes &b : other.touches)
          if (a.meets(b)) {
            InFlightDiagnostic error = here.command->emitOpError()
                                       << "touches bytes [" << std::max(a.begin, b.begin) << ", "
                                       << std::min(a.end, b.end) << ") of arena @" << a.arena
                                       << " beside a command of stream " << t
                                       << ", and no event orders the two";
            error.attachNote(other.command->getLoc())
                << "this is the other one (buffer @" << b.buffer << ", here @" << a.buffer
                << "): record an event behind it and wait for it";
            return error;
          }
    }
    return success();
  }

  Bytes bytesOf(const base::Access &access) const {
    base::ViewAttr view = access.view;
    BufferOp buffer = buffers.lookup(view.getBuffer().getValue());
    int64_t first = view.getOffset(), last = first + view.getBytes();
    auto offset = static_cast<int64_t>(buffer.getOffset());
    auto ring = static_cast<int64_t>((buffer.getSlots() - 1) * buffer.getSlotStride());
    return {
        buffer.getArena(), buffer.getSymName(), offset + first, offset + ring + last, first, last,
        access.writes};
  }

  const llvm::StringMap<BufferOp> &buffers;
  size_t streams;
  std::vector<std::vector<int64_t>> clock;
  std::vector<std::vector<Issued>> issued;
  std::map<int64_t, std::vector<int64_t>> events;
};

LogicalResult verifyOrder(ProgramOp program) {
  llvm::StringMap<BufferOp> buffers;
  for (auto buffer : program.getOps<BufferOp>())
    buffers[buffer.getSymName()] = buffer;
  for (auto segment : program.getOps<SegmentOp>())
    if (failed(SegmentOrder(program, buffers).check(segment)))
      return failure();
  return success();
}

/// (C5) of a program: arenas of a stage are numbered in the order of its first program.
LogicalResult verifyArenas(ProgramOp program, std::map<int64_t, ProgramOp> &first) {
  ProgramOp other =
      first.try_emplace(static_cast<int64_t>(program.getStage()), program).first->second;
  auto list = [](ProgramOp p) {
    SmallVector<std::pair<StringRef, bool>> arenas;
    for (auto arena : p.getOps<ArenaOp>())
      arenas.push_back({arena.getSymName(), arena.getPersistent()});
    return arenas;
  };
  if (list(program) == list(other))
    return success();
  InFlightDiagnostic error = program.emitOpError()
                             << "(C5) does not have the arenas of the stage's first program";
  error.attachNote(other.getLoc())
      << "profiles of a stage share arenas: declare the same ones, in the "
         "same order, equally persistent";
  return error;
}

std::string print(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  return attr ? text : "none";
}

/// (C9) of a tensor: what counts its entries.
LogicalResult verifyCounts(ProgramOp program) {
  llvm::StringMap<TensorOp> counts;
  for (auto tensor : program.getOps<TensorOp>())
    if (tensor.getRole() == "count")
      counts[tensor.getName()] = tensor;
  for (auto tensor : program.getOps<TensorOp>()) {
    if (!tensor.getCount())
      continue;
    TensorOp count = counts.lookup(*tensor.getCount());
    auto type = count ? cast<RankedTensorType>(count.getType()) : RankedTensorType();
    if (!type || type.getRank() != 0 || !type.getElementType().isSignlessInteger(64))
      return tensor.emitOpError() << "(C9) '" << tensor.getName() << "' is counted by '"
                                  << *tensor.getCount()
                                  << "', which is no i64 scalar of role count; declare one";
  }
  return success();
}

/// (C7) of a tensor: what all entries of one name and role agree on.
LogicalResult verifyTensors(ProgramOp program, std::map<std::string, TensorOp> &first) {
  for (auto tensor : program.getOps<TensorOp>()) {
    std::string key = (tensor.getName() + "/" + tensor.getRole()).str();
    TensorOp other = first.try_emplace(key, tensor).first->second;
    auto type = cast<RankedTensorType>(tensor.getType()),
         known = cast<RankedTensorType>(other.getType());
    auto disagree = [&](const auto &here, const auto &there) -> LogicalResult {
      InFlightDiagnostic error = tensor.emitOpError()
                                 << "(C7) '" << tensor.getName() << "' " << here;
      error.attachNote(other.getLoc())
          << "here it " << there << "; one name and role is one tensor in all programs";
      return error;
    };
    if (type.getElementType() != known.getElementType() || type.getRank() != known.getRank())
      return disagree(("is " + print(TypeAttr::get(type))), "is " + print(TypeAttr::get(known)));
    for (auto [what, here, there] :
         {std::tuple<StringRef, Attribute, Attribute>{"source_name", tensor.getSourceNameAttr(),
                                                      other.getSourceNameAttr()},
          {"source_shape", tensor.getSourceShapeAttr(), other.getSourceShapeAttr()},
          {"source_base", tensor.getSourceBaseAttr(), other.getSourceBaseAttr()},
          {"varying_dim", tensor.getVaryingDimAttr(), other.getVaryingDimAttr()},
          {"count", tensor.getCountAttr(), other.getCountAttr()}})
      if (here != there)
        return disagree("has " + what.str() + " " + print(here), "has " + print(there));
  }
  return success();
}

} // namespace

LogicalResult plan::verifyModule(ModuleOp module) {
  if (failed(base::verifyModuleSymbols<ProgramOp, LaunchOp, InitializeOp, CollectiveOp>(module)))
    return failure();
  std::map<int64_t, ProgramOp> stages;
  std::map<std::string, TensorOp> tensors;
  for (auto program : module.getOps<ProgramOp>())
    if (failed(verifyArenas(program, stages)) || failed(verifyTensors(program, tensors)) || failed(verifyCounts(program)) ||
        failed(verifyOrder(program)))
      return failure();
  return success();
}
