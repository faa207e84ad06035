//===- ExpandSkeletons.cpp - products as programs of loops ----------------===//
//
// See Passes.td. Each skeleton becomes one program per row of its result; the epilogue moves into
// the loop over the row. Attention is in ExpandAttention.cpp.
//
//===----------------------------------------------------------------------===//
#include "lib/Transforms/Kernel/ExpandSkeletons.h"

namespace gpucc {
#define GEN_PASS_DEF_EXPANDSKELETONS
#include "lib/Transforms/Kernel/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;
using namespace gpucc::kernel;

Value gpucc::toAccumulator(OpBuilder &b, Location loc, Value v, Type type) {
  if (v.getType() == type)
    return v;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(b, loc, type, v);
  if (v.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith::TruncIOp::create(b, loc, type, v);
  return arith::ExtSIOp::create(b, loc, type, v);
}

Value gpucc::multiply(OpBuilder &b, Location loc, Value x, Value y) {
  return isa<FloatType>(x.getType()) ? arith::MulFOp::create(b, loc, x, y).getResult()
                                     : arith::MulIOp::create(b, loc, x, y).getResult();
}

void gpucc::cloneEpilogue(OpBuilder &b, Region &epilogue, ValueRange arguments) {
  IRMapping map;
  map.map(epilogue.getArguments(), arguments);
  for (Operation &op : epilogue.front().without_terminator())
    b.clone(op, map);
}

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//
static void expandContract(ContractOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  ArrayRef<int64_t> e = op.getExtents();
  Type type = op.getEpilogue().getArgument(0).getType();
  ProgramOp::create(b, loc, e.take_front(2), [&](OpBuilder &b, Location loc, ValueRange program) {
    Value batch = program[0], i = program[1];
    auto row = [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
      Value j = at[0];
      auto product = [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
        Value x = LoadOp::create(b, loc, op.getLhs(), op.getLhsMap(), ValueRange{batch, i, at[0]});
        Value y = LoadOp::create(b, loc, op.getRhs(), op.getRhsMap(), ValueRange{batch, at[0], j});
        return {multiply(b, loc, toAccumulator(b, loc, x, type), toAccumulator(b, loc, y, type))};
      };
      auto sum = LoopOp::create(b, loc, e.take_back(), LoopResultKind::Add, type, product);
      cloneEpilogue(b, op.getEpilogue(), {sum.getResult(0), batch, i, j});
      return {};
    };
    LoopOp::create(b, loc, e[2], ArrayRef<LoopResultKind>(), ArrayRef<Type>(), row);
  });
  op.erase();
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//
namespace {

/// The three products of a convolution, per element of the result: a sum over channels (or batch)
/// and window of lhs times rhs where the position exists.
class ConvolutionExpander {
public:
  explicit ConvolutionExpander(ConvolutionOp op)
      : op(op), input(op.getInputShape()), filter(op.getFilterShape()), output(op.getOutputShape()),
        spatial(input.size() - 2), type(op.getEpilogue().getArgument(0).getType()) {}

  void run() {
    OpBuilder b(op);
    ArrayRef<int64_t> result = op.getResultShape();
    ProgramOp::create(b, op.getLoc(), result.drop_back(),
                      [&](OpBuilder &b, Location loc, ValueRange program) {
                        auto row = [&](OpBuilder &b, Location loc, ValueRange at) {
                          SmallVector<Value> element(program);
                          element.push_back(at[0]);
                          emitElement(b, loc, element);
                          return SmallVector<Value>();
                        };
                        LoopOp::create(b, loc, result.take_back(), ArrayRef<LoopResultKind>(),
                                       ArrayRef<Type>(), row);
                      });
    op.erase();
  }

private:
  /// What is summed: channels of the group and the window; batch and output positions for the
  /// filter's gradient.
  SmallVector<int64_t> sumExtents() {
    SmallVector<int64_t> extents;
    switch (op.getKind()) {
    case ConvolutionKind::Forward:
      extents.push_back(filter[1]);
      break;
    case ConvolutionKind::InputGrad:
      extents.push_back(output[1] / op.getGroups());
      break;
    case ConvolutionKind::FilterGrad:
      extents.push_back(input[0]);
      extents.append(output.begin() + 2, output.end());
      return extents;
    }
    extents.append(filter.begin() + 2, filter.end());
    return extents;
  }

  void emitElement(OpBuilder &b, Location loc, ArrayRef<Value> element) {
    auto product = [&](OpBuilder &b, Location loc, ValueRange at) -> SmallVector<Value> {
      return {emitProduct(b, loc, element, at)};
    };
    auto sum = LoopOp::create(b, loc, sumExtents(), LoopResultKind::Add, type, product);
    SmallVector<Value> arguments{sum.getResult(0)};
    llvm::append_range(arguments, element);
    cloneEpilogue(b, op.getEpilogue(), arguments);
  }

  Value index(OpBuilder &b, int64_t v) { return arith::ConstantIndexOp::create(b, op.getLoc(), v); }
  Value scale(OpBuilder &b, Value x, int64_t factor, int64_t offset) {
    Value y = x;
    if (factor != 1)
      y = arith::MulIOp::create(b, op.getLoc(), y, index(b, factor));
    return offset ? arith::AddIOp::create(b, op.getLoc(), y, index(b, offset)).getResult() : y;
  }
  /// 0 ≤ x < extent, which one unsigned comparison says.
  Value inside(OpBuilder &b, Value x, int64_t extent, Value so) {
    Value in =
        arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::ult, x, index(b, extent));
    return so ? arith::AndIOp::create(b, op.getLoc(), so, in).getResult() : in;
  }
  /// The input position of output position `o` under window position `w`.
  Value inputPosition(OpBuilder &b, Value o, Value w, unsigned d) {
    Value a = scale(b, o, op.getStrides()[d], -op.getPadsLow()[d]);
    return arith::AddIOp::create(b, op.getLoc(), a, scale(b, w, op.getDilations()[d], 0));
  }

  Value emitProduct(OpBuilder &b, Location loc, ArrayRef<Value> element, ValueRange at) {
    int64_t groups = op.getGroups();
    int64_t inputPerGroup = filter[1], outputPerGroup = output[1] / groups;
    SmallVector<Value> left, right;
    Value guard;
    auto group = [&](Value channel, int64_t per) -> Value {
      return arith::DivUIOp::create(b, loc, channel, index(b, per));
    };
    auto within = [&](Value g, int64_t per, Value c) -> Value {
      return groups == 1 ? c : arith::AddIOp::create(b, loc, scale(b, g, per, 0), c).getResult();
    };
    switch (op.getKind()) {
    case ConvolutionKind::Forward: { // element n, o, position; at channel, window
      Value g = groups == 1 ? Value() : group(element[1], outputPerGroup);
      left = {element[0], within(g, inputPerGroup, at[0])};
      right = {element[1], at[0]};
      for (unsigned d = 0; d < spatial; ++d) {
        Value x = inputPosition(b, element[2 + d], at[1 + d], d);
        guard = inside(b, x, input[2 + d], guard);
        left.push_back(x);
        right.push_back(at[1 + d]);
      }
      break;
    }
    case ConvolutionKind::InputGrad: { // element n, c, position; at output channel, window
      Value g = groups == 1 ? Value() : group(element[1], inputPerGroup);
      Value o = within(g, outputPerGroup, at[0]);
      left = {element[0], o};
      right = {
          o, groups == 1
                 ? element[1]
                 : arith::RemUIOp::create(b, loc, element[1], index(b, inputPerGroup)).getResult()};
      for (unsigned d = 0; d < spatial; ++d) {
        // o * stride = position + pad - window * dilation, where that divides.
        Value x = arith::SubIOp::create(b, loc, scale(b, element[2 + d], 1, op.getPadsLow()[d]),
                                        scale(b, at[1 + d], op.getDilations()[d], 0));
        int64_t stride = op.getStrides()[d];
        if (stride != 1) {
          Value s = index(b, stride), quotient = arith::DivUIOp::create(b, loc, x, s);
          Value whole = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                              arith::MulIOp::create(b, loc, quotient, s), x);
          // A negative x is a huge unsigned number whose quotient is outside.
          guard = guard ? arith::AndIOp::create(b, loc, guard, whole).getResult() : whole;
          x = quotient;
        }
        guard = inside(b, x, output[2 + d], guard);
        left.push_back(x);
        right.push_back(at[1 + d]);
      }
      break;
    }
    case ConvolutionKind::FilterGrad: { // element o, c, window; at batch, output position
      Value g = groups == 1 ? Value() : group(element[0], outputPerGroup);
      left = {at[0], within(g, inputPerGroup, element[1])};
      right = {at[0], element[0]};
      for (unsigned d = 0; d < spatial; ++d) {
        Value x = inputPosition(b, at[1 + d], element[2 + d], d);
        guard = inside(b, x, input[2 + d], guard);
        left.push_back(x);
        right.push_back(at[1 + d]);
      }
      break;
    }
    }
    AffineMap map = b.getMultiDimIdentityMap(left.size());
    Type elementType = cast<MemRefType>(op.getLhs().getType()).getElementType();
    Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(elementType));
    Value x = LoadOp::create(b, loc, op.getLhs(), map, left, guard, zero);
    Value y = LoadOp::create(b, loc, op.getRhs(), map, right, guard, zero);
    return multiply(b, loc, toAccumulator(b, loc, x, type), toAccumulator(b, loc, y, type));
  }

  ConvolutionOp op;
  SmallVector<int64_t> input, filter, output;
  unsigned spatial;
  Type type;
};

struct ExpandSkeletons : gpucc::impl::ExpandSkeletonsBase<ExpandSkeletons> {
  using ExpandSkeletonsBase::ExpandSkeletonsBase;
  void runOnOperation() override {
    Operation *op = getOperation().getComputation();
    if (auto contract = dyn_cast<ContractOp>(op))
      expandContract(contract);
    else if (auto convolution = dyn_cast<ConvolutionOp>(op))
      ConvolutionExpander(convolution).run();
    else if (auto attention = dyn_cast<AttentionOp>(op))
      expandAttention(attention, attentionRows);
    else
      return;
    ++numExpanded;
  }
};

} // namespace
