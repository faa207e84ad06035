//===- ProofTest.cpp - partitioned programs equal unpartitioned ones ------===//
#include "Prove.h"

#include "gtest/gtest.h"

static const std::string partition = ",gpucc-partition{keep-shardings=true}";

static Proof proveMlp(const std::string &propagate, int64_t microBatches = 1) {
  return prove(readInput("mlp.mlir"),
               {"gpucc-propagate{" + propagate + "}" + partition, microBatches, 2, nullptr});
}

TEST(Proof, OneRankIsTheProgramItself) {
  Proof p = proveMlp("dp=1");
  EXPECT_TRUE(p.equal()) << p.dump();
  EXPECT_EQ(p.collectives, 0);
  ASSERT_EQ(p.steps.size(), 2u);
  EXPECT_GT(p.steps[0].compared, 80u); // every op of step and update, outputs, state
}

TEST(Proof, DataParallel) {
  for (const char *pins : {"dp=2", "dp=4", "dp=8"})
    if (Proof p = proveMlp(pins); !p.equal())
      FAIL() << pins << "\n" << p.dump();
  for (const char *pins : {"dp=2 micro-batches=3", "dp=2 micro-batches=3 reduce-gradients=step"})
    if (Proof p = proveMlp(pins, 3); !p.equal())
      FAIL() << pins << "\n" << p.dump();
}

TEST(Proof, TensorParallel) {
  for (const char *pins : {"tp=2", "tp=4", "tp=2 sp=on", "dp=2 tp=2", "dp=2 tp=2 sp=on"})
    if (Proof p = proveMlp(pins); !p.equal())
      FAIL() << pins << "\n" << p.dump();
}

TEST(Proof, OptimizerStateOverDataParallelRanks) {
  for (const char *pins : {"dp=2 zero=1", "dp=4 zero=1", "dp=2 tp=2 zero=1"})
    if (Proof p = proveMlp(pins); !p.equal())
      FAIL() << pins << "\n" << p.dump();
  if (Proof p = proveMlp("dp=2 zero=1 micro-batches=2", 2); !p.equal())
    FAIL() << p.dump();
}

TEST(Proof, BatchThatDoesNotDivideIsRefused) {
  Proof p = proveMlp("dp=3");
  EXPECT_FALSE(p.ran);
  EXPECT_NE(p.diagnostics.find("3 data parallel ranks do not divide"), std::string::npos)
      << p.diagnostics;
}

static Proof provePipeline(const std::string &pins, const std::string &schedule,
                           int64_t microBatches) {
  std::string m = "micro-batches=" + std::to_string(microBatches);
  return prove(readInput("mlp.mlir"), {"gpucc-propagate{" + pins + " " + m + "},gpucc-cut-stages{" +
                                           m + " schedule=" + schedule + "}" + partition,
                                       microBatches, 2, nullptr});
}

TEST(Proof, Pipeline) {
  for (const char *pins : {"pp=2", "pp=2 dp=2", "pp=2 tp=2", "pp=2 dp=2 tp=2 zero=1"})
    for (const char *schedule : {"gpipe", "1f1b"})
      for (int64_t microBatches : {1, 4})
        if (Proof p = provePipeline(pins, schedule, microBatches); !p.equal())
          FAIL() << pins << " " << schedule << " " << microBatches << "\n" << p.dump();
}

TEST(Proof, OneStageHasAScriptToo) {
  Proof p = provePipeline("dp=2", "1f1b", 3);
  EXPECT_TRUE(p.equal()) << p.dump();
  EXPECT_NE(p.ir.find("@stage0_step, 2, slot = 0"), std::string::npos) << p.ir.substr(0, 600);
}
