//===- GradientsTest.cpp - every derivative against central differences ---===//
//
// For each instance with inputs x and random weights w of the results:
//
//   L(x) = Σ w · f(x),   dL/dx_i = (L(x + h e_i) - L(x - h e_i)) / 2h   in f64
//
// is what the op's VJP must give for result gradients w. The graph that
// buildVjp makes is evaluated, not inspected.
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "dialects/Graph/Decomposition.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
bool isFloatType(Type t) { return isa<FloatType>(cast<RankedTensorType>(t).getElementType()); }

/// Instances whose weights or op have no float input at all, or whose VJP must refuse.
bool hasGradient(func::FuncOp f) {
  return llvm::any_of(f.getArgumentTypes(), isFloatType) &&
         llvm::any_of(f.getResultTypes(), isFloatType);
}

/// Turns `f` into (inputs, weights of float results) -> gradients of float inputs; a null gradient
/// becomes zeros.
LogicalResult differentiate(func::FuncOp f) {
  Block &body = f.getBody().front();
  Operation *terminator = body.getTerminator();
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  SmallVector<Value> inputs(body.getArguments());
  DenseMap<Value, Value> grads;
  for (Value result : terminator->getOperands())
    if (isFloatType(result.getType()))
      grads[result] = body.addArgument(result.getType(), f.getLoc());
  SmallVector<Value> wanted;
  for (Value v : inputs)
    if (isFloatType(v.getType()))
      wanted.push_back(v);
  OpBuilder builder(terminator);
  if (failed(graph::reverseSweep(builder, ops, wanted, grads)))
    return failure();
  SmallVector<Value> results;
  graph::GraphBuilder g(builder, f.getLoc());
  for (Value v : wanted)
    results.push_back(grads.lookup(v) ? grads.lookup(v) : g.like(v, 0));
  terminator->setOperands(results);
  f.setType(
      FunctionType::get(f.getContext(), body.getArgumentTypes(), ValueRange(results).getTypes()));
  f.removeArgAttrsAttr();
  return verify(f);
}

class Gradients : public ::testing::Test {
protected:
  void SetUp() override {
    loadDialects(context);
    module = parseInstances(context);
    ASSERT_TRUE(module);
  }

  double loss(func::FuncOp f, ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> weights) {
    auto results = evaluateFunction(f, inputs, noWeights);
    double sum = 0;
    size_t next = 0;
    for (const HostTensor &r : *results)
      if (isFloat(r.dtype())) {
        const HostTensor &w = weights[next++];
        for (int64_t i = 0; i < r.numElements(); ++i)
          sum += r.getFloat(i) * w.getFloat(i);
      }
    return sum;
  }

  void check(func::FuncOp f) {
    SCOPED_TRACE(f.getName().str());
    std::mt19937_64 random(42);
    SmallVector<HostTensor> inputs = drawInputs(f, random), weights;
    for (Type t : f.getResultTypes())
      if (isFloatType(t)) {
        HostTensor w(DType::F64, toShape(t));
        for (int64_t i = 0; i < w.numElements(); ++i)
          w.setFloat(i, uniform(random) * 2 - 1);
        weights.push_back(w);
      }
    OpBuilder builder(f);
    auto vjp = cast<func::FuncOp>(builder.clone(*f));
    vjp.setName((f.getName() + "_vjp").str());
    ASSERT_TRUE(succeeded(differentiate(vjp)));
    SmallVector<HostTensor> all(inputs);
    all.append(weights.begin(), weights.end());
    auto grads = evaluateFunction(vjp, all, noWeights);
    ASSERT_TRUE(succeeded(grads));
    size_t next = 0;
    for (auto [a, input] : llvm::enumerate(inputs)) {
      if (!isFloat(input.dtype()))
        continue;
      const HostTensor &grad = (*grads)[next++];
      inputs[a] = input.clone();
      for (int64_t i = 0; i < input.numElements(); ++i) {
        double x = input.getFloat(i), h = 1e-5 * std::max(1.0, std::fabs(x));
        inputs[a].setFloat(i, x + h);
        double above = loss(f, inputs, weights);
        inputs[a].setFloat(i, x - h);
        double below = loss(f, inputs, weights);
        inputs[a].setFloat(i, x);
        double numeric = (above - below) / (2 * h);
        ASSERT_NEAR(grad.getFloat(i), numeric, 2e-8 * std::max(1.0, std::fabs(numeric)))
            << "input " << a << ", element " << i;
      }
    }
    ++checked;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  MapWeights noWeights;
  int checked = 0;
};
} // namespace

TEST_F(Gradients, EveryInstance) {
  for (auto f : llvm::to_vector(module->getOps<func::FuncOp>())) {
    if (!hasGradient(f) || f.getName() == "pool_grad_max")
      continue;
    check(f);
  }
  EXPECT_GT(checked, 90);
}

// The one derivative that is refused says why.
TEST_F(Gradients, SecondDerivativeOfMaxPoolIsRefused) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    message += d.str();
    return success();
  });
  auto f = module->lookupSymbol<func::FuncOp>("pool_grad_max");
  EXPECT_TRUE(failed(differentiate(f)));
  EXPECT_NE(message.find("cannot be differentiated again"), std::string::npos) << message;
}

// Where functions have no derivative: PyTorch's choices (its documentation of amax, maximum, relu).
TEST_F(Gradients, TiesAndKinks) {
  auto gradient = [&](StringRef name, ArrayRef<double> a, ArrayRef<double> b, size_t which) {
    auto f = cast<func::FuncOp>(module->lookupSymbol(name)->clone());
    module->push_back(f);
    f.setName((name + "_kink").str());
    EXPECT_TRUE(succeeded(differentiate(f)));
    SmallVector<HostTensor> in;
    size_t given = 0;
    for (Type t : f.getArgumentTypes()) {
      HostTensor x(DType::F64, toShape(t));
      ArrayRef<double> from = given == 0 ? a : b;
      bool isWeight = given == (b.empty() ? 1u : 2u);
      for (int64_t i = 0; i < x.numElements(); ++i)
        x.setFloat(i, isWeight ? 1.0 : from[i % from.size()]);
      ++given;
      in.push_back(x);
    }
    auto grads = evaluateFunction(f, in, noWeights);
    f.erase();
    return (*grads)[which];
  };
  EXPECT_EQ(gradient("unary_relu", {0.0}, {}, 0).getFloat(0), 0.0);
  EXPECT_EQ(gradient("unary_abs", {0.0}, {}, 0).getFloat(0), 0.0);
  EXPECT_EQ(gradient("binary_max", {1.0}, {1.0}, 0).getFloat(0), 0.5);
  EXPECT_EQ(gradient("binary_max", {1.0}, {1.0}, 1).getFloat(0), 0.5);
  // 2x4x3 over dimensions 0 and 2: six equal elements share.
  EXPECT_DOUBLE_EQ(gradient("reduce_max", {3.0}, {}, 0).getFloat(0), 1.0 / 6);
  // A product with one zero: only the zero has a gradient, the product of the others.
  HostTensor prod =
      gradient("reduce_prod",
               {0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, {}, 0);
  EXPECT_EQ(prod.getFloat(0), 32.0);
  EXPECT_EQ(prod.getFloat(1), 0.0);
  // pow: 0^0 = 1 is flat in the base, and in the exponent for exponents ≥ 0.
  EXPECT_EQ(gradient("binary_pow", {0.0}, {0.0}, 0).getFloat(0), 0.0);
  EXPECT_EQ(gradient("binary_pow", {0.0}, {2.0}, 1).getFloat(0), 0.0);
}
