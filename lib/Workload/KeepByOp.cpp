//===- KeepByOp.cpp - every second product's result is kept ---------------===//
//
// torchtitan (torchtitan/distributed/activation_checkpoint.py of September 2025, before in
// models/llama3/parallelize_llama.py): kept are the results of attention, of reduce-scatters and of
// products, but for every second product in the order of the layer; the rest runs again, so do the
// router, which does not count, and grouped products. All-to-alls are kept since 2026. The compiler
// keeps of these only what backward reads, so the layer's last product counts for nothing. The list
// names aten.mm; products in fp8 (aten._scaled_mm) are taken to count like it, as the memory of
// published runs in fp8 says.
//
//===----------------------------------------------------------------------===//
#include "KeepByOp.h"
#include "Builder.h"

namespace gpucc::workload {

namespace {

/// Products that the software runs one by one where we have one: shares of its columns.
std::vector<double> piecesOf(const Workload &w, const Layout &l, const BlockOp &op) {
  if (op.name == "attention.qkv") {
    double heads = static_cast<double>(w.heads), dim = static_cast<double>(w.queryDim());
    double keys = static_cast<double>(std::max(w.kvHeads, l.tp)); // a rank holds one at least
    double n = heads * dim + keys * dim + keys * static_cast<double>(w.valueDim());
    return {heads * dim / n, keys * dim / n, keys * static_cast<double>(w.valueDim()) / n};
  }
  if (w.gated && !l.recipe.separateProducts && op.name.ends_with(".up"))
    return {0.5, 0.5};
  return {1};
}

bool isGrouped(const BlockOp &op) {
  return op.name.starts_with("experts.up") || op.name.starts_with("experts.down");
}

bool isLastProduct(const Workload &w, const BlockWork &block, size_t i) {
  for (size_t j = i + 1; j < block.ops.size(); ++j)
    if (block.ops[j].forward.kind == cost::OpKind::Matmul)
      return false;
  return w.normsPerLayer <= 2; // a norm behind it would read its result
}

double resultBytes(const BlockOp &op) { return op.forward.facts.bytesWritten; }

/// Behind the last thing that backward reads: not run again.
bool isBehind(const BlockOp &op) {
  return op.name == "mlp.residual" || op.name == "experts.combine" || op.name == "experts.bias";
}

/// What other ranks sent to this rank's experts.
double dispatchedBytes(const Layout &l, const BlockWork &block) {
  for (const BlockCollective &c : block.collectives)
    if (l.ep > 1 && c.pass == Pass::Forward && c.name == "experts.dispatch")
      return c.bytes;
  return 0;
}

} // namespace

void keepByOp(const Workload &w, const Layout &l, BlockWork &block) {
  Builder b(w, l, block);
  bool scattered = l.sequenceParallel && l.tp > 1;
  int number = 0;
  for (size_t i = 0; i < block.ops.size(); ++i) {
    BlockOp &op = block.ops[i];
    if (op.forward.kind == cost::OpKind::Attention) {
      op.keptByOp = resultBytes(op) + op.savedBytes;
    } else if (op.forward.kind != cost::OpKind::Matmul || op.core) {
      op.againByOp = isBehind(op) ? 0 : 1;
      op.keptByOp = op.name == "experts.permute" ? dispatchedBytes(l, block) : 0;
    } else if (isLastProduct(w, block, i)) {
      op.againByOp = op.keptByOp = 0;
    } else if (isGrouped(op) || op.name == "experts.router") {
      op.againByOp = 1; // not counted
    } else {
      for (double share : piecesOf(w, l, op))
        (++number % 2 ? op.keptByOp : op.againByOp) += share;
      op.keptByOp *= resultBytes(op);
      if (scattered && op.name == "attention.out") { // the sum over the ranks is kept instead
        op.keptByOp = b.Tn * b.h * b.activation;
        op.againByOp = 0;
      }
    }
  }
  // Operands are cast again for the products that run again; of products of one input the first one
  // casts it (Builder::castBefore).
  BlockOp *cast = nullptr;
  for (size_t i = 0; i + 1 < block.ops.size(); ++i) {
    BlockOp &op = block.ops[i], &product = block.ops[i + 1];
    if (op.name != product.name + ".quantize")
      continue;
    op.againByOp = product.againByOp > 0 ? 1 : 0;
    if (op.forward.facts.bytesWritten > 0)
      cast = &op;
    else if (cast && op.againByOp > 0)
      cast->againByOp = 1;
  }
}

} // namespace gpucc::workload
