//===- NearestLayout.cpp - a layout that works, near one that does not ----===//
//
// A suggestion must itself be accepted: degrees near the given ones are tried until `checkLayout`
// is content. Near: the fewest doublings and halvings over tp, cp, pp, dp, ep.
//
// Example: tp=16 on 8 GPUs becomes tp=8,dp=1; pp=34 of a model of 32 layers on 64 GPUs pp=32.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Workload/Layout.h"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace gpucc::workload {

namespace {

constexpr int64_t mostNodes = 1 << 20; // as the degrees of Layout.cpp

std::vector<int64_t> divisorsUpTo(int64_t n, int64_t most) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= std::min(n, most); ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

double steps(int64_t a, int64_t b) {
  return std::abs(std::log2(static_cast<double>(std::max<int64_t>(1, a)) /
                            static_cast<double>(std::max<int64_t>(1, b))));
}

class Nearest {
public:
  Nearest(const Workload &w, const Layout &given, int64_t ranks)
      : w(w), given(given), ranks(ranks) {}

  std::optional<Layout> find() {
    int64_t all = ranks > 0 ? ranks : 0;
    for (int64_t tp : divisorsUpTo(w.heads, mostNodes))
      for (int64_t cp : divisorsUpTo(w.sequence, 64))
        for (int64_t pp = 1; pp <= std::min<int64_t>(w.layers + 2, 512); ++pp) {
          if (all && all % (tp * cp * pp) != 0)
            continue;
          int64_t dp = all ? all / (tp * cp * pp) : std::clamp<int64_t>(given.dp, 1, mostNodes);
          degrees(tp, cp, pp, dp);
        }
    return best;
  }

private:
  void degrees(int64_t tp, int64_t cp, int64_t pp, int64_t dp) {
    double far = steps(tp, given.tp) + steps(cp, given.cp) + steps(pp, given.pp) +
                 0.01 * steps(dp, given.dp); // dp is what is left
    if (far >= distance)
      return;
    for (int64_t ep : w.hasExperts() ? divisorsUpTo(w.moe.count, 4096) : std::vector<int64_t>{1}) {
      double more = far + steps(ep, given.ep);
      if (more < distance)
        choose(tp, cp, pp, dp, ep, more);
    }
  }

  void choose(int64_t tp, int64_t cp, int64_t pp, int64_t dp, int64_t ep, double far) {
    Layout l = given;
    l.tp = tp, l.cp = cp, l.pp = pp, l.dp = dp, l.ep = ep;
    l.microBatch = std::clamp<int64_t>(l.microBatch, 1, 1 << 10);
    int64_t chunks = pp > 1 ? (w.layers + w.predictAhead + 2) / pp : 64; // a layer in each
    l.virtualStages = std::clamp<int64_t>(l.virtualStages, 1, std::clamp<int64_t>(chunks, 1, 64));
    if (!w.hasExperts() || tp % l.expertTp != 0)
      l.expertTp = 1;
    int64_t listed = std::accumulate(l.stageLayers.begin(), l.stageLayers.end(), int64_t(0));
    if (static_cast<int64_t>(l.stageLayers.size()) != pp || listed != w.layers + w.predictAhead)
      l.stageLayers.clear(); // a wrong list alone changes no degree
    if (w.hasExperts() && tp > 1)
      l.sequenceParallel = true;
    if (l.zeroGroup > 0 && (dp * cp) % l.zeroGroup != 0)
      l.zeroGroup = 0;
    int64_t round = l.microBatch * dp;
    int64_t batch = std::max<int64_t>(1, (l.globalBatch + round / 2) / round) * round;
    l.globalBatch = batch;
    for (int change = 0; change < 4; ++change) {
      if (change == 1) { // a schedule may need a multiple of its ranks
        int64_t most = int64_t(1) << 30;
        int64_t wanted = round * pp * std::max<int64_t>(2, (l.microBatches() + pp - 1) / pp);
        l.globalBatch = wanted <= most ? wanted : l.globalBatch;
      } else if (change == 2) {
        l.virtualStages = 1;
        l.schedule = solvers::ScheduleKind::OneFOneB;
        l.globalBatch = batch;
      } else if (change == 3) {
        l.microBatch = 1;
        l.globalBatch = dp * std::max<int64_t>(1, std::min<int64_t>(64, l.globalBatch / dp));
      }
      if (!checkLayout(w, l, ranks).empty())
        continue;
      best = l;
      distance = far;
      return;
    }
  }

  const Workload &w;
  const Layout &given;
  int64_t ranks;
  double distance = 1e30;
  std::optional<Layout> best;
};

} // namespace

std::string explainLayout(const Workload &w, const Layout &layout, int64_t ranks) {
  std::string problem = checkLayout(w, layout, ranks);
  if (problem.empty())
    return "";
  const std::string marker = "; the nearest that works is ";
  std::optional<Layout> near = Nearest(w, layout, ranks).find();
  if (!near)
    return problem;
  std::string pins;
  auto changed = [&](const char *key, int64_t was, int64_t now) {
    if (was != now)
      pins += (pins.empty() ? "" : ",") + std::string(key) + "=" + std::to_string(now);
  };
  changed("tp", layout.tp, near->tp);
  changed("cp", layout.cp, near->cp);
  changed("ep", layout.ep, near->ep);
  changed("expert-tp", layout.expertTp, near->expertTp);
  changed("pp", layout.pp, near->pp);
  changed("dp", layout.dp, near->dp);
  changed("virtual-stages", layout.virtualStages, near->virtualStages);
  changed("micro-batch", layout.microBatch, near->microBatch);
  changed("global-batch", layout.globalBatch, near->globalBatch);
  changed("zero-group", layout.zeroGroup, near->zeroGroup);
  if (layout.schedule != near->schedule)
    pins += (pins.empty() ? "" : ",") + std::string("schedule=") + solvers::name(near->schedule);
  if (layout.sequenceParallel != near->sequenceParallel)
    pins += std::string(pins.empty() ? "" : ",") + "sp=on";
  if (pins.empty()) // only the list of stages was wrong
    return problem;
  size_t at = problem.find(marker);
  return (at == std::string::npos ? problem : problem.substr(0, at)) + marker + pins;
}

} // namespace gpucc::workload
