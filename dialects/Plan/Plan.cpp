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
