//===- OpInstances.cpp - drawing inputs for the instances -----------------===//
#include "OpInstances.h"
#include "InstanceTexts.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace gpucc;

void gpucc::test::loadDialects(MLIRContext &context) {
  context.loadDialect<base::BaseDialect, graph::GraphDialect, func::FuncDialect>();
  context.allowUnregisteredDialects();
}

OwningOpRef<ModuleOp> gpucc::test::parseInstances(MLIRContext &context) {
  std::string all = "module attributes {graph.files = [\"weights.bin\"]} {\n";
  for (const char *text : instanceTexts)
    all += text;
  return parseSourceString<ModuleOp>(all + "}\n", &context);
}

Operation *gpucc::test::opUnderTest(func::FuncOp instance) {
  return instance.getBody().front().getTerminator()->getPrevNode();
}

double gpucc::test::uniform(std::mt19937_64 &random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

static std::pair<double, double> range(DictionaryAttr attrs, StringRef name,
                                       std::pair<double, double> otherwise) {
  auto list = attrs ? attrs.getAs<ArrayAttr>(name) : ArrayAttr();
  if (!list)
    return otherwise;
  auto number = [&](int i) {
    if (auto f = dyn_cast<FloatAttr>(list[i]))
      return f.getValueAsDouble();
    return static_cast<double>(cast<IntegerAttr>(list[i]).getInt());
  };
  return {number(0), number(1)};
}

SmallVector<HostTensor> gpucc::test::drawInputs(func::FuncOp instance, std::mt19937_64 &random) {
  SmallVector<HostTensor> inputs;
  for (unsigned i = 0; i < instance.getNumArguments(); ++i) {
    Type type = instance.getArgumentTypes()[i];
    HostTensor t(*toDType(cast<RankedTensorType>(type).getElementType()), toShape(type));
    DictionaryAttr attrs = instance.getArgAttrDict(i);
    int64_t n = t.numElements();
    if (!isFloat(t.dtype())) {
      auto [lo, hi] = range(attrs, "test.ints", {0, 2});
      for (int64_t k = 0; k < n; ++k)
        t.setInt(k, static_cast<int64_t>(std::floor(lo + uniform(random) * (hi - lo))));
    } else {
      auto [lo, hi] = range(attrs, "test.range", {-2, 2});
      bool distinct = attrs && attrs.contains("test.distinct");
      std::vector<int64_t> order(n);
      for (int64_t k = 0; k < n; ++k)
        order[k] = k;
      for (int64_t k = n; k-- > 1;)
        std::swap(order[k], order[random() % (k + 1)]);
      for (int64_t k = 0; k < n; ++k) {
        double u = distinct ? (static_cast<double>(order[k]) + 0.25 + 0.5 * uniform(random)) /
                                  static_cast<double>(n)
                            : uniform(random);
        t.setFloat(k, lo + u * (hi - lo));
      }
    }
    inputs.push_back(t);
  }
  return inputs;
}
