//===- Candidates.cpp - which layouts the sizes and the pins allow --------===//
//
// Rules, cited by number in refusals:
//   P0 there are at most as many ranks as the machine has devices
//   P1 dp * tp * pp equals the number of ranks
//   P2 dp divides the batch
//   P3 pp is at most the number of segments
//   P4 micro-batches divide batch / dp
// Example: 8 ranks, batch 12, pin dp=8: "pins dp=8 break rule P2: dp must divide the batch of 12;
// allowed dp: 1, 2, 4; change the pin or the batch".
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/Plan.h"
#include <algorithm>
#include <sstream>

namespace gpucc::planner {

std::string Candidate::dump() const {
  std::ostringstream out;
  out << "dp=" << dp << " tp=" << tp << " pp=" << pp << " micro-batches=" << microBatches
      << " zero=" << zero;
  if (tp > 1)
    out << " sp=" << (sp ? "on" : "off");
  if (pp > 1)
    out << " schedule=" << solvers::name(schedule);
  out << " recompute=" << name(recompute);
  return out.str();
}

namespace {

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

std::string list(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::ostringstream out;
  for (size_t i = 0; i < values.size(); ++i)
    out << (i ? ", " : "") << values[i];
  return out.str();
}

struct Mesh3 {
  int64_t dp, tp, pp;
};

/// Micro-batch counts worth trying: powers of two and the finest split, at most 64.
std::vector<int64_t> microBatchChoices(const PlanProblem &problem, const Mesh3 &mesh) {
  int64_t local = problem.batch / mesh.dp;
  if (problem.pins.microBatches)
    return local % *problem.pins.microBatches == 0
               ? std::vector<int64_t>{*problem.pins.microBatches}
               : std::vector<int64_t>{};
  std::vector<int64_t> result;
  for (int64_t m : divisors(local))
    if (m <= 64 && ((m & (m - 1)) == 0 || m == local))
      result.push_back(m);
  return result;
}

} // namespace

std::vector<Candidate> enumerateCandidates(const PlanProblem &problem, std::string &error) {
  const Pins &pins = problem.pins;
  int64_t ranks = problem.numRanks();
  std::string given = "pins " + dump(pins);
  if (ranks > problem.machine.numDevices()) {
    error = "rule P0: found " + std::to_string(ranks) + " ranks, allowed at most the " +
            std::to_string(problem.machine.numDevices()) + " devices of " + problem.machine.name +
            "; ask for fewer ranks or a larger machine (e.g. h100-8x4 for four nodes)";
    return {};
  }
  auto matches = [](const std::optional<int64_t> &pin, int64_t value) {
    return !pin || *pin == value;
  };
  std::vector<Mesh3> meshes, kept;
  for (int64_t pp : divisors(ranks))
    for (int64_t tp : divisors(ranks / pp))
      if (Mesh3 m{ranks / pp / tp, tp, pp};
          matches(pins.dp, m.dp) && matches(pins.tp, m.tp) && matches(pins.pp, m.pp))
        meshes.push_back(m);
  if (meshes.empty()) {
    error = given + " break rule P1: dp * tp * pp must equal the " + std::to_string(ranks) +
            " ranks; allowed for each: " + list(divisors(ranks)) +
            "; change a pin or the number of ranks";
    return {};
  }
  std::vector<int64_t> fine;
  for (const Mesh3 &m : meshes)
    if (problem.batch % m.dp == 0)
      kept.push_back(m);
  for (int64_t d : divisors(ranks))
    if (problem.batch % d == 0)
      fine.push_back(d);
  if (kept.empty()) {
    error = given + " break rule P2: dp must divide the batch of " + std::to_string(problem.batch) +
            "; allowed dp: " + list(fine) + "; change the pin or the batch";
    return {};
  }
  meshes = kept;
  kept.clear();
  for (const Mesh3 &m : meshes)
    if (m.pp <= problem.numSegments)
      kept.push_back(m);
  if (kept.empty()) {
    error = given + " break rule P3: pp can be at most the " + std::to_string(problem.numSegments) +
            " segments of the model; pin a smaller pp";
    return {};
  }
  std::vector<Candidate> result;
  std::vector<int64_t> allowedMicro;
  bool hasCheap = std::any_of(problem.ops.begin(), problem.ops.end(),
                              [](const PlanOp &op) { return op.cheap && !op.noRecompute; });
  bool trains = std::any_of(problem.ops.begin(), problem.ops.end(),
                            [](const PlanOp &op) { return op.phase != Phase::Forward; });
  for (const Mesh3 &m : kept) {
    for (int64_t d : divisors(problem.batch / m.dp))
      allowedMicro.push_back(d);
    for (int64_t micro : microBatchChoices(problem, m))
      for (int zero : {0, 1})
        for (RecomputeMode mode :
             {RecomputeMode::None, RecomputeMode::Selective, RecomputeMode::Full}) {
          if (pins.zero ? *pins.zero != zero : zero == 1 && (m.dp == 1 || !trains))
            continue;
          if (pins.recompute ? *pins.recompute != mode
                             : (mode == RecomputeMode::Selective && !hasCheap) ||
                                   (mode != RecomputeMode::None && !trains))
            continue;
          Candidate c{m.dp,
                      m.tp,
                      m.pp,
                      micro,
                      zero,
                      pins.sp.value_or(true),
                      pins.schedule.value_or(solvers::ScheduleKind::OneFOneB),
                      mode};
          result.push_back(c);
        }
  }
  if (result.empty())
    error = given +
            " break rule P4: micro-batches must divide batch / dp; allowed: " + list(allowedMicro) +
            "; change the pin or the batch of " + std::to_string(problem.batch);
  return result;
}

} // namespace gpucc::planner
