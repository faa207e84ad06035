//===- ExplainCommand.cpp - gpucc explain ---------------------------------===//
//
// What the plan does (from its commands), why (from the planner's own words,
// kept in the plan as JSON), what else was considered and what it would lose.
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "Commands.h"
#include "ExplainRecompute.h"
#include "PlanSource.h"
#include "PlanText.h"
#include "plan_generated.h"

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::tool;
namespace fb = gpucc::rt::plan;

namespace {

struct Arguments {
  std::string plan, json;
};

/// Bytes of one element times count, of what one member brings.
double bytesOf(const fb::Collective &c) {
  static const double widths[] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, .5, .5, 1};
  return widths[static_cast<int>(c.dtype())] * static_cast<double>(c.count());
}

/// Commands of one step of a program: each segment as often as its script runs it.
struct Work {
  std::map<std::string, int64_t> commands;
  std::map<std::string, std::pair<int64_t, double>> collectives; ///< calls, bytes brought
};

Work workOf(const fb::Plan &plan, const fb::Program &program) {
  Work work;
  const fb::Script *script = program.scripts()->Get(0);
  for (const fb::Step *step : *script->steps()) {
    const fb::Segment *segment = program.segments()->Get(step->segment());
    if (!segment->commands())
      continue;
    for (const fb::Command *c : *segment->commands()) {
      ++work.commands[fb::EnumNameCommandBody(c->body_type())];
      if (c->body_type() != fb::CommandBody::Collective)
        continue;
      const fb::Collective &k = *c->body_as_Collective();
      auto &entry = work.collectives[std::string(fb::EnumNameCollectiveKind(k.kind())) + " over " +
                                     plan.communicators()->Get(k.communicator())->name()->str()];
      ++entry.first;
      entry.second += bytesOf(k);
    }
  }
  return work;
}

void printLayout(const fb::Plan &plan) {
  std::printf("what\n  target %s", fb::EnumNameTarget(plan.needs()->target()));
  if (plan.needs()->architectures())
    for (const auto *arch : *plan.needs()->architectures())
      std::printf(" %s", arch->c_str());
  std::printf("\n  %u rank%s, %u stage%s", plan.ranks(), plan.ranks() == 1 ? "" : "s",
              plan.stages()->size(), plan.stages()->size() == 1 ? "" : "s");
  if (plan.stages()->Get(0)->axes())
    for (const fb::Axis *axis : *plan.stages()->Get(0)->axes())
      std::printf(", %s=%u", axis->name()->c_str(), axis->size());
  std::printf("%s\n", plan.training() ? ", training" : "");
}

void printWork(const fb::Plan &plan, nlohmann::json &json) {
  std::printf("\none step of rank 0 of each stage\n");
  for (const fb::Program *program : *plan.profiles()->Get(0)->programs()) {
    Work work = workOf(plan, *program);
    nlohmann::json row = {{"stage", program->stage()}};
    std::printf("  stage %u:", program->stage());
    for (auto &[kind, n] : work.commands) {
      std::printf(" %lld %s", static_cast<long long>(n), kind.c_str());
      row["commands"][kind] = n;
    }
    std::printf("\n");
    for (auto &[kind, entry] : work.collectives) {
      std::printf("    %-40s %4lld calls, %s\n", kind.c_str(), static_cast<long long>(entry.first),
                  bytesText(entry.second).c_str());
      row["collectives"][kind] = {{"calls", entry.first}, {"bytes", entry.second}};
    }
    json["stages"].push_back(row);
  }
}

void printMemoryLines(const fb::Plan &plan, nlohmann::json &json) {
  std::printf("\nmemory per rank\n");
  for (const fb::MemoryLine *line : *plan.memory()) {
    std::printf("  stage %u  %-20s %12s\n", line->stage(), line->category()->c_str(),
                bytesText(static_cast<double>(line->bytes())).c_str());
    json["memory"].push_back({{"stage", line->stage()},
                              {"category", line->category()->str()},
                              {"bytes", line->bytes()}});
  }
}

/// What the cost model says of the chosen layout, and on which rates it rests.
void printPrediction(const nlohmann::json &reasons) {
  if (reasons.contains("memory")) {
    std::printf("\nmemory that the search expected on the fullest rank\n");
    for (const auto &[part, bytes] : reasons["memory"].items())
      if (bytes.is_number())
        std::printf("  %-28s %12s\n", part.c_str(), bytesText(bytes.get<double>()).c_str());
  }
  if (reasons.contains("predicted"))
    std::printf("\npredicted step  %.3f ms  (%s)\n",
                1e3 * reasons["predicted"].value("step_seconds", 0.0),
                reasons["predicted"].value("basis", std::string()).c_str());
}

/// The planner's own words: {"why": [..], "alternatives": [{"layout", "loses", ...}], ...}.
void printReasons(const fb::Plan &plan, nlohmann::json &json) {
  std::string words = plan.explanation() ? plan.explanation()->str() : "";
  nlohmann::json reasons = nlohmann::json::parse(words, nullptr, false);
  if (!words.empty() && !reasons.is_discarded()) {
    json["reasons"] = reasons;
    if (reasons.contains("memory limit"))
      printMemoryLimit(reasons["memory limit"]);
  }
  if (words.empty() || reasons.is_discarded() || !reasons.contains("why")) {
    std::printf("\nwhy\n  the layout was given (pins or one rank); nothing was searched\n");
    return;
  }
  printPrediction(reasons);
  for (const char *title : {"why", "planned before", "alternatives", "rejected"}) {
    if (!reasons.contains(title) || reasons[title].empty())
      continue;
    std::printf("\n%s\n", title);
    for (const auto &line : reasons[title])
      std::printf("  %s\n",
                  line.is_string() ? line.get<std::string>().c_str() : line.dump().c_str());
  }
}

int explain(Arguments &a) {
  if (!isPlanFile(a.plan))
    return fail(2, "'" + a.plan + "' is no plan; make one with gpucc compile");
  PlanFile file;
  if (int code = file.open(a.plan))
    return code;
  nlohmann::json json;
  printLayout(file.plan());
  printWork(file.plan(), json);
  printMemoryLines(file.plan(), json);
  printReasons(file.plan(), json);
  if (a.json.empty())
    return 0;
  return writeText(a.json, json.dump(1) + "\n");
}

} // namespace

Command tool::addExplain(CLI::App &app) {
  auto a = std::make_shared<Arguments>();
  app.add_option("plan", a->plan, "a plan")->required()->check(CLI::ExistingFile);
  app.add_option("--json", a->json, "write the same as JSON (-: to stdout)");
  app.footer("\nexample\n  gpucc explain gpt.plan");
  return [a] { return explain(*a); };
}
