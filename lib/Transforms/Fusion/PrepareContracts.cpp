//===- PrepareContracts.cpp - matrix products before fusion ---------------===//
//
// Three rewrites of graph.contract:
//   fold       contract(transpose(x), w): the dimension lists name x's own dimensions instead; so
//              for a transpose that is scaled by a number, 0.125 * transpose(x)
//   normalize  batch, free and contracted dimensions of an operand that are no single run of
//              memory get a transpose (which then fuses with what made the operand)
//   expand     a product too small for a library (or of unsigned integers) becomes multiply and
//   sum:
//                x[M,K] · w[K,N] → sum over k of x[m,k] * w[k,n]
//              loops over [M, K, N] when w's rows are contiguous, over [M, N, K] when K is
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Build.h"
#include "dialects/Graph/Graph.h"
#include "gpucc/Analysis/MatmulForm.h"
#include "lib/Transforms/Fusion/Prepare.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::fusion;

using Dims = SmallVector<int64_t>;

static Dims freeDims(int64_t rank, ArrayRef<int64_t> batch, ArrayRef<int64_t> contract) {
  Dims free;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contract, d))
      free.push_back(d);
  return free;
}

namespace {
/// transpose(of, permutation)
struct Transposed {
  Value of;
  Dims permutation;
};
} // namespace

static std::optional<Transposed> asTransposed(graph::GraphBuilder &g, Value v);

/// reshape(transpose(x)) that only adds dimensions of size 1: these are put in front of x's.
static std::optional<Transposed> throughReshape(graph::GraphBuilder &g, graph::ReshapeOp reshape) {
  ArrayRef<int64_t> from = shapeOf(reshape.getX()), to = shapeOf(reshape.getResult());
  int64_t units = to.size() - from.size(), unit = 0, next = 0;
  Dims source; // dimension of x, or -1
  for (int64_t extent : to)
    source.push_back(next < static_cast<int64_t>(from.size()) && extent == from[next] ? next++
                                                                                      : -1);
  if (units < 0 || next != static_cast<int64_t>(from.size()) ||
      llvm::any_of(
          llvm::seq<size_t>(0, to.size()), [&](size_t d) { return source[d] < 0 && to[d] != 1; }))
    return std::nullopt;
  std::optional<Transposed> t = asTransposed(g, reshape.getX());
  if (!t)
    return std::nullopt;
  Dims shape(units, 1), permutation;
  llvm::append_range(shape, shapeOf(t->of));
  for (int64_t d : source)
    permutation.push_back(d < 0 ? unit++ : units + t->permutation[d]);
  return Transposed{g.reshape(t->of, shape), permutation};
}

/// The value as a transpose of something: scaled by a number (as attention scales its keys), and
/// with more dimensions of size 1, it still is one.
static std::optional<Transposed> asTransposed(graph::GraphBuilder &g, Value v) {
  Operation *op = v.getDefiningOp();
  if (auto transpose = dyn_cast_or_null<graph::TransposeOp>(op))
    return Transposed{transpose.getX(), Dims(transpose.getPermutation())};
  if (!op || !op->hasOneUse())
    return std::nullopt;
  if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return throughReshape(g, reshape);
  auto binary = dyn_cast<graph::BinaryOp>(op);
  auto constant = binary ? binary.getRhs().getDefiningOp<graph::ConstantOp>() : graph::ConstantOp();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()) ||
      binary.getKind() != graph::BinaryKind::Mul)
    return std::nullopt;
  std::optional<Transposed> t = asTransposed(g, binary.getLhs());
  if (!t)
    return std::nullopt;
  double factor = splat.getSplatValue<APFloat>().convertToDouble();
  return Transposed{g.mul(t->of, g.like(t->of, factor)), t->permutation};
}

/// The operand without its transpose; maps the lists. False when the free dimensions would change
/// order.
static bool skipTranspose(graph::GraphBuilder &g, Value &operand, Dims &batch, Dims &contract) {
  std::optional<Transposed> transposed = asTransposed(g, operand);
  if (!transposed)
    return false;
  ArrayRef<int64_t> p = transposed->permutation;
  auto map = [&](ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(dims, [&](int64_t d) { return p[d]; });
  };
  Dims free = map(freeDims(p.size(), batch, contract));
  if (!llvm::is_sorted(free))
    return false;
  operand = transposed->of;
  batch = map(batch);
  contract = map(contract);
  return true;
}

namespace {
/// A contract's operands and lists, to be changed and written back.
struct Form {
  Value lhs, rhs;
  Dims lhsBatch, rhsBatch, lhsContract, rhsContract;
  explicit Form(graph::ContractOp op)
      : lhs(op.getLhs()), rhs(op.getRhs()), lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch()),
        lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract()) {}
  void writeTo(graph::ContractOp op) const {
    op->setOperands({lhs, rhs});
    op.setLhsBatch(lhsBatch);
    op.setRhsBatch(rhsBatch);
    op.setLhsContract(lhsContract);
    op.setRhsContract(rhsContract);
  }
};
} // namespace

unsigned fusion::foldTransposesIntoContracts(func::FuncOp function) {
  unsigned count = 0;
  SmallVector<graph::ContractOp> work(function.getBody().front().getOps<graph::ContractOp>());
  for (graph::ContractOp op : work) {
    OpBuilder builder(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Form form(op), before(op);
    bool lhs = skipTranspose(g, form.lhs, form.lhsBatch, form.lhsContract);
    bool rhs = skipTranspose(g, form.rhs, form.rhsBatch, form.rhsContract);
    if (!lhs && !rhs)
      continue;
    form.writeTo(op);
    if (matmulForm(op)) { // still runs of memory: nothing is moved any more
      count += lhs + rhs;
      continue;
    }
    before.writeTo(op);
  }
  // What the products no longer read, or was built for a fold that could not be.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  return count;
}

/// The operand with dimensions in the order batch, free, contracted.
static void sortOperand(graph::GraphBuilder &g, Value &operand, Dims &batch, Dims &contract) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  Dims order(batch), free = freeDims(rank, batch, contract);
  order.append(free);
  order.append(contract);
  if (llvm::is_sorted(order))
    return;
  operand = g.transpose(operand, order);
  int64_t next = 0;
  for (int64_t &d : batch)
    d = next++;
  next += free.size();
  for (int64_t &d : contract)
    d = next++;
}

void fusion::normalizeContracts(func::FuncOp function) {
  SmallVector<graph::ContractOp> work(function.getBody().front().getOps<graph::ContractOp>());
  for (graph::ContractOp op : work) {
    if (matmulForm(op))
      continue;
    OpBuilder builder(op);
    graph::GraphBuilder g(builder, op.getLoc());
    Form form(op);
    sortOperand(g, form.lhs, form.lhsBatch, form.lhsContract);
    sortOperand(g, form.rhs, form.rhsBatch, form.rhsContract);
    form.writeTo(op);
  }
}

/// On the host: one row or column against a matrix, or a product of few multiplications. Anywhere:
/// unsigned integers, which no skeleton knows.
static bool isSmall(graph::ContractOp op, const Policy &policy) {
  std::optional<MatmulForm> form = matmulForm(op);
  if (getElementTypeOrSelf(op.getLhs().getType()).isUnsignedInteger())
    return true;
  if (!policy.isLibraryCall(op) || !form || elementsOf(op.getResult()) == 0 || form->k == 0)
    return false;
  int64_t batch = 1;
  for (int64_t b : form->batch)
    batch *= b;
  return form->m == 1 || form->n == 1 || batch * form->m * form->n * form->k <= 4096;
}

static void expandContract(graph::ContractOp op) {
  OpBuilder builder(op);
  graph::GraphBuilder g(builder, op.getLoc());
  Form form(op);
  auto lhsType = cast<RankedTensorType>(form.lhs.getType());
  auto rhsType = cast<RankedTensorType>(form.rhs.getType());
  Dims lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  // K goes innermost when it is contiguous in rhs, else in front of rhs's free dimensions.
  bool inner = rhsFree.empty() || llvm::is_contained(form.rhsContract, rhsType.getRank() - 1);
  Dims shape, lhsAt(lhsType.getRank()), rhsAt(rhsType.getRank()), reduced;
  auto add = [&](int64_t extent) {
    shape.push_back(extent);
    return static_cast<int64_t>(shape.size()) - 1;
  };
  for (auto [l, r] : llvm::zip_equal(form.lhsBatch, form.rhsBatch))
    lhsAt[l] = rhsAt[r] = add(lhsType.getDimSize(l));
  for (int64_t l : lhsFree)
    lhsAt[l] = add(lhsType.getDimSize(l));
  auto addContracted = [&] {
    for (auto [l, r] : llvm::zip_equal(form.lhsContract, form.rhsContract)) {
      lhsAt[l] = rhsAt[r] = add(lhsType.getDimSize(l));
      reduced.push_back(lhsAt[l]);
    }
  };
  if (!inner)
    addContracted();
  for (int64_t r : rhsFree)
    rhsAt[r] = add(rhsType.getDimSize(r));
  if (inner)
    addContracted();
  Type in = lhsType.getElementType();
  auto widen = [&](Value v) { // to the type of accumulation
    if (isa<FloatType>(in))
      return g.widen(v);
    return g.convert(v, builder.getIntegerType(in.getIntOrFloatBitWidth() > 32 ? 64 : 32));
  };
  auto spread = [&](Value v, ArrayRef<int64_t> at) { // operand dimension d → loop at[d]
    Dims order = llvm::to_vector(llvm::seq<int64_t>(0, at.size()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return at[a] < at[b]; });
    Dims dims = llvm::map_to_vector(order, [&](int64_t d) { return at[d]; });
    return g.broadcast(g.transpose(widen(v), order), shape, dims);
  };
  Value product = g.mul(spread(form.lhs, lhsAt), spread(form.rhs, rhsAt));
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  op.replaceAllUsesWith(g.convert(g.sum(product, reduced), element));
  op.erase();
}

unsigned fusion::expandSmallContracts(func::FuncOp function, const Policy &policy) {
  unsigned count = 0;
  SmallVector<graph::ContractOp> work(function.getBody().front().getOps<graph::ContractOp>());
  for (graph::ContractOp op : work)
    if (isSmall(op, policy)) {
      expandContract(op);
      ++count;
    }
  return count;
}
