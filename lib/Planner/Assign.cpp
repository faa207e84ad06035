//===- Assign.cpp - bucket elimination with mini-buckets ------------------===//
//
// Eliminating x: all tables that mention x are added up and minimised over x into one table over
// the other nodes they mention; the minimising choice is remembered and read back in reverse order.
// Example: path a - b - c, eliminate a: table over b; eliminate b: table over c; c: the minimum.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/Assign.h"
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace gpucc::planner {

std::string AssignProblem::check() const {
  std::ostringstream out;
  int n = static_cast<int>(nodes.size());
  for (int i = 0; i < n; ++i)
    if (nodes[i].cost.empty() ||
        (!nodes[i].memory.empty() && nodes[i].memory.size() != nodes[i].cost.size())) {
      out << "node " << i << ": found " << nodes[i].cost.size() << " costs and "
          << nodes[i].memory.size() << " memory entries; allowed at least one cost, and none or as "
          << "many memory entries";
      return out.str();
    }
  for (size_t e = 0; e < edges.size(); ++e) {
    const AssignEdge &edge = edges[e];
    bool fine = edge.from >= 0 && edge.to >= 0 && edge.from < n && edge.to < n &&
                edge.from != edge.to &&
                edge.cost.size() == nodes[edge.from].cost.size() * nodes[edge.to].cost.size();
    if (!fine) {
      out << "edge " << e << " (" << edge.from << ", " << edge.to << "): allowed two different "
          << "nodes and a cost for each pair of their choices";
      return out.str();
    }
  }
  return "";
}

double assignCost(const AssignProblem &problem, const std::vector<int> &choice) {
  double sum = 0;
  for (size_t i = 0; i < problem.nodes.size(); ++i)
    sum += problem.nodes[i].cost[choice[i]];
  for (const AssignEdge &edge : problem.edges)
    sum += edge.cost[choice[edge.from] * problem.nodes[edge.to].cost.size() + choice[edge.to]];
  return sum;
}

std::vector<int> eliminationOrder(const AssignProblem &problem) {
  int n = static_cast<int>(problem.nodes.size());
  std::vector<std::set<int>> adjacent(n);
  for (const AssignEdge &edge : problem.edges)
    if (problem.nodes[edge.from].cost.size() > 1 && problem.nodes[edge.to].cost.size() > 1) {
      adjacent[edge.from].insert(edge.to);
      adjacent[edge.to].insert(edge.from);
    }
  std::set<std::pair<size_t, int>> queue; // degree, node
  for (int i = 0; i < n; ++i)
    queue.insert({adjacent[i].size(), i});
  std::vector<int> order;
  while (!queue.empty()) {
    int x = queue.begin()->second;
    queue.erase(queue.begin());
    order.push_back(x);
    for (int v : adjacent[x]) {
      queue.erase({adjacent[v].size(), v});
      adjacent[v].erase(x);
      for (int w : adjacent[x])
        if (w != v)
          adjacent[v].insert(w);
    }
    for (int v : adjacent[x])
      queue.insert({adjacent[v].size(), v});
  }
  return order;
}

namespace {

/// A cost table over `scope` (ascending by elimination position); the first node varies slowest.
struct Table {
  std::vector<int> scope;
  std::vector<double> values;
};

class Elimination {
public:
  Elimination(const AssignProblem &problem, const AssignOptions &options)
      : p(problem), options(options) {
    n = static_cast<int>(p.nodes.size());
    order = options.order.empty() ? eliminationOrder(p) : options.order;
    position.resize(n);
    for (int i = 0; i < n; ++i)
      position[order[i]] = i;
    buckets.resize(n);
    for (int i = 0; i < n; ++i)
      unary.push_back(priced(i));
    addEdges();
  }

  AssignSolution run() {
    AssignSolution result;
    for (int x : order)
      eliminate(x, result);
    result.lowerBound = bound;
    result.optimal = exact;
    result.choice.assign(n, 0);
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      result.choice[*it] = bestGiven(*it, result.choice);
    if (!exact)
      descend(result.choice);
    result.cost = assignCost(p, result.choice);
    double pricedCost = result.cost;
    for (int i = 0; i < n; ++i)
      if (!p.nodes[i].memory.empty()) {
        result.memory += p.nodes[i].memory[result.choice[i]];
        pricedCost += options.memoryPrice * p.nodes[i].memory[result.choice[i]];
      }
    result.optimal |= pricedCost <= bound * (1 + 1e-12);
    return result;
  }

private:
  int domain(int node) const { return static_cast<int>(p.nodes[node].cost.size()); }

  std::vector<double> priced(int node) const {
    std::vector<double> cost = p.nodes[node].cost;
    if (!p.nodes[node].memory.empty())
      for (size_t s = 0; s < cost.size(); ++s)
        cost[s] += options.memoryPrice * p.nodes[node].memory[s];
    return cost;
  }

  /// Edges with a one-choice end become unary costs; parallel edges are added up.
  void addEdges() {
    std::map<std::pair<int, int>, Table> tables; // by elimination position
    for (const AssignEdge &edge : p.edges) {
      int a = edge.from, b = edge.to, db = domain(b);
      for (int s = 0; s < domain(a); ++s)
        for (int t = 0; t < db; ++t) {
          double c = edge.cost[static_cast<size_t>(s) * db + t];
          if (db == 1)
            unary[a][s] += c;
          else if (domain(a) == 1)
            unary[b][t] += c;
        }
      if (db == 1 || domain(a) == 1)
        continue;
      bool swap = position[a] > position[b];
      int first = swap ? b : a, second = swap ? a : b;
      Table &table = tables[{position[first], position[second]}];
      if (table.values.empty()) {
        table.scope = {first, second};
        table.values.assign(static_cast<size_t>(domain(first)) * domain(second), 0);
      }
      for (int s = 0; s < domain(a); ++s)
        for (int t = 0; t < db; ++t)
          table.values[swap ? static_cast<size_t>(t) * domain(a) + s
                            : static_cast<size_t>(s) * db + t] +=
              edge.cost[static_cast<size_t>(s) * db + t];
    }
    for (auto &[key, table] : tables)
      buckets[table.scope.front()].push_back(std::move(table));
  }

  void eliminate(int x, AssignSolution &result) {
    // Group the tables of x so that no joint scope exceeds the limit; one group is exact.
    std::vector<std::vector<const Table *>> groups;
    std::vector<std::set<int>> scopes; // positions
    for (const Table &table : buckets[x]) {
      bool placed = false;
      for (size_t g = 0; g < groups.size() && !placed; ++g) {
        std::set<int> joint = scopes[g];
        for (int v : table.scope)
          joint.insert(position[v]);
        double entries = 1;
        for (int at : joint)
          entries *= domain(order[at]);
        if (entries <= static_cast<double>(options.tableLimit)) {
          groups[g].push_back(&table);
          scopes[g] = joint;
          placed = true;
        }
      }
      if (!placed) {
        groups.push_back({&table});
        scopes.emplace_back();
        for (int v : table.scope)
          scopes.back().insert(position[v]);
      }
    }
    if (groups.size() > 1)
      exact = false;
    if (groups.empty()) {
      bound += *std::min_element(unary[x].begin(), unary[x].end());
      return;
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      std::vector<int> scope;
      for (int at : scopes[g])
        if (order[at] != x)
          scope.push_back(order[at]);
      Table out = minimise(x, scope, groups[g], g == 0, result);
      if (scope.empty())
        bound += out.values[0];
      else
        buckets[scope.front()].push_back(std::move(out));
    }
  }

  /// min over x of the sum of `tables` (and x's unary cost when `withUnary`), a table over `scope`.
  Table minimise(int x, const std::vector<int> &scope, const std::vector<const Table *> &tables,
                 bool withUnary, AssignSolution &result) {
    Table out;
    out.scope = scope;
    size_t entries = 1;
    for (int v : scope)
      entries *= domain(v);
    out.values.resize(entries);
    result.steps += static_cast<int64_t>(entries);
    size_t width = scope.size(), count = tables.size();
    // stride[t][v]: step in table t when node v of the scope moves by one choice.
    std::vector<std::vector<size_t>> stride(count, std::vector<size_t>(width, 0));
    std::vector<size_t> strideOfX(count, 0), base(count, 0);
    for (size_t t = 0; t < count; ++t) {
      size_t step = 1;
      for (size_t k = tables[t]->scope.size(); k-- > 0;) {
        int v = tables[t]->scope[k];
        if (v == x)
          strideOfX[t] = step;
        else
          stride[t][std::find(scope.begin(), scope.end(), v) - scope.begin()] = step;
        step *= domain(v);
      }
    }
    std::vector<double> own = withUnary ? unary[x] : std::vector<double>(domain(x), 0), sum;
    std::vector<int> digit(width, 0);
    for (size_t at = 0; at < entries; ++at) {
      sum = own;
      for (size_t t = 0; t < count; ++t) {
        const double *values = tables[t]->values.data() + base[t];
        for (size_t s = 0; s < sum.size(); ++s)
          sum[s] += values[s * strideOfX[t]];
      }
      out.values[at] = *std::min_element(sum.begin(), sum.end());
      for (size_t k = width; k-- > 0;) { // odometer: the last node of the scope is fastest
        if (++digit[k] < domain(scope[k])) {
          for (size_t t = 0; t < count; ++t)
            base[t] += stride[t][k];
          break;
        }
        for (size_t t = 0; t < count; ++t)
          base[t] -= stride[t][k] * (digit[k] - 1);
        digit[k] = 0;
      }
    }
    return out;
  }

  /// The best choice of x when everything later in the order is decided.
  int bestGiven(int x, const std::vector<int> &choice) const {
    std::vector<double> sum = unary[x];
    for (const Table &table : buckets[x])
      for (int s = 0; s < domain(x); ++s) {
        size_t at = 0;
        for (int v : table.scope)
          at = at * domain(v) + (v == x ? s : choice[v]);
        sum[s] += table.values[at];
      }
    return static_cast<int>(std::min_element(sum.begin(), sum.end()) - sum.begin());
  }

  /// Coordinate descent from a mini-bucket start: never worse, at most 20 sweeps.
  void descend(std::vector<int> &choice) const {
    std::vector<std::vector<const AssignEdge *>> of(n);
    for (const AssignEdge &edge : p.edges) {
      of[edge.from].push_back(&edge);
      of[edge.to].push_back(&edge);
    }
    for (int sweep = 0, changed = 1; sweep < 20 && changed; ++sweep) {
      changed = 0;
      for (int i = 0; i < n; ++i) {
        std::vector<double> sum = priced(i);
        for (const AssignEdge *edge : of[i])
          for (int s = 0; s < domain(i); ++s) {
            int a = edge->from == i ? s : choice[edge->from];
            int b = edge->to == i ? s : choice[edge->to];
            sum[s] += edge->cost[static_cast<size_t>(a) * domain(edge->to) + b];
          }
        int best = static_cast<int>(std::min_element(sum.begin(), sum.end()) - sum.begin());
        if (sum[best] < sum[choice[i]] * (1 - 1e-12)) {
          choice[i] = best;
          changed = 1;
        }
      }
    }
  }

  const AssignProblem &p;
  const AssignOptions &options;
  int n = 0;
  std::vector<int> order, position;
  std::vector<std::vector<double>> unary;
  std::vector<std::vector<Table>> buckets; ///< tables whose first node is the index
  double bound = 0;
  bool exact = true;
};

} // namespace

AssignSolution solveAssign(const AssignProblem &problem, const AssignOptions &options) {
  return Elimination(problem, options).run();
}

} // namespace gpucc::planner
