//===- RandomProgramTest.cpp - the generator and what it is good for ------===//
#include "gpucc/Reference/RandomProgram.h"
#include "OpInstances.h"
#include "dialects/Graph/Decomposition.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

static func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

static std::string print(Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return text;
}

TEST(RandomProgram, IsWellTypedAndTame) {
  MLIRContext context;
  llvm::StringSet<> used;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgramOptions options;
    options.ops = 16;
    auto module = buildRandomProgram(&context, seed, options);
    ASSERT_TRUE(succeeded(verify(*module)));
    func::FuncOp f = mainOf(*module);
    f.walk([&](Operation *op) { used.insert(op->getName().getStringRef()); });
    auto results = evaluateFunction(f, randomArguments(f, seed), MapWeights());
    ASSERT_TRUE(succeeded(results));
    ASSERT_FALSE(results->empty());
    for (const HostTensor &t : *results)
      for (int64_t i = 0; isFloat(t.dtype()) && i < t.numElements(); ++i)
        ASSERT_LT(std::fabs(t.getFloat(i)), 1e4);
  }
  for (const char *op :
       {"unary",     "binary",      "compare",      "select",     "convert", "constant",  "iota",
        "contract",  "convolution", "reduce",       "arg_reduce", "scan",    "pool",      "reshape",
        "transpose", "broadcast",   "slice",        "pad",        "concat",  "gather",    "scatter",
        "softmax",   "layer_norm",  "rms_norm",     "gelu",       "silu",    "attention", "rope",
        "dropout",   "batch_norm",  "cross_entropy"})
    EXPECT_TRUE(used.contains(std::string("graph.") + op)) << op << " never occurs";
}

TEST(RandomProgram, SameSeedSameProgram) {
  MLIRContext a, b;
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(print(*buildRandomProgram(&a, seed)), print(*buildRandomProgram(&b, seed)));
}

// Fewer steps give a prefix: what makes shrinking work.
TEST(RandomProgram, ShrinksByPrefix) {
  MLIRContext context;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomProgramOptions few, many;
    few.ops = 5;
    many.ops = 10;
    auto a = buildRandomProgram(&context, seed, few), b = buildRandomProgram(&context, seed, many);
    Block &x = mainOf(*a).getBody().front(), &y = mainOf(*b).getBody().front();
    ASSERT_LE(x.getNumArguments(), y.getNumArguments());
    auto other = y.begin();
    for (Operation &op : x.without_terminator()) {
      EXPECT_EQ(op.getName(), other->getName()) << "seed " << seed;
      EXPECT_EQ(op.getAttrDictionary(), other->getAttrDictionary()) << "seed " << seed;
      ++other;
    }
  }
}

// The whole chain of derivatives against a directional central difference in f64.
TEST(RandomProgram, GradientsOfWholePrograms) {
  MLIRContext context;
  int checked = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomProgramOptions options;
    options.type = DType::F64;
    options.smooth = options.loss = true;
    auto module = buildRandomProgram(&context, seed, options);
    func::FuncOp f = mainOf(*module);
    SmallVector<HostTensor> x = randomArguments(f, seed);
    // Gradients of the last result, the loss.
    auto backward = cast<func::FuncOp>(f->clone());
    module->push_back(backward);
    backward.setName("backward");
    Block &body = backward.getBody().front();
    SmallVector<Operation *> ops;
    for (Operation &op : body.without_terminator())
      ops.push_back(&op);
    OpBuilder builder(body.getTerminator());
    graph::GraphBuilder g(builder, f.getLoc());
    Value loss = body.getTerminator()->getOperands().back();
    if (!loss.getType().isSignlessInteger() && graph::tensorOf(loss).getRank() != 0)
      continue; // no float result
    DenseMap<Value, Value> grads;
    grads[loss] = g.like(loss, 1);
    SmallVector<Value> wanted, results;
    for (Value v : body.getArguments())
      if (isa<FloatType>(graph::tensorOf(v).getElementType()))
        wanted.push_back(v);
    ASSERT_TRUE(succeeded(graph::reverseSweep(builder, ops, wanted, grads)));
    for (Value v : wanted)
      results.push_back(grads.lookup(v) ? grads.lookup(v) : g.like(v, 0));
    body.getTerminator()->setOperands(results);
    backward.removeResAttrsAttr();
    backward.setType(
        builder.getFunctionType(body.getArgumentTypes(), ValueRange(results).getTypes()));
    ASSERT_TRUE(succeeded(verify(backward)));
    auto gradient = evaluateFunction(backward, x, MapWeights());
    ASSERT_TRUE(succeeded(gradient));

    std::mt19937_64 random(seed);
    SmallVector<HostTensor> above, below;
    double h = 1e-5, analytic = 0;
    size_t next = 0;
    for (const HostTensor &t : x) {
      above.push_back(t.clone());
      below.push_back(t.clone());
      if (!isFloat(t.dtype()))
        continue;
      const HostTensor &grad = (*gradient)[next++];
      for (int64_t i = 0; i < t.numElements(); ++i) {
        double direction = uniform(random) * 2 - 1;
        above.back().setFloat(i, t.getFloat(i) + h * direction);
        below.back().setFloat(i, t.getFloat(i) - h * direction);
        analytic += grad.getFloat(i) * direction;
      }
    }
    double up = evaluateFunction(f, above, MapWeights())->back().getFloat(0);
    double down = evaluateFunction(f, below, MapWeights())->back().getFloat(0);
    EXPECT_NEAR(analytic, (up - down) / (2 * h), 1e-6 * std::max(1.0, std::fabs(analytic)));
    ++checked;
  }
  EXPECT_GT(checked, 1920);
  std::printf("random programs: %d of 2000 seeds differentiated\n", checked);
}
