// Machine and calibration files that are wrong: each of some hundred mistakes is refused with the
// line, what was found, what is allowed, what to do; nothing crashes.
#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/Machine.h"
#include <gtest/gtest.h>
#include <regex>

using namespace gpucc::cost;

namespace {

std::string machineError(const std::string &text) {
  MachineOrError parsed = parseMachine(text, "m.yaml");
  return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "";
}

/// "m.yaml:7: path: found ..., allowed ...; remedy"
void expectTaught(const std::string &error, const std::string &what) {
  static const std::regex shape(
      "^[^:]+:[0-9]+: .*(found|is no multiple|are no multiple|must|is given)"
      "[^]*$");
  EXPECT_TRUE(std::regex_match(error, shape)) << what << " gave: " << error;
  EXPECT_NE(error.find(';'), std::string::npos) << what << " gave: " << error;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines(1);
  for (char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

std::string joined(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  return text;
}

/// Every scalar of three machines replaced by what cannot be: number and line must be named.
TEST(Malformed, EveryValueOfAMachine) {
  int cases = 0;
  for (const char *name : {"h100", "t4", "gb200-nvl72"}) {
    std::vector<std::string> lines = linesOf(builtinMachines().at(name));
    for (size_t i = 1; i < lines.size(); ++i) { // the name may be anything
      if (lines[i].find("sources:") != std::string::npos)
        break;
      size_t colon = lines[i].find(": ");
      if (colon == std::string::npos || lines[i].find("kind:") != std::string::npos)
        continue;
      for (const char *bad : {"-5", "many", "80 furlongs", "[1, 2]", ".nan", "1e400"}) {
        std::vector<std::string> changed = lines;
        changed[i] = lines[i].substr(0, colon + 2) + bad;
        std::string error = machineError(joined(changed));
        ASSERT_NE(error, "") << changed[i] << " was accepted";
        expectTaught(error, changed[i]);
        EXPECT_NE(error.find("m.yaml:" + std::to_string(i + 1) + ":"), std::string::npos)
            << changed[i] << " gave: " << error;
        ++cases;
      }
    }
  }
  EXPECT_GE(cases, 150);
}

TEST(Malformed, UnknownAndMissingAndRepeatedKeys) {
  std::string good = builtinMachines().at("h100");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return machineError(text);
  };
  const char *required[] = {"name: h100\n", "  kind: h100-sxm5-80gb\n", "  memory: 81559 MiB\n",
                            "  memory-bandwidth: 3350 GB/s\n", "  multiprocessors: 132\n"};
  for (const char *line : required)
    expectTaught(with(line, ""), std::string("without ") + line);
  const std::pair<const char *, const char *> wrong[] = {
      {"  memory:", "  memry:"},
      {"node: {devices: 8,", "node: {devices: 8, devices: 8,"},
      {"node: {devices: 8,", "node: {devices: 8.5,"},
      {"node: {devices: 8,", "node: {devices: 0,"},
      {"node: {devices: 8,", "node: {devices: 9999999,"},
      {"node: {devices: 8,", "node: {gpus: 8,"},
      {"architecture: hopper", "architecture: hoper"},
      {"efficiency: 0.82", "efficiency: 1.2"},
      {"efficiency: 0.82", "efficiency: 0"},
      {"bandwidth: 450 GB/s", "bandwidth: 0 GB/s"},
      {"bf16: 989 TFLOP/s", "bf15: 989 TFLOP/s"},
      {"bf16: 989 TFLOP/s", "bf16: 0 TFLOP/s"},
      {"peak: {", "peak: [1] #"},
      {"links:\n", "links: fast\n#"},
      {"links:\n", "links: {intra: nvlink}\n#"},
      {"inter: {", "between: {"},
      {"sources:", "network: {tiers: 3}\nsources:"},
      {"sources:", "network: {tiers: [leaf]}\nsources:"},
      {"sources:", "network: {tiers: [{name: leaf}]}\nsources:"},
      {"sources:", "network: {tiers: [{name: leaf, nodes: 0}]}\nsources:"},
      {"sources:", "network: {tiers: [{name: leaf, nodes: 3}, {name: spine, nodes: 4}]}\nsources:"},
      {"sources:", "network: {tier: []}\nsources:"},
      {"sources:", "more-nodes: [{like: z9000, nodes: 4}]\nsources:"},
      {"sources:", "more-nodes: [{like: v100, nodes: many}]\nsources:"},
      {"sources:", "more-nodes: [{nodes: 4}]\nsources:"},
      {"sources:", "more-nodes: 4\nsources:"},
      {"sources:", "price: 3\nsources:"},
      {"sources:", "price-per-hour: -3\nsources:"},
  };
  for (auto [from, to] : wrong) {
    std::string error = with(from, to);
    EXPECT_NE(error, "") << to << " was accepted";
    expectTaught(error, to);
  }
}

TEST(Malformed, NotYaml) {
  for (const char *text : {"", "[", "{", "a: [", "\t- x", "name: \"x", "- a\n- b\n", "42", "%",
                           "&a *b", "a: b: c", "? [", "!!binary x", "name: x\n\x01", "*", "<<: *x"})
    expectTaught(machineError(text), text);
}

/// A machine cut at each of its bytes: refused or read, never a crash.
TEST(Malformed, CutAnywhere) {
  std::string good = builtinMachines().at("h100");
  for (size_t i = 0; i < good.size(); i += 3) {
    std::string error = machineError(good.substr(0, i));
    if (!error.empty())
      expectTaught(error, "the first " + std::to_string(i) + " bytes");
  }
}

TEST(Malformed, Calibrations) {
  auto error = [](const std::string &text) {
    CalibrationOrError parsed = parseCalibration(text, "c.yaml");
    return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "";
  };
  EXPECT_EQ(error("constants: {overlap: {value: 0.5, provenance: measured}}"), "");
  for (const char *text :
       {"constants: {overlap: 0.5}", "constants: {overlap: {}}", "constants: {overlap: {value: x}}",
        "constants: {overlap: {value: -1}}", "constants: {overlop: {value: 1}}", "constants: [1]",
        "constants: {overlap: {value: 1, provenance: guessed}}",
        "constants: {overlap: {value: 1, origin: x}}", "curve: []", "curves: {}", "curves: [x]",
        "curves: [{link: a, ranks: 1, bytes: [1, 2], seconds: [1, 2]}]",
        "curves: [{link: a, ranks: 2, bytes: [1], seconds: [1]}]",
        "curves: [{link: a, ranks: 2, bytes: [1, 2], seconds: [1]}]",
        "curves: [{link: a, ranks: 2, bytes: [2, 1], seconds: [1, 2]}]",
        "curves: [{link: a, ranks: 2, bytes: [1, 2], seconds: [1, -2]}]",
        "curves: [{link: a, ranks: 2, bytes: [1, x], seconds: [1, 2]}]",
        "curves: [{ranks: 2, bytes: [1, 2], seconds: [1, 2]}]"}) {
    EXPECT_NE(error(text), "") << text << " was accepted";
    expectTaught(error(text), text);
  }
}

TEST(Malformed, NamesAndCounts) {
  auto error = [](const std::string &name, int gpus) {
    MachineOrError loaded = loadMachine(name, gpus);
    return std::holds_alternative<std::string>(loaded) ? std::get<std::string>(loaded) : "";
  };
  EXPECT_EQ(error("h100", 2048), "");
  EXPECT_EQ(std::get<Machine>(loadMachine("h100", 2048)).nodes, 256);
  EXPECT_EQ(std::get<Machine>(loadMachine("h100", 4)).devicesPerNode, 4);
  EXPECT_NE(error("h100", 12).find("--gpus: found 12"), std::string::npos);
  EXPECT_NE(error("h100x0", 0).find("--machine: found 'h100x0'"), std::string::npos);
  EXPECT_NE(error("h100x99999999999999", 0).find("--machine: found"), std::string::npos);
  EXPECT_NE(error("", 0).find("--machine: found ''"), std::string::npos);
  EXPECT_NE(error("/", 0), "");
}

} // namespace
