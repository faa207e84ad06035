//===- NarrowTypesTest.cpp - the same instances in f32, f16 and bf16 ------===//
//
// "Computed in double and rounded once": on inputs that the narrow type holds
// exactly, the narrow result must be the f64 result rounded, bit for bit.
// Derivatives and decompositions must be well typed in every float type.
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "dialects/Graph/Decomposition.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
void replaceAll(std::string &text, StringRef from, StringRef to) {
  for (size_t at = 0; (at = text.find(from.str(), at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to.str());
}

class NarrowTypes : public ::testing::TestWithParam<DType> {
protected:
  void SetUp() override {
    loadDialects(context);
    wide = parseInstances(context);
    ASSERT_TRUE(wide);
    narrow = ModuleOp::create(UnknownLoc::get(&context));
    std::string type(name(GetParam()));
    for (auto f : wide->getOps<func::FuncOp>()) {
      if (isa<graph::WeightOp>(opUnderTest(f)))
        continue; // its table entry has the size in bytes
      std::string text;
      llvm::raw_string_ostream stream(text);
      f.print(stream);
      // Loss and count of a cross entropy are f32 for narrow logits.
      replaceAll(text, "tensor<f64>",
                 isa<graph::CrossEntropyOp>(opUnderTest(f)) ? "tensor<f32>"
                                                            : "tensor<" + type + ">");
      replaceAll(text, "xf64>", "x" + type + ">");
      replaceAll(text, "to f64", "to " + type);
      OwningOpRef<ModuleOp> one = parseSourceString<ModuleOp>(text, &context);
      ASSERT_TRUE(one) << text;
      auto moved = *one->getOps<func::FuncOp>().begin();
      moved->remove();
      narrow->push_back(moved);
    }
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> wide, narrow;
  MapWeights noWeights;
};
} // namespace

TEST_P(NarrowTypes, ResultsAreTheWideOnesRoundedOnce) {
  std::mt19937_64 random(11);
  for (auto f : narrow->getOps<func::FuncOp>()) {
    SCOPED_TRACE(f.getName().str());
    SmallVector<HostTensor> inputs = drawInputs(f, random), exact;
    for (const HostTensor &t : inputs) {
      HostTensor e(isFloat(t.dtype()) ? DType::F64 : t.dtype(), t.shape());
      for (int64_t i = 0; i < t.numElements(); ++i)
        isFloat(t.dtype()) ? e.setFloat(i, t.getFloat(i)) : e.setInt(i, t.getInt(i));
      exact.push_back(e);
    }
    auto a = evaluateFunction(f, inputs, noWeights);
    auto b = evaluateFunction(wide->lookupSymbol<func::FuncOp>(f.getName()), exact, noWeights);
    ASSERT_TRUE(succeeded(a) && succeeded(b));
    for (auto [x, y] : llvm::zip_equal(*a, *b)) {
      HostTensor rounded(x.dtype(), x.shape());
      for (int64_t i = 0; i < y.numElements(); ++i)
        isFloat(x.dtype()) ? rounded.setFloat(i, y.getFloat(i)) : rounded.setInt(i, y.getInt(i));
      EXPECT_TRUE(x.identical(rounded));
    }
  }
}

TEST_P(NarrowTypes, DerivativesAreWellTyped) {
  for (auto f : narrow->getOps<func::FuncOp>()) {
    SCOPED_TRACE(f.getName().str());
    Operation *op = opUnderTest(f);
    if (f.getName() == "pool_grad_max")
      continue;
    Block &body = f.getBody().front();
    OpBuilder builder(body.getTerminator());
    SmallVector<Value> resultGrads, operandGrads(op->getNumOperands());
    for (Value v : op->getResults()) {
      bool real = isa<FloatType>(graph::tensorOf(v).getElementType());
      resultGrads.push_back(real ? body.addArgument(v.getType(), f.getLoc()) : Value());
    }
    SmallVector<bool> needed;
    for (Value v : op->getOperands())
      needed.push_back(isa<FloatType>(graph::tensorOf(v).getElementType()));
    ASSERT_TRUE(succeeded(
        cast<DifferentiableOpInterface>(op).buildVjp(builder, resultGrads, needed, operandGrads)));
    for (auto [v, grad] : llvm::zip(op->getOperands(), operandGrads)) {
      if (grad)
        EXPECT_EQ(grad.getType(), v.getType());
    }
    f.removeArgAttrsAttr();
    f.setType(builder.getFunctionType(body.getArgumentTypes(), f.getResultTypes()));
    EXPECT_TRUE(succeeded(verify(f)));
  }
}

TEST_P(NarrowTypes, DecompositionsAreWellTyped) {
  int count = 0;
  for (auto f : narrow->getOps<func::FuncOp>()) {
    SCOPED_TRACE(f.getName().str());
    auto op = dyn_cast<DecomposableOpInterface>(opUnderTest(f));
    if (!op)
      continue;
    OpBuilder builder(op);
    SmallVector<Value> values = op.buildDecomposition(builder, op->getOperands());
    ASSERT_EQ(values.size(), op->getNumResults());
    for (auto [v, result] : llvm::zip(values, op->getResults()))
      EXPECT_EQ(v.getType(), result.getType());
    EXPECT_TRUE(succeeded(verify(f)));
    ++count;
  }
  EXPECT_GE(count, 20);
}

INSTANTIATE_TEST_SUITE_P(All, NarrowTypes, ::testing::Values(DType::F32, DType::F16, DType::BF16),
                         [](const auto &p) { return std::string(name(p.param)); });
