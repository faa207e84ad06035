//===- OpStrategy.cpp - how one op is spread over a mesh ------------------===//
#include "gpucc/Transforms/Dist/OpStrategy.h"

#include <algorithm>

using namespace gpucc;

static bool carries(const ShardingRule::Tensor &tensor, int factor) {
  return std::any_of(tensor.begin(), tensor.end(), [&](const std::vector<int> &dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

bool gpucc::isSplittable(const ShardingRule &rule, int factor) {
  if (rule.factors[factor].kind == FactorKind::Replicated)
    return false;
  for (const auto *tensors : {&rule.operands, &rule.results})
    for (const ShardingRule::Tensor &tensor : *tensors)
      for (const std::vector<int> &dim : tensor)
        if (std::find(dim.begin(), dim.end(), factor) != dim.end() && dim.front() != factor)
          return false;
  if (rule.factors[factor].kind == FactorKind::Parallel)
    return std::all_of(rule.results.begin(), rule.results.end(),
                       [&](const ShardingRule::Tensor &result) { return carries(result, factor); });
  return true;
}

std::vector<std::vector<bool>> gpucc::partialFlows(const ShardingRule &rule) {
  std::vector<std::vector<bool>> flows;
  for (size_t i = 0; i < rule.linearIn.size(); ++i)
    if (rule.linearIn[i]) {
      std::vector<bool> one(rule.operands.size());
      one[i] = true;
      flows.push_back(std::move(one));
    }
  bool together = std::find(rule.linearTogether.begin(), rule.linearTogether.end(), true) !=
                  rule.linearTogether.end();
  if (together && std::find(flows.begin(), flows.end(), rule.linearTogether) == flows.end())
    flows.push_back(rule.linearTogether);
  return flows;
}

static std::string describe(const ShardingRule &rule, size_t factor) {
  return "factor f" + std::to_string(factor) + " (size " +
         std::to_string(rule.factors[factor].size) + ")";
}

std::string gpucc::checkStrategy(const ShardingRule &rule, const OpStrategy &strategy,
                                 const Mesh &mesh) {
  if (strategy.factorAxes.size() != rule.factors.size())
    return "the strategy has " + std::to_string(strategy.factorAxes.size()) +
           " factors, the rule " + std::to_string(rule.factors.size());
  Sharding used = Sharding::replicated(0);
  used.dims = strategy.factorAxes;
  for (const PartialFlow &flow : strategy.flows)
    used.partial.push_back(flow.axis);
  if (std::string wrong = used.check(mesh, rule.factors.size()); !wrong.empty())
    return wrong;
  bool nonSum = false;
  for (size_t f = 0; f < rule.factors.size(); ++f) {
    if (strategy.factorAxes[f].empty())
      continue;
    if (!isSplittable(rule, static_cast<int>(f)))
      return describe(rule, f) + " may not be split";
    if (rule.factors[f].size % used.parts(mesh, f))
      return describe(rule, f) + " does not divide into " + std::to_string(used.parts(mesh, f)) +
             " equal parts";
    nonSum |=
        rule.factors[f].kind == FactorKind::Reduce && rule.factors[f].reduce != ReduceKind::Sum;
  }
  auto flows = partialFlows(rule);
  for (const PartialFlow &flow : strategy.flows)
    if (nonSum || std::find(flows.begin(), flows.end(), flow.operands) == flows.end())
      return "a partial sum over '" + flow.axis +
             "' may not pass through: the op is not linear in " + "exactly these operands";
  return {};
}

static Sharding project(const ShardingRule::Tensor &tensor, const OpStrategy &strategy) {
  Sharding sharding = Sharding::replicated(tensor.size());
  for (size_t d = 0; d < tensor.size(); ++d)
    if (!tensor[d].empty())
      sharding.dims[d] = strategy.factorAxes[tensor[d].front()];
  return sharding;
}

Sharding gpucc::operandSharding(const ShardingRule &rule, const OpStrategy &strategy,
                                size_t operand) {
  Sharding sharding = project(rule.operands[operand], strategy);
  for (const PartialFlow &flow : strategy.flows)
    if (flow.operands[operand])
      sharding.partial.push_back(flow.axis);
  std::sort(sharding.partial.begin(), sharding.partial.end());
  return sharding;
}

Sharding gpucc::resultSharding(const ShardingRule &rule, const OpStrategy &strategy,
                               size_t result) {
  Sharding sharding = project(rule.results[result], strategy);
  for (size_t f = 0; f < rule.factors.size(); ++f)
    if (rule.factors[f].kind == FactorKind::Reduce && !strategy.factorAxes[f].empty()) {
      sharding.partial.insert(sharding.partial.end(), strategy.factorAxes[f].begin(),
                              strategy.factorAxes[f].end());
      sharding.partialKind = rule.factors[f].reduce;
    }
  for (const PartialFlow &flow : strategy.flows)
    sharding.partial.push_back(flow.axis);
  std::sort(sharding.partial.begin(), sharding.partial.end());
  return sharding;
}

/// Puts the axes of one tensor on the rule's factors; false and `why` on a contradiction.
static bool collect(const ShardingRule::Tensor &tensor, const Sharding &sharding,
                    const std::string &what,
                    std::vector<std::optional<std::vector<std::string>>> &axes, std::string &why) {
  for (size_t d = 0; d < tensor.size(); ++d) {
    if (tensor[d].empty()) {
      if (sharding.dims[d].empty())
        continue;
      why = what + ": dimension " + std::to_string(d) +
            " has size 1 or is broadcast and is never split";
      return false;
    }
    auto &slot = axes[tensor[d].front()];
    if (slot && *slot != sharding.dims[d]) {
      why = what + " is " + sharding.dump() + ", but its dimension " + std::to_string(d) +
            " is the same loop as one that is split otherwise";
      return false;
    }
    slot = sharding.dims[d];
  }
  return true;
}

std::optional<OpStrategy> gpucc::inferStrategy(const ShardingRule &rule, const Mesh &mesh,
                                               const std::vector<Sharding> &operands,
                                               const std::vector<Sharding> &results,
                                               std::string &why) {
  std::vector<std::optional<std::vector<std::string>>> axes(rule.factors.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (!collect(rule.operands[i], operands[i], "operand " + std::to_string(i), axes, why))
      return std::nullopt;
  for (size_t i = 0; i < results.size(); ++i)
    if (!collect(rule.results[i], results[i], "result " + std::to_string(i), axes, why))
      return std::nullopt;
  OpStrategy strategy = OpStrategy::replicated(rule);
  for (size_t f = 0; f < axes.size(); ++f)
    if (axes[f])
      strategy.factorAxes[f] = *axes[f];
  for (size_t i = 0; i < operands.size(); ++i)
    for (const std::string &axis : operands[i].partial) {
      auto at = std::find_if(strategy.flows.begin(), strategy.flows.end(),
                             [&](const PartialFlow &flow) { return flow.axis == axis; });
      if (at == strategy.flows.end())
        at = strategy.flows.insert(at, {axis, std::vector<bool>(operands.size())});
      at->operands[i] = true;
      if (operands[i].partialKind != ReduceKind::Sum) {
        why = "operand " + std::to_string(i) + " is a partial " + name(operands[i].partialKind) +
              "; only partial sums may pass through an op";
        return std::nullopt;
      }
    }
  if (why = checkStrategy(rule, strategy, mesh); !why.empty())
    return std::nullopt;
  // A neutral value is as well partial as whole: a rule without operands (a constant zero) may
  // declare its result partial.
  for (size_t i = 0; i < results.size(); ++i)
    if (Sharding derived = resultSharding(rule, strategy, i); !(derived == results[i])) {
      why = "result " + std::to_string(i) + " is " + results[i].dump() + ", the rule makes it " +
            derived.dump();
      return std::nullopt;
    }
  return strategy;
}
