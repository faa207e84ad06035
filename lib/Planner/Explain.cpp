//===- Explain.cpp - a plan for a person ----------------------------------===//
//
// Example of the first lines:
//
//   chosen  dp=8 tp=1 pp=1 micro-batches=1 zero=1 sp=on recompute=none
//   step    84.211 ms: compute 80.102, communication 2.101, bubble 0.000, update 2.008
//   memory  21.43 GiB of 74.51 GiB per rank (stage 0)
//
//===----------------------------------------------------------------------===//
#include "gpucc/Facts/Text.h"
#include "gpucc/Planner/Plan.h"

namespace gpucc::planner {

std::string PlanResult::explain(const PlanProblem &problem) const {
  if (!error.empty())
    return "no plan: " + error + "\n";
  std::string out;
  print(out, "chosen  %s\n", best.dump().c_str());
  print(out, "step    %.3f ms: compute %.3f, communication %.3f, bubble %.3f, update %.3f\n",
        cost.seconds * 1e3, cost.computeSeconds * 1e3, cost.communicationSeconds * 1e3,
        cost.bubbleSeconds * 1e3, cost.updateSeconds * 1e3);
  print(out, "memory  %s of %s per rank (stage %d)\n", bytesText(cost.memory.total()).c_str(),
        bytesText(problem.memoryPerRank()).c_str(), cost.fullestStage);
  out += cost.memory.dump();
  print(out, "considered %lld layouts, %lld table entries\n", static_cast<long long>(candidates),
        static_cast<long long>(steps));
  out += "well-known layouts\n";
  for (const Considered &c : wellKnown)
    print(out, "  %-70s %s\n", c.candidate.dump().c_str(), c.reason.c_str());
  out += "alternatives\n";
  for (const Considered &c : alternatives)
    if (!c.reason.empty())
      print(out, "  %10.3f ms %12s  %s: %s\n", c.cost.seconds * 1e3,
            bytesText(c.cost.memory.total()).c_str(), c.candidate.dump().c_str(), c.reason.c_str());
  if (!rejected.empty())
    out += "do not fit\n";
  for (const Considered &c : rejected)
    print(out, "  %s: %s\n", c.candidate.dump().c_str(), c.reason.c_str());
  return out;
}

} // namespace gpucc::planner
