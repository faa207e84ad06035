//===- ShardingRule.cpp - which loops an op's dimensions share ------------===//
#include "gpucc/Facts/ShardingRule.h"

using namespace gpucc;

const char *gpucc::name(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "sum";
  case ReduceKind::Max:
    return "max";
  case ReduceKind::Min:
    return "min";
  case ReduceKind::Prod:
    return "prod";
  case ReduceKind::And:
    return "and";
  case ReduceKind::Or:
    return "or";
  }
  return "?";
}

static std::string checkTensor(const ShardingRule &rule, const ShardingRule::Tensor &dims,
                               const std::vector<int64_t> &shape, const std::string &what) {
  if (dims.size() != shape.size())
    return what + ": " + std::to_string(dims.size()) + " dimensions in the rule, " +
           std::to_string(shape.size()) + " in the type";
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t size = 1;
    for (int f : dims[d]) {
      if (f < 0 || f >= static_cast<int>(rule.factors.size()))
        return what + ": factor " + std::to_string(f) + " does not exist";
      size *= rule.factors[f].size;
    }
    if (!dims[d].empty() && size != shape[d])
      return what + ": dimension " + std::to_string(d) + " has size " + std::to_string(shape[d]) +
             ", its factors give " + std::to_string(size);
  }
  return {};
}

std::string ShardingRule::check(const std::vector<std::vector<int64_t>> &operandShapes,
                                const std::vector<std::vector<int64_t>> &resultShapes) const {
  if (operands.size() != operandShapes.size() || results.size() != resultShapes.size())
    return "the rule has " + std::to_string(operands.size()) + " operands and " +
           std::to_string(results.size()) + " results, the op " +
           std::to_string(operandShapes.size()) + " and " + std::to_string(resultShapes.size());
  if (!linearIn.empty() && linearIn.size() != operands.size())
    return "linearIn must have one entry per operand";
  if (!linearTogether.empty() && linearTogether.size() != operands.size())
    return "linearTogether must have one entry per operand";
  for (size_t i = 0; i < operands.size(); ++i)
    if (auto e = checkTensor(*this, operands[i], operandShapes[i], "operand " + std::to_string(i));
        !e.empty())
      return e;
  for (size_t i = 0; i < results.size(); ++i)
    if (auto e = checkTensor(*this, results[i], resultShapes[i], "result " + std::to_string(i));
        !e.empty())
      return e;
  return {};
}

static void dumpTensor(std::string &out, const ShardingRule::Tensor &dims) {
  out += '[';
  for (size_t d = 0; d < dims.size(); ++d) {
    out += d ? "," : "";
    for (size_t k = 0; k < dims[d].size(); ++k)
      out += (k ? "*f" : "f") + std::to_string(dims[d][k]);
    if (dims[d].empty())
      out += '-';
  }
  out += ']';
}

std::string ShardingRule::dump() const {
  std::string out;
  for (size_t i = 0; i < operands.size(); ++i) {
    out += i ? ", " : "";
    dumpTensor(out, operands[i]);
  }
  out += " -> ";
  for (size_t i = 0; i < results.size(); ++i) {
    out += i ? ", " : "";
    dumpTensor(out, results[i]);
  }
  out += " {";
  for (size_t f = 0; f < factors.size(); ++f) {
    out += (f ? ", f" : "f") + std::to_string(f) + '=' + std::to_string(factors[f].size);
    if (factors[f].kind == FactorKind::Reduce)
      out += std::string(" reduce ") + name(factors[f].reduce);
    if (factors[f].kind == FactorKind::Replicated)
      out += " replicated";
  }
  return out + '}';
}
