//===- Plan.cpp - the runtime's commands, with addresses ------------------===//
#include "dialects/Plan/Plan.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.cpp.inc"

void PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}

GPUCC_DEFINE_COMMANDS

static LogicalResult verifyEvent(Operation *op, int64_t event) {
  if (event < 0 || event >= maxEvents)
    return op->emitOpError() << "(C1) has event " << event << "; events are numbered from 0 to "
                             << maxEvents - 1;
  return success();
}
LogicalResult EventRecordOp::verify() { return verifyEvent(*this, getEvent()); }
LogicalResult EventWaitOp::verify() { return verifyEvent(*this, getEvent()); }

static LogicalResult verifyInside(Operation *op) {
  return op->getParentOfType<ProgramOp>() ? success() : op->emitOpError("stands outside a program");
}
LogicalResult EventRecordOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyInside(*this);
}
LogicalResult EventWaitOp::verifySymbolUses(SymbolTableCollection &) { return verifyInside(*this); }

/// (S1) of Plan.td; a command whose stream is not written runs on the first one.
static LogicalResult verifyStream(Operation *op, int64_t streams) {
  auto stream = op->getAttrOfType<IntegerAttr>("stream");
  int64_t index = stream ? stream.getInt() : 0;
  if (index >= 0 && index < streams)
    return success();
  return op->emitOpError() << "(S1) runs on stream " << index << "; the program declares "
                           << streams << ": add a plan.stream, or use one of them";
}

/// One walk over the commands: for each of them, counting streams and looking back for the record
/// of an event would walk the program again.
LogicalResult ProgramOp::verifyRegions() {
  int64_t streams = llvm::range_size(getOps<StreamOp>());
  for (auto segment : getOps<SegmentOp>()) {
    llvm::SmallDenseSet<int64_t> recorded;
    for (Operation &op : segment.getBody().front()) {
      bool onStream = isa<base::CommandOpInterface, EventRecordOp, EventWaitOp>(op);
      if (onStream && failed(verifyStream(&op, streams)))
        return failure();
      if (auto record = dyn_cast<EventRecordOp>(op))
        recorded.insert(static_cast<int64_t>(record.getEvent()));
      // (C2): an event that nobody has recorded means nothing to wait for.
      auto wait = dyn_cast<EventWaitOp>(op);
      if (wait && !recorded.contains(static_cast<int64_t>(wait.getEvent())))
        return wait.emitOpError() << "(C2) waits for event " << wait.getEvent()
                                  << ", which no command before it in the segment records";
    }
  }
  return success();
}

LogicalResult StreamOp::verify() {
  if (getKind() == "compute" || getKind() == "communication")
    return success();
  return emitOpError() << "(C1) has kind '" << getKind()
                       << "'; allowed are compute and communication";
}

LogicalResult ArenaOp::verify() {
  if (static_cast<int64_t>(getBytes()) < 0)
    return emitOpError() << "(C1) has " << static_cast<int64_t>(getBytes())
                         << " bytes; at least 0 are allowed";
  return success();
}

LogicalResult BufferOp::verify() {
  int64_t offset = getOffset(), stride = getSlotStride();
  if (offset % alignment || (getSlots() > 1 && stride % alignment))
    return emitOpError() << "(C3) has offset " << offset << " and slot_stride " << stride
                         << "; both are multiples of " << alignment;
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto arena = program ? symbols.lookupSymbolIn<ArenaOp>(program, getArenaAttr()) : ArenaOp();
  if (!arena)
    return emitOpError() << "(C1) lies in arena @" << getArena()
                         << ", which the program does not have; declare it with plan.arena";
  std::optional<int64_t> end = base::endOf(getOffset(), getSlots(), getSlotStride(), getBytes());
  if (end && *end <= static_cast<int64_t>(arena.getBytes()))
    return success();
  InFlightDiagnostic error = emitOpError() << "(C2) ";
  if (end)
    error << "ends at byte " << *end;
  else
    error << "with " << static_cast<int64_t>(getSlots()) << " slots of "
          << static_cast<int64_t>(getBytes()) << " bytes at offset "
          << static_cast<int64_t>(getOffset()) << " and slot_stride "
          << static_cast<int64_t>(getSlotStride()) << " is no part";
  error << " of arena @" << getArena() << ", which has " << arena.getBytes();
  error.attachNote(arena.getLoc()) << "the arena is declared here";
  return error;
}
