//===- MatmulForm.cpp - a contraction as a batched matrix product ---------===//
#include "gpucc/Analysis/MatmulForm.h"

using namespace mlir;
using namespace gpucc;

namespace {
/// Dimensions seen as one: extent and stride, or nothing when they are not one run.
struct Run {
  int64_t extent = 1, stride = 1;
};
std::optional<Run> join(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> strides) {
  Run run;
  bool empty = true;
  for (int64_t d : llvm::reverse(dims)) {
    if (shape[d] == 1)
      continue;
    if (empty)
      run.stride = strides[d];
    else if (strides[d] != run.stride * run.extent)
      return std::nullopt;
    empty = false;
    run.extent *= shape[d];
  }
  return run;
}
} // namespace

std::optional<MatmulForm> gpucc::matmulForm(graph::ContractOp op) {
  std::vector<int64_t> lhsShape = toShape(op.getLhs().getType()),
                       rhsShape = toShape(op.getRhs().getType());
  std::vector<int64_t> lhs = HostTensor::stridesOf(lhsShape), rhs = HostTensor::stridesOf(rhsShape);
  auto m = join(op.getLhsFree(), lhsShape, lhs), n = join(op.getRhsFree(), rhsShape, rhs);
  auto lhsK = join(op.getLhsContract(), lhsShape, lhs),
       rhsK = join(op.getRhsContract(), rhsShape, rhs);
  if (!m || !n || !lhsK || !rhsK)
    return std::nullopt;
  MatmulForm form;
  form.m = m->extent;
  form.n = n->extent;
  form.k = lhsK->extent;
  for (auto [l, r] : llvm::zip(op.getLhsBatch(), op.getRhsBatch())) {
    form.batch.push_back(lhsShape[l]);
    form.lhsStrides.push_back(lhs[l]);
    form.rhsStrides.push_back(rhs[r]);
  }
  form.lhsStrides.insert(form.lhsStrides.end(), {m->stride, lhsK->stride});
  form.rhsStrides.insert(form.rhsStrides.end(), {rhsK->stride, n->stride});
  std::vector<int64_t> result(form.batch);
  result.insert(result.end(), {form.m, form.n});
  form.resultStrides = HostTensor::stridesOf(result);
  return form;
}
