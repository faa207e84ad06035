//===- OrderNearTies.cpp - alternatives that the model cannot tell apart --===//
//
// Comparisons of layouts are good to a few per cent. Of the alternatives within one per cent of the
// fastest that is not yet listed, those with fewer kinds of parallelism come first, then those with
// smaller micro-batches, which leave more memory.
//
// Example: 6.389 s (tp8 cp2 pp8), 6.417 s (tp8 pp16), 6.47 s (tp8 cp4 pp8): the second, the first,
// then the third, which is 1.3 % from the first.
//
//===----------------------------------------------------------------------===//
#include "LayoutSpace.h"
#include <algorithm>
#include <tuple>

namespace gpucc::planner {

constexpr double nearTie = 0.01; ///< of the time of the fastest in a group

void orderNearTies(std::vector<Choice> &choices) {
  auto rank = [](const Choice &choice) {
    const workload::Layout &l = choice.layout;
    int64_t kinds = (l.tp > 1) + (l.cp > 1) + (l.ep > 1) + (l.pp > 1);
    return std::tuple(kinds, l.microBatch, choice.cost.seconds);
  };
  for (auto first = choices.begin(); first != choices.end();) {
    double most = first->cost.seconds * (1 + nearTie);
    auto last = std::find_if(first, choices.end(),
                             [most](const Choice &c) { return c.cost.seconds > most; });
    std::stable_sort(first, last,
                     [&](const Choice &a, const Choice &b) { return rank(a) < rank(b); });
    first = last;
  }
}

} // namespace gpucc::planner
