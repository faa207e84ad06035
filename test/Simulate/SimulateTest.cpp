// The simulator: classes against every rank, stragglers, failures by Young's formula, memory.
#include "gpucc/Simulate/Simulate.h"
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::simulate;
using namespace gpucc::workload;

namespace {

Workload small() {
  Workload w = std::get<Workload>(loadWorkload("gpt-2-medium"));
  w.layers = 16;
  return w;
}

Layout layoutOf(const std::string &pins) {
  Layout l;
  std::vector<std::string> keys;
  EXPECT_EQ(applyPins(pins, l, keys), "");
  return l;
}

cost::Machine machineOf(const std::string &name, int gpus) {
  return std::get<cost::Machine>(cost::loadMachine(name, gpus));
}

const char *const schedules[] = {
    "schedule=gpipe",    "schedule=1f1b",      "schedule=interleaved,virtual-stages=2",
    "schedule=zb-h1",    "schedule=zb-h2",     "schedule=zb-v",
    "schedule=dualpipe", "schedule=dualpipe-v"};

TEST(Simulate, ClassesEqualEveryRank) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  cost::Machine machine = machineOf("a100-80gb", 32);
  for (const char *schedule : schedules)
    for (const char *zero : {"zero=0", "zero=1", "zero=3"}) {
      Layout l =
          layoutOf(std::string("tp=2,cp=2,pp=4,dp=2,global-batch=32,") + schedule + "," + zero);
      SimulateOptions classes, all;
      all.everyRank = true;
      Simulation a = simulateStep(cache, machine, l, classes),
                 b = simulateStep(cache, machine, l, all);
      ASSERT_EQ(a.error + b.error, "") << schedule;
      EXPECT_EQ(a.simulated, 4);
      EXPECT_EQ(b.simulated, 32);
      EXPECT_NEAR(a.seconds, b.seconds, 1e-12 * b.seconds) << schedule << zero;
      // A slow rank makes its pipeline a class of its own.
      classes.stragglers[13] = all.stragglers[13] = 1.5;
      a = simulateStep(cache, machine, l, classes);
      b = simulateStep(cache, machine, l, all);
      EXPECT_EQ(a.simulated, 8);
      EXPECT_NEAR(a.seconds, b.seconds, 1e-12 * b.seconds) << schedule << zero;
      EXPECT_GT(a.slowdown, 1.001) << schedule;
      EXPECT_LE(a.slowdown, 1.5) << schedule;
    }
}

// Also with few micro-batches and most of the data-parallel traffic hidden: gradients beside the
// last passes of every chunk, parameters beside the first ones.
TEST(Simulate, EventsAgreeWithTheSum) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  cost::Machine machine = machineOf("h100", 64);
  for (const char *schedule : schedules)
    for (const char *rest :
         {"global-batch=256,zero=1", "global-batch=64,zero=0",
          "global-batch=64,zero=1,recipe.contiguous-buckets=on",
          "global-batch=64,zero=1,recipe.contiguous-buckets=on,recipe.sends=waited"}) {
      Layout l = layoutOf(std::string("tp=2,pp=4,dp=8,") + schedule + "," + rest);
      Simulation s = simulateStep(cache, machine, l);
      ASSERT_EQ(s.error, "");
      EXPECT_NEAR(s.seconds / s.cost.seconds, 1, 0.02) << schedule << " " << rest;
      auto report = nlohmann::json::parse(reportJson(machine, w, l, s));
      double sum = 0;
      for (const auto &part : report["seconds"])
        sum += part.get<double>();
      // Events that end a little before the equations say leave the parts as they are.
      double most = std::max(s.seconds, s.cost.seconds);
      EXPECT_NEAR(sum / most, 1, 1e-6) << schedule << " " << rest;
      EXPECT_LE(sum / report["step_seconds"].get<double>(), 1.02) << schedule << " " << rest;
    }
}

TEST(Simulate, SixteenThousandRanksAreSixteen) {
  Workload w = std::get<Workload>(loadWorkload("llama-3-405b"));
  BlockCache cache(w, cost::Calibration::builtin());
  Layout l = layoutOf("tp=8,pp=16,dp=128,global-batch=12800,zero=1");
  Simulation s = simulateStep(cache, machineOf("h100", 16384), l);
  ASSERT_EQ(s.error, "");
  EXPECT_EQ(s.ranks, 16384);
  EXPECT_EQ(s.simulated, 16);
  EXPECT_EQ(l.microBatches(), 100);
}

TEST(Simulate, FailuresFollowYoung) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  SimulateOptions o;
  o.failures = {50000, 60, 600};
  Layout l = layoutOf("dp=32,global-batch=32");
  Simulation s = simulateStep(cache, machineOf("a100-80gb", 32), l, o);
  double mtbf = 50000.0 * 3600 / 32, interval = std::sqrt(2 * 60 * mtbf);
  EXPECT_NEAR(s.checkpointEvery, interval, 1e-6);
  EXPECT_NEAR(s.goodput, 1 - 60 / interval - (interval / 2 + 600) / mtbf, 1e-12);
}

TEST(Simulate, ActivationsRiseAndFallToNothing) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  Layout l = layoutOf("pp=4,global-batch=16,schedule=1f1b");
  Simulation s = simulateStep(cache, machineOf("a100-80gb", 4), l);
  ASSERT_EQ(s.activations.size(), 4u);
  for (size_t r = 0; r < 4; ++r) {
    double peak = 0, before = -1;
    for (auto [time, bytes] : s.activations[r]) {
      EXPECT_GE(time, before);
      before = time;
      peak = std::max(peak, bytes);
    }
    EXPECT_NEAR(s.activations[r].back().second, 0, 1e-3 * peak);
    EXPECT_NEAR(peak, s.cost.chunks[r].keptBytes * static_cast<double>(4 - r), 1e-9 * peak);
  }
}

TEST(Simulate, ImpossibleLayoutsAreRefused) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  Layout l = layoutOf("tp=3,global-batch=16");
  EXPECT_NE(simulateStep(cache, machineOf("a100-80gb", 4), l).error.find("allowed a divisor"),
            std::string::npos);
}

TEST(Simulate, TraceAndReportAreJsonWithTheSameStep) {
  Workload w = small();
  BlockCache cache(w, cost::Calibration::builtin());
  Layout l = layoutOf("tp=2,pp=2,dp=2,global-batch=8,zero=1");
  cost::Machine machine = machineOf("a100-80gb", 8);
  SimulateOptions o;
  o.keepTrace = true;
  Simulation s = simulateStep(cache, machine, l, o);
  nlohmann::json trace = nlohmann::json::parse(traceJson(s));
  double last = 0;
  for (const auto &event : trace["traceEvents"])
    if (event["ph"] == "X")
      last = std::max(last, event["ts"].get<double>() + event["dur"].get<double>());
  EXPECT_NEAR(last / 1e6, s.seconds, 1e-9);
  nlohmann::json report = nlohmann::json::parse(reportJson(machine, w, l, s));
  EXPECT_DOUBLE_EQ(report["step_seconds"].get<double>(), s.seconds);
  EXPECT_EQ(report["pipeline_ranks"].size(), 2u);
  EXPECT_NE(reportText(machine, w, l, s).find("memory"), std::string::npos);
  EXPECT_EQ(memorySvg(s, "x").rfind("<svg", 0), 0u);
}

} // namespace
