//===- MemoryPassesTest.cpp - less memory, the same bits ------------------===//
//
// A small residual network with dropout is differentiated; then the step is
// evaluated before and after recomputation and ordering. Every result must have
// the same bits, and the values that live from forward to backward (counted
// here by a plain walk, not by the pass) must fit the budget.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Transforms/Memory/Passes.h"
#include "gpucc/Transforms/Training/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <gtest/gtest.h>

#include <cstring>
#include <random>

using namespace mlir;
using namespace gpucc;

namespace {

constexpr int layers = 5;

/// x of 16x32; per layer: h += dropout(gelu(norm(h) W)).
std::string network() {
  std::string arguments = "%x: tensor<16x32xf32> {base.name = \"x\", base.kind = \"input\"}, "
                          "%step: tensor<i64> {base.name = \"step\", base.kind = \"state\", "
                          "base.state = #base.state<counter>}";
  std::string body = "%zero = graph.constant dense<0> : tensor<i64>\n";
  std::string h = "%x";
  const std::string t = "tensor<16x32xf32>";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i);
    arguments += ", %w" + n + ": tensor<32x32xf32> {base.name = \"w" + n +
                 "\", base.kind = \"state\", base.state = #base.state<param>}";
    body += "%n" + n + " = graph.softmax " + h + " {dim = 1 : i64} : (" + t + ") -> " + t + "\n";
    body += "%c" + n + " = graph.contract %n" + n + ", %w" + n +
            " {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, "
            "rhs_contract = array<i64: 0>} : (" +
            t + ", tensor<32x32xf32>) -> " + t + "\n";
    body += "%g" + n + " = graph.gelu tanh %c" + n + " : (" + t + ") -> " + t + "\n";
    body += "%d" + n + " = graph.dropout %g" + n +
            ", %step, %zero, %zero {ratio = 0.25 : f64, seed = 3 : i64, ordinal = " + n +
            " : i64, global_shape = array<i64: 16, 32>} : (" + t +
            ", tensor<i64>, tensor<i64>, tensor<i64>) -> " + t + "\n";
    body += "%h" + n + " = graph.binary add " + h + ", %d" + n + " : (" + t + ", " + t + ") -> " +
            t + "\n";
    h = "%h" + n;
  }
  return "module {\nfunc.func @main(" + arguments + ") -> (" + t +
         " {base.name = \"y\", base.kind = \"output\"}) {\n" + body + "return " + h + " : " + t +
         "\n}\n}";
}

HostTensor randomTensor(std::mt19937 &random, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  HostTensor t(*toDType(tensor.getElementType()), toShape(tensor));
  for (int64_t i = 0; i < t.numElements(); ++i) {
    if (isFloat(t.dtype()))
      t.setFloat(i, std::normal_distribution<double>(0, 0.5)(random));
    else
      t.setInt(i, static_cast<int64_t>(random() % 7));
  }
  return t;
}

/// Bytes made by forward ops and read by backward ops, by definition: no pass code is used.
int64_t activationBytes(func::FuncOp f) {
  auto rootOf = [](Value v) {
    while (auto reshape = v.getDefiningOp<graph::ReshapeOp>())
      v = reshape.getX();
    return v;
  };
  llvm::DenseSet<Value> alive, returned; // what is returned lies in an output
  for (Value v : f.getBody().front().getTerminator()->getOperands())
    returned.insert(rootOf(v));
  f.walk([&](Operation *op) {
    if (!op->hasAttr(base::backwardAttr))
      return;
    for (Value v : op->getOperands()) {
      Operation *producer = rootOf(v).getDefiningOp();
      if (producer && !producer->hasAttr(base::backwardAttr) && !isa<graph::ConstantOp>(producer) &&
          !returned.contains(rootOf(v)))
        alive.insert(rootOf(v));
    }
  });
  int64_t bytes = 0;
  for (Value v : alive) {
    auto type = cast<RankedTensorType>(v.getType());
    bytes += (byteSize(*toDType(type.getElementType()), type.getNumElements()) + 255) / 256 * 256;
  }
  return bytes;
}

class MemoryPasses : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registry.insert<base::BaseDialect, graph::GraphDialect, func::FuncDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(network(), &context);
    ASSERT_TRUE(module);
    DifferentiateOptions differentiate;
    differentiate.loss = "mse";
    ASSERT_TRUE(run(createDifferentiate(differentiate)));
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(createCSEPass());
    ASSERT_TRUE(succeeded(pm.run(*module)));
    std::mt19937 random(5);
    for (Type type : step().getArgumentTypes())
      arguments.push_back(randomTensor(random, type));
    expected = evaluate();
  }

  func::FuncOp step() { return module->lookupSymbol<func::FuncOp>("step"); }

  bool run(std::unique_ptr<Pass> pass) {
    PassManager pm(&context);
    pm.addPass(std::move(pass));
    return succeeded(pm.run(*module));
  }
  bool recompute(const std::string &memory, const std::string &activations) {
    InsertRecomputeOptions options;
    options.memoryBudget = memory;
    options.activationBudget = activations;
    return run(createInsertRecompute(options));
  }
  bool order() {
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(createOrder());
    return succeeded(pm.run(*module));
  }

  std::vector<HostTensor> evaluate() {
    auto results = evaluateFunction(step(), arguments, MapWeights());
    EXPECT_TRUE(succeeded(results));
    return {results->begin(), results->end()};
  }
  void expectSameBits() {
    std::vector<HostTensor> found = evaluate();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].byteSize(), expected[i].byteSize());
      EXPECT_EQ(std::memcmp(found[i].bytes(), expected[i].bytes(),
                            static_cast<size_t>(found[i].byteSize())),
                0)
          << "result " << i;
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<HostTensor> arguments, expected;
};

TEST_F(MemoryPasses, HalfOfTheActivationsAndTheSameBits) {
  int64_t before = activationBytes(step());
  ASSERT_GT(before, 0);
  ASSERT_TRUE(recompute("", "0.5"));
  EXPECT_LE(activationBytes(step()), before / 2);
  int64_t repeated = 0;
  step().walk([&](Operation *op) { repeated += op->hasAttr(base::recomputeAttr); });
  EXPECT_GT(repeated, 0);
  expectSameBits();
  ASSERT_TRUE(order());
  expectSameBits();
  EXPECT_TRUE(module->getOperation()->hasAttr(base::recomputeReportAttr));
}

TEST_F(MemoryPasses, TheLeastIsTheLeast) {
  ASSERT_TRUE(recompute("", "1")); // one byte
  EXPECT_EQ(activationBytes(step()), 0);
  expectSameBits();
}

TEST_F(MemoryPasses, OrderKeepsTheBits) {
  ASSERT_TRUE(order());
  expectSameBits();
}

TEST_F(MemoryPasses, AllIsFreeWithinThePeak) {
  ASSERT_TRUE(recompute("1.0", ""));
  step().walk([&](Operation *op) { EXPECT_FALSE(op->hasAttr(base::recomputeAttr)); });
  expectSameBits();
}

TEST_F(MemoryPasses, TooSmallABudgetNamesTheLeast) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    message += d.str();
    return success();
  });
  EXPECT_FALSE(recompute("4096", ""));
  EXPECT_NE(message.find("the least that recomputation reaches is"), std::string::npos) << message;
}

} // namespace
