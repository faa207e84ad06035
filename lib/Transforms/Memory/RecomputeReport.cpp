//===- RecomputeReport.cpp - what was chosen, as JSON ---------------------===//
#include "RecomputeReport.h"

#include "llvm/Support/JSON.h"

#include <map>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::memory;

namespace {

/// "loop cluster", "contract".
std::string kindOf(Operation *op) {
  if (auto cluster = dyn_cast<graph::ClusterOp>(op))
    return graph::stringifyClusterKind(cluster.getKind()).str() + " cluster";
  return op->getName().stripDialect().str();
}

std::string nameOf(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location location) {
    auto named = dyn_cast<NameLoc>(location);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name.empty() ? kindOf(op) : name;
}

struct Group {
  int64_t ops = 0, bytes = 0;
  double flops = 0;
};

class Report {
public:
  Report(const StageMemory &stage, const StepUnit &unit, llvm::raw_ostream &os)
      : stage(stage), unit(unit), json(os), work(unit.problem->workOfStep()) {}

  void write(const Choice &choice) {
    json.object([&] {
      json.attribute("function", unit.name());
      json.attribute("stage", stage.stage);
      json.attribute("feasible", choice.feasible);
      json.attribute("saved_bytes", choice.before->crossing - choice.chosen->crossing);
      json.attributeBegin("without");
      point(*choice.before);
      json.attributeEnd();
      json.attributeBegin("chosen");
      point(*choice.chosen);
      json.attributeEnd();
      json.attribute("step_flops", static_cast<int64_t>(work.first));
      repeated(*choice.chosen);
      json.attributeArray("trade_off", [&] { tradeOff(*choice.curve); });
    });
  }

private:
  void point(const Outcome &o) {
    json.object([&] {
      json.attribute("device_bytes", stage.bytesOf(unit, o));
      json.attribute("activation_bytes", o.crossing);
      json.attribute("peak_bytes", o.peak);
      json.attribute("added_flops", static_cast<int64_t>(o.flops));
      json.attribute("added_time", work.second > 0 ? o.solution.extraCost / work.second : 0.0);
      json.attribute("repeated_ops", static_cast<int64_t>(o.solution.recomputed.size()));
    });
  }

  static int64_t bytesOf(Operation *op) {
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += arenaBytes(result);
    return bytes;
  }

  void repeated(const Outcome &chosen) {
    std::map<std::string, Group> groups;
    std::vector<Operation *> ops;
    for (int index : chosen.solution.recomputed) {
      Operation *op = unit.problem->forwardOp(index);
      ops.push_back(op);
      Group &group = groups[kindOf(op)];
      ++group.ops;
      group.bytes += bytesOf(op);
      group.flops += RecomputeProblem::flopsOf(op);
    }
    json.attributeArray("repeated", [&] {
      for (auto &[kind, group] : groups)
        json.object([&] {
          json.attribute("kind", kind);
          json.attribute("ops", group.ops);
          json.attribute("bytes", group.bytes);
          json.attribute("flops", static_cast<int64_t>(group.flops));
        });
    });
    llvm::stable_sort(ops, [](Operation *a, Operation *b) { return bytesOf(a) > bytesOf(b); });
    constexpr size_t most = 8;
    json.attributeArray("largest", [&] {
      for (Operation *op : ArrayRef(ops).take_front(most))
        json.object([&] {
          json.attribute("name", nameOf(op));
          json.attribute("kind", kindOf(op));
          json.attribute("bytes", bytesOf(op));
          json.attribute("flops", static_cast<int64_t>(RecomputeProblem::flopsOf(op)));
        });
    });
  }

  /// From no extra time to most; a point that costs more than another of fewer bytes is left out.
  void tradeOff(const std::vector<Outcome> &curve) {
    int64_t least = INT64_MAX;
    for (const Outcome &o : curve) {
      if (!o.solution.feasible || o.crossing >= least)
        continue;
      point(o);
      least = o.crossing;
    }
  }

  const StageMemory &stage;
  const StepUnit &unit;
  llvm::json::OStream json;
  std::pair<double, double> work;
};

} // namespace

std::string memory::describe(const StageMemory &stage, const StepUnit &unit, const Choice &choice) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Report(stage, unit, os).write(choice);
  return text;
}
