// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{memory-budget=12GX})" 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not gpucc-opt %s --pass-pipeline="builtin.module(gpucc-insert-recompute{activation-budget=1.5})" 2>&1 | FileCheck %s --check-prefix=RATIO
// UNIT: memory budget '12GX' is neither bytes (4096, 300MB, 12GiB) nor a ratio greater than 0 and at most 1 (0.5)
// RATIO: memory budget '1.5' is neither bytes
module {}
