//===- Builder.cpp - products, pointwise ops, collectives -----------------===//
//
// Bytes: a product reads both operands and writes its result once. A weight gradient is added into
// an accumulator of `gradientBytes` per element (read and written). fp8 products read operands of
// one byte and pay a pass that quantizes and transposes the activation.
//
//===----------------------------------------------------------------------===//
#include "Builder.h"
#include <cmath>

namespace gpucc::workload {

Builder::Builder(const Workload &workload, const Layout &layout, BlockWork &block)
    : w(workload), l(layout), block(block) {
  T = static_cast<double>(layout.tokens(workload));
  Tn = T / static_cast<double>(layout.sequenceShards());
  h = static_cast<double>(workload.hidden);
  bool wide =
      layout.recipe.precision == Precision::F32 || layout.recipe.precision == Precision::Tf32;
  activation = wide ? 4 : 2;
  tp = layout.tp;
}

cost::OpWork Builder::product(double m, double n, double k, double batch, DType type,
                              double outBytes) {
  cost::OpWork work;
  work.kind = cost::OpKind::Matmul;
  double in = bitWidth(type) / 8.0;
  work.facts.matrixFlops = 2 * m * n * k * batch;
  work.facts.matrixType = type;
  work.facts.m = static_cast<int64_t>(m);
  work.facts.n = static_cast<int64_t>(n);
  work.facts.k = static_cast<int64_t>(k);
  work.facts.batch = static_cast<int64_t>(batch);
  work.facts.bytesRead = batch * (m * k + k * n) * in;
  work.facts.bytesWritten = batch * m * n * outBytes;
  return work;
}

namespace {
DType typeOf(Precision precision, bool lowPrecision) {
  switch (precision) {
  case Precision::F32:
  case Precision::Tf32:
    return DType::F32;
  case Precision::F16:
    return DType::F16;
  case Precision::BF16:
    return DType::BF16;
  case Precision::F8:
  case Precision::F4:
    return lowPrecision ? DType::F8E4M3 : DType::BF16;
  }
  return DType::BF16;
}

cost::OpWork pass(double bytesRead, double bytesWritten, double elements, double kernels) {
  cost::OpWork work;
  work.kind = cost::OpKind::Pointwise;
  work.facts.bytesRead = bytesRead;
  work.facts.bytesWritten = bytesWritten;
  work.facts.aluFlops = elements;
  work.launches = kernels;
  return work;
}
} // namespace

BlockOp &Builder::matmul(const std::string &name, double m, double n, double k, double batch,
                         double keptInputBytes, bool lowPrecision) {
  DType type = typeOf(l.recipe.precision, lowPrecision);
  if (type == DType::F8E4M3) {
    // The input in forward, the output's gradient in backward; two bytes of it are the results.
    double read = l.recipe.quantizeBytes - 2, in = batch * m * k, out = batch * m * n;
    double weight = 0.5 * l.recipe.quantizeWeightBytes * batch * k * n;
    double rescaled = l.recipe.rescaleBytes * (in + batch * k * n);
    if (entering && k == h && castsOwnRows()) // each rank before its rows are gathered
      in /= static_cast<double>(l.tp);
    BlockOp cast;
    cast.name = name + ".quantize";
    cast.forward = pass(read * in + weight, 2 * in, in, 1);
    cast.backwardInput.push_back(pass(read * out + weight + rescaled, 2 * out, out, 1));
    block.ops.push_back(cast);
  }
  BlockOp op;
  op.name = name;
  op.forward = product(m, n, k, batch, type, activation);
  op.backwardInput.push_back(product(m, k, n, batch, type, activation));
  // Added by the product itself, or written, read again and added to the sum by a second kernel.
  double accumulated = 2.0 * l.recipe.gradientBytes;
  if (!l.recipe.fusedAccumulation)
    accumulated += 2 * activation;
  op.backwardWeight.push_back(product(k, n, m, batch, type, accumulated));
  op.backwardWeight[0].acrossRows = true;
  if (type == DType::F8E4M3 && l.recipe.precision == Precision::F4) {
    op.forward.fourBit = op.backwardInput[0].fourBit = op.backwardWeight[0].fourBit = true;
  }
  op.savedBytes = keptInputBytes >= 0 ? keptInputBytes : batch * m * k * activation;
  if (type == DType::F8E4M3 && l.recipe.keepQuantized) // the weight gradient reads one byte of it
    op.savedBytes *= 1.0 / activation;
  block.ops.push_back(op);
  return block.ops.back();
}

BlockOp &Builder::pointwise(const std::string &name, double elements, double reads, double writes,
                            double backwardReads, double backwardWrites, double keptBytes,
                            double eagerKernels, double bytesPer) {
  double per = elements * (bytesPer > 0 ? bytesPer : activation);
  bool fused = l.recipe.fusedPointwise;
  double kernels = fused ? 1 : eagerKernels;
  // An unfused kernel reads one tensor and writes one; the fused one only its own ends.
  double read = fused ? reads * per : std::max(reads, eagerKernels) * per;
  double written = fused ? writes * per : std::max(writes, eagerKernels) * per;
  double backRead = fused ? backwardReads * per : std::max(backwardReads, 1.5 * eagerKernels) * per;
  double backWritten = fused ? backwardWrites * per : std::max(backwardWrites, eagerKernels) * per;
  BlockOp op;
  op.name = name;
  op.forward = pass(read, written, elements * eagerKernels, kernels);
  op.backwardInput.push_back(pass(backRead, backWritten, elements * eagerKernels, kernels));
  op.savedBytes = keptBytes * (fused ? 1 : 1 + 0.5 * (eagerKernels - 1));
  block.ops.push_back(op);
  return block.ops.back();
}

BlockOp &Builder::passes(const std::string &name, double elements, double reads, double writes,
                         double backwardReads, double backwardWrites, double keptBytes,
                         double kernels, double bytesPer) {
  double per = elements * bytesPer, work = elements * kernels;
  BlockOp op;
  op.name = name;
  op.forward = pass(reads * per, writes * per, work, kernels);
  op.backwardInput.push_back(pass(backwardReads * per, backwardWrites * per, work, kernels));
  op.savedBytes = keptBytes;
  block.ops.push_back(op);
  return block.ops.back();
}

void Builder::castBefore() {
  if (block.ops.size() < 2)
    return;
  BlockOp &cast = block.ops[block.ops.size() - 2];
  const OpFacts product = block.ops.back().forward.facts;
  if (cast.name != block.ops.back().name + ".quantize")
    return;
  double k = static_cast<double>(product.k), batch = static_cast<double>(product.batch);
  double weight = 0.5 * l.recipe.quantizeWeightBytes * batch * k * static_cast<double>(product.n);
  cast.forward = pass(weight, 0, 0, weight > 0 ? 1 : 0);
}

void Builder::backwardPass(const std::string &name, double elements, double reads, double writes) {
  BlockOp op;
  op.name = name;
  op.forward = pass(0, 0, 0, 0);
  op.backwardInput.push_back(
      pass(reads * elements * activation, writes * elements * activation, elements, 1));
  block.ops.push_back(op);
}

void Builder::biasGradient(const std::string &name, double rows, double width) {
  if (!l.recipe.fusedBiasGradient)
    backwardPass(name + ".bias-gradient", rows * width, 1, 0);
}

void Builder::residual(const std::string &name, double branches) {
  double elements = Tn * h;
  bool dropout = w.dropout;
  pointwise(name, elements, 1 + branches, 1, dropout ? 3.5 : 2, dropout ? 2 : 1,
            dropout ? elements : 0, dropout ? 3 : 1);
  block.ops.back().backwardInput[0].launches += dropout ? 1 : 0;
}

void Builder::norm(const std::string &name, double rows, double width) {
  // Forward reads and writes; backward reads input and gradient, writes a gradient, and a second
  // kernel sums the parameter gradients.
  BlockOp &op = pointwise(name, rows * width, 1, 1, 3, 1, rows * width * activation,
                          w.norm == NormKind::Layer ? 1 : 4);
  op.backwardInput[0].launches += 1;
  op.cheap = true;
  parameters(width * (w.norm == NormKind::Layer ? 2 : 1));
}

void Builder::collective(const std::string &name, Pass pass, cost::Collective kind, Axis axis,
                         double bytes, bool beside) {
  if (groupOf(l, axis).size > 1 && bytes > 0)
    block.collectives.push_back({name, pass, kind, axis, bytes, beside, false, {}});
}

double Builder::keptActivation() const { return l.recipe.keepActivationQuantized ? 1 : activation; }

bool Builder::castsOwnRows() const {
  return l.recipe.gatherQuantized && l.recipe.keepQuantized;
}

double Builder::gatherBytes(double bytes) const {
  bool quantized = l.recipe.gatherQuantized && typeOf(l.recipe.precision, true) == DType::F8E4M3;
  return quantized ? bytes / activation : bytes;
}

void Builder::enterTensor(const std::string &name) {
  double bytes = T * h * activation;
  bool cut = l.recipe.overlapTensor, whole = l.recipe.asyncTensor || cut;
  size_t first = block.collectives.size();
  entering = l.sequenceParallel;
  if (l.sequenceParallel) {
    collective(name, Pass::Forward, cost::Collective::AllGather, Axis::Tensor, gatherBytes(bytes),
               cut);
    // Backward: the input is gathered again for the weight gradient, beside the input gradient;
    // the input's gradient is scattered, beside the weight gradient if the software can.
    collective(name, Pass::Backward, cost::Collective::AllGather, Axis::Tensor,
               l.recipe.keepQuantized ? gatherBytes(bytes) : bytes);
    collective(name, Pass::Backward, cost::Collective::ReduceScatter, Axis::Tensor, bytes);
  } else {
    collective(name, Pass::Backward, cost::Collective::AllReduce, Axis::Tensor, bytes);
  }
  for (size_t i = first; i < block.collectives.size(); ++i)
    if (BlockCollective &c = block.collectives[i]; c.pass == Pass::Backward)
      c.whole = whole || c.kind == cost::Collective::AllGather;
}

void Builder::leaveTensor(const std::string &name) {
  double bytes = T * h * activation;
  bool cut = l.recipe.overlapTensor;
  for (size_t i = 1; l.sequenceParallel && castsOwnRows() && i < block.ops.size(); ++i)
    if (block.ops[i].name == name && block.ops[i - 1].name == name + ".quantize") {
      // So does backward with the result's gradient; weights and scales are no rows.
      const OpFacts &facts = block.ops[i].forward.facts;
      double rows = static_cast<double>(facts.m * facts.n) * static_cast<double>(facts.batch),
             others = rows * (1 - 1 / static_cast<double>(l.tp));
      OpFacts &cast = block.ops[i - 1].backwardInput.front().facts;
      cast.bytesRead -= (l.recipe.quantizeBytes - 2) * others;
      cast.bytesWritten -= 2 * others;
      cast.aluFlops -= others;
    }
  if (l.sequenceParallel) {
    collective(name, Pass::Forward, cost::Collective::ReduceScatter, Axis::Tensor, bytes, cut);
    collective(name, Pass::Backward, cost::Collective::AllGather, Axis::Tensor, gatherBytes(bytes),
               cut);
  } else {
    collective(name, Pass::Forward, cost::Collective::AllReduce, Axis::Tensor, bytes, cut);
  }
}

} // namespace gpucc::workload
