//===- RandomShardingTest.cpp - any legal sharding keeps the meaning ------===//
//
// Random programs, and for each op a random strategy that its rule allows on a
// mesh of four ranks: reshards between ops take every form there is. The ranks'
// outputs must be those of the unpartitioned program.
//
//===----------------------------------------------------------------------===//
#include "Prove.h"

#include "dialects/Base/Base.h"
#include "gpucc/Reference/RandomProgram.h"
#include "gpucc/Transforms/Dist/FunctionSharding.h"
#include "gpucc/Transforms/Dist/Partition.h"
#include "mlir/IR/Verifier.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace gpucc;

namespace {
/// Splits random loops of random ops over random axes.
class RandomSharding {
public:
  RandomSharding(const Mesh &mesh, uint64_t seed) : mesh(mesh), random(seed) {}

  FunctionSharding draw(func::FuncOp function) {
    FunctionSharding out;
    for (BlockArgument argument : function.getArguments())
      out.values[argument] = drawTensor(cast<RankedTensorType>(argument.getType()));
    for (Operation &op : function.getBody().front().without_terminator()) {
      ShardingRule rule = shardingRuleOf(&op);
      OpStrategy strategy = drawStrategy(rule);
      out.strategies[&op] = strategy;
      for (auto [i, result] : llvm::enumerate(op.getResults()))
        out.values[result] = resultSharding(rule, strategy, i);
    }
    return out;
  }

private:
  const Mesh &mesh;
  std::mt19937_64 random;

  std::vector<std::string> shuffledAxes() {
    std::vector<std::string> axes;
    for (const MeshAxis &axis : mesh.axes)
      axes.push_back(axis.name);
    std::shuffle(axes.begin(), axes.end(), random);
    return axes;
  }

  Sharding drawTensor(RankedTensorType type) {
    Sharding sharding = Sharding::replicated(type.getRank());
    for (const std::string &axis : shuffledAxes()) {
      size_t d = random() % (type.getRank() + 1);
      if (d == sharding.dims.size())
        continue;
      Sharding next = sharding;
      next.dims[d].push_back(axis);
      if (type.getDimSize(d) > 0 && type.getDimSize(d) % next.parts(mesh, d) == 0)
        sharding = next;
    }
    return sharding;
  }

  OpStrategy drawStrategy(const ShardingRule &rule) {
    OpStrategy strategy = OpStrategy::replicated(rule);
    for (const std::string &axis : shuffledAxes()) {
      OpStrategy next = strategy;
      auto flows = partialFlows(rule);
      if (!flows.empty() && random() % 4 == 0)
        next.flows.push_back({axis, flows[random() % flows.size()]});
      else if (!rule.factors.empty())
        next.factorAxes[random() % rule.factors.size()].push_back(axis);
      if (checkStrategy(rule, next, mesh).empty() && !mixesCombiners(rule, next))
        strategy = next;
    }
    return strategy;
  }

  /// A result cannot be a partial sum over one axis and a partial maximum over another.
  static bool mixesCombiners(const ShardingRule &rule, const OpStrategy &strategy) {
    std::optional<ReduceKind> kind;
    for (size_t f = 0; f < rule.factors.size(); ++f)
      if (rule.factors[f].kind == FactorKind::Reduce && !strategy.factorAxes[f].empty()) {
        if (kind && *kind != rule.factors[f].reduce)
          return true;
        kind = rule.factors[f].reduce;
      }
    return false;
  }
};

void nameArguments(func::FuncOp function, std::vector<std::string> &names) {
  Builder b(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    names.push_back("x" + std::to_string(i));
    function.setArgAttr(i, base::nameAttr, b.getStringAttr(names.back()));
    function.setArgAttr(i, base::kindAttr, b.getStringAttr("input"));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.setResultAttr(i, base::nameAttr, b.getStringAttr("y" + std::to_string(i)));
    function.setResultAttr(i, base::kindAttr, b.getStringAttr("output"));
  }
}
} // namespace

static int seeds() {
  const char *text = std::getenv("GPUCC_RANDOM_SEEDS");
  return text ? std::atoi(text) : 2000;
}

TEST(RandomSharding, FourRanksEqualTheEvaluator) {
  int64_t communicated = 0;
  for (int seed = 0; seed < seeds(); ++seed) {
    MLIRContext context;
    prepare(context);
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
      diagnostics += d.str() + "\n";
      for (Diagnostic &note : d.getNotes())
        diagnostics += "  note: " + note.str() + "\n";
      return success();
    });
    RandomProgramOptions options;
    options.ops = 6 + seed % 10;
    options.maxElements = 512;
    OwningOpRef<ModuleOp> reference = buildRandomProgram(&context, seed, options);
    auto main = reference->lookupSymbol<func::FuncOp>("main");
    std::vector<std::string> names;
    nameArguments(main, names);
    numberOps(main);
    OwningOpRef<ModuleOp> partitioned = reference->clone();
    OpBuilder builder = OpBuilder::atBlockBegin(partitioned->getBody());
    Mesh mesh{{{"a", 2}, {"b", 2}}};
    auto meshOp =
        dist::MeshOp::create(builder, main.getLoc(), "mesh", dist::MeshAttr::get(&context, mesh));
    auto target = partitioned->lookupSymbol<func::FuncOp>("main");
    writeShardings(target, meshOp, RandomSharding(mesh, seed).draw(target));
    FailureOr<func::FuncOp> local = partitionFunction(target, meshOp, {true});
    ASSERT_TRUE(succeeded(local)) << "seed " << seed << "\n" << diagnostics;
    ASSERT_TRUE(succeeded(verify(*partitioned))) << "seed " << seed << "\n" << diagnostics;
    partitioned->walk([&](dist::CollectiveOpInterface) { ++communicated; });
    NamedTensors inputs;
    for (auto [name, value] : llvm::zip_equal(names, randomArguments(main, seed)))
      inputs[name] = value;
    SpmdEvaluator one(*reference), four(*partitioned);
    auto report = compareStep(one, four, {inputs}, {1e-3, 1e-3});
    ASSERT_TRUE(succeeded(report)) << "seed " << seed << "\n" << diagnostics;
    std::string text;
    llvm::raw_string_ostream(text) << *reference << *partitioned;
    ASSERT_TRUE(report->equal()) << "seed " << seed << "\n"
                                 << report->dump() << diagnostics << text;
  }
  EXPECT_GT(communicated, seeds()); // the reshards were not empty
  std::printf("random programs: %d seeds on 4 ranks, %lld collectives\n", seeds(),
              static_cast<long long>(communicated));
}
