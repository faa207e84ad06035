//===- ProblemJson.cpp - a planning problem as text -----------------------===//
//
// The form that bug reports carry. The machine travels as its machine.yaml text. Example:
//   {"version": 1, "batch": 32, "segments": 1, "machine": "name: ...", "tensors": [{"name": "W",
//    "shape": [64, 128], "type": "f32", "state": true, ...}], "ops": [...]}
//
//===----------------------------------------------------------------------===//
#include "gpucc/Planner/Problem.h"
#include <nlohmann/json.hpp>

namespace gpucc::planner {

using Json = nlohmann::ordered_json;

namespace {

Json ruleToJson(const ShardingRule &rule) {
  Json factors = Json::array();
  for (const Factor &f : rule.factors)
    factors.push_back({f.size, static_cast<int>(f.kind), static_cast<int>(f.reduce)});
  return {{"factors", factors},
          {"operands", rule.operands},
          {"results", rule.results},
          {"linear", std::vector<int>(rule.linearIn.begin(), rule.linearIn.end())},
          {"together", std::vector<int>(rule.linearTogether.begin(), rule.linearTogether.end())}};
}

ShardingRule ruleFromJson(const Json &json) {
  ShardingRule rule;
  for (const Json &f : json.at("factors"))
    rule.factors.push_back({f.at(0).get<int64_t>(), static_cast<FactorKind>(f.at(1).get<int>()),
                            static_cast<ReduceKind>(f.at(2).get<int>())});
  rule.operands = json.at("operands").get<std::vector<ShardingRule::Tensor>>();
  rule.results = json.at("results").get<std::vector<ShardingRule::Tensor>>();
  for (int linear : json.at("linear").get<std::vector<int>>())
    rule.linearIn.push_back(linear != 0);
  for (int linear : json.at("together").get<std::vector<int>>())
    rule.linearTogether.push_back(linear != 0);
  return rule;
}

Json factsToJson(const OpFacts &f) {
  return {{"matrix", f.matrixFlops},         {"alu", f.aluFlops},
          {"special", f.specialFlops},       {"read", f.bytesRead},
          {"written", f.bytesWritten},       {"type", std::string(gpucc::name(f.matrixType))},
          {"mnkb", {f.m, f.n, f.k, f.batch}}};
}

DType typeOf(const Json &json) {
  std::string text = json.get<std::string>();
  std::optional<DType> type = parseDType(text);
  if (!type)
    throw std::runtime_error("type: found '" + text + "', allowed an element type such as f32");
  return *type;
}

OpFacts factsFromJson(const Json &json) {
  OpFacts f;
  f.matrixFlops = json.at("matrix").get<double>();
  f.aluFlops = json.at("alu").get<double>();
  f.specialFlops = json.at("special").get<double>();
  f.bytesRead = json.at("read").get<double>();
  f.bytesWritten = json.at("written").get<double>();
  f.matrixType = typeOf(json.at("type"));
  auto shape = json.at("mnkb").get<std::vector<int64_t>>();
  f.m = shape.at(0), f.n = shape.at(1), f.k = shape.at(2), f.batch = shape.at(3);
  return f;
}

PlanTensor tensorFromJson(const Json &json) {
  PlanTensor t;
  t.name = json.at("name").get<std::string>();
  t.shape = json.at("shape").get<std::vector<int64_t>>();
  t.type = typeOf(json.at("type"));
  t.batchDim = json.value("batchDim", -1);
  t.sequenceDim = json.value("sequenceDim", -1);
  t.isState = json.value("state", false);
  t.gradientBytes = json.value("gradientBytes", 0.0);
  t.optimizerBytes = json.value("optimizerBytes", 0.0);
  return t;
}

PlanOp opFromJson(const Json &json) {
  PlanOp op;
  op.name = json.at("name").get<std::string>();
  op.facts = factsFromJson(json.at("facts"));
  op.rule = ruleFromJson(json.at("rule"));
  op.operands = json.at("operands").get<std::vector<int>>();
  op.results = json.at("results").get<std::vector<int>>();
  std::string phase = json.at("phase").get<std::string>();
  if (phase != "F" && phase != "B" && phase != "U")
    throw std::runtime_error("op " + op.name + ": phase: found '" + phase + "', allowed F, B, U");
  op.phase = static_cast<Phase>(phase[0]);
  op.segment = json.at("segment").get<int>();
  op.cheap = json.value("cheap", false);
  op.noRecompute = json.value("noRecompute", false);
  op.newStateOf = json.value("newStateOf", std::vector<int>());
  return op;
}

} // namespace

std::string toJson(const PlanProblem &problem) {
  Json json = {{"version", 1},
               {"batch", problem.batch},
               {"segments", problem.numSegments},
               {"ranks", problem.ranks},
               {"memoryLimit", problem.memoryLimit},
               {"gradientOverlap", problem.gradientOverlap},
               {"tf32", problem.tf32},
               {"pins", dump(problem.pins)},
               {"machine", problem.machine.dump()}};
  Json tensors = Json::array(), ops = Json::array();
  for (const PlanTensor &t : problem.tensors)
    tensors.push_back({{"name", t.name},
                       {"shape", t.shape},
                       {"type", std::string(gpucc::name(t.type))},
                       {"batchDim", t.batchDim},
                       {"sequenceDim", t.sequenceDim},
                       {"state", t.isState},
                       {"gradientBytes", t.gradientBytes},
                       {"optimizerBytes", t.optimizerBytes}});
  for (const PlanOp &op : problem.ops)
    ops.push_back({{"name", op.name},
                   {"phase", std::string(1, static_cast<char>(op.phase))},
                   {"segment", op.segment},
                   {"operands", op.operands},
                   {"results", op.results},
                   {"cheap", op.cheap},
                   {"noRecompute", op.noRecompute},
                   {"newStateOf", op.newStateOf},
                   {"facts", factsToJson(op.facts)},
                   {"rule", ruleToJson(op.rule)}});
  json["tensors"] = tensors;
  json["ops"] = ops;
  return json.dump(1);
}

std::variant<PlanProblem, std::string> problemFromJson(const std::string &text,
                                                       const std::string &origin) {
  try {
    Json json = Json::parse(text);
    if (json.at("version").get<int>() != 1)
      return origin + ": version: found " + json.at("version").dump() +
             ", allowed 1; write the problem again with this gpucc";
    PlanProblem problem;
    problem.batch = json.at("batch").get<int64_t>();
    problem.numSegments = json.at("segments").get<int>();
    problem.ranks = json.value("ranks", int64_t(0));
    problem.memoryLimit = json.value("memoryLimit", 0.0);
    problem.gradientOverlap = json.value("gradientOverlap", 0.5);
    problem.tf32 = json.value("tf32", false);
    auto pins = parsePins(json.value("pins", std::string()));
    if (auto *message = std::get_if<std::string>(&pins))
      return origin + ": " + *message;
    problem.pins = std::get<Pins>(pins);
    auto machine = cost::parseMachine(json.at("machine").get<std::string>(), origin + "#machine");
    if (auto *message = std::get_if<std::string>(&machine))
      return *message;
    problem.machine = std::get<cost::Machine>(machine);
    for (const Json &t : json.at("tensors"))
      problem.tensors.push_back(tensorFromJson(t));
    for (const Json &op : json.at("ops"))
      problem.ops.push_back(opFromJson(op));
    std::string wrong = problem.check();
    if (!wrong.empty())
      return origin + ": " + wrong;
    return problem;
  } catch (const std::exception &e) {
    return origin + ": found text that is no planning problem (" + e.what() +
           "); allowed the JSON that gpucc writes; compare with a problem written by toJson";
  }
}

} // namespace gpucc::planner
