//===- Differentiate.cpp - loss, backward, accumulation -------------------===//
//
// One function, one reverse sweep:
//
//   y = main(x, w)                 forward, as imported
//   (sum, count) = loss(y, labels) appended
//   dw = vjp(...)                  ops marked base.backward
//   w.accumulator += dw            summed over micro-batches
//
// Gradients are sums, not means: the number of labels that count is known only
// when all micro-batches of all ranks are through, so @update divides.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"
#include "dialects/Base/ModuleAttrs.h"
#include "dialects/Graph/Decomposition.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

namespace {

struct Loss {
  Value sum, count; ///< f32 scalars; no count: the sum is the step's loss
};

class Differentiator {
public:
  Differentiator(func::FuncOp f, StringRef loss, int64_t ignoreIndex)
      : f(f), lossName(loss), ignoreIndex(ignoreIndex), builder(f.getContext()) {}

  LogicalResult run() {
    if (failed(checkNames()))
      return failure();
    Operation *ret = f.getBody().front().getTerminator();
    builder.setInsertionPoint(ret);
    Operation *lastOfModel = ret->getPrevNode();
    FailureOr<Loss> loss = buildLoss();
    if (failed(loss))
      return failure();
    Operation *lastForward = ret->getPrevNode();
    inheritStage(lastOfModel, lastForward);
    dropLossOutput();
    if (failed(sweep(*loss)))
      return failure();
    accumulate(*loss);
    markBackward(lastForward);
    f.setName("step");
    f->setAttr(base::segmentAttr, builder.getStringAttr("step"));
    return success();
  }

  int64_t gradients = 0, backwardOps = 0;

private:
  /// Names that training gives to tensors of its own.
  static bool isReserved(StringRef name) {
    return llvm::is_contained({"labels", "micro", "step", "loss", "lr", "grad_norm"}, name) ||
           name.ends_with(".accumulator") || name.ends_with(".moment1") ||
           name.ends_with(".moment2") || name.ends_with(".master");
  }

  LogicalResult checkNames() {
    auto refuse = [&](StringRef what, StringRef name) {
      return f.emitError()
             << "the model's " << what << " '" << name
             << "' has a name that training uses for a tensor of its own (labels, "
                "micro, step, loss, lr, grad_norm, *.accumulator, *.moment1, *.moment2, "
                "*.master); rename it in the model";
    };
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      if (isReserved(nameOf(f, i)) && !isCounter(i))
        return refuse(stateOf(f, i) ? "initializer" : "input", nameOf(f, i));
    for (unsigned i = 0; i < f.getNumResults(); ++i) {
      auto name = f.getResultAttrOfType<StringAttr>(i, base::nameAttr);
      auto kind = f.getResultAttrOfType<StringAttr>(i, base::kindAttr);
      if (!name || !kind || kind.getValue() != "output" || !isReserved(name))
        continue;
      if (name.getValue() != "loss" || (lossName != "output:loss" && lossName != "output-sum:loss"))
        return refuse("output", name);
    }
    return success();
  }

  bool isCounter(unsigned argument) {
    base::StateAttr state = stateOf(f, argument);
    return state && state.getRole() == base::StateRole::Counter;
  }

  /// The model's own output `loss` is the metric of that name.
  void dropLossOutput() {
    Operation *ret = f.getBody().front().getTerminator();
    for (unsigned i = f.getNumResults(); i-- > 0;) {
      auto name = f.getResultAttrOfType<StringAttr>(i, base::nameAttr);
      auto kind = f.getResultAttrOfType<StringAttr>(i, base::kindAttr);
      if (name && name.getValue() == "loss" && kind && kind.getValue() == "output") {
        ret->eraseOperand(i);
        (void)f.eraseResult(i);
      }
    }
  }

  FailureOr<Value> outputNamed(StringRef name) {
    Operation *ret = f.getBody().front().getTerminator();
    std::string known;
    for (unsigned i = 0; i < f.getNumResults(); ++i) {
      auto kind = f.getResultAttrOfType<StringAttr>(i, base::kindAttr);
      auto result = f.getResultAttrOfType<StringAttr>(i, base::nameAttr);
      if (!kind || kind.getValue() != "output" || !result)
        continue;
      if (name.empty() || result.getValue() == name)
        return ret->getOperand(i);
      known += (known.empty() ? "" : ", ") + result.str();
    }
    return f.emitError() << "the loss wants output '" << name
                         << "'; the model's outputs are: " << known
                         << "; choose one of them, as --loss output:NAME";
  }

  FailureOr<Loss> buildLoss() {
    graph::GraphBuilder g(builder, NameLoc::get(builder.getStringAttr("loss"), f.getLoc()));
    StringRef output = lossName;
    bool isSum = output.consume_front("output-sum:");
    bool direct = isSum || output.consume_front("output:");
    FailureOr<Value> y = outputNamed(direct ? output : "");
    if (failed(y))
      return failure();
    auto type = cast<RankedTensorType>(y->getType());
    if (!isa<FloatType>(type.getElementType()))
      return f.emitError() << "the loss is computed from an output of type " << type
                           << "; it must hold floats";
    if (direct)
      return directLoss(g, *y, output, isSum);
    if (lossName == "cross-entropy")
      return crossEntropy(g, *y, type);
    if (lossName == "mse")
      return meanSquaredError(g, *y, type);
    return f.emitError() << "unknown loss '" << lossName
                         << "'; known are cross-entropy, mse, output:NAME and output-sum:NAME";
  }

  /// Micro-batches that one step consumes.
  int64_t microBatches() {
    int64_t count = 1;
    for (StringRef name : {base::microBatchesAttr, base::accumulateAttr})
      if (auto attr = f->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(name))
        count *= attr.getInt();
    return count;
  }

  /// What the model computes for one micro-batch is a mean over its samples (output:NAME: the
  /// step's loss is the mean over micro-batches) or a sum (output-sum:NAME: the step's is the sum).
  /// Only so is it the same for any split of the batch.
  FailureOr<Loss> directLoss(graph::GraphBuilder &g, Value y, StringRef name, bool isSum) {
    auto type = cast<RankedTensorType>(y.getType());
    if (type.getNumElements() != 1)
      return f.emitError() << "output '" << name << "' has type " << type
                           << "; a loss has one element";
    if (!isSum && microBatches() > 1 && isPlainSum(y))
      return f.emitError() << "output '" << name
                           << "' is a sum over the samples of a micro-batch, and the loss "
                              "output:"
                           << name << " is the mean over the step's " << microBatches()
                           << " micro-batches: it would change with their number. Use --loss "
                              "output-sum:"
                           << name << ", or export a mean";
    Value sum = g.widen(g.reshape(y, {}));
    auto scalar = RankedTensorType::get({}, builder.getF32Type());
    return Loss{sum, isSum ? Value() : g.splat(scalar, 1.0)};
  }

  /// What a sum is divided by after the step, exactly 1: micro-batch 0 counts 1, the others 0. Were
  /// it a share of each, the shares would have to be numbers of f32.
  Value countOnce(graph::GraphBuilder &g, Value microBatch) {
    auto scalar = RankedTensorType::get({}, builder.getF32Type());
    Value isFirst = g.compare(graph::CompareKind::Eq, microBatch, g.scalarI64(0));
    return g.select(isFirst, g.splat(scalar, 1.0), g.splat(scalar, 0.0));
  }

  /// Surely a sum and no mean: no constant scales it before or after.
  static bool isPlainSum(Value y) {
    bool summed = false;
    Operation *op = y.getDefiningOp();
    for (; op; op = op->getOperand(0).getDefiningOp()) {
      if (isa<graph::CrossEntropyOp>(op))
        return true;
      if (isa<graph::ReshapeOp, graph::ConvertOp>(op))
        continue;
      auto reduce = dyn_cast<graph::ReduceOp>(op);
      if (!reduce || reduce.getKind() != graph::ReductionKind::Sum)
        break;
      summed |= cast<RankedTensorType>(reduce.getX().getType()).getNumElements() > 1;
    }
    auto binary = dyn_cast_or_null<graph::BinaryOp>(op);
    bool scaled = binary && llvm::any_of(binary->getOperands(), isConstant);
    return summed && !scaled;
  }

  static bool isConstant(Value value) {
    Operation *op = value.getDefiningOp();
    while (isa_and_present<graph::BroadcastOp, graph::ReshapeOp, graph::ConvertOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_present<graph::ConstantOp, graph::WeightOp>(op);
  }

  FailureOr<Loss> crossEntropy(graph::GraphBuilder &g, Value y, RankedTensorType type) {
    if (type.getRank() < 1)
      return f.emitError()
             << "cross-entropy takes logits with a class dimension; the output has type " << type;
    auto labels = RankedTensorType::get(type.getShape().drop_back(), builder.getI64Type());
    // The runtime refuses other labels: they would train silently toward no class.
    auto module = f->getParentOfType<ModuleOp>();
    module->setAttr(base::labelClassesAttr, builder.getI64IntegerAttr(type.getShape().back()));
    module->setAttr(base::ignoredLabelAttr, builder.getI64IntegerAttr(ignoreIndex));
    auto op = graph::CrossEntropyOp::create(builder, g.loc, y, labelArgument(labels),
                                            static_cast<uint64_t>(ignoreIndex));
    return Loss{op.getLoss(), op.getCount()};
  }

  FailureOr<Loss> meanSquaredError(graph::GraphBuilder &g, Value y, RankedTensorType type) {
    Value difference = g.widen(g.sub(y, labelArgument(type)));
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value sum = g.sum(g.mul(difference, difference), dims);
    auto scalar = RankedTensorType::get({}, cast<RankedTensorType>(sum.getType()).getElementType());
    return Loss{sum, g.splat(scalar, static_cast<double>(type.getNumElements()))};
  }

  /// The loss belongs to the pipeline stage of the model's last op.
  void inheritStage(Operation *lastOfModel, Operation *lastForward) {
    Attribute stage = lastOfModel ? lastOfModel->getAttr(base::stageAttr) : Attribute();
    for (Operation *op = lastForward; stage && op != lastOfModel; op = op->getPrevNode())
      op->setAttr(base::stageAttr, stage);
  }

  Value labelArgument(RankedTensorType type) {
    return addArgument(f, type, portAttrs(f.getContext(), "labels", "label"));
  }

  LogicalResult sweep(const Loss &loss) {
    for (unsigned i = 0; i < f.getNumArguments(); ++i)
      if (isTrainable(f, i))
        parameters.push_back(i);
    if (parameters.empty())
      return f.emitError("the model has no trainable parameter; see --freeze");
    SmallVector<Operation *> ops;
    for (Operation &op : f.getBody().front().without_terminator())
      ops.push_back(&op);
    SmallVector<Value> wanted;
    for (unsigned i : parameters)
      wanted.push_back(f.getArgument(i));
    graph::GraphBuilder g(builder, NameLoc::get(builder.getStringAttr("loss"), f.getLoc()));
    grads[loss.sum] = g.like(loss.sum, 1.0);
    if (failed(graph::reverseSweep(builder, ops, wanted, grads)))
      return failure();
    return checkGradients(wanted);
  }

  LogicalResult checkGradients(ArrayRef<Value> wanted) {
    if (llvm::none_of(wanted, [&](Value v) { return grads.lookup(v) != Value(); }))
      return f.emitError("no trainable parameter has a gradient: the loss depends on none of them, "
                         "or only through operators whose derivative is zero");
    for (Value v : wanted)
      if (cast<RankedTensorType>(v.getType()).getElementType().isF64())
        return f.emitError() << "parameter '" << nameOf(f, cast<BlockArgument>(v).getArgNumber())
                             << "' is f64; training is for f32 and narrower: convert the model, or "
                                "--freeze it";
    return success();
  }

  /// The gradient in f32: a sum of several uses' shares is formed in f32, not in the low type.
  static Value widenSum(graph::GraphBuilder &g, Value gradient) {
    auto sum = gradient.getDefiningOp<graph::BinaryOp>();
    Type element = cast<RankedTensorType>(gradient.getType()).getElementType();
    if (element.getIntOrFloatBitWidth() >= 32 || !sum || sum.getKind() != graph::BinaryKind::Add)
      return g.widen(gradient);
    return g.add(widenSum(g, sum.getLhs()), widenSum(g, sum.getRhs()));
  }

  void accumulate(const Loss &loss) {
    MLIRContext *context = f.getContext();
    auto state = [&](base::StateRole role, StringRef of = "") {
      return base::StateAttr::get(context, role, of, true, {});
    };
    graph::GraphBuilder g(builder, NameLoc::get(builder.getStringAttr("accumulate"), f.getLoc()));
    auto scalarI64 = RankedTensorType::get({}, builder.getI64Type());
    State micro = getState(f, "micro", scalarI64, state(base::StateRole::Counter));
    setState(f, micro, g.add(micro.value, g.scalarI64(1)));
    auto add = [&](StringRef name, Value value, base::StateAttr attr,
                   DictionaryAttr parameter = {}) {
      State s = addState(f, name, value.getType(), attr);
      if (parameter)
        derivePlace(f, s, parameter, attr.getRole());
      setState(f, s, g.add(s.value, value));
    };
    add("loss.accumulator", loss.sum, state(base::StateRole::Accumulator));
    add("count.accumulator", loss.count ? loss.count : countOnce(g, micro.value),
        state(base::StateRole::Accumulator));
    for (unsigned i : parameters) {
      Value gradient = grads.lookup(f.getArgument(i));
      if (!gradient) // reaches no output of the loss
        continue;
      ++gradients;
      std::string name = nameOf(f, i).str();
      add(derivedName(name, base::StateRole::Accumulator), widenSum(g, gradient),
          stateWithStart(base::StateRole::Accumulator, name, stateOf(f, i)), f.getArgAttrDict(i));
    }
  }

  /// Pieces of an initializer have pieces for gradients.
  base::StateAttr stateWithStart(base::StateRole role, StringRef of, base::StateAttr parameter) {
    return base::StateAttr::get(f.getContext(), role, of, true, parameter.getStart());
  }

  void markBackward(Operation *lastForward) {
    Operation *op = lastForward ? lastForward->getNextNode() : &f.getBody().front().front();
    for (; op && !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode()) {
      op->setAttr(base::backwardAttr, builder.getUnitAttr());
      ++backwardOps;
    }
  }

  func::FuncOp f;
  StringRef lossName;
  int64_t ignoreIndex;
  OpBuilder builder;
  SmallVector<unsigned> parameters;
  DenseMap<Value, Value> grads;
};

struct DifferentiatePass : gpucc::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;
  void runOnOperation() override {
    auto f = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!f) {
      getOperation().emitError(
          "there is no @main to differentiate; training takes one profile: bind "
          "each symbolic dimension once");
      return signalPassFailure();
    }
    Differentiator differentiator(f, loss, ignoreIndex);
    if (failed(differentiator.run()))
      return signalPassFailure();
    numGradients += differentiator.gradients;
    numBackwardOps += differentiator.backwardOps;
  }
};

} // namespace
