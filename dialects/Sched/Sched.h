//===- Sched.h - order and buffers, no addresses ----------------*- C++ -*-===//
// See Sched.td.
#ifndef GPUCC_SCHED_SCHED_H
#define GPUCC_SCHED_SCHED_H

#include "dialects/Base/Commands.h"

#include "dialects/Sched/SchedDialect.h.inc"
#include "dialects/Sched/SchedEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Sched/SchedAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Sched/SchedOps.h.inc"

#endif // GPUCC_SCHED_SCHED_H
