//===- WorkloadYaml.cpp - workload.yaml in and out ------------------------===//
//
// `family` is read first: it sets what the members of a family share, every other key may override.
//
//===----------------------------------------------------------------------===//
#include "Fields.h"
#include "gpucc/Facts/Text.h"
#include "gpucc/Workload/Workload.h"
#include <set>

namespace gpucc::workload {

namespace {

const std::vector<std::string> &families() {
  static const std::vector<std::string> names = {"gpt",   "bloom",  "llama",    "mistral", "qwen2",
                                                 "qwen3", "gemma2", "deepseek", "gpt-oss"};
  return names;
}

/// What a family fixes; sizes stay as they are.
void applyFamily(Workload &w) {
  const std::string &f = w.family;
  if (f == "gpt" || f == "bloom") {
    w.gated = false;
    w.tied = w.biases = w.qkvBiases = w.outBias = w.dropout = true;
    w.norm = NormKind::Layer;
    w.positions = f == "bloom" ? Positions::Alibi : Positions::Learned;
    w.embeddingNorm = f == "bloom";
    return;
  }
  w.gated = true;
  w.tied = w.biases = w.qkvBiases = w.outBias = w.dropout = false;
  w.norm = NormKind::Rms;
  w.positions = Positions::Rope;
  if (f == "qwen2" || f == "gpt-oss")
    w.qkvBiases = true;
  if (f == "gpt-oss")
    w.outBias = w.moe.biases = w.moe.clamped = true;
  if (f == "qwen3")
    w.qkNorm = true;
  if (f == "gemma2") {
    w.tied = true;
    w.normsPerLayer = 4;
  }
}

std::vector<Field> fieldsOf(Workload &w) {
  auto choice = [](auto &value) {
    return std::pair(std::function<int()>([&value] { return static_cast<int>(value); }),
                     std::function<void(int)>([&value](int i) {
                       value = static_cast<std::remove_reference_t<decltype(value)>>(i);
                     }));
  };
  auto [getNorm, setNorm] = choice(w.norm);
  auto [getPositions, setPositions] = choice(w.positions);
  auto getFamily = [&w] {
    for (size_t i = 0; i < families().size(); ++i)
      if (families()[i] == w.family)
        return static_cast<int>(i);
    return 0;
  };
  Field norms = integerField("norms-per-layer", w.normsPerLayer, 2, "2");
  norms.set = [&w](const std::string &text) {
    w.normsPerLayer = text == "4" ? 4 : 2;
    return text == "2" || text == "4";
  };
  norms.allowed = "2 or 4";
  return {
      textField("name", w.name, "my-model"),
      choiceField("family", families(), getFamily, [&w](int i) { w.family = families()[i]; }),
      integerField("layers", w.layers, 1, "32"),
      integerField("hidden", w.hidden, 1, "4096"),
      integerField("vocab", w.vocab, 1, "128256"),
      integerField("sequence", w.sequence, 1, "8192"),
      choiceField("norm", {"layer", "rms"}, getNorm, setNorm),
      norms,
      flagField("embedding-norm", w.embeddingNorm),
      choiceField("positions", {"learned", "rope", "alibi"}, getPositions, setPositions),
      integerField("max-positions", w.maxPositions, 0, "2048"),
      flagField("tied", w.tied),
      flagField("biases", w.biases),
      flagField("dropout", w.dropout),
      flagField("causal", w.causal),
      integerField("predict-ahead", w.predictAhead, 0, "1"),
      integerField("attention.heads", w.heads, 1, "32"),
      integerField("attention.kv-heads", w.kvHeads, 0, "8"),
      integerField("attention.head-dim", w.headDim, 0, "128"),
      integerField("attention.window", w.window, 0, "4096"),
      integerField("attention.window-period", w.windowPeriod, 1, "2"),
      flagField("attention.qkv-biases", w.qkvBiases),
      flagField("attention.out-bias", w.outBias),
      flagField("attention.qk-norm", w.qkNorm),
      integerField("latent.query-rank", w.latent.queryRank, 0, "1536"),
      integerField("latent.kv-rank", w.latent.kvRank, 0, "512"),
      integerField("latent.nope-dim", w.latent.nopeDim, 0, "128"),
      integerField("latent.rope-dim", w.latent.ropeDim, 0, "64"),
      integerField("latent.value-dim", w.latent.valueDim, 0, "128"),
      integerField("mlp.hidden", w.ffn, 0, "14336"),
      flagField("mlp.gated", w.gated),
      integerField("moe.experts", w.moe.count, 0, "8"),
      integerField("moe.top-k", w.moe.topK, 0, "2"),
      integerField("moe.shared", w.moe.shared, 0, "1"),
      integerField("moe.hidden", w.moe.hidden, 0, "2048"),
      integerField("moe.dense-layers", w.moe.denseLayers, 0, "3"),
      integerField("moe.every", w.moe.every, 1, "1"),
      integerField("moe.groups", w.moe.groups, 1, "8"),
      integerField("moe.top-groups", w.moe.topGroups, 1, "4"),
      flagField("moe.correction-bias", w.moe.correctionBias),
      flagField("moe.shared-gate", w.moe.sharedGate),
      flagField("moe.biases", w.moe.biases),
      flagField("moe.clamped", w.moe.clamped),
  };
}

/// Sizes that follow from others when the file leaves them out.
void fillSizes(Workload &w, const std::map<std::string, int> &given) {
  if (w.kvHeads == 0)
    w.kvHeads = w.heads;
  if (w.headDim == 0 && w.heads > 0)
    w.headDim = w.hidden / w.heads;
  if (w.ffn == 0 && !given.count("mlp.hidden") && !w.hasExperts())
    w.ffn = 4 * w.hidden;
}

} // namespace

WorkloadOrError parseWorkload(const std::string &text, const std::string &origin) {
  Workload w;
  std::vector<Field> fields = fieldsOf(w);
  FieldsResult first = readFields(text, origin, fields, "family");
  if (!first.error.empty())
    return first.error;
  applyFamily(w);
  FieldsResult result = readFields(text, origin, fields);
  if (!result.error.empty())
    return result.error;
  for (const char *key : {"name", "layers", "hidden", "vocab", "sequence", "attention.heads"})
    if (!result.lines.count(key))
      return atLine(std::string(key) + ": found nothing, allowed a value; add the key " + key,
                    origin, result.lines);
  if (!w.isLatent() && w.headDim == 0 && w.hidden % w.heads != 0)
    return atLine("attention.heads: found " + std::to_string(w.heads) + " for hidden " +
                      std::to_string(w.hidden) +
                      ", allowed a divisor of hidden; or give attention.head-dim",
                  origin, result.lines);
  fillSizes(w, result.lines);
  std::string problem = w.check();
  if (!problem.empty())
    return atLine(problem, origin, result.lines);
  return w;
}

std::string Workload::dump() const {
  Workload copy = *this;
  return writeFields(fieldsOf(copy));
}

WorkloadOrError loadWorkload(const std::string &nameOrPath) {
  auto it = builtinWorkloads().find(nameOrPath);
  if (it != builtinWorkloads().end())
    return parseWorkload(it->second, nameOrPath);
  std::string text;
  if (readFile(nameOrPath, text))
    return parseWorkload(text, nameOrPath);
  std::vector<std::string> names;
  for (const auto &entry : builtinWorkloads())
    names.push_back(entry.first);
  std::string nearest = nearestWord(names, nameOrPath);
  return "--workload: found '" + nameOrPath +
         "', which is neither built in nor a readable file; allowed a workload.yaml or one of " +
         joined(names) + (nearest.empty() ? "" : "; did you mean " + nearest + "?");
}

} // namespace gpucc::workload
