//===- ComposeRules.cpp - the loops of two ops run as one -----------------===//
#include "ComposeRules.h"

#include <algorithm>
#include <set>

using namespace gpucc;

namespace {

using Tensor = ShardingRule::Tensor;

class Composition {
public:
  Composition(const ShardingRule &a, const ShardingRule &b) : a(a), b(b), factors(a.factors) {
    factors.insert(factors.end(), b.factors.begin(), b.factors.end());
    tensors = a.operands;
    tensors.push_back(a.results[0]);
    int shift = static_cast<int>(a.factors.size());
    for (const auto *list : {&b.operands, &b.results})
      for (Tensor tensor : *list) {
        for (auto &dim : tensor)
          for (int &f : dim)
            f += shift;
        tensors.push_back(std::move(tensor));
      }
  }

  std::optional<ShardingRule> run(const std::vector<size_t> &uses) {
    if (!isLastReduction())
      return std::nullopt;
    for (size_t use : uses)
      if (!align(a.operands.size(), a.operands.size() + 1 + use))
        return std::nullopt;
    if (!isWellFormed())
      return std::nullopt;
    return result(uses);
  }

private:
  /// A reduction inside `a` stays a partial sum only through an op that is linear in it alone.
  bool isLastReduction() const {
    bool reduces = std::any_of(a.factors.begin(), a.factors.end(), [](const Factor &f) {
      return f.kind == FactorKind::Reduce && f.size > 1;
    });
    auto set = [](const std::vector<bool> &flags) { return flags.size() == 1 && flags[0]; };
    return !reduces || (b.operands.size() == 1 && (set(b.linearIn) || set(b.linearTogether)));
  }

  bool combine(int into, const Factor &other) {
    Factor &f = factors[into];
    if (f.kind == FactorKind::Replicated || other.kind == FactorKind::Replicated)
      f.kind = FactorKind::Replicated;
    else if (f.kind == FactorKind::Reduce && other.kind == FactorKind::Reduce &&
             f.reduce != other.reduce)
      return false;
    else if (other.kind == FactorKind::Reduce)
      f.kind = FactorKind::Reduce, f.reduce = other.reduce;
    return true;
  }

  /// Everywhere `factor` becomes the loops `run`.
  bool replace(int factor, std::vector<int> run) {
    for (int f : run)
      if (!combine(f, factors[factor]))
        return false;
    for (Tensor &tensor : tensors)
      for (auto &dim : tensor)
        if (auto at = std::find(dim.begin(), dim.end(), factor); at != dim.end()) {
          at = dim.erase(at);
          dim.insert(at, run.begin(), run.end());
        }
    return true;
  }

  /// The loops from `list[from]` on whose sizes multiply to `size`.
  std::vector<int> runOf(const std::vector<int> &list, size_t from, int64_t size) const {
    std::vector<int> run;
    int64_t product = 1;
    for (size_t i = from; i < list.size() && product < size; ++i) {
      run.push_back(list[i]);
      product *= factors[list[i]].size;
    }
    return product == size ? run : std::vector<int>();
  }

  /// Gives tensors s and t, which are one value, the same loops.
  bool align(size_t s, size_t t) {
    if (tensors[s].size() != tensors[t].size())
      return false;
    for (size_t d = 0; d < tensors[s].size(); ++d)
      while (tensors[s][d] != tensors[t][d])
        if (!alignStep(tensors[s][d], tensors[t][d]))
          return false;
    return true;
  }

  bool alignStep(const std::vector<int> &x, const std::vector<int> &y) {
    size_t i = 0;
    while (i < x.size() && i < y.size() && x[i] == y[i])
      ++i;
    for (const auto *list : {&x, &y}) // loops of one iteration need no name
      if (i < list->size() && factors[(*list)[i]].size == 1)
        return replace((*list)[i], {});
    if (i == x.size() || i == y.size())
      return false;
    int f = x[i], g = y[i];
    if (factors[f].size == factors[g].size)
      return replace(g, {f});
    bool xIsWider = factors[f].size > factors[g].size;
    std::vector<int> run = xIsWider ? runOf(y, i, factors[f].size) : runOf(x, i, factors[g].size);
    return !run.empty() && replace(xIsWider ? f : g, run);
  }

  /// No loop names two dimensions of one tensor.
  bool isWellFormed() const {
    for (const Tensor &tensor : tensors) {
      std::set<int> seen;
      for (const auto &dim : tensor)
        for (int f : dim)
          if (!seen.insert(f).second)
            return false;
    }
    return true;
  }

  std::optional<ShardingRule> result(const std::vector<size_t> &uses) const {
    ShardingRule rule;
    std::vector<int> renamed(factors.size(), -1);
    auto take = [&](Tensor tensor) {
      for (auto &dim : tensor)
        for (int &f : dim) {
          if (renamed[f] < 0) {
            renamed[f] = static_cast<int>(rule.factors.size());
            rule.factors.push_back(factors[f]);
          }
          f = renamed[f];
        }
      return tensor;
    };
    auto flag = [](const std::vector<bool> &flags, size_t i) {
      return i < flags.size() && flags[i];
    };
    size_t bFirst = a.operands.size() + 1;
    bool together = flag(b.linearTogether, uses[0]);
    bool alone = flag(b.linearIn, uses[0]) && uses.size() == 1;
    std::vector<bool> inside = a.linearTogether; // jointly linear operands of a
    if (inside.empty() && a.operands.size() == 1 && flag(a.linearIn, 0))
      inside = {true};
    bool jointly =
        together ? !inside.empty() : alone && b.linearTogether.empty() && !a.linearTogether.empty();
    for (size_t i = 0; i < b.operands.size(); ++i) {
      if (i == uses[0]) {
        for (size_t k = 0; k < a.operands.size(); ++k) {
          rule.operands.push_back(take(tensors[k]));
          rule.linearIn.push_back(alone && flag(a.linearIn, k));
          rule.linearTogether.push_back(jointly && flag(inside, k));
        }
      } else if (std::find(uses.begin(), uses.end(), i) == uses.end()) {
        rule.operands.push_back(take(tensors[bFirst + i]));
        rule.linearIn.push_back(flag(b.linearIn, i));
        rule.linearTogether.push_back(jointly && together && flag(b.linearTogether, i));
      }
    }
    for (size_t r = 0; r < b.results.size(); ++r)
      rule.results.push_back(take(tensors[bFirst + b.operands.size() + r]));
    for (std::vector<bool> *flags : {&rule.linearIn, &rule.linearTogether})
      if (std::find(flags->begin(), flags->end(), true) == flags->end())
        flags->clear();
    return rule;
  }

  const ShardingRule &a, &b;
  std::vector<Factor> factors;
  std::vector<Tensor> tensors; ///< operands of a, the value between, operands and results of b
};

} // namespace

std::optional<ShardingRule> gpucc::composeRules(const ShardingRule &producer,
                                                const ShardingRule &consumer,
                                                const std::vector<size_t> &uses) {
  return Composition(producer, consumer).run(uses);
}
