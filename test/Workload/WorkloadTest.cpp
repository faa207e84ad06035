// Built-in models against the parameter counts of their model cards; files in and out; mistakes.
#include "gpucc/Workload/Workload.h"
#include <gtest/gtest.h>

using namespace gpucc::workload;

namespace {

Workload builtin(const std::string &name) {
  WorkloadOrError w = loadWorkload(name);
  EXPECT_TRUE(std::holds_alternative<Workload>(w)) << std::get<std::string>(w);
  return std::get<Workload>(w);
}

// Exact totals that the published checkpoints have (model cards and safetensors indices).
TEST(Workload, ParameterCountsEqualThePublishedCheckpoints) {
  const std::pair<const char *, double> published[] = {
      {"gpt-2", 124439808.0},           {"gpt-2-medium", 354823168.0},
      {"gpt-2-large", 774030080.0},     {"gpt-2-xl", 1557611200.0},
      {"bloom-176b", 176247271424.0},   {"llama-2-7b", 6738415616.0},
      {"llama-2-13b", 13015864320.0},   {"llama-2-70b", 68976648192.0},
      {"llama-3-8b", 8030261248.0},     {"llama-3-70b", 70553706496.0},
      {"llama-3-405b", 405853388800.0}, {"mistral-7b", 7241732096.0},
      {"qwen2.5-7b", 7615616512.0},     {"qwen2.5-32b", 32763876352.0},
      {"gemma-2-9b", 9241705984.0},     {"gemma-2-27b", 27227128320.0},
      {"mixtral-8x7b", 46702792704.0},  {"mixtral-8x22b", 140620634112.0},
      {"qwen3-30b-a3b", 30532122624.0}, {"qwen3-235b-a22b", 235093634560.0},
      {"deepseek-v3", 671026419200.0},
  };
  for (auto [name, total] : published)
    EXPECT_DOUBLE_EQ(countParameters(builtin(name)).total(), total) << name;
}

// Rounded sizes that papers state, where no exact count is published.
TEST(Workload, ParameterCountsAgreeWithPapers) {
  const std::tuple<const char *, double, double> stated[] = {
      {"gpt-1.7b", 1.7e9, .05},       {"gpt-18.4b", 18.4e9, .01},   {"gpt-39.1b", 39.1e9, .01},
      {"gpt-76.1b", 76.1e9, .01},     {"gpt-145.6b", 145.6e9, .01}, {"gpt-310.1b", 310.1e9, .01},
      {"gpt-529.6b", 529.6e9, .01},   {"gpt-1008b", 1008e9, .01},   {"gpt-3-175b", 174.6e9, .01},
      {"gpt-22b", 22e9, .02},         {"deepseek-v2", 236e9, .01},  {"kimi-k2", 1026e9, .01},
      {"gpt-oss-120b", 116.8e9, .01}, {"gpt-oss-20b", 20.9e9, .01},
  };
  for (auto [name, total, within] : stated)
    EXPECT_NEAR(countParameters(builtin(name)).total() / total, 1, within) << name;
}

TEST(Workload, ActiveParametersOfExperts) {
  EXPECT_NEAR(countParameters(builtin("mixtral-8x7b")).active, 12.9e9, 0.1e9);
  EXPECT_NEAR(countParameters(builtin("deepseek-v3")).active, 37e9, 1e9);
  EXPECT_NEAR(countParameters(builtin("qwen3-30b-a3b")).active, 3.3e9, 0.1e9);
  EXPECT_NEAR(countParameters(builtin("deepseek-v2")).active, 21e9, 0.5e9);
}

// Narayanan et al., SC'21, eq. 3 without recomputation: 72 B s l h^2 (1 + s/6h + V/12lh) is forward
// and backward of one batch.
TEST(Workload, FlopsEqualTheMegatronFormula) {
  for (const char *name : {"gpt-1.7b", "gpt-39.1b", "gpt-3-175b", "gpt-1008b"}) {
    Workload w = builtin(name);
    double s = w.sequence, l = w.layers, h = w.hidden, V = w.vocab;
    double formula = 72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h));
    EXPECT_NEAR(countFlops(w).model() / formula, 1, 1e-12) << name;
  }
}

TEST(Workload, WindowsAndMasksReduceWhatAQuerySees) {
  Workload w = builtin("mistral-7b");
  w.sequence = 8192; // window 4096: (4096/2 * 4096 + 4096 * 4096) / 8192 = 3072
  EXPECT_DOUBLE_EQ(w.averageKeys(true), 3072);
  EXPECT_DOUBLE_EQ(w.averageKeys(false), 4096);
  Workload g = builtin("gemma-2-9b");
  EXPECT_TRUE(g.layerIsWindowed(0));
  EXPECT_FALSE(g.layerIsWindowed(1));
}

TEST(Workload, FilesRoundTrip) {
  for (const auto &[name, text] : builtinWorkloads()) {
    Workload w = builtin(name);
    WorkloadOrError again = parseWorkload(w.dump(), "dump");
    ASSERT_TRUE(std::holds_alternative<Workload>(again)) << std::get<std::string>(again);
    EXPECT_EQ(std::get<Workload>(again), w) << w.dump();
  }
}

std::string mistake(const std::string &text) {
  WorkloadOrError w = parseWorkload(text, "w.yaml");
  return std::holds_alternative<std::string>(w) ? std::get<std::string>(w) : "";
}

TEST(Workload, MistakesAreNamedWithTheirLine) {
  const std::string head = "name: x\nlayers: 2\nhidden: 8\nvocab: 16\nsequence: 4\n";
  EXPECT_EQ(mistake(head + "attention: {heads: 2}\n"), "");
  EXPECT_EQ(mistake(head + "attention:\n  heads: two\n"),
            "w.yaml:7: attention.heads: found 'two', allowed a whole number of at least 1; write "
            "e.g. heads: 32");
  EXPECT_NE(mistake(head + "attention: {haeds: 2}\n").find("did you mean attention.heads?"),
            std::string::npos);
  EXPECT_NE(mistake(head + "attention: {heads: 2}\nlayers: 3\n")
                .find("w.yaml:7: layers: found the "
                      "key twice"),
            std::string::npos);
  EXPECT_NE(mistake(head + "attention: {heads: 3}\n").find("w.yaml:6: attention.heads: found 3"),
            std::string::npos);
  EXPECT_NE(mistake(head + "attention: {heads: 4, kv-heads: 3}\n").find("allowed a divisor"),
            std::string::npos);
  EXPECT_NE(mistake(head + "attention: {heads: 2}\nmoe: {experts: 4, top-k: 5, hidden: 8}\n")
                .find("w.yaml:7: moe.top-k: found 5, allowed 1 to 4"),
            std::string::npos);
  const std::string experts =
      head + "attention: {heads: 2}\nmoe: {experts: 4, top-k: 2, hidden: 8, ";
  EXPECT_EQ(mistake(experts + "groups: 2, top-groups: 1}\n"), "");
  EXPECT_NE(
      mistake(experts + "groups: 3}\n").find("w.yaml:7: moe.groups: found 3, allowed a divisor"),
      std::string::npos);
  EXPECT_NE(mistake(experts + "groups: 2, top-groups: 3}\n")
                .find("moe.top-groups: found 3, allowed 1 to 2"),
            std::string::npos);
  EXPECT_NE(mistake(experts + "groups: 4}\n")
                .find("moe.top-groups: found 1 of 1 experts each, "
                      "allowed enough for moe.top-k = 2"),
            std::string::npos);
  EXPECT_NE(mistake("name: x\n").find("layers: found nothing"), std::string::npos);
  EXPECT_NE(mistake(head + "attention: [1, 2]\n").find("allowed a mapping"), std::string::npos);
  EXPECT_NE(mistake("- a\n- b\n").find("w.yaml:1: found no mapping"), std::string::npos);
  EXPECT_NE(mistake(head + "attention: {heads: 2\n").find("not YAML"), std::string::npos);
  EXPECT_NE(mistake(head + "family: lama\n").find("allowed one of gpt"), std::string::npos);
}

TEST(Workload, UnknownNamesListTheKnownOnes) {
  WorkloadOrError w = loadWorkload("llama-9-8b");
  ASSERT_TRUE(std::holds_alternative<std::string>(w));
  EXPECT_NE(std::get<std::string>(w).find("llama-3-8b"), std::string::npos);
}

} // namespace
