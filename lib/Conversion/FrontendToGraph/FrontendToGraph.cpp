//===- FrontendToGraph.cpp - one function per profile ---------------------===//
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"

#include "lib/Conversion/FrontendToGraph/InputLimits.h"
#include "lib/Conversion/FrontendToGraph/ModelConverter.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;

using Symbols = std::vector<std::string>;

/// The symbols of the inputs, in the order of their first use.
static Symbols symbolsOf(frontend::GraphOp source, const ConversionOptions &options) {
  Symbols symbols;
  for (auto [arg, name, dims] :
       llvm::zip(source.getBody().getArguments(), source.getInputs(), source.getDims())) {
    std::string input = cast<StringAttr>(name).getValue().str();
    auto type = dyn_cast<RankedTensorType>(arg.getType());
    if (!type || options.inputShapes.count(input) || options.constantInputs.count(input))
      continue;
    for (auto [d, symbol] : llvm::enumerate(cast<ArrayAttr>(dims)))
      if (type.isDynamicDim(d) && !llvm::is_contained(symbols, cast<StringAttr>(symbol).getValue()))
        symbols.push_back(cast<StringAttr>(symbol).getValue().str());
  }
  return symbols;
}

static std::string example(const Symbols &symbols) {
  std::string text;
  for (const std::string &symbol : symbols)
    text += (text.empty() ? "" : ",") + symbol + "=1";
  return text;
}

/// Every symbol bound, and nothing else.
static bool checkProfiles(frontend::GraphOp source, const Symbols &symbols,
                          const std::vector<ProfileBinding> &profiles) {
  bool fine = true;
  for (const ProfileBinding &profile : profiles) {
    std::string missing, unknown;
    for (const std::string &symbol : symbols)
      if (!profile.sizes.count(symbol))
        missing += (missing.empty() ? "" : ", ") + symbol;
    for (const auto &[symbol, size] : profile.sizes)
      if (!llvm::is_contained(symbols, symbol))
        unknown += (unknown.empty() ? "" : ", ") + symbol;
    if (!missing.empty()) {
      auto diag = emitError(source.getLoc())
                  << "profile '" << profile.name << "' gives no size to " << missing;
      diag.attachNote() << "the model has these symbolic dimensions: write --profile "
                        << example(symbols) << " with the sizes you need";
      fine = false;
    }
    if (!unknown.empty()) {
      auto diag = emitError(source.getLoc()) << "profile '" << profile.name << "' gives a size to "
                                             << unknown << ", which the model does not have";
      diag.attachNote() << (symbols.empty()
                                ? std::string("all its dimensions are fixed: leave --profile out")
                                : "its symbolic dimensions: --profile " + example(symbols));
      fine = false;
    }
  }
  return fine;
}

/// One error for all nodes that have no conversion, one note each.
static void emitMissing(frontend::GraphOp source, const std::vector<frontend::MissingOp> &missing) {
  auto diag = emitError(source.getLoc())
              << "the model has " << missing.size() << " node" << (missing.size() == 1 ? "" : "s")
              << " that gpucc cannot compile";
  for (const frontend::MissingOp &m : missing)
    diag.attachNote() << "'" << m.node << "' (" << m.kind << ", opset " << m.version
                      << "): " << m.reason;
}

static void moveFiles(ModuleOp module) {
  if (Attribute files = module->removeAttr(frontend::filesAttr))
    module->setAttr(graph::filesAttr, files);
}

/// Entries of the weight table that no function reads.
static void eraseUnusedWeights(ModuleOp module) {
  llvm::DenseSet<StringRef> used;
  for (auto function : module.getOps<func::FuncOp>()) {
    function.walk([&](graph::WeightOp op) { used.insert(op.getKey()); });
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (auto name = function.getArgAttrOfType<StringAttr>(i, base::nameAttr))
        used.insert(name.getValue());
  }
  for (auto data : llvm::make_early_inc_range(module.getOps<graph::WeightDataOp>()))
    if (!used.contains(data.getSymName()))
      data.erase();
}

Conversion gpucc::convertFrontendToGraph(ModuleOp module, const ConversionOptions &options) {
  module.getContext()->loadDialect<graph::GraphDialect, base::BaseDialect, func::FuncDialect>();
  Conversion outcome;
  auto graphs = module.getOps<frontend::GraphOp>();
  if (!llvm::hasSingleElement(graphs)) {
    emitError(module.getLoc()) << "expected one frontend.graph in the module, found "
                               << std::distance(graphs.begin(), graphs.end());
    outcome.status = frontend::Status::BadInput;
    return outcome;
  }
  frontend::GraphOp source = *graphs.begin();
  auto symbols = symbolsOf(source, options);
  std::vector<ProfileBinding> profiles = options.profiles;
  if (profiles.empty()) {
    profiles.push_back({"p0", {}});
    for (const std::string &symbol : symbols)
      profiles.back().sizes[symbol] = 1;
    if (!symbols.empty())
      emitWarning(source.getLoc()) << "symbolic dimensions are bound to 1; choose sizes with "
                                      "--profile "
                                   << example(symbols);
  } else if (!checkProfiles(source, symbols, profiles)) {
    outcome.status = frontend::Status::BadInput;
    return outcome;
  }
  moveFiles(module);
  WeightReader reader(module, options.folder);
  for (auto [i, profile] : llvm::enumerate(profiles)) {
    ModelConverter converter(module, source, options, profile, reader, outcome);
    std::string name = profiles.size() == 1 ? "main" : "main_p" + std::to_string(i);
    converter.run(name, !symbols.empty());
    if (outcome.status != frontend::Status::Ok)
      break; // other profiles would repeat the same complaints
  }
  if (!outcome.missing.empty())
    emitMissing(source, outcome.missing);
  if (outcome.status == frontend::Status::Ok) {
    source.erase();
    eraseUnusedWeights(module);
    noteInputLimits(module);
  }
  return outcome;
}
