//===- Report.h - What the executor finds wrong with a kernel ----*- C++ -*-===//
//
// A finding is one broken rule of the CUDA execution model, as a sentence that names the rule, the
// place in the kernel's source, the threads, and what to do. Example:
//
//   race: kernel 'softmax', block (3,0,0): thread 40 reads shared 'part' + 12 (4 bytes) at
//   kernel.cu:31, thread 3 wrote it at kernel.cu:29, and no barrier lies between them;
//   put __syncthreads() between the two lines
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_REPORT_H
#define GPUCC_RT_EMULATION_SIMT_REPORT_H

#include <string>

namespace gpucc::rt::simt {

enum class FindingKind {
  Race,             ///< two accesses, one a write, that no barrier orders
  PendingCopy,      ///< an access to shared memory that a cp.async may still be filling
  Uninitialized,    ///< a read of shared memory nobody wrote
  OutOfBounds,      ///< outside every allocation or shared array
  Misaligned,       ///< an address that is no multiple of the access's size
  DivergentBarrier, ///< threads of one block at different barriers, or gone while others wait
  Deadlock,         ///< nothing can run
  BadCollective,    ///< lanes of a warp disagree about a warp operation
  BadLaunch,        ///< the launch itself is not legal
};

/// The word a report starts with: "race", "misaligned access", ...
const char *name(FindingKind kind);

struct Finding {
  FindingKind kind;
  std::string text;
};

} // namespace gpucc::rt::simt

#endif
