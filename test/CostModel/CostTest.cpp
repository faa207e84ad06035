// Cost: hand calculations, published measurements, and laws (monotonic, all-reduce >= halves).
#include "gpucc/CostModel/Cost.h"
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace gpucc;
using namespace gpucc::cost;

namespace {

Machine machineNamed(const std::string &name) { return std::get<Machine>(loadMachine(name)); }

OpFacts contract(int64_t m, int64_t n, int64_t k, DType type) {
  OpFacts facts;
  facts.matrixFlops = 2.0 * m * n * k;
  facts.bytesRead = static_cast<double>(byteSize(type, m * k + k * n));
  facts.bytesWritten = static_cast<double>(byteSize(type, m * n));
  facts.matrixType = type;
  facts.m = m, facts.n = n, facts.k = k, facts.batch = 1;
  return facts;
}

TEST(OpCost, LargeContractIsNearTheFittedRate) {
  Machine machine = machineNamed("h100-8");
  double seconds = opSeconds(machine, contract(8192, 8192, 8192, DType::BF16));
  double flops = 2.0 * 8192 * 8192 * 8192;
  double ideal = flops / (989e12 * Calibration::builtin().matrixEfficiency("hopper"));
  EXPECT_GT(seconds, ideal);
  EXPECT_LT(seconds, 1.15 * ideal);
  EXPECT_GT(seconds, flops / 794.5e12); // best product of PyTorch on H100 (Bekman, MAMF table)
}

/// 2 GB at half of 2,039 GB/s, and 3 us of launch.
TEST(OpCost, PointwiseIsBoundByMemory) {
  Machine machine = machineNamed("a100-80gb-8");
  Calibration calibration = Calibration::builtin();
  calibration.constants["memory-efficiency"].value = 0.5;
  OpFacts facts;
  facts.bytesRead = 1e9;
  facts.bytesWritten = 1e9;
  facts.aluFlops = 5e8;
  OpWork work;
  work.kind = OpKind::Pointwise;
  work.facts = facts;
  OpCost cost = opCost(machine.device, work, calibration);
  EXPECT_NEAR(cost.seconds, 2e9 / (2039e9 * 0.5) + 3e-6, 1e-9);
  EXPECT_STREQ(cost.boundBy, "memory");
}

TEST(OpCost, RaggedAndOddDimensionsCost) {
  Machine machine = machineNamed("a100-80gb-8");
  double even = opSeconds(machine, contract(4096, 4096, 4096, DType::F16));
  double ragged = opSeconds(machine, contract(4096, 4104, 4096, DType::F16));
  double odd = opSeconds(machine, contract(4096, 4097, 4096, DType::F16));
  EXPECT_GT(ragged, 1.2 * even);
  EXPECT_GT(odd, 2 * ragged);
}

/// A weight gradient sums over rows: an odd count of them leaves every row of memory aligned, an
/// odd width does not.
TEST(OpCost, OddCountsOfRowsDoNotMisalignAWeightGradient) {
  Machine machine = machineNamed("b200");
  auto seconds = [&](int64_t m, int64_t n, int64_t k, bool acrossRows) {
    OpWork work;
    work.facts = contract(m, n, k, DType::BF16);
    work.acrossRows = acrossRows;
    return opCost(machine.device, work).seconds;
  };
  EXPECT_LT(seconds(5120, 3072, 1229, true), 1.01 * seconds(5120, 3072, 1232, true));
  EXPECT_GT(seconds(5120, 3072, 1229, false), 2 * seconds(5120, 3072, 1232, false));
  EXPECT_GT(seconds(5121, 3072, 1232, true), 2 * seconds(5120, 3072, 1232, true));
}

TEST(OpCost, MoreWorkIsNeverFaster) {
  for (const auto &[name, text] : builtinMachines()) {
    Machine machine = machineNamed(name);
    for (int64_t m = 64; m <= 8192; m *= 2)
      EXPECT_LE(opSeconds(machine, contract(m, 1024, 1024, DType::F16)),
                opSeconds(machine, contract(2 * m, 1024, 1024, DType::F16)) * 1.0000001)
          << name << ' ' << m;
  }
}

// A score is an exponential: half of them wait, whatever the matrix unit does.
TEST(OpCost, AttentionWaitsForExponentials) {
  Machine b200 = std::get<Machine>(loadMachine("b200")),
          b300 = std::get<Machine>(loadMachine("b300"));
  OpWork work;
  work.kind = OpKind::Attention;
  work.facts.matrixType = DType::BF16;
  work.sequence = 8192;
  double scores = 64.0 * 8192 * 4096;
  work.facts.matrixFlops = 4 * 128 * scores;
  double without = opCost(b200.device, work).seconds;
  work.facts.specialFlops = scores;
  EXPECT_NEAR(opCost(b200.device, work).seconds - without, 0.5 * scores / 4.4e12, 1e-9);
  EXPECT_NEAR(opCost(b300.device, work).seconds - without, 0.5 * scores / 10.7e12, 1e-9);
}

TEST(CollectiveCost, RingByHand) {
  // V100 has no measured curve, so the ring's closed form serves.
  Machine machine = machineNamed("v100-8");
  double bandwidth = 150e9 * 0.9, bytes = 1 << 30;
  EXPECT_NEAR(collectiveSeconds(machine, Collective::AllReduce, bytes, {8, 1}),
              8.4e-6 + 14 * 3.4e-6 + 2 * 7.0 / 8 * bytes / bandwidth, 1e-9);
  EXPECT_NEAR(collectiveSeconds(machine, Collective::AllGather, bytes, {4, 2}),
              8.4e-6 + 3 * 3.4e-6 + 3.0 / 4 * bytes / bandwidth, 1e-9);
  EXPECT_EQ(collectiveSeconds(machine, Collective::AllReduce, bytes, {1, 1}), 0);
}

TEST(CollectiveCost, SmallAllReduceTakesTheTree) {
  Machine machine = machineNamed("h100-8");
  EXPECT_LT(collectiveSeconds(machine, Collective::AllReduce, 1024, {8, 1}), 8.4e-6 + 14 * 3.4e-6);
}

TEST(CollectiveCost, Laws) {
  Machine machine = machineNamed("h100-8x4");
  for (int64_t size : {2, 4, 8, 16, 32})
    for (double bytes : {1e3, 1e6, 1e9}) {
      auto at = [&](Collective kind, double b) {
        return collectiveSeconds(machine, kind, b, {size, 1});
      };
      EXPECT_GE(at(Collective::AllReduce, bytes), at(Collective::ReduceScatter, bytes) * 0.999);
      EXPECT_LE(at(Collective::AllReduce, bytes), at(Collective::AllReduce, 2 * bytes));
      EXPECT_LE(at(Collective::AllGather, bytes), at(Collective::AllGather, 2 * bytes));
    }
  // The same ranks apart: across nodes is slower than inside one.
  EXPECT_GT(collectiveSeconds(machine, Collective::AllReduce, 1e9, {4, 8}),
            collectiveSeconds(machine, Collective::AllReduce, 1e9, {4, 1}));
}

/// NCCL all-reduce times measured on one A100 node (VIA-Research/vTrain): 16 MB and larger.
TEST(CollectiveCost, MeasuredA100AllReduce) {
  const char *folder = std::getenv("GPUCC_DATA");
  if (!folder)
    GTEST_SKIP() << "vtrain tables: set GPUCC_DATA to the folder of public data sets";
  Machine machine = machineNamed("a100-80gb-8");
  for (int ranks : {2, 4, 8}) {
    std::ifstream file(std::string(folder) + "/vtrain/vtrain_ar_a100_" + std::to_string(ranks) +
                       ".csv");
    if (!file)
      GTEST_SKIP() << "vtrain tables not found under GPUCC_DATA";
    std::string line, cell;
    std::getline(file, line);
    double error = 0;
    int rows = 0;
    while (std::getline(file, line)) {
      std::vector<std::string> cells;
      std::stringstream stream(line);
      while (std::getline(stream, cell, ','))
        cells.push_back(cell);
      double bytes = std::stod(cells[0]), measured = std::stod(cells[3]) * 1e-9;
      if (bytes < 16e6)
        continue;
      double predicted = collectiveSeconds(machine, Collective::AllReduce, bytes, {ranks, 1});
      error += std::abs(predicted - measured) / measured;
      ++rows;
    }
    ASSERT_GT(rows, 100);
    RecordProperty("mape_" + std::to_string(ranks), std::to_string(100 * error / rows));
    EXPECT_LT(error / rows, 0.20) << ranks << " ranks";
  }
}

TEST(MemoryCost, ZeroStagesByHand) {
  // 1e9 parameters, bf16 copies and gradients, f32 master + two moments: 2 + 2 + 12 bytes each.
  StateInputs inputs{2e9, 2e9, 12e9, 0, 8};
  EXPECT_DOUBLE_EQ(stateMemory(inputs).total(), 16e9);
  inputs.zeroStage = 1;
  EXPECT_DOUBLE_EQ(stateMemory(inputs).total(), 4e9 + 1.5e9);
  inputs.zeroStage = 2;
  EXPECT_DOUBLE_EQ(stateMemory(inputs).total(), 2e9 + 0.25e9 + 1.5e9);
  inputs.zeroStage = 3;
  EXPECT_DOUBLE_EQ(stateMemory(inputs).total(), 16e9 / 8);
}

} // namespace
