//===- Products.cpp - MatMul, Gemm, Einsum --------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

#include <map>

using namespace mlir;
using namespace gpucc::frontend_to_graph;

static LogicalResult matMul(Node &n) { return n.yield(n.g.matmul(n[0], n[1])); }

/// alpha * A' * B' + beta * C
static LogicalResult gemm(Node &n) {
  if (n.rank(0) != 2 || n.rank(1) != 2)
    return n.invalid("Gemm multiplies matrices; its operands have ranks " + llvm::Twine(n.rank(0)) +
                     " and " + llvm::Twine(n.rank(1)));
  int64_t dimA = n.getInt("transA", 0) ? 0 : 1, dimB = n.getInt("transB", 0) ? 1 : 0;
  Value y = n.g.contract(n[0], n[1], {}, {}, {dimA}, {dimB});
  float alpha = n.getFloat("alpha", 1), beta = n.getFloat("beta", 1);
  if (alpha != 1)
    y = n.g.binary(BinaryKind::Mul, y, alpha);
  if (n.has(2) && beta != 0) {
    Value c = n[2];
    if (beta != 1)
      c = n.g.binary(BinaryKind::Mul, c, beta);
    if (n.g.failed() || rankOf(c) > 2)
      return n.invalid("C must be broadcast to the product, a matrix");
    y = n.g.add(y, n.g.broadcastTo(c, shapeOf(y)));
  }
  return n.yield(y);
}

namespace {
/// A term of an equation: one letter per dimension; the dimensions of `...` get capitals that no
/// equation uses as they are replaced one by one from the right (U+0001...).
struct Equation {
  std::vector<std::string> terms;
  std::string result;
};

/// Splits "ij,jk->ik" and expands ellipses by the operands' ranks; empty result on a fault.
std::optional<Equation> parseEquation(StringRef text, ArrayRef<Value> operands) {
  Equation e;
  std::string clean;
  for (char c : text)
    if (c != ' ')
      clean.push_back(c);
  auto [left, right] = StringRef(clean).split("->");
  bool explicitResult = StringRef(clean).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != operands.size())
    return std::nullopt;
  int64_t widest = 0;
  std::map<char, int> uses;
  for (auto [term, operand] : llvm::zip(terms, operands)) {
    int64_t letters = term.size(), rank = rankOf(operand);
    std::string expanded = term.str();
    if (size_t at = expanded.find("..."); at != std::string::npos) {
      int64_t hidden = rank - (letters - 3);
      if (hidden < 0 || hidden > 20)
        return std::nullopt;
      std::string names;
      for (int64_t i = hidden; i > 0; --i)
        names.push_back(static_cast<char>(i)); // 1 is the last dimension of the ellipsis
      expanded.replace(at, 3, names);
      widest = std::max(widest, hidden);
    }
    if (static_cast<int64_t>(expanded.size()) != rank)
      return std::nullopt;
    for (char c : expanded)
      if (c > 20) {
        if (!isalpha(static_cast<unsigned char>(c)))
          return std::nullopt;
        ++uses[c];
      }
    e.terms.push_back(expanded);
  }
  std::string ellipsis;
  for (int64_t i = widest; i > 0; --i)
    ellipsis.push_back(static_cast<char>(i));
  if (explicitResult) {
    e.result = right.str();
    if (size_t at = e.result.find("..."); at != std::string::npos)
      e.result.replace(at, 3, ellipsis);
  } else { // letters used once, in alphabetical order
    e.result = ellipsis;
    for (auto [letter, count] : uses)
      if (count == 1)
        e.result.push_back(letter);
  }
  return e;
}

/// x with the diagonal taken where a letter repeats, and size-1 dimensions of letters that others
/// have larger broadcast.
struct Operand {
  Value value;
  std::string letters;
};

/// One letter twice: keeps the diagonal, as a sum over a mask (no index arithmetic).
void takeDiagonals(GraphBuilder &g, Operand &x) {
  for (size_t i = 0; i < x.letters.size(); ++i)
    for (size_t j = x.letters.size(); j-- > i + 1;)
      if (x.letters[i] == x.letters[j]) {
        Dims shape = shapeOf(x.value);
        Type index = g.builder.getI64Type();
        Value mask = g.compare(CompareKind::Eq, g.iota(shape, i, index), g.iota(shape, j, index));
        Value kept = g.select(mask, x.value, g.splatLike(x.value, 0));
        x.value = g.reduce(ReductionKind::Sum, kept, {static_cast<int64_t>(j)}, false);
        x.letters.erase(j, 1);
        if (g.failed())
          return;
      }
}

Operand transposeTo(GraphBuilder &g, Operand x, const std::string &order) {
  Dims permutation;
  for (char c : order)
    permutation.push_back(x.letters.find(c));
  return {g.transpose(x.value, permutation), order};
}

/// Sums away the letters that neither `keep` nor the result has.
void sumAway(GraphBuilder &g, Operand &x, const std::string &keep) {
  Dims dims;
  std::string rest;
  for (auto [i, c] : llvm::enumerate(x.letters))
    if (keep.find(c) == std::string::npos)
      dims.push_back(i);
    else
      rest.push_back(c);
  x = {g.reduce(ReductionKind::Sum, x.value, dims, false), rest};
}

Operand multiply(GraphBuilder &g, Operand a, Operand b, const std::string &needed) {
  sumAway(g, a, needed + b.letters);
  sumAway(g, b, needed + a.letters);
  if (g.failed())
    return a;
  Dims batchA, batchB, sumA, sumB;
  std::string batch, freeA, freeB;
  for (auto [i, c] : llvm::enumerate(a.letters)) {
    size_t j = b.letters.find(c);
    if (j == std::string::npos) {
      freeA.push_back(c);
    } else if (needed.find(c) != std::string::npos) {
      batchA.push_back(i);
      batchB.push_back(j);
      batch.push_back(c);
    } else {
      sumA.push_back(i);
      sumB.push_back(j);
    }
  }
  for (char c : b.letters)
    if (a.letters.find(c) == std::string::npos)
      freeB.push_back(c);
  return {g.contract(a.value, b.value, batchA, batchB, sumA, sumB), batch + freeA + freeB};
}
} // namespace

static LogicalResult einsum(Node &n) {
  StringRef text = n.getString("equation", "");
  for (Value operand : n.all())
    if (!operand)
      return n.invalid("one of its operands is missing");
  auto equation = parseEquation(text, n.all());
  if (!equation)
    return n.invalid("the equation '" + text + "' does not fit its " + llvm::Twine(n.size()) +
                     " operands: one term per operand, one letter per dimension");
  std::map<char, int64_t> sizes;
  SmallVector<Operand> operands;
  for (auto [value, letters] : llvm::zip(n.all(), equation->terms)) {
    for (auto [size, letter] : llvm::zip(shapeOf(value), letters)) {
      int64_t &have = sizes.try_emplace(letter, 1).first->second;
      if (size != 1 && have != 1 && have != size)
        return n.invalid("the equation '" + text + "' gives one letter the sizes " +
                         llvm::Twine(have) + " and " + llvm::Twine(size));
      have = size != 1 ? size : have;
    }
    operands.push_back({value, letters});
  }
  std::string seen;
  for (char c : equation->result) {
    if (!sizes.count(c) || seen.find(c) != std::string::npos)
      return n.invalid("the result of the equation '" + text +
                       "' has a letter twice, or one that no operand has");
    seen.push_back(c);
  }
  for (Operand &x : operands) {
    Dims full;
    for (char c : x.letters)
      full.push_back(sizes[c]);
    x.value = n.g.broadcastTo(x.value, full);
    takeDiagonals(n.g, x);
    if (n.g.failed())
      return failure();
  }
  Operand product = operands[0];
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = equation->result;
    for (size_t j = i + 1; j < operands.size(); ++j)
      needed += operands[j].letters;
    product = multiply(n.g, product, operands[i], needed);
    if (n.g.failed())
      return failure();
  }
  sumAway(n.g, product, equation->result);
  if (n.g.failed())
    return failure();
  return n.yield(transposeTo(n.g, product, equation->result).value);
}

static LogicalResult matMulInteger(Node &n) {
  Type wide = n.g.builder.getI32Type();
  auto centered = [&](unsigned i, unsigned zero, bool rows) {
    Value x = n.g.convert(n[i], wide);
    if (!n.has(zero))
      return x;
    Value z = n.g.convert(n[zero], wide);
    if (rows && rankOf(z) == 1 && typeOf(z).getDimSize(0) > 1) // one per row of A
      z = n.g.insertDims(z, {1});
    return n.g.sub(x, z);
  };
  return n.yield(n.g.matmul(centered(0, 2, true), centered(1, 3, false)));
}

ArrayRef<Entry> gpucc::frontend_to_graph::productRules() {
  static const Entry rules[] = {
      {"MatMul", 1, latest, 2, matMul},
      {"Gemm", 7, latest, 2, gemm},
      {"Einsum", 12, latest, 1, einsum},
      {"MatMulInteger", 10, latest, 2, matMulInteger},
  };
  return rules;
}
