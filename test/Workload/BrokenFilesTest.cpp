// Two hundred and more broken workload and layout files: each is refused with its file, a line and
// what is allowed, or is still a valid file; none crashes.
#include "gpucc/Workload/Layout.h"
#include <gtest/gtest.h>
#include <random>
#include <regex>

using namespace gpucc::workload;

namespace {

std::string workloadProblem(const std::string &text) {
  WorkloadOrError w = parseWorkload(text, "w.yaml");
  return std::holds_alternative<std::string>(w) ? std::get<std::string>(w) : "";
}
std::string layoutProblem(const std::string &text) {
  LayoutOrError l = parseLayout(text, "l.yaml");
  return std::holds_alternative<std::string>(l) ? std::get<std::string>(l) : "";
}

const std::regex shape(R"((w|l)\.yaml:[1-9][0-9]*: [\s\S]*(found|allowed)[\s\S]*)");

int refused = 0, accepted = 0;
void expectClear(const std::string &problem, const std::string &text) {
  if (problem.empty()) {
    ++accepted;
    return;
  }
  ++refused;
  EXPECT_TRUE(std::regex_match(problem, shape)) << problem << "\nfor\n" << text;
  EXPECT_NE(problem.find("allowed"), std::string::npos) << problem;
}

/// Every value of the file replaced by each of these.
const char *const values[] = {
    "two",  "-1",  "1.5", "",      "[1, 2",   "{a: b}", "99999999999999999999", "~", "\"\"",
    "0x10", "1e3", "- 3", "&x *y", "!!int q", "\t4"};

template <typename Problem> void replaceValues(const std::string &text, Problem problem) {
  for (size_t at = 0; (at = text.find(": ", at)) != std::string::npos; ++at) {
    size_t end = text.find_first_of(",}\n", at + 2);
    for (const char *value : values) {
      std::string broken = text.substr(0, at + 2) + value + text.substr(end);
      expectClear(problem(broken), broken);
    }
  }
}

template <typename Problem> void scramble(const std::string &text, Problem problem) {
  std::mt19937 random(7);
  for (int k = 0; k < 400; ++k) {
    std::string broken = text;
    for (int edits = 1 + k % 3; edits > 0; --edits) {
      size_t at = random() % broken.size();
      switch (random() % 4) {
      case 0:
        broken.erase(at, 1 + random() % 5);
        break;
      case 1:
        broken.insert(at, 1, "{}[]:,-#&*!|>'\"%@`\n\t\0"[random() % 22]);
        break;
      case 2:
        broken[at] = static_cast<char>(random());
        break;
      case 3:
        broken.resize(at + 1);
        break;
      }
      if (broken.empty())
        broken = " ";
    }
    expectClear(problem(broken), broken);
  }
}

TEST(BrokenFiles, WorkloadsAreRefusedWithTheirLine) {
  for (const char *name : {"llama-3-8b", "deepseek-v3", "gpt-oss-20b"}) {
    replaceValues(builtinWorkloads().at(name), workloadProblem);
    scramble(builtinWorkloads().at(name), workloadProblem);
  }
  EXPECT_GT(refused, 200);
}

TEST(BrokenFiles, LayoutsAreRefusedWithTheirLine) {
  refused = 0;
  std::string text = Layout().dump();
  replaceValues(text, layoutProblem);
  scramble(text, layoutProblem);
  EXPECT_GT(refused, 200);
}

// Each says the line of the key, what stands there and what may.
TEST(BrokenFiles, ByHand) {
  EXPECT_EQ(
      layoutProblem("tp: 8\npp: four\n"),
      "l.yaml:2: pp: found 'four', allowed a whole number of at least 1 and at most 1048576; write "
      "e.g. pp: 4");
  EXPECT_EQ(layoutProblem("tp: 8\nschedule: 1F1B\n"),
            "l.yaml:2: schedule: found '1F1B', allowed one of gpipe, 1f1b, interleaved, zb-h1, "
            "zb-h2, zb-v, dualpipe, dualpipe-v; write e.g. schedule: gpipe");
  EXPECT_NE(layoutProblem("tp: 8\nrecipe:\n  precison: bf16\n").find("l.yaml:3"),
            std::string::npos);
  EXPECT_NE(layoutProblem("tp: 8\nrecipe: bf16\n").find("allowed a mapping"), std::string::npos);
  EXPECT_NE(layoutProblem("tp: 8\n---\npp: 2\n").find("allowed one YAML mapping"),
            std::string::npos);
}

} // namespace
