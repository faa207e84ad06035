//===- Sched.cpp - order and buffers, no addresses ------------------------===//
//
// What sched's commands have in common with plan's is defined by
// GPUCC_DEFINE_COMMANDS (dialects/Base/Commands.h); its own are the buffers:
//
//   sched.buffer @x scratch 4 {slots = 2 : i64}
//     error: (C2) a scratch buffer has 2 slots; only io and saved buffers have several
//
//===----------------------------------------------------------------------===//
#include "dialects/Sched/Sched.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

#include "dialects/Sched/SchedDialect.cpp.inc"
#include "dialects/Sched/SchedEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Sched/SchedAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Sched/SchedAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Sched/SchedOps.cpp.inc"
      >();
}

GPUCC_DEFINE_COMMANDS

LogicalResult BufferOp::verify() {
  auto bytes = static_cast<int64_t>(getBytes()), slots = static_cast<int64_t>(getSlots());
  if (!base::endOf(0, slots, bytes, bytes))
    return emitOpError() << "(C1) has " << bytes << " bytes and " << slots
                         << " slots; bytes are at least 0, slots at least 1, together less than "
                            "2^63 bytes";
  if (slots > 1 && getKind() != BufferKind::Io && getKind() != BufferKind::Saved)
    return emitOpError() << "(C2) a " << stringifyBufferKind(getKind()) << " buffer has " << slots
                         << " slots; only io and saved buffers have several";
  return success();
}
