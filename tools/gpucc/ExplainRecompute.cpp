//===- ExplainRecompute.cpp - what a memory limit led to ------------------===//
#include "ExplainRecompute.h"

#include "PlanText.h"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::tool;
using Json = nlohmann::json;

static double number(const Json &object, const char *key) { return object.value(key, 0.0); }
static std::string word(const Json &object, const char *key) {
  return object.value(key, std::string());
}
static std::string bytes(const Json &object, const char *key) {
  return bytesText(number(object, key));
}

/// What runs again: by kind, then the largest values.
static void printRepeated(const Json &step) {
  if (!step["repeated"].empty())
    std::printf("    runs again, by kind\n");
  for (const Json &group : step["repeated"])
    std::printf("      %4.0f x %-24s %12s of values, %10.3g FLOP\n", number(group, "ops"),
                word(group, "kind").c_str(), bytes(group, "bytes").c_str(), number(group, "flops"));
  if (!step["largest"].empty())
    std::printf("    runs again, the largest values\n");
  for (const Json &op : step["largest"])
    std::printf("      %-40.40s %-20s %12s, %10.3g FLOP\n", word(op, "name").c_str(),
                word(op, "kind").c_str(), bytes(op, "bytes").c_str(), number(op, "flops"));
}

/// Bytes against extra work at other budgets; the chosen one is marked.
static void printTradeOff(const Json &step, double stepFlops) {
  if (step["trade_off"].size() < 2)
    return;
  std::printf(
      "    trade-off     kept for backward   bytes of a rank      FLOP      time   ops again\n");
  for (const Json &point : step["trade_off"])
    std::printf("      %c           %16s  %16s  %+7.1f %%  %+6.1f %%  %9.0f\n",
                point == step["chosen"] ? '*' : ' ', bytes(point, "activation_bytes").c_str(),
                bytes(point, "device_bytes").c_str(),
                100 * number(point, "added_flops") / stepFlops, 100 * number(point, "added_time"),
                number(point, "repeated_ops"));
}

static void printStep(const Json &step) {
  const Json &before = step["without"], &chosen = step["chosen"];
  double flops = std::max(1.0, number(step, "step_flops"));
  std::printf("  %s: %.0f ops run again in backward, %+.1f %% FLOP, about %+.1f %% time\n",
              word(step, "function").c_str(), number(chosen, "repeated_ops"),
              100 * number(chosen, "added_flops") / flops, 100 * number(chosen, "added_time"));
  auto line = [&](const char *title, const char *key) {
    std::printf("    %-32s %12s -> %s\n", title, bytes(before, key).c_str(),
                bytes(chosen, key).c_str());
  };
  line("forward keeps for backward", "activation_bytes");
  line("peak of values, expected", "peak_bytes");
  line("bytes of a rank, expected", "device_bytes");
  printRepeated(step);
  printTradeOff(step, flops);
}

void tool::printMemoryLimit(const Json &limit) {
  if (limit.contains("limit_bytes"))
    std::printf("\nmemory limit  %s per rank (%s); planned %s\n",
                bytes(limit, "limit_bytes").c_str(), word(limit, "limit_origin").c_str(),
                bytes(limit, "planned_bytes").c_str());
  else
    std::printf("\nmemory limit  --memory-budget %s; planned %s\n", word(limit, "asked").c_str(),
                bytes(limit, "planned_bytes").c_str());
  if (limit.contains("planned_bytes_without"))
    std::printf("  without recomputation %s\n", bytes(limit, "planned_bytes_without").c_str());
  if (number(limit, "attempts") > 1)
    std::printf("  planned %.0f times to find what fits\n", number(limit, "attempts"));
  if (limit["steps"].empty())
    std::printf("  nothing is recomputed\n");
  for (const Json &step : limit["steps"])
    printStep(step);
}
