// machine.yaml: the built-in machines, round trip, and errors with line, path, found, allowed,
// remedy.
#include "gpucc/CostModel/Machine.h"
#include <gtest/gtest.h>

using namespace gpucc;
using namespace gpucc::cost;

namespace {

Machine builtin(const std::string &name) {
  MachineOrError result = loadMachine(name);
  EXPECT_TRUE(std::holds_alternative<Machine>(result)) << std::get<std::string>(result);
  return std::get<Machine>(result);
}

/// The built-in h100 text with one replacement.
std::string errorAfter(const std::string &from, const std::string &to) {
  std::string text = builtinMachines().at("h100");
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  MachineOrError result = parseMachine(text, "machine.yaml");
  return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : "accepted";
}

TEST(Machine, BuiltinsHaveTheDatasheetNumbers) {
  Machine h100 = builtin("h100-8");
  EXPECT_EQ(h100.numDevices(), 8);
  EXPECT_DOUBLE_EQ(h100.device.matrixPeak(DType::BF16), 989e12);
  EXPECT_DOUBLE_EQ(h100.device.memoryBandwidth, 3350e9);
  EXPECT_DOUBLE_EQ(h100.device.tf32Peak, 494.5e12);
  EXPECT_DOUBLE_EQ(builtin("a100-80gb-8").device.matrixPeak(DType::F16), 312e12);
  EXPECT_DOUBLE_EQ(builtin("v100-8").device.memoryBytes, 32.0 * (1 << 30));
  EXPECT_EQ(builtin("h100-8x4").numDevices(), 32);
  // Export variants and Blackwell Ultra have next to no f64 (1 TFLOP/s; 10 for the eight of HGX
  // B300).
  EXPECT_DOUBLE_EQ(builtin("h800-8").device.matrixPeak(DType::F64), 1e12);
  EXPECT_DOUBLE_EQ(builtin("b300-8").device.matrixPeak(DType::F64), 10e12 / 8);
}

/// Racks of 72 in trays of four: a job takes equal whole trays of the fewest racks that allow it.
TEST(Machine, JobsTakeEqualTraysOfRacks) {
  struct Row {
    int gpus, perRack, racks;
  };
  for (Row row : {Row{8, 8, 1},
                  {64, 64, 1},
                  {72, 72, 1},
                  {144, 72, 2},
                  {128, 64, 2},
                  {256, 64, 4},
                  {512, 64, 8},
                  {100, 20, 5},
                  {576, 72, 8}}) {
    MachineOrError m = loadMachine("gb200-nvl72", row.gpus);
    ASSERT_TRUE(std::holds_alternative<Machine>(m)) << std::get<std::string>(m);
    EXPECT_EQ(std::get<Machine>(m).devicesPerNode, row.perRack) << row.gpus;
    EXPECT_EQ(std::get<Machine>(m).nodes, row.racks) << row.gpus;
  }
  MachineOrError odd = loadMachine("gb200-nvl72", 74); // no whole trays
  ASSERT_TRUE(std::holds_alternative<std::string>(odd));
  EXPECT_NE(std::get<std::string>(odd).find("equal trays of 4"), std::string::npos);
  EXPECT_TRUE(std::holds_alternative<std::string>(loadMachine("h100", 12)));
}

/// 16 devices at 2 and 16 at 0.5 an hour; a group without a price leaves the sum unknown.
TEST(Machine, PricesAddUpOverGroups) {
  Machine m = std::get<Machine>(loadMachine("a100-80gb", 16));
  EXPECT_EQ(m.pricePerHourOf(16), 0);
  m.pricePerHour = 2;
  NodeGroup more = std::get<Machine>(loadMachine("v100", 16)).groups().front();
  m.moreNodes = {more};
  EXPECT_EQ(m.pricePerHourOf(16), 32);
  EXPECT_EQ(m.pricePerHourOf(32), 0);
  m.moreNodes.front().pricePerHour = 0.5;
  EXPECT_EQ(m.pricePerHourOf(32), 40);
  EXPECT_EQ(m.pricePerHourOf(24), 36);
}

TEST(Machine, TypesWithoutAUnitUseTheNextWiderOne) {
  EXPECT_DOUBLE_EQ(builtin("v100-8").device.matrixPeak(DType::BF16), 15.7e12);
  EXPECT_DOUBLE_EQ(builtin("a100-80gb-8").device.matrixPeak(DType::F8E4M3), 312e12);
}

TEST(Machine, DumpParsesToTheSameMachine) {
  for (const auto &[name, text] : builtinMachines()) {
    Machine machine = builtin(name);
    MachineOrError again = parseMachine(machine.dump(), "dump");
    ASSERT_TRUE(std::holds_alternative<Machine>(again)) << std::get<std::string>(again);
    EXPECT_EQ(std::get<Machine>(again).dump(), machine.dump());
    EXPECT_FALSE(machine.sources.empty());
  }
}

TEST(Machine, ErrorsNameLinePathFoundAllowedRemedy) {
  EXPECT_EQ(errorAfter("memory: 81559 MiB", "memory: 80"),
            "machine.yaml:5: device.memory: found '80', allowed a size with a unit (B, KB, MB, GB, "
            "TB, KiB, MiB, GiB, TiB) of at least 0; write e.g. 80 GB");
  std::string unknown = errorAfter("multiprocessors", "multiprocesors");
  EXPECT_NE(unknown.find("machine.yaml:7: device.multiprocesors: found an unknown key"),
            std::string::npos)
      << unknown;
  EXPECT_NE(errorAfter("bf16: 989 TFLOP/s", "bf17: 989 TFLOP/s").find("device.peak.bf17"),
            std::string::npos);
  EXPECT_NE(errorAfter("{devices: 8,", "{devices: 0,").find("node.devices: found '0'"),
            std::string::npos);
  EXPECT_NE(errorAfter("bandwidth: 450 GB/s", "bandwidth: fast").find("links.intra.bandwidth"),
            std::string::npos);
  EXPECT_NE(errorAfter("  kind: h100-sxm5-80gb\n", "").find("device.kind: found"),
            std::string::npos);
}

TEST(Machine, TextThatIsNotYamlAndUnknownNames) {
  MachineOrError broken = parseMachine("name: [", "m.yaml");
  ASSERT_TRUE(std::holds_alternative<std::string>(broken));
  EXPECT_NE(std::get<std::string>(broken).find("m.yaml:"), std::string::npos);
  MachineOrError missing = loadMachine("z9000");
  EXPECT_NE(std::get<std::string>(missing).find("h100-8"), std::string::npos);
}

} // namespace
