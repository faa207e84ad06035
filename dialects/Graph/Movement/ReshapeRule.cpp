//===- ReshapeRule.cpp - the loops that a reshape's two shapes share ------===//
#include "dialects/Graph/Movement/ReshapeRule.h"

#include <numeric>

using namespace gpucc;
using namespace gpucc::graph;

namespace {
/// One of the two shapes, consumed from its major end.
struct Side {
  llvm::ArrayRef<int64_t> shape;
  Rule::Dims dims;
  size_t at = 0;    ///< the dimension being consumed
  int64_t rest = 1; ///< what is left of it

  explicit Side(llvm::ArrayRef<int64_t> shape) : shape(shape), dims(shape.size()) { skip(); }

  /// Moves to the next dimension with something left.
  void skip() {
    while (at < shape.size() && shape[at] == 1)
      ++at;
    rest = at < shape.size() ? shape[at] : 1;
  }
  bool done() const { return at == shape.size(); }
  void take(int factor, int64_t size) {
    dims[at].push_back(factor);
    rest /= size;
    if (rest == 1) {
      ++at;
      skip();
    }
  }
};
} // namespace

/// No common loop starts here: takes whole dimensions on both sides until their products meet.
static void takeWhole(Rule &rule, Side &a, Side &b) {
  int64_t productA = a.rest, productB = b.rest;
  a.take(rule.whole(a.rest), a.rest);
  b.take(rule.whole(b.rest), b.rest);
  while (productA != productB) {
    Side &behind = productA < productB ? a : b;
    int64_t &product = productA < productB ? productA : productB;
    product *= behind.rest;
    behind.take(rule.whole(behind.rest), behind.rest);
  }
}

Rule gpucc::graph::reshapeRule(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  Rule rule;
  Side a(from), b(to);
  if (llvm::is_contained(from, 0)) { // nothing to share: no dimension is ever split
    for (auto [d, size] : llvm::enumerate(from))
      a.dims[d] = {rule.whole(size)};
    for (auto [d, size] : llvm::enumerate(to))
      b.dims[d] = {rule.whole(size)};
    return rule.operand(a.dims).result(b.dims);
  }
  while (!a.done() && !b.done()) {
    int64_t common = std::gcd(a.rest, b.rest);
    if (common == 1) {
      takeWhole(rule, a, b);
      continue;
    }
    int factor = rule.factor(common);
    bool aligned = common == a.rest || common == b.rest;
    a.take(factor, common);
    b.take(factor, common);
    if (!aligned)
      takeWhole(rule, a, b);
  }
  return rule.operand(a.dims).result(b.dims).linearIn({true});
}
