//===- Strategies.cpp - rules to strategies, layouts to collectives -------===//
//
// Example, contract [i,k]x[k,j] with batch factor i on dp=2, tp=2:
//   tp on j: operands {dp on 0, whole}, {whole, tp on 1}; result dp on 0, tp on 1
//   tp on k: operands tp on 1 and tp on 0; result partial over tp
// Changing partial -> whole is an all-reduce, partial -> split a reduce-scatter, split -> whole an
// all-gather, split -> other split an all-to-all, whole -> split nothing.
//
//===----------------------------------------------------------------------===//
#include "Strategies.h"
#include <algorithm>
#include <cmath>

namespace gpucc::planner {

namespace {

/// Layout of a tensor on an axis that splits `factor`.
int layoutOn(const ShardingRule &rule, const ShardingRule::Tensor &dims, int factor,
             bool isResult) {
  if (factor < 0)
    return replicatedLayout;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].empty() && dims[d].front() == factor)
      return static_cast<int>(d);
  if (isResult && rule.factors[factor].kind == FactorKind::Reduce)
    return partialLayout;
  return replicatedLayout;
}

/// A factor can be split when it is major in every dimension that carries it.
bool splittable(const ShardingRule &rule, int factor) {
  for (const auto *list : {&rule.operands, &rule.results})
    for (const ShardingRule::Tensor &dims : *list)
      for (const std::vector<int> &dim : dims) {
        auto it = std::find(dim.begin(), dim.end(), factor);
        if (it != dim.end() && it != dim.begin())
          return false;
      }
  return rule.factors[factor].kind != FactorKind::Replicated;
}

bool isSequenceFactor(const PlanProblem &problem, const PlanOp &op, int factor) {
  auto carries = [&](const std::vector<int> &tensors,
                     const std::vector<ShardingRule::Tensor> &rules) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      int dim = problem.tensors[tensors[i]].sequenceDim;
      if (dim >= 0 && !rules[i][dim].empty() && rules[i][dim].front() == factor)
        return true;
    }
    return false;
  };
  return carries(op.operands, op.rule.operands) || carries(op.results, op.rule.results);
}

/// Operands of which `partial` ones may stay partial in this op: all of linearTogether, or exactly
/// one of linearIn. Empty: every operand is needed summed up.
std::vector<int> passingOperands(const PlanOp &op, const std::vector<char> &partial) {
  std::vector<int> together, single;
  bool allTogether = true;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    bool isPartial = partial[op.operands[i]] != 0;
    if (i < op.rule.linearTogether.size() && op.rule.linearTogether[i]) {
      together.push_back(static_cast<int>(i));
      allTogether &= isPartial;
    } else if (isPartial) {
      single.push_back(static_cast<int>(i));
    }
  }
  if (!together.empty() && allTogether && single.empty())
    return together;
  if (single.size() == 1 && together.empty() &&
      static_cast<size_t>(single[0]) < op.rule.linearIn.size() && op.rule.linearIn[single[0]])
    return single;
  return {};
}

/// Where a factor sits in the matrix shape: m is in the first operand only, n in the second only,
/// batch in both, k is reduced.
void divideMatrix(const ShardingRule &rule, int factor, int64_t parts, OpFacts &facts) {
  if (facts.m == 0 || rule.operands.size() < 2)
    return;
  auto in = [&](size_t operand) {
    for (const auto &dim : rule.operands[operand])
      if (std::find(dim.begin(), dim.end(), factor) != dim.end())
        return true;
    return false;
  };
  auto divide = [&](int64_t &extent) {
    extent = std::max<int64_t>(1, (extent + parts - 1) / parts);
  };
  if (rule.factors[factor].kind == FactorKind::Reduce)
    divide(facts.k);
  else if (in(0) && in(1))
    divide(facts.batch);
  else if (in(0))
    divide(facts.m);
  else
    divide(facts.n);
}

/// Linear ops may let a partial sum over tp through, at the full cost of the op: adding up once at
/// the end of a chain of additions is one reduction instead of several.
void addPassThrough(const PlanOp &op, const Candidate &candidate, std::vector<Strategy> &result) {
  if (candidate.tp <= 1 || result.empty() || op.facts.matrixFlops > 0)
    return;
  Strategy base = result.front(); // tp on no factor
  base.tpFactor = passThroughFactor;
  base.resultTp.assign(op.results.size(), partialLayout);
  auto emit = [&](const std::vector<size_t> &operands) {
    Strategy s = base;
    s.operandTp.assign(op.operands.size(), replicatedLayout);
    for (size_t i : operands)
      s.operandTp[i] = partialLayout;
    result.push_back(s);
  };
  std::vector<size_t> together;
  for (size_t i = 0; i < op.rule.linearTogether.size(); ++i)
    if (op.rule.linearTogether[i])
      together.push_back(i);
  if (!together.empty())
    emit(together);
  for (size_t i = 0; i < op.rule.linearIn.size(); ++i)
    if (op.rule.linearIn[i])
      emit({i});
}

} // namespace

int batchFactor(const PlanProblem &problem, const PlanOp &op) {
  auto find = [&](const std::vector<int> &tensors, const std::vector<ShardingRule::Tensor> &rules) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      int dim = problem.tensors[tensors[i]].batchDim;
      if (dim >= 0 && !rules[i][dim].empty())
        return rules[i][dim].front();
    }
    return -1;
  };
  int factor = find(op.results, op.rule.results);
  if (factor < 0)
    factor = find(op.operands, op.rule.operands);
  return factor >= 0 && splittable(op.rule, factor) ? factor : -1;
}

std::vector<char> dpPartialTensors(const PlanProblem &problem) {
  std::vector<int> readers(problem.tensors.size(), 0);
  for (const PlanOp &op : problem.ops)
    for (int t : op.operands)
      ++readers[t];
  std::vector<char> partial(problem.tensors.size(), 0);
  for (const PlanOp &op : problem.ops) {
    int batch = batchFactor(problem, op);
    std::vector<int> through = batch < 0 ? passingOperands(op, partial) : std::vector<int>();
    for (size_t r = 0; r < op.results.size(); ++r) {
      bool sum = batch >= 0 && layoutOn(op.rule, op.rule.results[r], batch, true) == partialLayout;
      partial[op.results[r]] = (sum || !through.empty()) && readers[op.results[r]] == 1;
    }
  }
  return partial;
}

double bucketedSeconds(const PlanProblem &problem, cost::Collective kind, double bytes,
                       cost::RankGroup group) {
  constexpr double bucket = 25e6;
  if (bytes >= bucket)
    return cost::collectiveSeconds(problem.machine, kind, bytes, group);
  return cost::collectiveSeconds(problem.machine, kind, bucket, group) * bytes / bucket;
}

double localBytes(const PlanProblem &problem, int tensor, int dpLayout, int tpLayout,
                  const Candidate &candidate, bool perStep) {
  const PlanTensor &t = problem.tensors[tensor];
  double bytes = t.bytes();
  if (t.batchDim >= 0 && !perStep)
    bytes /= static_cast<double>(candidate.microBatches);
  auto split = [&](int layout, int64_t parts) {
    if (layout < 0 || parts <= 1)
      return;
    double extent = static_cast<double>(std::max<int64_t>(1, t.shape[layout]));
    bytes *= std::ceil(extent / static_cast<double>(parts)) / extent; // blocks are padded
  };
  split(dpLayout, candidate.dp);
  split(tpLayout, candidate.tp);
  return bytes;
}

std::vector<Strategy> strategiesOf(const PlanProblem &problem, const PlanOp &op,
                                   const Candidate &candidate, const std::vector<char> &dpPartial) {
  const ShardingRule &rule = op.rule;
  int batch = batchFactor(problem, op);
  std::vector<int> dpThrough =
      batch < 0 && candidate.dp > 1 ? passingOperands(op, dpPartial) : std::vector<int>();
  bool perStep = op.phase == Phase::Update;
  std::vector<int> factors{-1};
  if (candidate.tp > 1)
    for (int f = 0; f < static_cast<int>(rule.factors.size()); ++f) {
      int64_t extent = rule.factors[f].size;
      // As in partitioning: batch dimensions are dp's, and tp splits what divides evenly.
      if (f != batch && extent % candidate.tp == 0 && splittable(rule, f) &&
          (candidate.sp || !isSequenceFactor(problem, op, f)))
        factors.push_back(f);
    }
  std::vector<Strategy> result;
  for (int tpFactor : factors) {
    Strategy s;
    s.tpFactor = tpFactor;
    double global = 0, local = 0;
    auto layouts = [&](const std::vector<int> &tensors,
                       const std::vector<ShardingRule::Tensor> &rules, bool isResult,
                       std::vector<int> &dp, std::vector<int> &tp) {
      for (size_t i = 0; i < tensors.size(); ++i) {
        dp.push_back(candidate.dp > 1 ? layoutOn(rule, rules[i], batch, isResult)
                                      : replicatedLayout);
        tp.push_back(layoutOn(rule, rules[i], tpFactor, isResult));
        global += problem.tensors[tensors[i]].bytes();
        local += localBytes(problem, tensors[i], dp.back(), tp.back(), candidate, perStep);
      }
    };
    layouts(op.operands, rule.operands, false, s.operandDp, s.operandTp);
    layouts(op.results, rule.results, true, s.resultDp, s.resultTp);
    for (int i : dpThrough)
      s.operandDp[i] = partialLayout;
    if (!dpThrough.empty())
      s.resultDp.assign(op.results.size(), partialLayout);
    OpFacts facts = op.facts;
    double share = 1;
    auto divide = [&](int factor, int64_t parts) {
      if (factor < 0 || parts <= 1)
        return;
      double extent = static_cast<double>(std::max<int64_t>(1, rule.factors[factor].size));
      double block = std::ceil(extent / static_cast<double>(parts));
      share *= block / extent;
      divideMatrix(rule, factor, parts, facts);
    };
    divide(batch, candidate.dp * (perStep ? 1 : candidate.microBatches));
    divide(tpFactor, candidate.tp);
    double bytesShare = global > 0 ? local / global : share;
    if (perStep && candidate.zero >= 1 && !op.newStateOf.empty()) {
      share /= static_cast<double>(candidate.dp); // each dp rank updates its part of the state
      bytesShare /= static_cast<double>(candidate.dp);
    }
    facts.matrixFlops *= share;
    facts.aluFlops *= share;
    facts.specialFlops *= share;
    facts.bytesRead *= bytesShare;
    facts.bytesWritten *= bytesShare;
    s.seconds = cost::opSeconds(problem.machine, facts, problem.tf32);
    // The same layouts at more time are never better.
    bool dominated = std::any_of(result.begin(), result.end(), [&](const Strategy &other) {
      return other.operandTp == s.operandTp && other.resultTp == s.resultTp &&
             other.seconds <= s.seconds;
    });
    if (!dominated)
      result.push_back(s);
  }
  addPassThrough(op, candidate, result);
  // A pinned sp=on takes the sequence split wherever the alternative is to do the work tp times.
  if (problem.pins.sp.value_or(false) && candidate.tp > 1) {
    auto isSequence = [&](const Strategy &s) {
      return s.tpFactor >= 0 && isSequenceFactor(problem, op, s.tpFactor);
    };
    if (op.facts.matrixFlops == 0 && std::any_of(result.begin(), result.end(), isSequence))
      std::erase_if(result, [](const Strategy &s) { return s.tpFactor < 0; });
  }
  return result;
}

std::vector<int> storedLayouts(const PlanTensor &tensor, const Candidate &candidate) {
  std::vector<int> layouts{replicatedLayout};
  if (candidate.tp > 1)
    for (int d = 0; d < static_cast<int>(tensor.shape.size()); ++d) {
      int64_t extent = tensor.shape[d];
      if (d != tensor.batchDim && extent % candidate.tp == 0 &&
          (candidate.sp || d != tensor.sequenceDim))
        layouts.push_back(d);
    }
  return layouts;
}

double reshardSeconds(const PlanProblem &problem, int tensor, int fromDp, int fromTp, int toDp,
                      int toTp, const Candidate &candidate, bool perStep, bool &gradientSum) {
  using cost::Collective;
  double seconds = 0;
  auto axis = [&](int from, int to, double full, cost::RankGroup group, bool isDp) -> double {
    if (from == to || group.size <= 1)
      return 0.0;
    auto time = [&](Collective kind, double bytes) {
      return cost::collectiveSeconds(problem.machine, kind, bytes, group);
    };
    if (to == partialLayout) // one rank keeps the value, the others take zero: needs it whole
      return from == replicatedLayout ? 0 : time(Collective::AllGather, full);
    if (from == partialLayout) {
      // Under ZeRO a rank needs the summed gradient of its part only.
      bool scatter = to != replicatedLayout || (isDp && perStep && candidate.zero >= 1);
      Collective kind = scatter ? Collective::ReduceScatter : Collective::AllReduce;
      return perStep ? bucketedSeconds(problem, kind, full, group) : time(kind, full);
    }
    if (to == replicatedLayout)
      return time(Collective::AllGather, full);
    if (from == replicatedLayout)
      return 0.0; // every rank takes its block
    return time(Collective::AllToAll, full / static_cast<double>(group.size));
  };
  auto whole = [](int layout) { return layout == partialLayout ? replicatedLayout : layout; };
  // tp first, on what one dp rank holds; then dp on the block that is left. `full` is the tensor
  // without the split of the axis at work.
  double alongTp = localBytes(problem, tensor, whole(fromDp), replicatedLayout, candidate, perStep);
  seconds += axis(fromTp, toTp, alongTp, {candidate.tp, 1}, false);
  double alongDp = localBytes(problem, tensor, replicatedLayout, whole(toTp), candidate, perStep);
  gradientSum = fromDp == partialLayout && toDp != partialLayout && candidate.dp > 1;
  seconds += axis(fromDp, toDp, alongDp, {candidate.dp, candidate.tp}, true);
  return seconds;
}

} // namespace gpucc::planner
