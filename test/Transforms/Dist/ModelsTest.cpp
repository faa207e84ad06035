//===- ModelsTest.cpp - small models, differentiated and partitioned ------===//
//
// Forward graphs as exporters write them; loss, backward and optimizer are made
// by the passes of the product, then every layout of the list is compared with
// the unpartitioned step.
//
//===----------------------------------------------------------------------===//
#include "Prove.h"

#include "gtest/gtest.h"

static Proof proveModel(const std::string &file, const std::string &pins, int64_t stages,
                        int64_t microBatches, const std::string &schedule = "1f1b",
                        const std::string &optimizer = "optimizer=adamw clip-norm=1.0") {
  std::string m = "micro-batches=" + std::to_string(microBatches);
  ProofOptions options;
  options.before = (stages > 1 ? "gpucc-assign-stages{pp=" + std::to_string(stages) + "}," : "") +
                   "gpucc-differentiate{loss=cross-entropy},gpucc-add-optimizer{" + optimizer +
                   "},func.func(cse)";
  options.pipeline = "gpucc-propagate{" + pins + " pp=" + std::to_string(stages) + " " + m +
                     "},gpucc-cut-stages{" + m + " schedule=" + schedule +
                     "},gpucc-partition{keep-shardings=true}";
  options.microBatches = microBatches;
  options.steps = 1;
  return prove(readInput(file), options);
}

static void expectProof(const std::string &file, const std::string &pins, int64_t stages = 1,
                        int64_t microBatches = 1, const std::string &schedule = "1f1b") {
  Proof p = proveModel(file, pins, stages, microBatches, schedule);
  EXPECT_TRUE(p.equal()) << file << " " << pins << " stages " << stages << " micro-batches "
                         << microBatches << "\n"
                         << p.dump().substr(0, 6000);
}

TEST(Decoder, DataParallel) {
  expectProof("decoder.mlir", "dp=2");
  expectProof("decoder.mlir", "dp=4 zero=1", 1, 2);
}

TEST(Decoder, TensorParallel) {
  expectProof("decoder.mlir", "tp=2");
  expectProof("decoder.mlir", "tp=4");
  expectProof("decoder.mlir", "dp=2 tp=2 zero=1");
}

TEST(Decoder, SequenceParallel) {
  expectProof("decoder.mlir", "tp=2 sp=on");
  expectProof("decoder.mlir", "dp=2 tp=2 sp=on");
}

// The embedding is the last matrix too: its gradient has shares from two stages.
TEST(Decoder, PipelineWithTiedEmbedding) {
  expectProof("decoder.mlir", "dp=1", 2, 2, "gpipe");
  expectProof("decoder.mlir", "dp=1", 2, 4, "1f1b");
  expectProof("decoder.mlir", "dp=2 tp=2", 2, 2);
}

// Query, key and value as one weight: split first, or every rank would gather all heads.
TEST(Decoder, FusedProjectionIsSplit) {
  ProofOptions options;
  std::string train =
      "gpucc-differentiate{loss=cross-entropy},gpucc-add-optimizer{optimizer=adamw}";
  options.steps = 1;
  options.pipeline = "gpucc-propagate{tp=2},gpucc-partition{keep-shardings=true}";
  options.before = train;
  Proof whole = prove(readInput("fused.mlir"), options);
  EXPECT_TRUE(whole.equal()) << whole.dump().substr(0, 4000);
  options.before = "gpucc-split-fused-projections," + train;
  Proof split = prove(readInput("fused.mlir"), options);
  EXPECT_TRUE(split.equal()) << split.dump().substr(0, 4000);
  EXPECT_NE(split.ir.find("l0.qkv.weight@16"), std::string::npos);
  // The whole weight is an argument no more; its name stays as the place of the pieces.
  EXPECT_EQ(split.ir.find("base.name = \"l0.qkv.weight\""), std::string::npos);
  EXPECT_NE(split.ir.find("base.source_name = \"l0.qkv.weight.moment1\""), std::string::npos);
  EXPECT_LT(split.collectives, whole.collectives);
}

// What follows partitioning keeps the meaning: buckets, overlap, outermost blocks.
TEST(Decoder, CollectivesPreparedForCommunicators) {
  ProofOptions options;
  options.steps = 1;
  options.microBatches = 2;
  options.before = "gpucc-assign-stages{pp=2},gpucc-differentiate{loss=cross-entropy},"
                   "gpucc-add-optimizer{optimizer=adamw clip-norm=1.0}";
  for (const char *pins :
       {"dp=2 zero=1 reduce-gradients=step", "tp=2 sp=on", "dp=2 tp=2 reduce-gradients=step"}) {
    options.pipeline =
        std::string("gpucc-propagate{pp=2 micro-batches=2 ") + pins +
        "},gpucc-cut-stages{micro-batches=2},gpucc-partition{keep-shardings=true},"
        "gpucc-bucket-collectives{bucket-bytes=3000},gpucc-overlap-collectives,"
        "gpucc-prepare-collectives,gpucc-lower-stage-reductions,gpucc-verify-collectives";
    Proof p = prove(readInput("decoder.mlir"), options);
    EXPECT_TRUE(p.equal()) << pins << "\n" << p.dump().substr(0, 6000);
  }
}

// Cutting local programs gives the same as cutting the global one.
TEST(Decoder, CutAfterPartition) {
  ProofOptions options;
  options.steps = 1;
  options.microBatches = 2;
  options.before = "gpucc-assign-stages{pp=2},gpucc-differentiate{loss=cross-entropy},"
                   "gpucc-add-optimizer{optimizer=adamw clip-norm=1.0}";
  for (const char *pins : {"dp=1", "dp=2 tp=2 zero=1", "tp=2 sp=on"}) {
    options.pipeline = std::string("gpucc-propagate{pp=2 micro-batches=2 ") + pins +
                       "},gpucc-partition{keep-shardings=true},gpucc-cut-stages{micro-batches=2},"
                       "gpucc-verify-collectives";
    Proof p = prove(readInput("decoder.mlir"), options);
    EXPECT_TRUE(p.equal()) << pins << "\n" << p.dump().substr(0, 6000);
  }
}

TEST(Llama, EveryLayout) {
  expectProof("llama.mlir", "dp=2");
  expectProof("llama.mlir", "tp=2");
  expectProof("llama.mlir", "tp=4"); // two key heads: four ranks do not divide them
  expectProof("llama.mlir", "tp=2 sp=on");
  expectProof("llama.mlir", "dp=1", 2, 2);
  expectProof("llama.mlir", "dp=2 tp=2 zero=1", 2, 2);
}

TEST(Convolution, EveryLayout) {
  expectProof("conv.mlir", "dp=2");
  expectProof("conv.mlir", "dp=4 zero=1", 1, 2);
  expectProof("conv.mlir", "tp=2");
  expectProof("conv.mlir", "dp=1", 2, 2);
}

TEST(Dropout, SameMaskOnAnyLayout) {
  expectProof("dropout.mlir", "dp=2", 1, 2);
  expectProof("dropout.mlir", "dp=2 tp=2 sp=on");
  expectProof("dropout.mlir", "dp=1", 2, 2);
  // On four ranks.
  expectProof("dropout.mlir", "dp=4");
  expectProof("dropout.mlir", "dp=4 zero=1", 1, 2);
  expectProof("dropout.mlir", "tp=4");
  expectProof("dropout.mlir", "dp=2 tp=2");
  expectProof("dropout.mlir", "dp=2", 2, 2);
  expectProof("dropout.mlir", "tp=2", 2, 2, "gpipe");
}
