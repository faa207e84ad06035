//===- Workload.h - a transformer by its hyper-parameters -------*- C++ -*-===//
//
// What: the numbers of workload.yaml as plain values. One description covers GPT, BLOOM, Llama,
// Qwen, Mistral, Gemma, DeepSeek (latent attention) and mixtures of experts; `expandBlock`
// (Expand.h) turns it into the ops one rank runs.
//
// Example, the whole file of Llama 3 8B (family gives rms norms, rope, gated MLP, no biases):
//
//     name: llama-3-8b
//     family: llama
//     layers: 32
//     hidden: 4096
//     vocab: 128256
//     sequence: 8192
//     attention: {heads: 32, kv-heads: 8}
//     mlp: {hidden: 14336}
//
// Its parameters: 2 * 128256 * 4096 + 32 * (2 * 4096^2 + 2 * 4096 * 1024 + 3 * 4096 * 14336 +
// 2 * 4096) + 4096 = 8,030,261,248.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_WORKLOAD_WORKLOAD_H
#define GPUCC_WORKLOAD_WORKLOAD_H

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace gpucc::workload {

enum class NormKind { Layer, Rms };
enum class Positions { Learned, Rope, Alibi };

/// DeepSeek's latent attention: queries and keys/values pass through low-rank projections.
struct LatentAttention {
  int64_t queryRank = 0; ///< 0: queries are projected directly
  int64_t kvRank = 0;    ///< 0: this is no latent attention
  int64_t nopeDim = 0, ropeDim = 0, valueDim = 0;
  bool operator==(const LatentAttention &) const = default;
};

struct Experts {
  int64_t count = 0; ///< 0: no mixture of experts
  int64_t topK = 0;
  int64_t shared = 0;      ///< experts that every token visits
  int64_t hidden = 0;      ///< of one expert
  int64_t denseLayers = 0; ///< leading layers with the dense MLP
  int64_t every = 1;       ///< of the others, every n-th layer has experts
  int64_t groups = 1;      ///< consecutive experts of equal number that are chosen together ...
  int64_t topGroups = 1;   ///< ... of so many of which a token's experts are (DeepSeek-V3: 4 of 8)
  bool correctionBias = false;
  bool sharedGate = false; ///< the shared expert's output is scaled by a learned gate (Qwen)
  bool biases = false;     ///< of the experts' products (gpt-oss)
  bool clamped = false;    ///< both halves of the gated activation are clamped first (gpt-oss)
  bool operator==(const Experts &) const = default;
};

struct Workload {
  std::string name, family = "gpt";
  int64_t layers = 1, hidden = 0, vocab = 0, sequence = 0;
  int64_t heads = 0, kvHeads = 0, headDim = 0; ///< kvHeads = heads: no sharing of keys and values
  int64_t window = 0;                          ///< tokens a windowed layer sees; 0: all layers full
  int64_t windowPeriod =
      1; ///< of so many consecutive layers the last one is full (1: all windowed)
  int64_t ffn = 0;
  bool gated = false;        ///< act(x W1) * (x W2) instead of act(x W1)
  bool tied = true;          ///< logits share the embedding matrix
  bool biases = true;        ///< of all linear layers
  bool qkvBiases = true;     ///< of the query, key and value projections
  bool outBias = true;       ///< of the attention's output projection
  bool qkNorm = false;       ///< norms over each head's query and key
  int64_t normsPerLayer = 2; ///< Gemma 2 has 4
  bool embeddingNorm = false, dropout = false, causal = true;
  NormKind norm = NormKind::Layer;
  Positions positions = Positions::Learned;
  int64_t maxPositions = 0; ///< rows of the learned position table; 0: `sequence`
  int64_t predictAhead = 0; ///< extra layers that predict further tokens (DeepSeek-V3 has 1)
  LatentAttention latent;
  Experts moe;

  bool hasExperts() const { return moe.count > 0; }
  bool isLatent() const { return latent.kvRank > 0; }
  int64_t queryDim() const { return isLatent() ? latent.nopeDim + latent.ropeDim : headDim; }
  int64_t valueDim() const { return isLatent() ? latent.valueDim : headDim; }
  bool layerHasExperts(int64_t layer) const;
  bool layerIsWindowed(int64_t layer) const;
  /// Keys that a query sees on average in a layer (causal mask and window applied).
  double averageKeys(bool windowed) const;

  std::string check() const; ///< empty when fine, else rule, found, allowed, remedy
  std::string dump() const;  ///< workload.yaml that parses to an equal workload
  bool operator==(const Workload &) const = default;
};

using WorkloadOrError = std::variant<Workload, std::string>;
/// `origin` names the text in messages (a file name): "w.yaml:7: attention.heads: found ...".
WorkloadOrError parseWorkload(const std::string &text, const std::string &origin);
/// A built-in name or a path of a workload.yaml.
WorkloadOrError loadWorkload(const std::string &nameOrPath);
const std::map<std::string, std::string> &builtinWorkloads(); ///< name to text

/// Elements, unsharded.
struct ParameterCount {
  double embedding = 0; ///< with learned positions and the embedding's norm
  double layers = 0;    ///< all layers, experts included
  double experts = 0;   ///< routed experts alone (contained in `layers`)
  double head = 0;      ///< final norm, and the logit matrix if it is not tied
  double ahead = 0;     ///< the extra layers of `predictAhead`
  double total() const { return embedding + layers + head; } ///< as model cards count: no `ahead`
  double active = 0; ///< what one token multiplies with: topK of the routed experts
};
ParameterCount countParameters(const Workload &workload);

/// FLOP of one forward pass over one sequence; a multiply-add is 2.
struct FlopCount {
  double linear = 0;          ///< projections, MLPs, routed (topK) and shared experts, router
  double attentionFull = 0;   ///< scores and values as if every query saw every key
  double attentionCausal = 0; ///< the same with mask and window
  double logits = 0;
  /// Model FLOP of forward and backward, the numerator of MFU. Papers count attention in full
  /// (Megatron, PaLM) or masked.
  double model(bool causal = false) const {
    return 3 * (linear + (causal ? attentionCausal : attentionFull) + logits);
  }
};
FlopCount countFlops(const Workload &workload);

} // namespace gpucc::workload
#endif // GPUCC_WORKLOAD_WORKLOAD_H
