//===- ExplainJson.cpp - a plan's reasons as data -------------------------===//
//
// Kept in the plan file, shown by gpucc explain. The texts under "why", "alternatives" and
// "rejected" are for people; the numbers stand beside them:
//   {"why": ["dp=8 tp=1 ... is the fastest of 96 layouts that fit"], "layout": {"dp": 8, ...},
//    "predicted": {"step_seconds": 0.084, "basis": "..."}, "memory": {"parameters": 1.4e9, ...},
//    ...}
//
//===----------------------------------------------------------------------===//
#include "gpucc/Facts/Text.h"
#include "gpucc/Planner/Plan.h"
#include <nlohmann/json.hpp>

namespace gpucc::planner {

using Json = nlohmann::ordered_json;

namespace {
Json layoutJson(const Candidate &c) {
  return {{"dp", c.dp},
          {"tp", c.tp},
          {"pp", c.pp},
          {"micro-batches", c.microBatches},
          {"zero", c.zero},
          {"schedule", solvers::name(c.schedule)},
          {"recompute", name(c.recompute)}};
}

Json memoryJson(const cost::RankMemory &m) {
  return {{"parameters", m.parameters}, {"gradients", m.gradients},
          {"optimizer", m.optimizer},   {"activations", m.activations},
          {"workspace", m.workspace},   {"communication", m.communication},
          {"context", m.context},       {"total", m.total()}};
}

std::string line(const Considered &c) {
  return format("%10.3f ms %12s  ", c.cost.seconds * 1e3, bytesText(c.cost.memory.total()).c_str()) +
         c.candidate.dump() + ": " + c.reason;
}
} // namespace

bool PlanResult::usesSequence(const PlanProblem &problem) const {
  for (size_t op = 0; op < ops.size(); ++op)
    for (size_t r = 0; r < ops[op].results.size(); ++r) {
      int dim = problem.tensors[problem.ops[op].results[r]].sequenceDim;
      if (dim < 0)
        continue;
      for (const std::string &axis : ops[op].results[r].dims[dim])
        if (axis == "tp")
          return true;
    }
  return false;
}

std::string PlanResult::explainJson(const PlanProblem &problem) const {
  Json json;
  Json &why = json["why"] = Json::array();
  why.push_back(
      best.dump() +
      format(" is the fastest of %lld layouts looked at", static_cast<long long>(candidates)) +
      (dump(problem.pins).empty() ? "" : " with the pins " + dump(problem.pins)) + " for " +
      std::to_string(problem.numRanks()) + " ranks of " + problem.machine.name);
  why.push_back(
      format("predicted step %.3f ms: compute %.3f, communication %.3f, bubble %.3f, update "
           "%.3f",
           cost.seconds * 1e3, cost.computeSeconds * 1e3, cost.communicationSeconds * 1e3,
           cost.bubbleSeconds * 1e3, cost.updateSeconds * 1e3));
  why.push_back(
      "rates: peaks, memory and links from datasheets; efficiencies and latencies fitted to "
      "published measurements; nothing was measured on this machine");
  why.push_back("predicted memory " + bytesText(cost.memory.total()) + " of " +
                bytesText(problem.memoryPerRank()) + " on the fullest rank (stage " +
                std::to_string(cost.fullestStage) + ")");
  if (best.pp == 1 && lowerBoundSeconds > 0)
    why.push_back(format("the choices per op are within %.2f %% of a proven bound for this mesh",
                       100 * std::max(0.0, cost.seconds / lowerBoundSeconds - 1)));
  for (const Considered &c : wellKnown)
    why.push_back(c.reason);
  for (const auto &[title, list] :
       {std::pair{"alternatives", &alternatives}, {"rejected", &rejected}}) {
    Json &lines = json[title] = Json::array();
    for (const Considered &c : *list)
      if (!c.reason.empty())
        lines.push_back(line(c));
  }
  json["layout"] = layoutJson(best);
  json["machine"] = problem.machine.name;
  json["ranks"] = problem.numRanks();
  json["pins"] = dump(problem.pins);
  json["predicted"] = {{"step_seconds", cost.seconds},
                       {"compute_seconds", cost.computeSeconds},
                       {"communication_seconds", cost.communicationSeconds},
                       {"bubble_seconds", cost.bubbleSeconds},
                       {"update_seconds", cost.updateSeconds},
                       {"lower_bound_seconds", lowerBoundSeconds},
                       {"basis", "datasheet peaks, fitted efficiencies"},
                       {"sources", problem.machine.sources}};
  json["memory"] = memoryJson(cost.memory);
  json["memory"]["allowed"] = problem.memoryPerRank();
  json["considered"] = candidates;
  json["steps"] = steps;
  json["ops"] = problem.ops.size();
  return json.dump();
}

} // namespace gpucc::planner
