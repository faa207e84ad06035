//===- Problem.cpp - checks, pins -----------------------------------------===//
//
// Example of a refusal: parsePins("tp=two") = "pin tp: found 'two', allowed a whole number >= 1;
// write e.g. tp=2".
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/Problem.h"
#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace gpucc::planner {

double PlanTensor::bytes() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return static_cast<double>(byteSize(type, count));
}

const char *name(RecomputeMode mode) {
  return mode == RecomputeMode::None        ? "none"
         : mode == RecomputeMode::Selective ? "selective"
                                            : "full";
}

std::string PlanProblem::check() const {
  std::ostringstream out;
  int numTensors = static_cast<int>(tensors.size());
  if (numSegments < 1 || batch < 1) {
    out << "found " << numSegments << " segments and batch " << batch
        << ", allowed at least 1 each";
    return out.str();
  }
  for (const PlanTensor &t : tensors) {
    int rank = static_cast<int>(t.shape.size());
    if (t.batchDim >= rank || t.sequenceDim >= rank ||
        (t.batchDim >= 0 && t.shape[t.batchDim] % batch != 0)) {
      out << "tensor " << t.name << ": batchDim " << t.batchDim << ", sequenceDim " << t.sequenceDim
          << " of rank " << rank << "; allowed a dimension whose extent the batch " << batch
          << " divides";
      return out.str();
    }
  }
  for (const PlanOp &op : ops) {
    std::vector<std::vector<int64_t>> operandShapes, resultShapes;
    for (const auto *list : {&op.operands, &op.results})
      for (int t : *list) {
        if (t < 0 || t >= numTensors) {
          out << "op " << op.name << ": found tensor " << t << ", allowed 0.." << numTensors - 1;
          return out.str();
        }
        (list == &op.operands ? operandShapes : resultShapes).push_back(tensors[t].shape);
      }
    std::string rule = op.rule.check(operandShapes, resultShapes);
    if (!rule.empty())
      return "op " + op.name + ": sharding rule: " + rule;
    if (op.segment < 0 || op.segment >= numSegments) {
      out << "op " << op.name << ": found segment " << op.segment << ", allowed 0.."
          << numSegments - 1;
      return out.str();
    }
    if (!op.newStateOf.empty() && op.newStateOf.size() != op.results.size()) {
      out << "op " << op.name << ": found " << op.newStateOf.size()
          << " entries in newStateOf, allowed none or one per result";
      return out.str();
    }
  }
  return "";
}

std::string PlanProblem::dump() const {
  std::ostringstream out;
  out << "batch " << batch << ", " << numSegments << " segments, " << numRanks() << " ranks of "
      << machine.device.kind << '\n';
  for (const PlanOp &op : ops) {
    out << static_cast<char>(op.phase) << op.segment << ' ' << op.name << '(';
    for (size_t i = 0; i < op.operands.size(); ++i)
      out << (i ? ", " : "") << tensors[op.operands[i]].name;
    out << ") ->";
    for (int t : op.results)
      out << ' ' << tensors[t].name;
    out << '\n';
  }
  return out.str();
}

std::variant<Pins, std::string> parsePins(const std::string &text) {
  Pins pins;
  std::stringstream list(text);
  std::string item;
  while (std::getline(list, item, ',')) {
    if (item.empty())
      continue;
    size_t equal = item.find('=');
    std::string key = item.substr(0, equal);
    std::string value = equal == std::string::npos ? "" : item.substr(equal + 1);
    auto refuse = [&](const std::string &allowed, const std::string &remedy) {
      return "pin " + key + ": found '" + value + "', allowed " + allowed + "; " + remedy;
    };
    std::optional<int64_t> *number = key == "dp"              ? &pins.dp
                                     : key == "tp"            ? &pins.tp
                                     : key == "pp"            ? &pins.pp
                                     : key == "zero"          ? &pins.zero
                                     : key == "micro-batches" ? &pins.microBatches
                                                              : nullptr;
    if (number) {
      char *end = nullptr;
      int64_t parsed = std::strtoll(value.c_str(), &end, 10);
      int64_t least = key == "zero" ? 0 : 1;
      if (value.empty() || *end || parsed < least || parsed > (1 << 20))
        return refuse("a whole number >= " + std::to_string(least), "write e.g. " + key + "=2");
      if (key == "zero" && parsed > 1)
        return refuse("0 or 1", "stages 2 and 3 are not offered: pin zero=1");
      *number = parsed;
    } else if (key == "sp") {
      if (value != "on" && value != "off")
        return refuse("on or off", "write sp=on");
      pins.sp = value == "on";
    } else if (key == "schedule") {
      pins.schedule = solvers::parseGraphScheduleKind(value);
      if (!pins.schedule)
        return refuse("gpipe or 1f1b", "write schedule=1f1b");
    } else if (key == "recompute") {
      for (RecomputeMode mode :
           {RecomputeMode::None, RecomputeMode::Selective, RecomputeMode::Full})
        if (value == name(mode))
          pins.recompute = mode;
      if (!pins.recompute)
        return refuse("none, selective or full", "write recompute=full");
    } else {
      return "pin '" + item + "': found key '" + key +
             "', allowed dp, tp, pp, sp, zero, schedule, micro-batches, recompute; write e.g. "
             "dp=2,tp=2";
    }
  }
  return pins;
}

std::string dump(const Pins &pins) {
  std::string out;
  auto add = [&](const std::string &key, const std::string &value) {
    out += (out.empty() ? "" : ",") + key + "=" + value;
  };
  auto number = [&](const char *key, const std::optional<int64_t> &value) {
    if (value)
      add(key, std::to_string(*value));
  };
  number("dp", pins.dp);
  number("tp", pins.tp);
  if (pins.sp)
    add("sp", *pins.sp ? "on" : "off");
  number("pp", pins.pp);
  number("zero", pins.zero);
  if (pins.schedule)
    add("schedule", solvers::name(*pins.schedule));
  number("micro-batches", pins.microBatches);
  if (pins.recompute)
    add("recompute", name(*pins.recompute));
  return out;
}

} // namespace gpucc::planner
