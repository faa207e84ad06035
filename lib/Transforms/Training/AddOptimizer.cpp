//===- AddOptimizer.cpp - mean gradient, clipping, schedule, optimizer ----===//
//
// @update in five lines, for each trainable parameter p with accumulator a:
//
//   g      = a / max(count, 1)
//   norm   = sqrt(sum over all p of sum(g²))
//   g      = g * min(1, clip / (norm + 1e-6))
//   lr     = schedule(step)
//   p, ... = sgd or adamw (p, g, lr, ...)
//
// and then a, the loss and count accumulators and micro are 0, and step grows by 1.
// The 1 under a step whose labels are all ignored makes its gradients 0, as
// PyTorch's are.
//
// Bias corrections and the schedule are computed in f64 from the step counter,
// as PyTorch does with Python floats; tensors stay in f32.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Transforms/Training/Passes.h"

#include "Ports.h"
#include "Schedule.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

namespace gpucc {
#define GEN_PASS_DEF_ADDOPTIMIZER
#include "lib/Transforms/Training/Passes.h.inc"
} // namespace gpucc

namespace {

struct Settings {
  bool adamw = false;
  double momentum = 0, weightDecay = 0, beta1 = 0, beta2 = 0, epsilon = 0, clipNorm = 0;
  LearningRateSchedule schedule;
};

class UpdateBuilder {
public:
  UpdateBuilder(func::FuncOp step, const Settings &settings)
      : step(step), settings(settings), context(step.getContext()), builder(context),
        g(builder, NameLoc::get(builder.getStringAttr("optimizer"), step.getLoc())) {}

  int64_t build() {
    start();
    collectParameters();
    readScalars();
    meanGradients();
    clip();
    for (Parameter &p : parameters)
      settings.adamw ? updateAdamW(p) : updateSgd(p);
    finish();
    return static_cast<int64_t>(parameters.size());
  }

private:
  struct Parameter {
    std::string name;
    base::StateAttr attr;
    State value, accumulator;
    std::optional<State> master; ///< f32 copy that is updated, when the parameter is narrower
    Value gradient;
  };

  void start() {
    builder.setInsertionPointAfter(step);
    update = func::FuncOp::create(builder, step.getLoc(), "update",
                                  builder.getFunctionType(TypeRange{}, TypeRange{}));
    update->setAttr(base::segmentAttr, builder.getStringAttr("update"));
    if (Attribute profile = step->getAttr(base::profileAttr))
      update->setAttr(base::profileAttr, profile);
    Block *body = update.addEntryBlock();
    builder.setInsertionPointToEnd(body);
    auto ret = func::ReturnOp::create(builder, step.getLoc());
    builder.setInsertionPoint(ret);
  }

  base::StateAttr role(base::StateRole r, StringRef of = "", ArrayRef<int64_t> start = {}) {
    return base::StateAttr::get(context, r, of, true, start);
  }

  /// Parameters that @step accumulates a gradient for.
  void collectParameters() {
    std::map<std::string, unsigned> accumulators;
    for (unsigned i = 0; i < step.getNumArguments(); ++i)
      if (base::StateAttr s = stateOf(step, i); s && s.getRole() == base::StateRole::Accumulator)
        accumulators[nameOf(step, i).str()] = i;
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (!isTrainable(step, i))
        continue;
      std::string name = nameOf(step, i).str();
      auto it = accumulators.find(derivedName(name, base::StateRole::Accumulator));
      if (it == accumulators.end())
        continue;
      Parameter p{name, stateOf(step, i), copyState(i), copyState(it->second), {}, {}};
      if (elementOf(p.value.value) != elementOf(p.accumulator.value))
        p.master = derivedState(p, base::StateRole::Master);
      parameters.push_back(p);
    }
  }

  /// The state argument of @step also as one of @update.
  State copyState(unsigned i) {
    State s = addState(update, nameOf(step, i), step.getArgumentTypes()[i], stateOf(step, i));
    for (NamedAttribute a : step.getArgAttrDict(i))
      update.setArgAttr(s.index, a.getName(), a.getValue());
    return s;
  }

  void readScalars() {
    auto i64 = RankedTensorType::get({}, builder.getI64Type());
    auto f32 = RankedTensorType::get({}, builder.getF32Type());
    stepCounter = getState(update, "step", i64, role(base::StateRole::Counter));
    micro = getState(update, "micro", i64, role(base::StateRole::Counter));
    lossSum = getState(update, "loss.accumulator", f32, role(base::StateRole::Accumulator));
    count = getState(update, "count.accumulator", f32, role(base::StateRole::Accumulator));
    rate64 = settings.schedule.build(g, stepCounter.value);
    rate = g.convert(rate64, builder.getF32Type());
  }

  Value spread(Value scalar, Value like) {
    return g.broadcastScalar(scalar, cast<RankedTensorType>(like.getType()).getShape());
  }

  void meanGradients() {
    Value counted = g.binary(graph::BinaryKind::Max, count.value, g.like(count.value, 1.0));
    for (Parameter &p : parameters)
      p.gradient = g.div(p.accumulator.value, spread(counted, p.accumulator.value));
  }

  void clip() {
    Value total;
    for (Parameter &p : parameters) {
      auto dims = llvm::to_vector(
          llvm::seq<int64_t>(0, cast<RankedTensorType>(p.gradient.getType()).getRank()));
      Value sum = g.sum(g.mul(p.gradient, p.gradient), dims);
      total = total ? g.add(total, sum) : sum;
    }
    norm = g.unary(graph::UnaryKind::Sqrt, total);
    if (settings.clipNorm <= 0)
      return;
    Value factor = g.div(g.like(norm, settings.clipNorm), g.add(norm, 1e-6));
    factor = g.binary(graph::BinaryKind::Min, factor, g.like(factor, 1.0));
    for (Parameter &p : parameters)
      p.gradient = g.mul(p.gradient, spread(factor, p.gradient));
  }

  static Type elementOf(Value v) { return cast<RankedTensorType>(v.getType()).getElementType(); }

  /// A state of the parameter's shape, in the accumulator's type. A piece of an initializer has
  /// pieces for masters and moments.
  State derivedState(const Parameter &p, base::StateRole r) {
    State s = addState(update, derivedName(p.name, r), p.accumulator.value.getType(),
                       role(r, p.name, p.attr.getStart()));
    derivePlace(update, s, update.getArgAttrDict(p.value.index), r);
    return s;
  }

  /// The value that the optimizer works on.
  Value current(const Parameter &p) { return p.master ? p.master->value : g.widen(p.value.value); }

  void updateSgd(Parameter &p) {
    Value value = current(p), direction = p.gradient;
    if (settings.weightDecay != 0)
      direction = g.add(direction, g.mul(value, settings.weightDecay));
    if (settings.momentum != 0) {
      State m = derivedState(p, base::StateRole::Moment1);
      direction = g.add(g.mul(m.value, settings.momentum), direction);
      setState(update, m, direction);
    }
    store(p, g.sub(value, g.mul(direction, spread(rate, direction))));
  }

  /// 1 - beta^(step + 1), in f64.
  Value biasCorrection(double beta) {
    Value t = g.add(g.convert(stepCounter.value, builder.getF64Type()), 1.0);
    Value power = g.binary(graph::BinaryKind::Pow, g.like(t, beta), t);
    return g.add(g.unary(graph::UnaryKind::Neg, power), 1.0);
  }

  void updateAdamW(Parameter &p) {
    if (!stepSize) {
      stepSize = g.convert(g.div(rate64, biasCorrection(settings.beta1)), builder.getF32Type());
      rootCorrection2 = g.convert(g.unary(graph::UnaryKind::Sqrt, biasCorrection(settings.beta2)),
                                  builder.getF32Type());
      decay = g.add(g.mul(rate, -settings.weightDecay), 1.0);
    }
    Value value = current(p);
    State m = derivedState(p, base::StateRole::Moment1),
          v = derivedState(p, base::StateRole::Moment2);
    if (settings.weightDecay != 0)
      value = g.mul(value, spread(decay, value));
    Value newM = g.add(g.mul(m.value, settings.beta1), g.mul(p.gradient, 1 - settings.beta1));
    Value newV = g.add(g.mul(v.value, settings.beta2),
                       g.mul(g.mul(p.gradient, p.gradient), 1 - settings.beta2));
    Value root = g.div(g.unary(graph::UnaryKind::Sqrt, newV), spread(rootCorrection2, newV));
    Value change = g.div(newM, g.add(root, settings.epsilon));
    store(p, g.sub(value, g.mul(change, spread(stepSize, change))));
    setState(update, m, newM);
    setState(update, v, newV);
  }

  void store(Parameter &p, Value newValue) {
    if (p.master)
      setState(update, *p.master, newValue);
    setState(update, p.value, g.convert(newValue, elementOf(p.value.value)));
  }

  void finish() {
    for (Parameter &p : parameters)
      setState(update, p.accumulator, g.like(p.accumulator.value, 0.0));
    setState(update, stepCounter, g.add(stepCounter.value, g.scalarI64(1)));
    setState(update, micro, g.scalarI64(0));
    setState(update, lossSum, g.like(lossSum.value, 0.0));
    setState(update, count, g.like(count.value, 0.0));
    addResult(update, g.div(lossSum.value, count.value), portAttrs(context, "loss", "metric"));
    addResult(update, rate, portAttrs(context, "lr", "metric"));
    addResult(update, norm, portAttrs(context, "grad_norm", "metric"));
  }

  func::FuncOp step, update;
  const Settings &settings;
  MLIRContext *context;
  OpBuilder builder;
  graph::GraphBuilder g;
  std::vector<Parameter> parameters;
  State stepCounter, micro, lossSum, count;
  Value rate64, rate, norm, stepSize, rootCorrection2, decay;
};

struct AddOptimizerPass : gpucc::impl::AddOptimizerBase<AddOptimizerPass> {
  using AddOptimizerBase::AddOptimizerBase;
  void runOnOperation() override {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    std::string error;
    auto parsed = LearningRateSchedule::parse(schedule, learningRate, error);
    if (!step)
      error = "there is no @step; run gpucc-differentiate first";
    else if (optimizer != "sgd" && optimizer != "adamw")
      error = "unknown optimizer '" + optimizer + "'; known are sgd and adamw";
    if (!error.empty()) {
      getOperation().emitError(error);
      return signalPassFailure();
    }
    Settings settings{
        optimizer == "adamw", momentum, weightDecay, beta1, beta2, epsilon, clipNorm, *parsed};
    numUpdated += UpdateBuilder(step, settings).build();
  }
};

} // namespace
