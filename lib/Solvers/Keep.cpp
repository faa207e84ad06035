//===- Keep.cpp - what to keep at the end of forward ----------------------===//
//
// With a price per kept byte the problem is a minimum cut: node op is on the sink side when the op
// is recomputed (cut edge source->op costs its cost), node tensor when its value must be available
// in backward (edge op->tensor, cut when the tensor is kept, costs price * size); a recomputed op
// needs its inputs available (infinite edge). Raising the price moves the cut from "keep all" to
// "recompute all". Bisection on the price brackets the budget with two cuts; the parts in which
// they differ (layers, when blocks repeat) are independent items, filled greedily; branch and bound
// on single tensors closes the gap on small graphs. The dual value of the best price is the bound.
//
// Example: exp(100 bytes, cost 8) -> gelu(100 bytes, cost 8), both needed, budget 100: at price
// 0.08 the cuts {keep both} and {recompute both} tie; branching on gelu gives "keep exp", cost 8.
//
//===----------------------------------------------------------------------===//
#include "MinCut.h"
#include "gpucc/Solvers/Recompute.h"
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

namespace gpucc::solvers {

std::string KeepProblem::check() const {
  std::ostringstream out;
  int numOps = static_cast<int>(ops.size()), numTensors = static_cast<int>(tensors.size());
  for (int t = 0; t < numTensors; ++t)
    if (tensors[t].size < 0 || tensors[t].producer < -1 || tensors[t].producer >= numOps) {
      out << "tensor " << t << ": found size " << tensors[t].size << ", producer "
          << tensors[t].producer << "; allowed size >= 0 and producer in -1.." << numOps - 1;
      return out.str();
    }
  for (int op = 0; op < numOps; ++op)
    for (int t : ops[op].reads)
      if (t < 0 || t >= numTensors || tensors[t].producer >= op) {
        out << "op " << op << ": reads tensor " << t
            << ", which does not exist or is made by a later op; list ops in a topological order";
        return out.str();
      }
  return "";
}

std::string KeepProblem::dump() const {
  std::ostringstream out;
  for (size_t t = 0; t < tensors.size(); ++t)
    out << "tensor " << t << ": " << tensors[t].size << " bytes from op " << tensors[t].producer
        << (tensors[t].needed ? " needed" : "") << (tensors[t].alwaysKept ? " always kept" : "")
        << '\n';
  for (size_t op = 0; op < ops.size(); ++op) {
    out << "op " << op << ": cost " << ops[op].cost << (ops[op].noRecompute ? " fixed" : "")
        << " reads";
    for (int t : ops[op].reads)
      out << ' ' << t;
    out << '\n';
  }
  return out.str();
}

std::string KeepSolution::dump() const {
  std::ostringstream out;
  out << (feasible ? "" : "infeasible, ") << "kept " << keptBytes << " of " << allBytes
      << " bytes (least possible " << minimumBytes << "), extra cost " << extraCost
      << ", lower bound " << lowerBound << (optimal ? ", optimal" : "") << "\nkept:";
  for (int t : kept)
    out << ' ' << t;
  out << "\nrecomputed:";
  for (int op : recomputed)
    out << ' ' << op;
  out << '\n';
  return out.str();
}

namespace {

enum class Force : char { None, Keep, Drop };

/// One choice: which tensors are kept; what it costs follows.
struct Choice {
  std::vector<char> keep;
  std::vector<char> recompute;
  int64_t bytes = 0;
  double cost = 0;
  bool possible = true;
};

class KeepSolver {
public:
  KeepSolver(const KeepProblem &problem, const KeepOptions &options)
      : p(problem), budgetSteps(options.stepBudget) {
    numOps = static_cast<int>(p.ops.size());
    numTensors = static_cast<int>(p.tensors.size());
  }

  bool isFree(int t) const { return p.tensors[t].producer < 0 || p.tensors[t].alwaysKept; }

  /// Recompute exactly what is needed given the kept set; drop kept tensors nobody reads.
  Choice evaluate(const std::vector<char> &keep) const {
    Choice c;
    c.keep.assign(numTensors, 0);
    c.recompute.assign(numOps, 0);
    std::vector<char> available(numTensors, 0);
    for (int t = 0; t < numTensors; ++t)
      available[t] = p.tensors[t].needed;
    std::vector<std::vector<int>> made(numOps);
    for (int t = 0; t < numTensors; ++t)
      if (!isFree(t))
        made[p.tensors[t].producer].push_back(t);
    for (int op = numOps - 1; op >= 0; --op) {
      for (int t : made[op])
        if (available[t] && !keep[t])
          c.recompute[op] = 1;
      for (int t : made[op])
        if (available[t] && keep[t] && !c.recompute[op]) {
          c.keep[t] = 1;
          c.bytes += p.tensors[t].size;
        }
      // With the op run again all its results are there: none of them need be kept.
      if (!c.recompute[op])
        continue;
      c.cost += p.ops[op].cost;
      c.possible &= !p.ops[op].noRecompute;
      for (int t : p.ops[op].reads)
        available[t] = 1;
    }
    return c;
  }

  /// The least cut at `price` per byte under forced decisions; `keepMore` picks among equal cuts.
  struct Cut {
    Choice choice;
    double value = 0; ///< cost + price * bytes, of the relaxed problem
    bool possible = true;
  };
  Cut cutAt(double price, const std::vector<Force> &force, bool keepMore) {
    ++steps;
    // Nodes: ops, tensors, source, sink. Sink side: op recomputed, tensor available.
    int source = numOps + numTensors, sink = source + 1;
    MinCut cut(sink + 1);
    for (int op = 0; op < numOps; ++op) {
      cut.addEdge(source, op, p.ops[op].noRecompute ? MinCut::infinite : p.ops[op].cost);
      for (int t : p.ops[op].reads)
        if (!isFree(t) && force[t] != Force::Keep)
          cut.addEdge(numOps + t, op, MinCut::infinite);
    }
    double forced = 0;
    for (int t = 0; t < numTensors; ++t) {
      if (isFree(t))
        continue;
      if (force[t] == Force::Keep) {
        forced += price * static_cast<double>(p.tensors[t].size);
        continue;
      }
      double keepPrice = force[t] == Force::Drop ? MinCut::infinite
                                                 : price * static_cast<double>(p.tensors[t].size);
      cut.addEdge(p.tensors[t].producer, numOps + t, keepPrice);
      if (p.tensors[t].needed)
        cut.addEdge(numOps + t, sink, MinCut::infinite);
    }
    cut.solve(source, sink);
    std::vector<char> sinkSide = cut.onSinkSide(!keepMore);
    Cut result;
    std::vector<char> keep(numTensors, 0);
    for (int t = 0; t < numTensors; ++t)
      if (!isFree(t))
        keep[t] =
            force[t] == Force::Keep || (sinkSide[numOps + t] && !sinkSide[p.tensors[t].producer]);
    double value = forced;
    for (int op = 0; op < numOps; ++op)
      if (sinkSide[op]) {
        value += p.ops[op].cost;
        result.possible &= !p.ops[op].noRecompute;
      }
    for (int t = 0; t < numTensors; ++t)
      if (keep[t] && force[t] != Force::Keep) {
        value += price * static_cast<double>(p.tensors[t].size);
        result.possible &= force[t] != Force::Drop;
      }
    result.value = value;
    result.choice = evaluate(keep);
    result.possible &= result.choice.possible;
    return result;
  }

  /// Bisection on the price under forced decisions. Returns the dual bound; offers feasible
  /// choices.
  double bracket(int64_t budget, const std::vector<Force> &force, int rounds, Choice *over,
                 Choice *under) {
    double high = 1e-12, bound = 0;
    for (const KeepOp &op : p.ops)
      high += op.cost;
    double low = 0;
    Cut cheap = cutAt(0, force, true);
    if (!cheap.possible)
      return std::numeric_limits<double>::infinity();
    bound = cheap.value;
    *over = cheap.choice;
    *under = cheap.choice;
    if (offer(cheap.choice, budget))
      return bound;
    Cut lean = cutAt(high, force, false);
    *under = lean.choice;
    if (!lean.possible || lean.choice.bytes > budget)
      return std::numeric_limits<double>::infinity();
    offer(lean.choice, budget);
    for (int i = 0; i < rounds; ++i) {
      // The price at which the two choices tie: Kelley's cutting plane for one multiplier.
      double span = static_cast<double>(over->bytes - under->bytes);
      double price = span > 0 ? (under->cost - over->cost) / span : (low + high) / 2;
      if (!(price > low && price < high))
        break;
      Cut middle = cutAt(price, force, i % 2 == 0);
      double dual = middle.value - price * static_cast<double>(budget);
      bound = std::max(bound, dual);
      double line = under->cost + price * static_cast<double>(under->bytes - budget);
      if (middle.choice.bytes <= budget) {
        offer(middle.choice, budget);
        if (middle.choice.bytes == under->bytes || dual >= line - 1e-12 * (1 + std::abs(line))) {
          if (middle.choice.bytes > under->bytes)
            *under = middle.choice;
          break;
        }
        *under = middle.choice;
        high = price;
      } else {
        if (middle.choice.bytes == over->bytes || dual >= line - 1e-12 * (1 + std::abs(line))) {
          if (middle.choice.bytes < over->bytes)
            *over = middle.choice;
          break;
        }
        *over = middle.choice;
        low = price;
      }
    }
    return bound;
  }

  /// Move from `under` towards `over`, one connected part of the difference at a time.
  void fillParts(int64_t budget, const Choice &over, const Choice &under) {
    std::vector<int> part(numOps + numTensors);
    for (size_t i = 0; i < part.size(); ++i)
      part[i] = static_cast<int>(i);
    std::function<int(int)> find = [&](int x) {
      while (part[x] != x)
        x = part[x] = part[part[x]];
      return x;
    };
    auto opDiffers = [&](int op) { return over.recompute[op] != under.recompute[op]; };
    auto tensorDiffers = [&](int t) { return over.keep[t] != under.keep[t]; };
    for (int op = 0; op < numOps; ++op)
      for (int t : p.ops[op].reads)
        if (opDiffers(op) && !isFree(t) && (tensorDiffers(t) || opDiffers(p.tensors[t].producer)))
          part[find(op)] = find(numOps + t);
    for (int t = 0; t < numTensors; ++t)
      if (!isFree(t) && opDiffers(p.tensors[t].producer))
        part[find(numOps + t)] = find(p.tensors[t].producer);
    std::vector<std::vector<int>> members(part.size());
    for (int t = 0; t < numTensors; ++t)
      if (tensorDiffers(t))
        members[find(numOps + t)].push_back(t);
    Choice current = under;
    for (const std::vector<int> &group : members) {
      if (group.empty())
        continue;
      std::vector<char> keep = current.keep;
      for (int t : group)
        keep[t] = over.keep[t];
      Choice next = evaluate(keep);
      if (next.possible && next.bytes <= budget && next.cost <= current.cost)
        current = next;
    }
    offer(current, budget);
    fillTensors(budget, current);
  }

  /// Keep one more tensor at a time while bytes are left: best saving per byte first.
  void fillTensors(int64_t budget, Choice current) {
    for (int round = 0; round < 64; ++round) {
      Choice best = current;
      double bestRate = 0;
      for (int t = 0; t < numTensors; ++t) {
        if (isFree(t) || current.keep[t] || !current.recompute[p.tensors[t].producer])
          continue;
        std::vector<char> keep = current.keep;
        keep[t] = 1;
        Choice next = evaluate(keep);
        if (!next.possible || next.bytes > budget || next.cost >= current.cost)
          continue;
        double added = static_cast<double>(std::max<int64_t>(1, next.bytes - current.bytes));
        double rate = (current.cost - next.cost) / added;
        if (next.bytes <= current.bytes)
          rate = MinCut::infinite;
        if (rate > bestRate) {
          bestRate = rate;
          best = next;
        }
      }
      if (bestRate <= 0)
        break;
      current = best;
    }
    offer(current, budget);
  }

  KeepSolution solve(int64_t budget) {
    KeepSolution result;
    std::vector<Force> force(numTensors, Force::None);
    Cut all = cutAt(0, force, true), least = cutAt(1e18, force, false);
    result.allBytes = all.choice.bytes;
    result.minimumBytes = least.choice.bytes;
    best = Choice();
    best.possible = false;
    if (least.choice.bytes <= budget) {
      Choice over, under;
      double bound = bracket(budget, force, 60, &over, &under);
      if (best.possible && best.cost > bound + tolerance(bound) && over.bytes > budget)
        fillParts(budget, over, under);
      double proved = branch(budget, bound, over, under);
      result.lowerBound = std::min(proved, best.cost);
      result.feasible = best.possible;
      result.optimal = best.cost <= proved + tolerance(proved);
      result.keptBytes = best.bytes;
      result.extraCost = best.cost;
      for (int t = 0; t < numTensors; ++t)
        if (best.keep[t])
          result.kept.push_back(t);
      for (int op = 0; op < numOps; ++op)
        if (best.recompute[op])
          result.recomputed.push_back(op);
    }
    result.steps = steps;
    return result;
  }

private:
  static double tolerance(double value) { return 1e-9 * (1 + std::abs(value)); }

  bool offer(const Choice &choice, int64_t budget) {
    if (!choice.possible || choice.bytes > budget)
      return false;
    if (!best.possible || choice.cost < best.cost ||
        (choice.cost == best.cost && choice.bytes < best.bytes))
      best = choice;
    return true;
  }

  /// Best-first branch and bound on single tensors; returns the proved lower bound.
  double branch(int64_t budget, double bound, Choice over, Choice under) {
    struct Node {
      double bound;
      std::vector<Force> force;
      Choice over, under;
    };
    std::vector<Node> open;
    open.push_back({bound, std::vector<Force>(numTensors, Force::None), over, under});
    while (!open.empty()) {
      size_t at = 0;
      for (size_t i = 1; i < open.size(); ++i)
        if (open[i].bound < open[at].bound)
          at = i;
      if (best.possible && open[at].bound >= best.cost - tolerance(best.cost))
        return best.cost;
      if (steps >= budgetSteps)
        return open[at].bound;
      Node node = std::move(open[at]);
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      int pick = pickTensor(node.force, node.over, node.under);
      if (pick < 0)
        continue; // everything is decided: its choices were offered
      for (Force decision : {Force::Drop, Force::Keep}) {
        Node child{0, node.force, {}, {}};
        child.force[pick] = decision;
        child.bound =
            std::max(node.bound, bracket(budget, child.force, 12, &child.over, &child.under));
        if (child.bound < best.cost - tolerance(best.cost))
          open.push_back(std::move(child));
      }
    }
    return best.cost;
  }

  /// The largest undecided tensor in which the two bracketing choices differ, else any undecided.
  int pickTensor(const std::vector<Force> &force, const Choice &over, const Choice &under) const {
    int pick = -1, any = -1;
    for (int t = 0; t < numTensors; ++t) {
      if (isFree(t) || force[t] != Force::None)
        continue;
      auto larger = [&](int other) {
        return other < 0 || p.tensors[t].size > p.tensors[other].size;
      };
      if (over.keep[t] != under.keep[t] && larger(pick))
        pick = t;
      if (larger(any))
        any = t;
    }
    return pick >= 0 ? pick : any;
  }

  const KeepProblem &p;
  int64_t budgetSteps, steps = 0;
  int numOps = 0, numTensors = 0;
  Choice best;
};

} // namespace

KeepSolution solveKeep(const KeepProblem &problem, int64_t budget, const KeepOptions &options) {
  return KeepSolver(problem, options).solve(budget);
}

std::vector<KeepSolution> keepTradeOff(const KeepProblem &problem, int points,
                                       const KeepOptions &options) {
  KeepSolution ends = solveKeep(problem, std::numeric_limits<int64_t>::max() / 4, options);
  std::vector<KeepSolution> result;
  for (int i = 0; i < points; ++i) {
    double share = points > 1 ? static_cast<double>(i) / (points - 1) : 1.0;
    int64_t budget =
        ends.minimumBytes +
        static_cast<int64_t>(share * static_cast<double>(ends.allBytes - ends.minimumBytes));
    result.push_back(solveKeep(problem, budget, options));
  }
  return result;
}

std::string verifyKeep(const KeepProblem &problem, int64_t budget, const KeepSolution &solution) {
  std::ostringstream out;
  std::vector<char> available(problem.tensors.size(), 0);
  int64_t bytes = 0;
  for (size_t t = 0; t < problem.tensors.size(); ++t)
    available[t] = problem.tensors[t].producer < 0 || problem.tensors[t].alwaysKept;
  for (int t : solution.kept) {
    available[t] = 1;
    bytes += problem.tensors[t].size;
  }
  if (bytes != solution.keptBytes || bytes > budget) {
    out << "kept tensors take " << bytes << " bytes, the solution says " << solution.keptBytes
        << ", allowed " << budget;
    return out.str();
  }
  double cost = 0;
  for (int op : solution.recomputed) {
    if (problem.ops[op].noRecompute) {
      out << "op " << op << " must not run twice but is recomputed";
      return out.str();
    }
    cost += problem.ops[op].cost;
    for (int t : problem.ops[op].reads)
      if (!available[t]) {
        out << "recomputed op " << op << " reads tensor " << t
            << ", which is neither kept nor recomputed before";
        return out.str();
      }
    for (size_t t = 0; t < problem.tensors.size(); ++t)
      if (problem.tensors[t].producer == op)
        available[t] = 1;
  }
  for (size_t t = 0; t < problem.tensors.size(); ++t)
    if (problem.tensors[t].needed && !available[t]) {
      out << "backward needs tensor " << t << ", which is neither kept nor recomputed";
      return out.str();
    }
  if (std::abs(cost - solution.extraCost) > 1e-9 * (1 + cost)) {
    out << "found extra cost " << solution.extraCost << ", the recomputed ops cost " << cost;
    return out.str();
  }
  return "";
}

} // namespace gpucc::solvers
