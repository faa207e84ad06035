//===- MixedPrecision.cpp - low precision where it is safe ----------------===//
//
// One walk over @main, op by op, by the policy of PrecisionPolicy.h. A value is
// *weak* when it comes from parameters and constants alone: it takes the type
// that its reader wants. Casting a weak value casts its source and repeats the
// views between, so that the cast ends at the parameter:
//
//   before  %t = transpose %w;  %y = contract %x, %t              f32
//   after   %t = transpose %w;  %y = contract convert(%x), %t     %w: bf16 state
//
// Training: a parameter that is read in low precision becomes low-precision
// state; add-optimizer keeps its f32 master. Inference: a weight becomes a
// weight of the low type, rounded while the plan is loaded. Inputs and outputs
// of the function keep their types.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"
#include "PrecisionPolicy.h"
#include "dialects/Graph/Build.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

namespace {

class Rewriter {
public:
  Rewriter(func::FuncOp f, FloatType low) : f(f), low(low), builder(f.getContext()) {
    wide = builder.getF32Type();
  }

  void run() {
    outputTypes.assign(f.getResultTypes().begin(), f.getResultTypes().end());
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      if (stateOf(f, i))
        weak.insert(f.getArgument(i));
    for (Operation &op : llvm::make_early_inc_range(f.getBody().front().without_terminator()))
      visit(&op);
    restoreOutputs();
    adoptParameters();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(f.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  int64_t lowOps = 0, lowParameters = 0;

private:
  static FloatType floatOf(Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    return type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  }
  /// Only f32 and the low type take part; f64 and 8-bit floats are left alone.
  bool takesPart(Value v) const { return floatOf(v) == wide || floatOf(v) == low; }

  void visit(Operation *op) {
    if (isa<graph::ConvertOp>(op)) {
      if (weak.contains(op->getOperand(0)))
        weak.insert(op->getResult(0));
      return;
    }
    bool strong = llvm::any_of(op->getOperands(), [&](Value v) { return !weak.contains(v); });
    if (!strong) { // leaves too: they wait for a reader
      weak.insert_range(op->getResults());
      return;
    }
    bool embedding = isa<graph::GatherOp>(op) && weak.contains(op->getOperand(0));
    Policy policy = policyOf(op, embedding);
    bool cameLow = op->getNumOperands() && floatOf(op->getOperand(0)) == low &&
                   !weak.contains(op->getOperand(0));
    FloatType wanted = policy == Policy::Low      ? low
                       : policy == Policy::Follow ? followed(op)
                                                  : FloatType(wide);
    if (!wanted)
      return;
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (takesPart(operand.get()))
        operand.set(cast(operand.get(), wanted));
    for (Value result : op->getResults())
      if (takesPart(result) && !(policy == Policy::Low && givesOut(op)))
        result.setType(typed(result, wanted));
    lowOps += wanted == low;
    if (policy == Policy::WideInside && cameLow)
      narrow(op->getResult(0));
  }

  /// A product that names its result type keeps it.
  static bool givesOut(Operation *op) {
    auto contract = dyn_cast<graph::ContractOp>(op);
    return contract && contract.getOut();
  }

  /// The widest float among the activations; none when there is no such operand.
  FloatType followed(Operation *op) const {
    FloatType widest;
    for (Value v : op->getOperands())
      if (takesPart(v) && !weak.contains(v) && (!widest || floatOf(v) == wide))
        widest = floatOf(v);
    return widest;
  }

  RankedTensorType typed(Value v, FloatType element) const {
    return mlir::cast<RankedTensorType>(v.getType()).clone(element);
  }

  /// Readers of `result` that come later get it in the low type.
  void narrow(Value result) {
    builder.setInsertionPointAfter(result.getDefiningOp());
    auto convert = graph::ConvertOp::create(builder, result.getLoc(), result, low);
    result.replaceAllUsesExcept(convert, convert);
  }

  Value cast(Value v, FloatType element) {
    if (floatOf(v) == element)
      return v;
    auto [it, isNew] = casts.try_emplace({v, element});
    if (!isNew)
      return it->second;
    Value result = makeCast(v, element);
    if (weak.contains(v))
      weak.insert(result);
    return casts[{v, element}] = result;
  }

  Value makeCast(Value v, FloatType element) {
    OpBuilder::InsertionGuard guard(builder);
    Operation *op = v.getDefiningOp();
    if (op)
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(&f.getBody().front());
    if (op && weak.contains(v)) {
      if (Value leaf = castLeaf(op, element))
        return leaf;
      if (isa<graph::ReshapeOp, graph::TransposeOp, graph::BroadcastOp, graph::SliceOp>(op))
        return castView(op, element);
    }
    return graph::ConvertOp::create(builder, v.getLoc(), v, element);
  }

  /// A constant or weight in another type.
  Value castLeaf(Operation *op, FloatType element) {
    RankedTensorType type = typed(op->getResult(0), element);
    if (auto weight = dyn_cast<graph::WeightOp>(op))
      return graph::WeightOp::create(builder, op->getLoc(), type, weight.getKeyAttr(),
                                     TypeAttr::get(type), weight.getStartAttr());
    auto constant = dyn_cast<graph::ConstantOp>(op);
    auto dense = constant ? dyn_cast<DenseFPElementsAttr>(constant.getValue()) : nullptr;
    if (!dense || !dense.isSplat())
      return {};
    graph::GraphBuilder g(builder, op->getLoc());
    return g.splat(type, dense.getSplatValue<APFloat>().convertToDouble());
  }

  /// The same view of the cast source.
  Value castView(Operation *op, FloatType element) {
    Value source = cast(op->getOperand(0), element);
    Operation *clone = builder.clone(*op);
    clone->setOperand(0, source);
    clone->getResult(0).setType(typed(op->getResult(0), element));
    return clone->getResult(0);
  }

  void restoreOutputs() {
    Operation *ret = f.getBody().front().getTerminator();
    builder.setInsertionPoint(ret);
    for (auto [operand, type] : llvm::zip(ret->getOpOperands(), outputTypes))
      if (operand.get().getType() != type)
        operand.set(cast(operand.get(), mlir::cast<FloatType>(
                                            mlir::cast<RankedTensorType>(type).getElementType())));
  }

  /// Parameters with a reader in the low type become state of that type.
  void adoptParameters() {
    for (unsigned i = 0; i < f.getNumArguments(); ++i) {
      Value argument = f.getArgument(i);
      base::StateAttr state = stateOf(f, i);
      Value lowCopy = casts.lookup({argument, low});
      if (!state || state.getRole() != base::StateRole::Param || !lowCopy || isReturned(argument))
        continue;
      ++lowParameters;
      SmallVector<OpOperand *> others; // these still expect f32
      for (OpOperand &use : argument.getUses())
        if (use.getOwner() != lowCopy.getDefiningOp())
          others.push_back(&use);
      argument.setType(typed(argument, low));
      lowCopy.replaceAllUsesWith(argument);
      lowCopy.getDefiningOp()->erase();
      if (others.empty())
        continue;
      builder.setInsertionPointToStart(&f.getBody().front());
      Value widened = graph::ConvertOp::create(builder, argument.getLoc(), argument, wide);
      for (OpOperand *use : others)
        use->set(widened);
    }
    f.setFunctionType(
        FunctionType::get(f.getContext(), f.getBody().getArgumentTypes(), f.getResultTypes()));
  }

  static bool isReturned(Value v) {
    return llvm::any_of(v.getUsers(),
                        [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
  }

  func::FuncOp f;
  FloatType low, wide;
  OpBuilder builder;
  SmallVector<Type> outputTypes;
  llvm::DenseSet<Value> weak;
  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
};

struct MixedPrecisionPass : gpucc::impl::MixedPrecisionBase<MixedPrecisionPass> {
  using MixedPrecisionBase::MixedPrecisionBase;
  void runOnOperation() override {
    StringRef name = precision;
    if (name == "f32")
      return;
    if (name == "tf32")
      return roundProducts();
    bool bf16 = name == "bf16" || name == "mixed-bf16";
    if (!bf16 && name != "f16") {
      getOperation().emitError() << "unknown precision '" << name
                                 << "'; known are f32, tf32, bf16, f16, mixed-bf16";
      return signalPassFailure();
    }
    MLIRContext *context = &getContext();
    FloatType low =
        bf16 ? FloatType(BFloat16Type::get(context)) : FloatType(Float16Type::get(context));
    for (auto f : getOperation().getOps<func::FuncOp>()) {
      Rewriter rewriter(f, low);
      rewriter.run();
      numLow += rewriter.lowOps;
      numParameters += rewriter.lowParameters;
    }
  }

private:
  void roundProducts() {
    getOperation().walk([&](graph::ContractOp op) {
      if (!mlir::cast<RankedTensorType>(op.getLhs().getType()).getElementType().isF32())
        return;
      op.setPrecision(graph::Precision::Tf32);
      ++numLow;
    });
  }
};

} // namespace
