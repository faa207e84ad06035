//===- Prove.cpp - partition a program and compare it ---------------------===//
#include "Prove.h"

#include "dialects/Base/Base.h"
#include "gpucc/Transforms/Dist/Passes.h"
#include "gpucc/Transforms/Training/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"

#include <random>

using namespace mlir;
using namespace gpucc;

bool Proof::equal() const {
  return ran && llvm::all_of(steps, [](const SpmdReport &r) { return r.equal(); });
}

std::string Proof::dump() const {
  std::string out = diagnostics;
  for (const SpmdReport &report : steps)
    out += report.dump();
  return out + ir;
}

std::string readInput(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(DIST_INPUTS) + "/" + file);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

void prepare(MLIRContext &context) {
  context
      .loadDialect<base::BaseDialect, graph::GraphDialect, dist::DistDialect, func::FuncDialect>();
  static bool registered = [] {
    registerTransformsDistPasses();
    registerTransformsTrainingPasses();
    registerTransformsPasses();
    return true;
  }();
  (void)registered;
}

/// Small values; labels of classes are small integers.
static HostTensor randomTensor(Type type, std::mt19937 &random) {
  auto tensor = cast<RankedTensorType>(type);
  HostTensor out(*toDType(tensor.getElementType()), toShape(tensor));
  std::uniform_real_distribution<double> real(-1, 1);
  for (int64_t i = 0; i < out.numElements(); ++i)
    if (isFloat(out.dtype()))
      out.setFloat(i, real(random));
    else
      out.setInt(i, static_cast<int64_t>(random() % 4));
  return out;
}

static StringRef kindOf(func::FuncOp f, unsigned i) {
  auto kind = f.getArgAttrOfType<StringAttr>(i, base::kindAttr);
  return kind ? kind.getValue() : "";
}

static std::string nameOf(func::FuncOp f, unsigned i) {
  return f.getArgAttrOfType<StringAttr>(i, base::nameAttr).str();
}

/// Parameters and moments are random; accumulators and counters start at zero.
static NamedTensors randomState(ModuleOp module, std::mt19937 &random) {
  NamedTensors state;
  for (func::FuncOp f : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < f.getNumArguments(); ++i) {
      auto role = f.getArgAttrOfType<base::StateAttr>(i, base::stateAttr);
      if (!role || state.count(nameOf(f, i)))
        continue;
      Type type = f.getArgumentTypes()[i];
      HostTensor value = randomTensor(type, random);
      if (role.getRole() == base::StateRole::Moment2 || role.getRole() == base::StateRole::Stat)
        for (int64_t k = 0; k < value.numElements(); ++k)
          value.setFloat(k, 0.1 + std::fabs(value.getFloat(k)));
      if (role.getRole() == base::StateRole::Accumulator ||
          role.getRole() == base::StateRole::Counter)
        value = HostTensor(value.dtype(), value.shape());
      state[nameOf(f, i)] = value;
    }
  return state;
}

static std::vector<NamedTensors> randomInputs(ModuleOp module, int64_t microBatches,
                                              std::mt19937 &random) {
  std::vector<NamedTensors> batches(microBatches);
  for (NamedTensors &batch : batches)
    for (func::FuncOp f : module.getOps<func::FuncOp>())
      for (unsigned i = 0; i < f.getNumArguments(); ++i)
        if (kindOf(f, i) == "input" || kindOf(f, i) == "label")
          batch[nameOf(f, i)] = randomTensor(f.getArgumentTypes()[i], random);
  return batches;
}

Proof prove(const std::string &text, const ProofOptions &options) {
  Proof proof;
  MLIRContext context;
  prepare(context);
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    llvm::raw_string_ostream os(proof.diagnostics);
    os << d << "\n";
    for (Diagnostic &note : d.getNotes())
      os << "  note: " << note << "\n";
    return success();
  });
  OwningOpRef<ModuleOp> reference = parseSourceString<ModuleOp>(text, &context);
  if (!reference)
    return proof;
  PassManager number(&context);
  std::string before = options.before.empty() ? "" : options.before + ",";
  if (failed(parsePassPipeline(before + "gpucc-number-ops", number)) ||
      failed(number.run(*reference)))
    return proof;
  OwningOpRef<ModuleOp> partitioned = reference->clone();
  PassManager passes(&context);
  if (failed(parsePassPipeline(options.pipeline, passes)) || failed(passes.run(*partitioned)))
    return proof;
  if (options.spoil)
    options.spoil(*partitioned);
  llvm::raw_string_ostream(proof.ir) << *partitioned;
  partitioned->walk([&](dist::CollectiveOpInterface) { ++proof.collectives; });
  SpmdEvaluator one(*reference), all(*partitioned);
  std::mt19937 random(7);
  for (const auto &[name, value] : randomState(*reference, random)) {
    one.setState(name, value);
    all.setState(name, value);
  }
  for (int step = 0; step < options.steps; ++step) {
    auto report = compareStep(one, all, randomInputs(*reference, options.microBatches, random));
    if (failed(report))
      return proof;
    proof.steps.push_back(std::move(*report));
  }
  proof.ran = true;
  return proof;
}
