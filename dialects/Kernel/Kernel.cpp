//===- Kernel.cpp - registration of the kernel dialect --------------------===//
#include "dialects/Kernel/Kernel.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc::kernel;

#include "dialects/Kernel/KernelDialect.cpp.inc"
#include "dialects/Kernel/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/KernelOps.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/SkeletonOps.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/ThreadOps.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/Kernel/LaunchOps.cpp.inc"

void KernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Kernel/KernelOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Kernel/SkeletonOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Kernel/ThreadOps.cpp.inc"
      ,
#define GET_OP_LIST
#include "dialects/Kernel/LaunchOps.cpp.inc"
      >();
}
