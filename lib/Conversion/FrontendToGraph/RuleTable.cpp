//===- RuleTable.cpp - which rule converts a node -------------------------===//
//
// All tables joined, by operator. An operator of the default domain is found by
// its type (`Add`), others by domain and type (`com.microsoft.Gelu`). The rule
// whose version range holds the model's opset is taken.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/FrontendToGraph/FrontendToGraph.h"
#include "lib/Conversion/FrontendToGraph/Node.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using namespace gpucc::frontend_to_graph;

/// The newest version of the default domain that the tables know.
static constexpr int64_t newestOpset = 27;

using Table = StringMap<SmallVector<const Entry *, 2>>;

/// Every table.
static std::vector<ArrayRef<Entry>> allRules() {
  return {activationRules(),    arithmeticRules(),   attentionRules(),
          castRules(),          controlRules(),      convolutionRules(),
          generatorRules(),     groupQueryRules(),   indexRules(),
          listRules(),          lossRules(),         movementRules(),
          normalizationRules(), optimizerRules(),    poolRules(),
          productRules(),       quantizationRules(), quantizedOperatorRules(),
          recurrentRules(),     reductionRules(),    resizeRules(),
          rotaryRules(),        samplingRules(),     selectionRules(),
          sequenceRules(),      shapeRules(),        signalRules(),
          softmaxRules(),       stateSpaceRules(),   suppressionRules()};
}

static Table makeTable() {
  Table table;
  for (ArrayRef<Entry> rules : allRules())
    for (const Entry &entry : rules)
      table[entry.kind].push_back(&entry);
  return table;
}

const Entry *gpucc::frontend_to_graph::findRule(StringRef domain, StringRef type, int64_t version,
                                                std::string &reason) {
  static const Table table = makeTable(); // immutable: the same for every caller
  std::string name = domain.empty() ? type.str() : (domain + "." + type).str();
  auto it = table.find(name);
  if (it == table.end()) {
    reason = "gpucc has no conversion for this operator";
    return nullptr;
  }
  if (domain.empty() && version > newestOpset) {
    reason = "opset " + std::to_string(version) +
             " is newer than 27, the newest gpucc knows; "
             "export with an older opset";
    return nullptr;
  }
  for (const Entry *entry : it->second)
    if (entry->since <= version && version <= entry->until)
      return entry;
  reason = "gpucc has no conversion for version " + std::to_string(version) +
           " of it; convert the model with onnx.version_converter";
  return nullptr;
}

std::vector<gpucc::SupportedOp> gpucc::supportedOps() {
  std::vector<SupportedOp> ops;
  for (ArrayRef<Entry> rules : allRules())
    for (const Entry &entry : rules)
      ops.push_back({entry.kind.str(), entry.since, std::min(entry.until, newestOpset)});
  std::sort(ops.begin(), ops.end(),
            [](const SupportedOp &a, const SupportedOp &b) { return a.kind < b.kind; });
  return ops;
}
