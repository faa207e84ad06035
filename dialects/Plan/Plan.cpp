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

/// (S1) of Plan.td.
static LogicalResult verifyStream(Operation *op) {
  auto program = op->getParentOfType<ProgramOp>();
  if (!program)
    return op->emitOpError() << "stands outside a program";
  auto stream = op->getAttrOfType<IntegerAttr>("stream");
  auto streams = program.getOps<StreamOp>();
  int64_t count = std::distance(streams.begin(), streams.end());
  int64_t index = stream ? stream.getInt() : 0;
  if (index < 0 || index >= count)
    return op->emitOpError() << "(S1) runs on stream " << index << "; the program declares "
                             << count << ": add a plan.stream, or use one of them";
  return success();
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
LogicalResult EventRecordOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyStream(*this);
}

/// (C2): an event that nobody has recorded means nothing to wait for.
LogicalResult EventWaitOp::verifySymbolUses(SymbolTableCollection &) {
  if (failed(verifyStream(*this)))
    return failure();
  for (Operation *before = (*this)->getPrevNode(); before; before = before->getPrevNode())
    if (auto record = dyn_cast<EventRecordOp>(before); record && record.getEvent() == getEvent())
      return success();
  return emitOpError() << "(C2) waits for event " << getEvent()
                       << ", which no command before it in the segment records";
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
  auto program = (*this)->getParentOfType<ProgramOp>();
  auto arena = program ? program.lookupSymbol<ArenaOp>(getArena()) : ArenaOp();
  if (!arena)
    return emitOpError() << "(C1) lies in arena @" << getArena()
                         << ", which the program does not have; declare it with plan.arena";
  int64_t offset = getOffset(), bytes = getBytes(), slots = getSlots(), stride = getSlotStride();
  int64_t end = offset + (slots - 1) * stride + bytes;
  if (offset < 0 || bytes < 0 || slots < 1 || stride < 0 ||
      end > static_cast<int64_t>(arena.getBytes())) {
    InFlightDiagnostic error = emitOpError() << "(C2) ends at byte " << end << " of arena @"
                                             << getArena() << ", which has " << arena.getBytes();
    error.attachNote(arena.getLoc()) << "the arena is declared here";
    return error;
  }
  if (offset % alignment || (slots > 1 && stride % alignment))
    return emitOpError() << "(C3) has offset " << offset << " and slot_stride " << stride
                         << "; both are multiples of " << alignment;
  return success();
}
