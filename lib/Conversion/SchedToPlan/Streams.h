//===- Streams.h - which stream, which events -------------------*- C++ -*-===//
//
// The commands of a segment come in one order; a collective may run beside what
// follows it until somebody needs its bytes.
//
//   order        compute                     communication
//   k0           k0; record e0
//   all_reduce                               wait e0; all_reduce; record e1
//   k1           k1
//   k2 (uses)    wait e1; k2
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_CONVERSION_SCHEDTOPLAN_STREAMS_H
#define GPUCC_LIB_CONVERSION_SCHEDTOPLAN_STREAMS_H

#include "dialects/Base/Commands.h"

#include <vector>

namespace gpucc {

/// What one command of a segment does with time.
struct Placement {
  bool asynchronous = false; ///< runs on the communication stream
  int64_t joined;            ///< index of the first command that waits for it (own index + 1 when
                             ///< synchronous; number of commands when only the segment's end does)
};

/// One entry per command, in order. Only collectives may be asynchronous: all of a segment, or none
/// when no command would run beside one.
std::vector<Placement> placeCommands(llvm::ArrayRef<base::CommandOpInterface> commands,
                                     llvm::function_ref<bool(mlir::Operation *)> isCollective,
                                     bool overlap);

/// Two views share bytes of one buffer.
bool overlaps(base::ViewAttr a, base::ViewAttr b);

} // namespace gpucc

#endif // GPUCC_LIB_CONVERSION_SCHEDTOPLAN_STREAMS_H
