//===- InterfacesTest.cpp - every graph op answers every question ---------===//
//
// Walks over all registered ops of the dialect. An op that lacks an interface
// must stand in the table below with the reason.
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/StringSet.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
struct Reason {
  const char *op, *interface, *why;
};
const Reason reasons[] = {
    {"graph.weight_data", "*", "a symbol: it describes bytes and computes nothing"},
    {"graph.yield", "*", "a terminator: it hands over values and computes nothing"},
    {"graph.cluster", "InferType", "its types are those that its body yields"},
    {"graph.cluster", "ShardingRule", "made after partition"},
    {"graph.cluster", "Differentiable", "made after differentiation"},
};

bool excused(StringRef op, StringRef interface) {
  return llvm::any_of(reasons, [&](const Reason &r) {
    return op == r.op && (interface == r.interface || StringRef("*") == r.interface);
  });
}

class Interfaces : public ::testing::Test {
protected:
  void SetUp() override {
    loadDialects(context);
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.getDialectNamespace() == "graph")
        names.push_back(name);
    ASSERT_GE(names.size(), 39u);
  }
  template <typename Interface> void everyOpHas(StringRef label) {
    for (RegisteredOperationName name : names) {
      bool has = name.hasInterface<Interface>();
      EXPECT_TRUE(has || excused(name.getStringRef(), label))
          << name.getStringRef().str() << " lacks " << label.str() << " and no reason is given";
      EXPECT_FALSE(has && excused(name.getStringRef(), label))
          << name.getStringRef().str() << " has " << label.str() << ": drop its excuse";
    }
  }
  MLIRContext context;
  std::vector<RegisteredOperationName> names;
};
} // namespace

TEST_F(Interfaces, EveryOpHasTheFive) {
  everyOpHas<InferTypeOpInterface>("InferType");
  everyOpHas<EvaluateOpInterface>("Evaluate");
  everyOpHas<ShardingRuleOpInterface>("ShardingRule");
  everyOpHas<DifferentiableOpInterface>("Differentiable");
  everyOpHas<CostOpInterface>("Cost");
}

TEST_F(Interfaces, PointwiseOpsHaveAScalarBody) {
  for (RegisteredOperationName name : names)
    if (name.hasTrait<OpTrait::Elementwise>())
      EXPECT_TRUE(name.hasInterface<ScalarBodyOpInterface>()) << name.getStringRef().str();
}

// The laws are only as wide as the instances: each op that has values has one, and facts that are
// possible.
TEST_F(Interfaces, EveryOpHasAnInstanceWithFacts) {
  OwningOpRef<ModuleOp> module = parseInstances(context);
  ASSERT_TRUE(module);
  llvm::StringSet<> used;
  for (auto f : module->getOps<func::FuncOp>()) {
    Operation *op = opUnderTest(f);
    used.insert(op->getName().getStringRef());
    OpFacts facts = cast<CostOpInterface>(op).getFacts();
    EXPECT_GE(facts.bytesRead, 0) << f.getName().str();
    EXPECT_GE(facts.aluFlops + facts.specialFlops + facts.matrixFlops, 0) << f.getName().str();
    double written = 0;
    for (Type t : op->getResultTypes()) {
      auto type = cast<RankedTensorType>(t);
      written += byteSize(*toDType(type.getElementType()), type.getNumElements());
    }
    if (!isa<graph::WeightOp>(op)) // lies in memory already
      EXPECT_EQ(facts.bytesWritten, written) << f.getName().str();
  }
  for (RegisteredOperationName name : names)
    EXPECT_TRUE(used.contains(name.getStringRef()) || excused(name.getStringRef(), "*") ||
                name.getStringRef() == "graph.cluster")
        << name.getStringRef().str() << " has no instance in test/Reference/Instances";
}

// OpFacts.h: contract 128x768 · 768x3072 is 2*128*768*3072 matrix flops.
TEST_F(Interfaces, FactsOfAContraction) {
  OpBuilder b(&context);
  Block block;
  auto f32 = b.getF32Type();
  Value x = block.addArgument(RankedTensorType::get({128, 768}, f32), b.getUnknownLoc());
  Value w = block.addArgument(RankedTensorType::get({768, 3072}, f32), b.getUnknownLoc());
  b.setInsertionPointToEnd(&block);
  auto op = graph::ContractOp::create(b, b.getUnknownLoc(), x, w, ArrayRef<int64_t>{},
                                      ArrayRef<int64_t>{}, ArrayRef<int64_t>{1},
                                      ArrayRef<int64_t>{0}, TypeAttr(), graph::Precision::Highest);
  OpFacts facts = op.getFacts();
  EXPECT_EQ(facts.matrixFlops, 2.0 * 128 * 768 * 3072);
  EXPECT_EQ(facts.bytesRead, 4.0 * (128 * 768 + 768 * 3072));
  EXPECT_EQ(facts.bytesWritten, 4.0 * 128 * 3072);
  EXPECT_EQ(facts.m, 128);
  EXPECT_EQ(facts.n, 3072);
  EXPECT_EQ(facts.k, 768);
}
