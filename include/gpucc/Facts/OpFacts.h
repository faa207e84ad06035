//===- OpFacts.h - what an op does, in numbers ------------------*- C++ -*-===//
//
// Facts, never seconds: how many operations of each unit an op performs and
// how many bytes it must read and write at least once. The cost model turns
// them into time on a device.
//
//   contract 128x768 · 768x3072 in f32:
//     matrixFlops = 2*128*768*3072, bytesRead = 4*(128*768 + 768*3072),
//     bytesWritten = 4*128*3072
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_OPFACTS_H
#define GPUCC_FACTS_OPFACTS_H

#include "gpucc/Facts/DType.h"

namespace gpucc {

struct OpFacts {
  double matrixFlops = 0;  ///< multiply-adds on matrix units count 2
  double aluFlops = 0;     ///< adds, multiplies, compares, selects
  double specialFlops = 0; ///< exp, log, sin, sqrt, division
  double bytesRead = 0;    ///< operands, each once
  double bytesWritten = 0; ///< results, each once
  DType matrixType = DType::F32; ///< operand type of the matrix unit
  int64_t m = 0, n = 0, k = 0, batch = 0; ///< shape of the matrix work; 0 where there is none

  OpFacts &operator+=(const OpFacts &o) {
    matrixFlops += o.matrixFlops;
    aluFlops += o.aluFlops;
    specialFlops += o.specialFlops;
    bytesRead += o.bytesRead;
    bytesWritten += o.bytesWritten;
    return *this;
  }
};

} // namespace gpucc

#endif // GPUCC_FACTS_OPFACTS_H
