//===- RandomFusedTest.cpp - random programs as kernels -------------------===//
//
// Programs of 6 to 20 ops over tensors of some thousand elements, with shapes
// that leave remainders, several outputs and shared operands, so that fusion
// meets diamonds, siblings, rows and columns. The seed is in the message of a
// failure.
//
//===----------------------------------------------------------------------===//
#include "FusedRun.h"

#include "dialects/Graph/Build.h"
#include "gpucc/Reference/RandomProgram.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
class Program {
public:
  Program(MLIRContext &context, uint64_t seed) : random(seed), builder(&context) {
    module = ModuleOp::create(builder.getUnknownLoc());
    SmallVector<Type> types;
    int64_t inputs = pick(1, 4);
    SmallVector<int64_t> base;
    for (int64_t i = 0, rank = pick(1, 3); i < rank; ++i)
      base.push_back(dim());
    while (product(base) > 20000)
      base.pop_back();
    for (int64_t i = 0; i < inputs; ++i)
      types.push_back(RankedTensorType::get(base, builder.getF32Type()));
    types.push_back(RankedTensorType::get({pick(1, 6)}, builder.getI64Type()));
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, builder.getUnknownLoc(), "main",
                                    builder.getFunctionType(types, {}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    for (Value v : body->getArguments().drop_back())
      pool.push_back(v);
    indices = body->getArguments().back();
    for (int64_t i = 0, n = pick(6, 20); i < n; ++i)
      step();
    finish();
  }

  SmallVector<HostTensor> drawInputs() {
    SmallVector<HostTensor> inputs;
    for (Type t : function.getArgumentTypes()) {
      HostTensor tensor(*toDType(getElementTypeOrSelf(t)), toShape(t));
      for (int64_t i = 0; i < tensor.numElements(); ++i)
        isFloat(tensor.dtype()) ? tensor.setFloat(i, uniform() * 4 - 2)
                                : tensor.setInt(i, pick(-3, 4));
      inputs.push_back(tensor);
    }
    return inputs;
  }

  OwningOpRef<ModuleOp> module;
  func::FuncOp function;

private:
  int64_t pick(int64_t low, int64_t high) { // both included
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform() { return static_cast<double>(random() >> 11) * 0x1p-53; }
  int64_t dim() {
    static const int64_t sizes[] = {1, 2, 3, 5, 7, 8, 12, 16, 24, 33, 64, 100, 257};
    return sizes[pick(0, 12)];
  }
  static int64_t product(ArrayRef<int64_t> shape) {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    return n;
  }
  ArrayRef<int64_t> shape(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }
  Value any() { return pool[pick(0, pool.size() - 1)]; }
  /// A value like `v`, or `v` itself.
  Value partner(Value v) {
    SmallVector<Value> fitting;
    for (Value p : pool)
      if (p.getType() == v.getType())
        fitting.push_back(p);
    return fitting[pick(0, fitting.size() - 1)];
  }
  void add(Value v) {
    int64_t n = product(shape(v));
    if (n > 0 && n <= 60000)
      pool.push_back(v);
  }
  SmallVector<int64_t> someDims(int64_t rank) {
    SmallVector<int64_t> dims;
    for (int64_t d = 0; d < rank; ++d)
      if (pick(0, 1))
        dims.push_back(d);
    if (dims.empty())
      dims.push_back(pick(0, rank - 1));
    return dims;
  }
  void step();
  void movement(graph::GraphBuilder &g, Value x);
  void composite(graph::GraphBuilder &g, Value x);
  void finish() {
    SmallVector<Value> results;
    SmallVector<Type> types;
    for (Value v : pool)
      if (v.getDefiningOp() && (v.use_empty() || pick(0, 5) == 0)) {
        results.push_back(v);
        types.push_back(v.getType());
      }
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), types));
  }

  std::mt19937_64 random;
  OpBuilder builder;
  SmallVector<Value> pool;
  Value indices;
};

void Program::step() {
  graph::GraphBuilder g(builder, builder.getUnknownLoc());
  Value x = any();
  int64_t rank = shape(x).size();
  switch (pick(0, 9)) {
  case 0:
    return add(g.tanh(x));
  case 1:
    return add(
        g.mul(g.exp(g.unary(graph::UnaryKind::Neg, g.unary(graph::UnaryKind::Abs, x))), 0.5));
  case 2:
    return add(g.unary(graph::UnaryKind::Relu, g.add(x, partner(x))));
  case 3:
    return add(g.sub(g.mul(x, 0.5), partner(x)));
  case 4: {
    Value condition = g.compare(graph::CompareKind::Gt, function.getArgument(0), 0.25);
    if (shape(condition) == shape(x))
      return add(g.select(condition, x, partner(x)));
    return add(g.mul(x, 0.25));
  }
  case 5: {
    if (rank == 0)
      return;
    static const graph::ReductionKind kinds[] = {
        graph::ReductionKind::Sum, graph::ReductionKind::Max, graph::ReductionKind::Min};
    SmallVector<int64_t> dims = someDims(rank);
    Value r = g.reduce(kinds[pick(0, 2)], g.tanh(x), dims);
    add(r);
    return add(g.sub(x, g.broadcastOver(g.mul(r, 0.125), x, dims)));
  }
  case 6:
  case 7:
    return movement(g, x);
  default:
    return composite(g, x);
  }
}

void Program::movement(graph::GraphBuilder &g, Value x) {
  SmallVector<int64_t> s(shape(x));
  int64_t rank = s.size();
  if (rank == 0)
    return;
  int64_t d = pick(0, rank - 1);
  switch (pick(0, 7)) {
  case 0: { // split or join a dimension
    for (int64_t f : {2, 3, 4, 5})
      if (s[d] % f == 0 && rank < 5) {
        s[d] /= f;
        s.insert(s.begin() + d + 1, f);
        return add(g.reshape(x, s));
      }
    return add(g.reshape(x, {product(s)}));
  }
  case 1: {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    for (int64_t i = rank; i-- > 1;)
      std::swap(order[i], order[pick(0, i)]);
    return add(g.transpose(x, order));
  }
  case 2: {
    if (s[d] < 2)
      return;
    int64_t start = pick(0, s[d] - 1);
    return add(g.sliceDim(x, d, start, pick(1, s[d] - start)));
  }
  case 3: {
    SmallVector<int64_t> zero(rank, 0), low(zero), high(zero), interior(zero);
    low[d] = pick(0, 2);
    high[d] = pick(0, 2);
    interior[d] = pick(0, 3) == 0;
    return add(g.padZero(x, low, high, interior));
  }
  case 4:
    return add(g.concat({x, partner(x)}, d));
  case 5:
    return add(graph::GatherOp::create(builder, g.loc, x, indices, d));
  case 6: {
    SmallVector<int64_t> wide{dim()}, dims;
    for (int64_t i = 0; i < rank; ++i) {
      wide.push_back(s[i]);
      dims.push_back(i + 1);
    }
    return add(g.broadcast(x, wide, dims));
  }
  default: {
    SmallVector<int64_t> start(rank, 0), sizes(s), strides(rank, 1);
    start[d] = s[d] - 1;
    strides[d] = -1;
    return add(g.slice(x, start, sizes, strides));
  }
  }
}

void Program::composite(graph::GraphBuilder &g, Value x) {
  SmallVector<int64_t> s(shape(x));
  int64_t rank = s.size();
  if (rank == 0)
    return;
  int64_t d = pick(0, rank - 1);
  Location loc = g.loc;
  switch (pick(0, 7)) {
  case 0:
    return add(graph::SoftmaxOp::create(builder, loc, x, d, pick(0, 1) == 1));
  case 1:
    return add(graph::LayerNormOp::create(builder, loc, x, Value(), Value(), d,
                                          builder.getF64FloatAttr(1e-2).getValue()));
  case 2:
    return add(graph::GeluOp::create(builder, loc, graph::GeluKind::Erf, x));
  case 3: {
    Value narrow = g.convert(x, builder.getBF16Type());
    return add(g.convert(g.add(narrow, narrow), builder.getF32Type()));
  }
  case 4:
    return add(graph::ScanOp::create(builder, loc, graph::ReductionKind::Sum, g.tanh(x), d,
                                     pick(0, 1) == 1, pick(0, 1) == 1));
  case 5: { // over the last dimension of both
    Value y = g.tanh(partner(x));
    return add(g.mul(g.contract(g.tanh(x), y, {}, {}, {rank - 1}, {rank - 1}), 0.1));
  }
  case 6: { // the same with batch dimensions
    SmallVector<int64_t> batch = llvm::to_vector(llvm::seq<int64_t>(0, d));
    Value y = g.tanh(partner(x));
    return add(g.mul(g.contract(g.tanh(x), y, batch, batch, {d}, {d}), 0.1));
  }
  default: {
    if (rank < 3 || s[2] < 2)
      return;
    Value pooled = g.reshape(x, {s[0], s[1], product(ArrayRef(s).drop_front(2))});
    return add(graph::PoolOp::create(builder, loc,
                                     pick(0, 1) ? graph::PoolKind::Max : graph::PoolKind::Avg,
                                     pooled, {2}, {pick(1, 2)}, {1}, {pick(0, 1)}, {0}, {1}, true));
  }
  }
}

class RandomFused : public testing::TestWithParam<const char *> {};
} // namespace

TEST_P(RandomFused, EqualTheEvaluator) {
  DialectRegistry registry;
  registerForFusedRun(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.loadAllAvailableDialects();
  FusedRunOptions options;
  options.target = GetParam();
  options.f32 = 1e-4;
  options.floor = 0.1;
  const char *first = std::getenv("GPUCC_TEST_SEED"), *count = std::getenv("GPUCC_TEST_SEEDS");
  uint64_t from = first ? std::strtoull(first, nullptr, 10) : 1;
  uint64_t seeds = first ? 1 : count ? std::strtoull(count, nullptr, 10) : 40;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    Program program(context, seed);
    ASSERT_TRUE(succeeded(verify(*program.module))) << "seed " << seed;
    std::string difference = checkFused(program.function, program.drawInputs(), options);
    EXPECT_EQ(difference, "") << "seed " << seed;
  }
}

/// The general generator of gpucc/Reference/RandomProgram.h, small tensors of every family of ops.
static void checkGeneralPrograms(FusedRunOptions options, uint64_t seeds) {
  DialectRegistry registry;
  registerForFusedRun(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.loadAllAvailableDialects();
  options.f32 = 2e-4;
  options.floor = 0.1;
  options.narrow = 0.1;
  const char *first = std::getenv("GPUCC_TEST_SEED"), *count = std::getenv("GPUCC_TEST_SEEDS");
  uint64_t from = first ? std::strtoull(first, nullptr, 10) : 1;
  seeds = first ? 1 : count ? std::strtoull(count, nullptr, 10) : seeds;
  for (uint64_t seed = from; seed < from + seeds; ++seed) {
    OwningOpRef<ModuleOp> module = buildRandomProgram(&context, seed);
    auto main = module->lookupSymbol<func::FuncOp>("main");
    std::string difference = checkFused(main, randomArguments(main, seed), options);
    EXPECT_EQ(difference, "") << "seed " << seed;
  }
  std::printf("random programs: %llu seeds as %s\n", static_cast<unsigned long long>(seeds),
              options.executeCuda ? "executed CUDA text"
                                  : (options.target + " kernels, run as host code").c_str());
}

// As whole plans: test/Pipelines/RandomPlansTest.cpp, with ten times as many.
TEST(RandomPrograms, EqualTheEvaluatorOnTheHost) { checkGeneralPrograms({}, 200); }

TEST(RandomPrograms, EqualTheEvaluatorInCudaForm) {
  FusedRunOptions options;
  options.target = "cuda";
  checkGeneralPrograms(options, 40);
}

TEST(RandomPrograms, EqualTheEvaluatorAsExecutedCudaText) {
  FusedRunOptions options;
  options.target = "cuda";
  options.executeCuda = true;
  int64_t before = executedCudaKernels();
  checkGeneralPrograms(options, 60);
  int64_t kernels = executedCudaKernels() - before;
  std::printf("random programs: %lld kernels executed from their CUDA text\n",
              static_cast<long long>(kernels));
  if (!std::getenv("GPUCC_TEST_SEED"))
    EXPECT_GT(kernels, 60);
}

INSTANTIATE_TEST_SUITE_P(All, RandomFused, testing::Values("host", "cuda"));
