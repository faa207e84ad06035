//===- EvaluatorTest.cpp - the driver: weights, taps, wrong arguments -----===//
#include "OpInstances.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
class EvaluatorTest : public ::testing::Test {
protected:
  void SetUp() override { loadDialects(context); }
  func::FuncOp parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<func::FuncOp>().begin();
  }
  std::string errorOf(llvm::function_ref<LogicalResult()> body) {
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      message += d.str();
      return success();
    });
    EXPECT_TRUE(failed(body()));
    return message;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *const weightText = R"mlir(
module attributes {graph.files = ["weights.bin"]} {
  graph.weight_data @w {file = 0 : i64, offset = 8 : i64, bytes = 24 : i64} : tensor<3x2xf32>
  func.func @f() -> (tensor<3x2xf32>, tensor<2x1xf32>) {
    %0 = graph.weight @w : tensor<3x2xf32>
    %1 = graph.weight @w {start = array<i64: 1, 1>} : tensor<2x1xf32>
    return %0, %1 : tensor<3x2xf32>, tensor<2x1xf32>
  }
})mlir";
} // namespace

TEST_F(EvaluatorTest, WeightsAreReadFromTheirFile) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("gpucc-weights", folder));
  std::string path = (folder + "/weights.bin").str();
  {
    std::ofstream out(path, std::ios::binary);
    const float values[] = {-1, -1, 0, 1, 2, 3, 4, 5};
    out.write(reinterpret_cast<const char *>(values), sizeof(values));
  }
  func::FuncOp f = parse(weightText);
  FileWeights weights(folder.str().str());
  auto results = evaluateFunction(f, {}, weights);
  ASSERT_TRUE(succeeded(results));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ((*results)[0].getFloat(i), i);
  EXPECT_EQ((*results)[1].getFloat(0), 3); // rows 1 and 2, column 1
  EXPECT_EQ((*results)[1].getFloat(1), 5);
  llvm::sys::fs::remove(path);
  // Gone: an error that names the file, no crash.
  FileWeights missing(folder.str().str());
  std::string message = errorOf([&] { return LogicalResult(evaluateFunction(f, {}, missing)); });
  EXPECT_NE(message.find("weights.bin"), std::string::npos) << message;
  llvm::sys::fs::remove(folder);
}

TEST_F(EvaluatorTest, TapSeesEveryOpOnce) {
  func::FuncOp f = parse(R"mlir(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = graph.binary add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %1 = graph.binary mul %0, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %1 : tensor<2xf32>
    })mlir");
  HostTensor x(DType::F32, {2});
  x.setFloat(0, 3);
  x.setFloat(1, -2);
  std::vector<double> seen;
  auto results = evaluateFunction(f, {x}, MapWeights(), [&](Operation *, ArrayRef<HostTensor> t) {
    seen.push_back(t[0].getFloat(0));
  });
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(seen, (std::vector<double>{6, 18}));
  EXPECT_EQ((*results)[0].getFloat(1), 8);
}

TEST_F(EvaluatorTest, WrongArgumentsAreNamed) {
  func::FuncOp f =
      parse("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }");
  std::string message =
      errorOf([&] { return LogicalResult(evaluateFunction(f, {}, MapWeights())); });
  EXPECT_NE(message.find("takes 1 arguments, 0 were given"), std::string::npos) << message;
  HostTensor wrong(DType::F64, {2});
  message = errorOf([&] { return LogicalResult(evaluateFunction(f, {wrong}, MapWeights())); });
  EXPECT_NE(message.find("'tensor<2xf32>' as argument 0, 'tensor<2xf64>' was given"),
            std::string::npos)
      << message;
}

TEST_F(EvaluatorTest, ClustersMeanWhatTheirBodiesMean) {
  func::FuncOp f = parse(R"mlir(
    func.func @f(%x: tensor<2xf32>) -> tensor<f32> {
      %y = graph.cluster reduction (%a = %x : tensor<2xf32>) -> tensor<f32> {
        %0 = graph.binary mul %a, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %1 = graph.reduce sum %0 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<f32>
        graph.yield %1 : tensor<f32>
      }
      return %y : tensor<f32>
    })mlir");
  HostTensor x(DType::F32, {2});
  x.setFloat(0, 3);
  x.setFloat(1, 4);
  auto results = evaluateFunction(f, {x}, MapWeights());
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ((*results)[0].getFloat(0), 25);
  // One kernel reads x once and writes the sum: 8 and 4 bytes.
  OpFacts facts = cast<CostOpInterface>(f.getBody().front().front()).getFacts();
  EXPECT_EQ(facts.bytesRead, 8);
  EXPECT_EQ(facts.bytesWritten, 4);
  EXPECT_EQ(facts.aluFlops, 4);
}
