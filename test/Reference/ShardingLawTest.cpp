//===- ShardingLawTest.cpp - sharding rules are true ----------------------===//
//
// For each instance and random ways of splitting its rule's factors: cut the
// operands as the rule says, run the local op (buildLocal) on every rank of the
// mesh, put the results together as the rule says, and compare with the whole.
//
//   contract {i,k},{k,j} -> {i,j}, i over 2 and k over 3 ranks: 6 local products,
//   summed over k's ranks, joined along i
//
//===----------------------------------------------------------------------===//
#include "OpInstances.h"
#include "mlir/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

namespace {
/// parts[f] ranks share factor f; a rank is a coordinate per factor.
using Parts = std::vector<int64_t>;

std::vector<std::vector<int64_t>> shapesOf(TypeRange types) {
  std::vector<std::vector<int64_t>> shapes;
  for (Type t : types)
    shapes.push_back(toShape(t));
  return shapes;
}

/// A tensor's block on one rank: first index and size per dimension.
struct Piece {
  std::vector<int64_t> start, size;
};
Piece pieceOf(const ShardingRule::Tensor &dims, const std::vector<int64_t> &shape,
              const Parts &parts, const Parts &rank) {
  Piece b;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t n = dims[d].empty() ? 1 : parts[dims[d][0]],
            at = dims[d].empty() ? 0 : rank[dims[d][0]];
    b.size.push_back(shape[d] / n);
    b.start.push_back(at * b.size.back());
  }
  return b;
}

/// Calls visit(linear index in the whole, linear index in the block).
void forEach(const Piece &b, const std::vector<int64_t> &shape,
             llvm::function_ref<void(int64_t, int64_t)> visit) {
  int64_t n = 1;
  for (int64_t s : b.size)
    n *= s;
  std::vector<int64_t> strides = HostTensor::stridesOf(shape);
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = i, whole = 0;
    for (size_t d = shape.size(); d-- > 0; rest /= b.size[d])
      whole += (b.start[d] + rest % b.size[d]) * strides[d];
    visit(whole, i);
  }
}

void copyElement(const HostTensor &from, int64_t i, HostTensor &to, int64_t j) {
  isFloat(from.dtype()) ? to.setFloat(j, from.getFloat(i)) : to.setInt(j, from.getInt(i));
}

double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return std::max(a, b);
  case ReduceKind::Min:
    return std::min(a, b);
  case ReduceKind::And:
    return a != 0 && b != 0;
  case ReduceKind::Or:
    return a != 0 || b != 0;
  }
  return 0;
}

class ShardingLaw : public ::testing::Test {
protected:
  void SetUp() override {
    loadDialects(context);
    module = parseInstances(context);
    ASSERT_TRUE(module);
    HostTensor w(DType::F64, {4, 2});
    for (int64_t i = 0; i < 8; ++i)
      w.setFloat(i, i * i - 3.5);
    weights = MapWeights({{"w", w}});
  }

  /// Values of the tested op's operands and results in the whole function.
  void evaluateWhole(func::FuncOp f, Operation *op, SmallVector<HostTensor> &operands,
                     SmallVector<HostTensor> &results) {
    std::mt19937_64 random(7);
    SmallVector<HostTensor> inputs = drawInputs(f, random);
    DenseMap<Value, HostTensor> values;
    for (auto [v, t] : llvm::zip_equal(f.getArguments(), inputs))
      values[v] = t;
    auto done = evaluateFunction(f, inputs, weights, [&](Operation *o, ArrayRef<HostTensor> ts) {
      for (auto [v, t] : llvm::zip_equal(o->getResults(), ts))
        values[v] = t;
    });
    ASSERT_TRUE(succeeded(done));
    for (Value v : op->getOperands())
      operands.push_back(values[v]);
    for (Value v : op->getResults())
      results.push_back(values[v]);
  }

  /// The local op as a function of (local operands, offsets of result 0 where split).
  func::FuncOp buildLocal(Operation *op, const ShardingRule &rule, const Parts &parts) {
    OpBuilder builder(&context);
    builder.setInsertionPointToEnd(module->getBody());
    Parts origin(parts.size(), 0);
    auto local = [&](Type t, const ShardingRule::Tensor &dims) -> Type {
      Piece b = pieceOf(dims, toShape(t), parts, origin);
      return RankedTensorType::get(b.size, cast<RankedTensorType>(t).getElementType());
    };
    SmallVector<Type> argumentTypes, resultTypes;
    for (auto [i, t] : llvm::enumerate(op->getOperandTypes()))
      argumentTypes.push_back(local(t, rule.operands[i]));
    for (auto [i, t] : llvm::enumerate(op->getResultTypes()))
      resultTypes.push_back(local(t, rule.results[i]));
    size_t operands = argumentTypes.size();
    for (const auto &dims : rule.results[0])
      if (!dims.empty() && parts[dims[0]] > 1)
        argumentTypes.push_back(RankedTensorType::get({}, builder.getI64Type()));
    auto f = func::FuncOp::create(builder, op->getLoc(), "local",
                                  builder.getFunctionType(argumentTypes, resultTypes));
    Block *body = f.addEntryBlock();
    builder.setInsertionPointToStart(body);
    SmallVector<Value> offsets;
    size_t next = operands;
    for (const auto &dims : rule.results[0])
      offsets.push_back(!dims.empty() && parts[dims[0]] > 1 ? body->getArgument(next++) : Value());
    SmallVector<Value> results = cast<ShardingRuleOpInterface>(op).buildLocal(
        builder, ValueRange(body->getArguments()).take_front(operands), resultTypes, offsets);
    func::ReturnOp::create(builder, op->getLoc(), results);
    return f;
  }

  void check(Operation *op, const ShardingRule &rule, const Parts &parts,
             ArrayRef<HostTensor> operands, ArrayRef<HostTensor> expected) {
    func::FuncOp f = buildLocal(op, rule, parts);
    ASSERT_TRUE(succeeded(verify(f)));
    int64_t ranks = 1;
    for (int64_t p : parts)
      ranks *= p;
    std::vector<HostTensor> joined;
    std::vector<std::vector<char>> seen;
    for (const HostTensor &e : expected) {
      joined.emplace_back(isFloat(e.dtype()) ? DType::F64 : e.dtype(), e.shape());
      seen.emplace_back(e.numElements(), 0);
    }
    for (int64_t r = 0; r < ranks; ++r) {
      Parts rank;
      int64_t rest = r;
      for (int64_t p : parts) {
        rank.push_back(rest % p);
        rest /= p;
      }
      SmallVector<HostTensor> local;
      for (auto [i, t] : llvm::enumerate(operands)) {
        Piece b = pieceOf(rule.operands[i], t.shape(), parts, rank);
        HostTensor piece(t.dtype(), b.size);
        forEach(b, t.shape(), [&](int64_t whole, int64_t k) { copyElement(t, whole, piece, k); });
        local.push_back(piece);
      }
      Piece first = pieceOf(rule.results[0], expected[0].shape(), parts, rank);
      for (size_t d = 0; d < first.start.size(); ++d)
        if (!rule.results[0][d].empty() && parts[rule.results[0][d][0]] > 1)
          local.push_back(HostTensor::scalarInt(DType::I64, first.start[d]));
      auto results = evaluateFunction(f, local, weights);
      ASSERT_TRUE(succeeded(results));
      join(rule, parts, rank, *results, joined, seen);
    }
    for (auto [i, e] : llvm::enumerate(expected))
      for (int64_t k = 0; k < e.numElements(); ++k) {
        double a = joined[i].getFloat(k), b = e.getFloat(k);
        ASSERT_TRUE((std::isnan(a) && std::isnan(b)) || a == b ||
                    std::fabs(a - b) <= 1e-12 * std::max(1.0, std::fabs(b)))
            << "result " << i << ", element " << k << ": " << a << " from the ranks, " << b
            << " from the whole";
      }
    f.erase();
    ++checked;
  }

  /// Combines a rank's results over reduced factors; copies over unused ones must be equal.
  void join(const ShardingRule &rule, const Parts &parts, const Parts &rank,
            ArrayRef<HostTensor> results, std::vector<HostTensor> &joined,
            std::vector<std::vector<char>> &seen) {
    std::optional<ReduceKind> kind;
    for (size_t f = 0; f < parts.size(); ++f)
      if (parts[f] > 1 && rule.factors[f].kind == FactorKind::Reduce)
        kind = rule.factors[f].reduce;
    for (auto [i, result] : llvm::enumerate(results)) {
      // Among ranks that differ only in parallel factors this result lacks, one counts.
      bool counts = true;
      for (size_t f = 0; f < parts.size(); ++f) {
        bool named = llvm::any_of(rule.results[i], [&](const auto &dims) {
          return llvm::is_contained(dims, static_cast<int>(f));
        });
        counts &= named || rank[f] == 0 || rule.factors[f].kind == FactorKind::Reduce;
      }
      Piece b = pieceOf(rule.results[i], joined[i].shape(), parts, rank);
      forEach(b, joined[i].shape(), [&](int64_t whole, int64_t k) {
        double v = result.getFloat(k);
        if (!seen[i][whole]) {
          joined[i].setFloat(whole, v);
          seen[i][whole] = 1;
        } else if (!counts) {
          EXPECT_TRUE(v == joined[i].getFloat(whole) || kind) << "copies differ";
        } else if (kind) {
          joined[i].setFloat(whole, combine(*kind, joined[i].getFloat(whole), v));
        }
      });
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  MapWeights weights;
  int checked = 0;
};

/// May factor f be split: it is the major one in every dimension that names it.
bool splittable(const ShardingRule &rule, int f) {
  if (rule.factors[f].kind == FactorKind::Replicated || rule.factors[f].size < 2)
    return false;
  for (const auto *tensors : {&rule.operands, &rule.results})
    for (const auto &tensor : *tensors)
      for (const auto &dims : tensor)
        for (size_t k = 1; k < dims.size(); ++k)
          if (dims[k] == f)
            return false;
  return true;
}
} // namespace

TEST_F(ShardingLaw, RulesAreConsistentAndTrue) {
  std::mt19937_64 random(1);
  for (auto f : llvm::to_vector(module->getOps<func::FuncOp>())) {
    SCOPED_TRACE(f.getName().str());
    Operation *op = opUnderTest(f);
    ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    ASSERT_EQ(rule.check(shapesOf(op->getOperandTypes()), shapesOf(op->getResultTypes())), "")
        << rule.dump();
    SmallVector<HostTensor> operands, results;
    evaluateWhole(f, op, operands, results);
    std::vector<int> free;
    for (int i = 0; i < static_cast<int>(rule.factors.size()); ++i)
      if (splittable(rule, i))
        free.push_back(i);
    // Each factor alone, by every divisor; then random subsets.
    std::vector<Parts> splits;
    auto divisor = [&](int64_t size) {
      std::vector<int64_t> all;
      for (int64_t p = 2; p <= size; ++p)
        if (size % p == 0)
          all.push_back(p);
      return all;
    };
    for (int i : free)
      for (int64_t p : divisor(rule.factors[i].size)) {
        splits.emplace_back(rule.factors.size(), 1);
        splits.back()[i] = p;
      }
    for (int round = 0; round < 4 && free.size() > 1; ++round) {
      Parts parts(rule.factors.size(), 1);
      for (int i : free)
        if (random() % 2) {
          auto all = divisor(rule.factors[i].size);
          parts[i] = all[random() % all.size()];
        }
      splits.push_back(parts);
    }
    for (const Parts &parts : splits) {
      check(op, rule, parts, operands, results);
      if (HasFatalFailure())
        break;
    }
  }
  EXPECT_GT(checked, 300);
}

// f(a + b) = f(a) + f(b) in the flagged operands, alone or together.
TEST_F(ShardingLaw, LinearityFlagsAreTrue) {
  int linear = 0;
  for (auto f : llvm::to_vector(module->getOps<func::FuncOp>())) {
    SCOPED_TRACE(f.getName().str());
    Operation *op = opUnderTest(f);
    ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    SmallVector<HostTensor> operands, whole;
    evaluateWhole(f, op, operands, whole);
    auto holds = [&](const std::vector<bool> &flags) {
      SmallVector<HostTensor> part(operands);
      std::mt19937_64 random(3);
      SmallVector<HostTensor> rest(operands);
      for (size_t i = 0; i < operands.size(); ++i)
        if (flags[i]) {
          part[i] = operands[i].clone();
          rest[i] = operands[i].clone();
          for (int64_t k = 0; k < part[i].numElements(); ++k) {
            bool real = isFloat(part[i].dtype());
            double v = real ? uniform(random) * 4 - 2 : static_cast<double>(random() % 7);
            part[i].setFloat(k, v);
            rest[i].setFloat(k, operands[i].getFloat(k) - v);
          }
        }
      auto a = evaluateOp(op, part, weights), b = evaluateOp(op, rest, weights);
      for (size_t r = 0; r < whole.size(); ++r)
        for (int64_t k = 0; k < whole[r].numElements(); ++k)
          EXPECT_NEAR((*a)[r].getFloat(k) + (*b)[r].getFloat(k), whole[r].getFloat(k), 1e-9);
      ++linear;
    };
    for (size_t i = 0; i < rule.linearIn.size(); ++i)
      if (rule.linearIn[i]) {
        std::vector<bool> one(operands.size(), false);
        one[i] = true;
        holds(one);
      }
    if (llvm::is_contained(rule.linearTogether, true))
      holds(rule.linearTogether);
  }
  EXPECT_GT(linear, 60);
}
