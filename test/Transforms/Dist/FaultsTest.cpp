//===- FaultsTest.cpp - seeded partition faults are caught and located ----===//
//
// Each test spoils a correct partitioned program in one way that real
// partitioners get wrong, and demands that the comparison sees it and that the
// first wrong value it names is where the fault is.
//
//===----------------------------------------------------------------------===//
#include "Prove.h"

#include "dialects/Base/Base.h"
#include "dialects/Graph/Build.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace gpucc;

static Proof spoiled(const std::string &pins, std::function<void(ModuleOp)> spoil,
                     const std::string &file = "mlp.mlir", const std::string &before = "") {
  ProofOptions options;
  options.pipeline = "gpucc-propagate{" + pins + "},gpucc-partition{keep-shardings=true}";
  options.before = before;
  options.steps = 2;
  options.spoil = std::move(spoil);
  return prove(readInput(file), options);
}

template <typename OpTy> static OpTy firstIn(ModuleOp module, StringRef function) {
  OpTy found;
  module.lookupSymbol<func::FuncOp>(function).walk([&](OpTy op) {
    if (!found)
      found = op;
  });
  return found;
}

/// The mismatch of that kind and tensor.
static const SpmdMismatch *mismatchOf(const Proof &proof, StringRef kind, StringRef name) {
  for (const SpmdReport &report : proof.steps)
    for (const SpmdMismatch &m : report.mismatches)
      if (m.kind == kind && m.name == name)
        return &m;
  return nullptr;
}

/// A fault is located when the report says which tensor, made by which op, on which rank.
static void expectLocated(const Proof &proof, StringRef kind, StringRef tensor, StringRef op,
                          int64_t rank) {
  const SpmdMismatch *m = mismatchOf(proof, kind, tensor);
  ASSERT_NE(m, nullptr) << proof.steps[0].dump();
  EXPECT_NE(m->op.find(op), std::string::npos) << m->op;
  EXPECT_EQ(m->rank, rank) << proof.steps[0].dump();
  EXPECT_NE(proof.steps[0].dump().find((kind + " " + tensor + ", rank " + Twine(rank)).str()),
            std::string::npos)
      << proof.steps[0].dump();
}

static const SpmdMismatch *firstMismatch(const Proof &proof) {
  for (const SpmdReport &report : proof.steps)
    if (!report.mismatches.empty())
      return &report.mismatches.front();
  return nullptr;
}

TEST(Faults, TheProgramIsRightWithoutAFault) {
  for (const char *pins : {"dp=2", "tp=2", "dp=2 zero=1"}) {
    Proof p = spoiled(pins, [](ModuleOp) {});
    EXPECT_TRUE(p.equal()) << p.dump();
  }
}

TEST(Faults, MissingReduction) {
  Proof p = spoiled("tp=2", [](ModuleOp module) { // y = h·W2 stays a partial sum
    auto reduce = firstIn<dist::AllReduceOp>(module, "step");
    reduce.getResult().replaceAllUsesWith(reduce.getX());
    reduce.erase();
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->kind, "op");
  EXPECT_NE(m->name.find("graph.binary"), std::string::npos) << m->name; // y0 + b2
  EXPECT_EQ(m->rank, 0);
  EXPECT_EQ(m->microBatch, 0);
  expectLocated(p, "gradient", "w1.accumulator", "graph.binary", 0);
}

TEST(Faults, MissingReductionOfGradients) {
  Proof p = spoiled("dp=2", [](ModuleOp module) {
    auto reduce = firstIn<dist::AllReduceOp>(module, "step");
    reduce.getResult().replaceAllUsesWith(reduce.getX());
    reduce.erase();
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  expectLocated(p, "gradient", "w1.accumulator", "graph.binary", 0);
}

TEST(Faults, DoubleReduction) {
  Proof p = spoiled("dp=2", [](ModuleOp module) {
    auto reduce = firstIn<dist::AllReduceOp>(module, "step");
    OpBuilder builder(reduce->getContext());
    builder.setInsertionPointAfter(reduce);
    auto again = cast<dist::AllReduceOp>(builder.clone(*reduce));
    reduce.getResult().replaceAllUsesWith(again.getResult());
    again.getXMutable().assign(reduce.getResult());
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->kind, "op");
  expectLocated(p, "gradient", "w1.accumulator", "graph.binary", 0);
}

TEST(Faults, WrongOffset) {
  Proof p = spoiled("dp=2 zero=1", [](ModuleOp module) { // every rank updates the first block
    firstIn<dist::AxisIndexOp>(module, "update").setScale(0);
    module.lookupSymbol<func::FuncOp>("update").walk([](dist::AxisIndexOp op) { op.setScale(0); });
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->kind, "op");
  EXPECT_EQ(m->rank, 1) << m->name; // rank 0 has the first block rightly
  EXPECT_FALSE(m->op.empty());
  EXPECT_NE(mismatchOf(p, "state", "w1"), nullptr) << p.steps[0].dump();
}

TEST(Faults, WrongGradientScale) {
  Proof p = spoiled("dp=2", [](ModuleOp module) { // a mean where a sum is meant
    auto reduce = firstIn<dist::AllReduceOp>(module, "step");
    OpBuilder builder(reduce->getContext());
    builder.setInsertionPointAfter(reduce);
    graph::GraphBuilder g(builder, reduce.getLoc());
    Value half = g.like(reduce.getResult(), 0.5);
    auto scaled = graph::BinaryOp::create(builder, reduce.getLoc(), graph::BinaryKind::Mul,
                                          reduce.getResult(), half);
    reduce.getResult().replaceAllUsesExcept(scaled.getResult(), scaled);
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->kind, "op");
  expectLocated(p, "gradient", "w1.accumulator", "graph.binary", 0);
}

TEST(Faults, StaleWeight) {
  Proof p = spoiled("dp=2 zero=1", [](ModuleOp module) { // the gathered parameter is not returned
    auto update = module.lookupSymbol<func::FuncOp>("update");
    update.getBody().front().getTerminator()->setOperand(0, update.getArgument(0));
  });
  ASSERT_TRUE(p.ran) << p.dump();
  const SpmdMismatch *m = firstMismatch(p);
  ASSERT_NE(m, nullptr);
  EXPECT_EQ(m->kind, "state");
  EXPECT_EQ(m->name, "w1");
  expectLocated(p, "state", "w1", "graph.binary", 0);
}

TEST(Faults, CopiesThatDrift) { // one rank's parameter is not the other's
  Proof p = spoiled("dp=2", [](ModuleOp module) {
    auto update = module.lookupSymbol<func::FuncOp>("update");
    Operation *ret = update.getBody().front().getTerminator();
    OpBuilder builder(ret);
    graph::GraphBuilder g(builder, ret->getLoc());
    auto index = dist::AxisIndexOp::create(builder, ret->getLoc(),
                                           RankedTensorType::get({}, builder.getI64Type()), "mesh",
                                           builder.getStrArrayAttr({"dp"}), uint64_t(1));
    Value shift = g.broadcastScalar(g.convert(index, builder.getF32Type()), {16, 32});
    ret->setOperand(0, g.add(ret->getOperand(0), shift));
  });
  ASSERT_TRUE(p.ran) << p.dump();
  EXPECT_NE(p.diagnostics.find("'w1': copies on ranks 0 and 1 differ"), std::string::npos)
      << p.diagnostics;
}
