//===- RandomProgram.cpp - random well-typed graph programs ---------------===//
#include "gpucc/Reference/RandomProgram.h"
#include "RandomSteps.h"

using namespace mlir;
using namespace gpucc;

static bool isFloatTensor(Value v) {
  return isa<FloatType>(cast<RankedTensorType>(v.getType()).getElementType());
}

/// Mean of the squares of all float results.
static Value buildLoss(graph::GraphBuilder &g, ArrayRef<Value> results) {
  Value loss;
  for (Value v : results) {
    if (!isFloatTensor(v))
      continue;
    RankedTensorType type = graph::tensorOf(v);
    auto all = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value mean = g.mul(g.sum(g.mul(v, v), all), 1.0 / static_cast<double>(type.getNumElements()));
    loss = loss ? g.add(loss, mean) : mean;
  }
  return loss;
}

OwningOpRef<ModuleOp> gpucc::buildRandomProgram(MLIRContext *context, uint64_t seed,
                                                const RandomProgramOptions &options) {
  context->loadDialect<base::BaseDialect, graph::GraphDialect, func::FuncDialect>();
  OpBuilder builder(context);
  Location loc = NameLoc::get(builder.getStringAttr("seed " + std::to_string(seed)));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
  function.addEntryBlock();
  detail::RandomSteps steps(function, seed, options);
  for (int i = 0; i < options.ops; ++i)
    steps.step();

  SmallVector<Value> results;
  for (Value v : steps.values())
    if (v.use_empty() && !isa<BlockArgument>(v))
      results.push_back(v);
  if (options.loss)
    if (Value loss = buildLoss(steps.graph(), results))
      results.push_back(loss);
  func::ReturnOp::create(steps.graph().builder, loc, results);
  Block &body = function.getBody().front();
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), ValueRange(results).getTypes()));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.setArgAttr(i, base::nameAttr, builder.getStringAttr("x" + std::to_string(i)));
    function.setArgAttr(i, base::kindAttr, builder.getStringAttr("input"));
  }
  for (unsigned i = 0; i < results.size(); ++i) {
    bool isLoss = options.loss && i + 1 == results.size();
    function.setResultAttr(i, base::nameAttr,
                           builder.getStringAttr(isLoss ? "loss" : "y" + std::to_string(i)));
    function.setResultAttr(i, base::kindAttr, builder.getStringAttr("output"));
  }
  return module;
}

SmallVector<HostTensor> gpucc::randomArguments(func::FuncOp function, uint64_t seed) {
  std::mt19937_64 random(seed * 2654435761u + 17);
  SmallVector<HostTensor> arguments;
  for (Type t : function.getArgumentTypes()) {
    auto type = cast<RankedTensorType>(t);
    HostTensor tensor(*toDType(type.getElementType()), toShape(type));
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      if (isFloat(tensor.dtype()))
        tensor.setFloat(i, static_cast<double>(random() >> 11) * 0x1p-52 - 1);
      else
        tensor.setInt(i, static_cast<int64_t>(random() % 8) - 2);
    }
    arguments.push_back(tensor);
  }
  return arguments;
}
