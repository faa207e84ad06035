//===- OrderTree.cpp - the optimum on in-trees ----------------------------===//
//
// Liu, "An application of generalized tree pebbling to sparse matrix factorization" (SIAM J.
// Algebraic Discrete Methods 8(3), 1987). The best order of a subtree is summed up as segments
// (hill, valley): the most bytes inside the segment and the bytes alive after it, hills falling,
// valleys rising. Children are merged by taking segments in order of falling hill - valley.
//
// Example: child A = (10, 1), child B = (4, 3): A first, hill 10, then B on top of A's 1 byte, hill
// 5; B first would put A's hill on 3 bytes: 13.
//
//===----------------------------------------------------------------------===//
#include "OrderState.h"
#include "gpucc/Solvers/StableSort.h"
#include <algorithm>

namespace gpucc::solvers {

namespace {

struct Segment {
  int64_t hill, valley;
  std::vector<int> ops;
};
using Profile = std::vector<Segment>;

void append(std::vector<int> &to, std::vector<int> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Join neighbouring segments until hills fall and valleys rise strictly.
Profile normalise(Profile steps) {
  Profile result;
  size_t begin = 0;
  while (begin < steps.size()) {
    size_t top = begin; // the last step with the largest hill
    for (size_t k = begin; k < steps.size(); ++k)
      if (steps[k].hill >= steps[top].hill)
        top = k;
    size_t end = top; // the last step after it with the least valley
    for (size_t k = top; k < steps.size(); ++k)
      if (steps[k].valley <= steps[end].valley)
        end = k;
    Segment joined{steps[top].hill, steps[end].valley, {}};
    for (size_t k = begin; k <= end; ++k)
      append(joined.ops, steps[k].ops);
    result.push_back(std::move(joined));
    begin = end + 1;
  }
  return result;
}

/// All children's segments by falling hill - valley; levels become absolute.
Profile merge(std::vector<Profile> children) {
  struct Item {
    Segment segment;
    size_t child;
  };
  std::vector<Item> items;
  for (size_t c = 0; c < children.size(); ++c)
    for (Segment &s : children[c])
      items.push_back({std::move(s), c});
  stableSort(items, [](const Item &a, const Item &b) {
    return a.segment.hill - a.segment.valley > b.segment.hill - b.segment.valley;
  });
  std::vector<int64_t> level(children.size(), 0);
  int64_t base = 0;
  Profile result;
  for (Item &item : items) {
    int64_t others = base - level[item.child];
    base = others + item.segment.valley;
    level[item.child] = item.segment.valley;
    result.push_back({others + item.segment.hill, base, std::move(item.segment.ops)});
  }
  return result;
}

} // namespace

std::vector<int> orderOfForest(const OrderGraph &graph) {
  const OrderProblem &p = graph.problem;
  if (!p.precedence.empty() || graph.startBytes != 0)
    return {};
  for (const OrderTensor &t : p.tensors)
    if (t.producer < 0 || (t.kept && !t.consumers.empty()))
      return {};
  for (int op = 0; op < graph.count(); ++op)
    if (graph.successors[op].size() > 1)
      return {};
  std::vector<Profile> profile(graph.count());
  std::vector<Profile> roots;
  OrderState state(graph); // only to visit children before parents
  while (!state.ready.empty()) {
    int op = state.ready.front();
    state.run(graph, op);
    std::vector<Profile> children;
    for (int child : graph.predecessors[op])
      children.push_back(std::move(profile[child]));
    Profile steps = merge(std::move(children));
    int64_t inputs = steps.empty() ? 0 : steps.back().valley, after = 0;
    for (int t : graph.writes[op])
      if (p.tensors[t].kept || !p.tensors[t].consumers.empty())
        after += p.tensors[t].size;
    steps.push_back({inputs + graph.written[op] + graph.workspace(op), after, {op}});
    Profile own = normalise(std::move(steps));
    if (graph.successors[op].empty())
      roots.push_back(std::move(own));
    else
      profile[op] = std::move(own);
  }
  std::vector<int> order;
  for (Segment &s : merge(std::move(roots)))
    append(order, s.ops);
  return order;
}

} // namespace gpucc::solvers
