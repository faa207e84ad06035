//===- DistScripts.h - what the stages run in a step ------------*- C++ -*-===//
// See DistScripts.cpp.
#ifndef GPUCC_DIST_DISTSCRIPTS_H
#define GPUCC_DIST_DISTSCRIPTS_H

#include "dialects/Dist/Dist.h"

namespace gpucc::dist {

/// Scripts and slots of the module, where it has them, are of as many stages as the module has (the
/// mesh's "pp", else those of its functions), and a script runs functions of its own stage. Who
/// indexes them by stage asks first.
llvm::LogicalResult verifyScripts(mlir::ModuleOp module);

} // namespace gpucc::dist

#endif // GPUCC_DIST_DISTSCRIPTS_H
