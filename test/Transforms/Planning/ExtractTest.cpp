// From graphs to planning problems: what arises from a 2-layer model, by hand; the search over it
// equals the enumeration of all its layouts; pins; a deep model stays within the budget of steps.
#include "dialects/Base/Base.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Planner/Plan.h"
#include "gpucc/Transforms/Planning/ExtractProblem.h"
#include "gpucc/Transforms/Planning/Passes.h"
#include "gpucc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "test/Planner/Enumerate.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::planner;

namespace {

/// @main: y = x·W0·W1·…, square matrices.
std::string linearModel(int layers, int64_t batch, int64_t width, bool relu) {
  std::string x = "tensor<" + std::to_string(batch) + "x" + std::to_string(width) + "xf32>";
  std::string w = "tensor<" + std::to_string(width) + "x" + std::to_string(width) + "xf32>";
  std::string text = "func.func @main(%h0: " + x +
                     " {base.name = \"x\", base.kind = \"input\", base.dims = [\"batch\", \"\"]}";
  for (int i = 0; i < layers; ++i)
    text += ", %w" + std::to_string(i) + ": " + w + " {base.name = \"w" + std::to_string(i) +
            "\", base.kind = \"state\", base.state = #base.state<param>}";
  text += ") -> (" + x +
          " {base.name = \"y\", base.kind = \"output\", base.dims = [\"batch\", \"\"]}) {\n";
  std::string h = "%h0";
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i + 1);
    text += "%c" + n + " = graph.contract " + h + ", %w" + std::to_string(i) +
            " {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, "
            "rhs_contract = array<i64: 0>} : (" +
            x + ", " + w + ") -> " + x + "\n";
    h = "%c" + n;
    if (relu) {
      text += "%h" + n + " = graph.unary relu " + h + " : (" + x + ") -> " + x + "\n";
      h = "%h" + n;
    }
  }
  return text + "return " + h + " : " + x + "\n}\n";
}

struct Extracted {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<PlanProblem> problem;

  Extracted(const std::string &text, const std::string &optimizer) {
    context.loadDialect<base::BaseDialect, graph::GraphDialect, dist::DistDialect,
                        func::FuncDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    PassManager pm(&context);
    pm.addPass(createFreezeParameters());
    pm.addPass(createMarkSegments());
    DifferentiateOptions loss;
    loss.loss = "mse";
    pm.addPass(createDifferentiate(loss));
    AddOptimizerOptions update;
    update.optimizer = optimizer;
    pm.addPass(createAddOptimizer(update));
    pm.addNestedPass<func::FuncOp>(createCSEPass());
    if (failed(pm.run(*module)))
      return;
    FailureOr<PlanProblem> found = extractPlanProblem(*module);
    if (failed(found))
      return;
    problem = *found;
    problem->machine = std::get<cost::Machine>(cost::loadMachine("h100-8"));
  }
};

int countOps(const PlanProblem &p, Phase phase, bool matrix) {
  return static_cast<int>(std::count_if(p.ops.begin(), p.ops.end(), [&](const PlanOp &op) {
    return op.phase == phase && (op.facts.matrixFlops > 0) == matrix;
  }));
}

const PlanTensor *tensor(const PlanProblem &p, const std::string &name) {
  for (const PlanTensor &t : p.tensors)
    if (t.name == name)
      return &t;
  return nullptr;
}

TEST(Extract, TwoLayersWithAdamW) {
  Extracted e(linearModel(2, 32, 64, true), "adamw");
  ASSERT_TRUE(e.problem);
  const PlanProblem &p = *e.problem;
  EXPECT_EQ(p.batch, 32);
  EXPECT_EQ(p.numSegments, 2);
  EXPECT_EQ(countOps(p, Phase::Forward, true), 2);
  // dW0, dW1 and the gradient of the hidden layer; x needs none.
  EXPECT_EQ(countOps(p, Phase::Backward, true), 3);
  EXPECT_EQ(countOps(p, Phase::Update, false), 2);
  for (const char *name : {"w0", "w1"}) {
    const PlanTensor *w = tensor(p, name);
    ASSERT_TRUE(w) << p.dump();
    EXPECT_TRUE(w->isState);
    EXPECT_EQ(w->batchDim, -1);
    EXPECT_EQ(w->gradientBytes, 4 * 64 * 64);
    EXPECT_EQ(w->optimizerBytes, 8 * 64 * 64); // two moments in f32
  }
  EXPECT_EQ(tensor(p, "x")->batchDim, 0);
  double flops = 0;
  for (const PlanOp &op : p.ops) {
    flops += op.facts.matrixFlops;
    EXPECT_EQ(op.segment < 2, true);
    if (op.name == "w1.update")
      EXPECT_EQ(op.segment, 1);
    if (op.phase != Phase::Update)
      for (int t : op.results)
        if (p.tensors[t].shape == std::vector<int64_t>{32, 64})
          EXPECT_EQ(p.tensors[t].batchDim, 0) << op.name;
  }
  EXPECT_EQ(flops, 5 * 2.0 * 32 * 64 * 64);
}

TEST(Extract, GradientsArePartialOverDataParallelRanks) {
  Extracted e(linearModel(2, 4096, 256, true), "sgd");
  ASSERT_TRUE(e.problem);
  e.problem->ranks = 4;
  e.problem->pins.dp = 4;
  e.problem->pins.recompute = RecomputeMode::None;
  PlanResult result = planLayout(*e.problem);
  ASSERT_EQ(result.error, "");
  int partial = 0;
  for (size_t op = 0; op < e.problem->ops.size(); ++op)
    for (const Sharding &s : result.ops[op].results)
      partial += e.problem->ops[op].phase == Phase::Backward &&
                 e.problem->ops[op].facts.matrixFlops > 0 &&
                 s.partial == std::vector<std::string>{"dp"};
  EXPECT_EQ(partial, 2); // dW0 and dW1
}

/// How many layouts enumeration would look at.
double layoutsOf(const PlanProblem &problem) {
  std::string error;
  double sum = 0;
  for (const Candidate &c : enumerateCandidates(problem, error)) {
    double product = 1;
    for (const LayoutNode &node : buildLayoutProblem(problem, c).nodes)
      product *= static_cast<double>(node.seconds.size());
    sum += product;
  }
  return sum;
}

TEST(Extract, SearchEqualsEnumerationOnTwoLayersAndFourRanks) {
  struct Case {
    int64_t batch, width;
    const char *pins;
  };
  for (Case c : {Case{4, 8192, "micro-batches=1,recompute=none,zero=0"},
                 {4096, 1024, "micro-batches=2,recompute=full,zero=1"}}) {
    Extracted e(linearModel(2, c.batch, c.width, false), "sgd");
    ASSERT_TRUE(e.problem);
    e.problem->ranks = 4;
    e.problem->pins = std::get<planner::Pins>(parsePins(c.pins));
    ASSERT_LT(layoutsOf(*e.problem), 3e7) << e.problem->dump();
    PlanResult result = planLayout(*e.problem);
    ASSERT_EQ(result.error, "");
    int64_t looked = 0;
    double best = planner::test::enumerate(*e.problem, looked);
    EXPECT_GT(looked, 100'000);
    EXPECT_NEAR(result.cost.seconds, best, 1e-12) << looked << result.explain(*e.problem);
  }
}

TEST(Extract, PinsAreObeyedOrRefusedWithTheRule) {
  Extracted e(linearModel(4, 32, 256, true), "adamw");
  ASSERT_TRUE(e.problem);
  e.problem->ranks = 8;
  auto planned = [&](const char *pins) {
    e.problem->pins = std::get<planner::Pins>(parsePins(pins));
    return planLayout(*e.problem);
  };
  PlanResult result = planned("dp=2,tp=2,pp=2,zero=1,micro-batches=4");
  ASSERT_EQ(result.error, "");
  EXPECT_EQ(result.best.dump().substr(0, 42), "dp=2 tp=2 pp=2 micro-batches=4 zero=1 sp=o");
  EXPECT_NE(planned("dp=3").error.find("rule P1"), std::string::npos);
  EXPECT_NE(planned("pp=8").error.find("rule P3"), std::string::npos); // four segments
  EXPECT_NE(planned("dp=8,micro-batches=3").error.find("rule P4"), std::string::npos);
}

TEST(Extract, DeepModelsStayWithinTheStepBudget) {
  Extracted e(linearModel(96, 64, 1024, true), "adamw");
  ASSERT_TRUE(e.problem);
  EXPECT_GT(e.problem->ops.size(), 500u);
  PlanResult result = planLayout(*e.problem);
  ASSERT_EQ(result.error, "");
  EXPECT_LT(result.steps, 20'000'000);
  EXPECT_LT(result.candidates, 400);
}

} // namespace
