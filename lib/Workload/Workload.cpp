//===- Workload.cpp - rules and counts of a transformer -------------------===//
//
// Counts are closed forms over the hyper-parameters; the tests hold them to the parameter counts
// that the model cards state, and the FLOP of `expandBlock` to them.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Workload/Workload.h"
#include <algorithm>
#include <sstream>

namespace gpucc::workload {

bool Workload::layerHasExperts(int64_t layer) const {
  return hasExperts() && layer >= moe.denseLayers &&
         (layer - moe.denseLayers) % std::max<int64_t>(1, moe.every) == moe.every - 1;
}

bool Workload::layerIsWindowed(int64_t layer) const {
  return window > 0 && window < sequence && (windowPeriod <= 1 || (layer + 1) % windowPeriod != 0);
}

double Workload::averageKeys(bool windowed) const {
  double s = static_cast<double>(sequence), n = static_cast<double>(window);
  if (!causal)
    return windowed ? std::min(s, 2 * n) : s;
  if (!windowed || n >= s)
    return s / 2;
  return n - n * n / (2 * s); // the first n queries see n / 2 on average, the others n
}

std::string Workload::check() const {
  std::ostringstream out;
  auto atLeast = [&](const char *key, int64_t value, int64_t least) {
    if (out.str().empty() && value < least)
      out << key << ": found " << value << ", allowed " << least << " or more; correct the number";
  };
  atLeast("layers", layers, 1);
  atLeast("hidden", hidden, 1);
  atLeast("vocab", vocab, 1);
  atLeast("sequence", sequence, 1);
  atLeast("attention.heads", heads, 1);
  if (!isLatent()) {
    atLeast("attention.kv-heads", kvHeads, 1);
    atLeast("attention.head-dim", headDim, 1);
  }
  bool needsDense = !hasExperts() || moe.denseLayers > 0 || moe.every > 1;
  atLeast("mlp.hidden", ffn, needsDense ? 1 : 0);
  if (!out.str().empty())
    return out.str();
  if (!isLatent() && heads % kvHeads != 0)
    out << "attention.kv-heads: found " << kvHeads << " for " << heads
        << " heads, allowed a divisor of heads; each key head serves the same number of queries";
  else if (isLatent() && (latent.nopeDim < 1 || latent.valueDim < 1 || latent.ropeDim < 0))
    out << "attention.latent: found nope-dim " << latent.nopeDim << ", value-dim "
        << latent.valueDim << ", allowed 1 or more; give both widths of a head";
  else if (hasExperts() && (moe.topK < 1 || moe.topK > moe.count))
    out << "moe.top-k: found " << moe.topK << ", allowed 1 to " << moe.count
        << " (moe.experts); a token visits that many different experts";
  else if (hasExperts() && moe.count % moe.groups != 0)
    out << "moe.groups: found " << moe.groups
        << ", allowed a divisor of moe.experts = " << moe.count
        << "; groups of experts are of equal size";
  else if (hasExperts() && moe.topGroups > moe.groups)
    out << "moe.top-groups: found " << moe.topGroups << ", allowed 1 to " << moe.groups
        << " (moe.groups); a token's experts are in that many groups";
  else if (hasExperts() && moe.topK > moe.topGroups * (moe.count / moe.groups))
    out << "moe.top-groups: found " << moe.topGroups << " of " << moe.count / moe.groups
        << " experts each, allowed enough for moe.top-k = " << moe.topK
        << "; all experts of a token are in these groups";
  else if (hasExperts() && moe.hidden < 1)
    out << "moe.hidden: found " << moe.hidden << ", allowed 1 or more; the width of one expert";
  else if (hasExperts() && moe.denseLayers >= layers)
    out << "moe.dense-layers: found " << moe.denseLayers << ", allowed 0 to " << layers - 1
        << "; remove the section moe if no layer has experts";
  return out.str();
}

namespace {

double bias(bool present, double width) { return present ? width : 0; }

double attentionParameters(const Workload &w) {
  double h = static_cast<double>(w.hidden), a = static_cast<double>(w.heads);
  double q = a * static_cast<double>(w.queryDim()), v = a * static_cast<double>(w.valueDim());
  if (w.isLatent()) {
    double qr = static_cast<double>(w.latent.queryRank), kr = static_cast<double>(w.latent.kvRank);
    double query = qr > 0 ? h * qr + qr + qr * q : h * q;
    double kv = h * (kr + static_cast<double>(w.latent.ropeDim)) + kr +
                kr * (a * static_cast<double>(w.latent.nopeDim) + v);
    return query + kv + v * h;
  }
  double kv = static_cast<double>(2 * w.kvHeads * w.headDim);
  return h * (q + kv) + bias(w.qkvBiases, q + kv) + q * h + bias(w.outBias, h) +
         (w.qkNorm ? 2.0 * static_cast<double>(w.headDim) : 0);
}

double normWidth(const Workload &w) {
  return static_cast<double>(w.hidden) * (w.norm == NormKind::Layer ? 2 : 1);
}

double mlpParameters(const Workload &w, double width, bool withBias) {
  double h = static_cast<double>(w.hidden), up = w.gated ? 2 * width : width;
  return h * up + width * h + bias(withBias, up + h);
}

double routerParameters(const Workload &w) {
  return static_cast<double>(w.hidden * w.moe.count + (w.moe.correctionBias ? w.moe.count : 0));
}

} // namespace

ParameterCount countParameters(const Workload &w) {
  ParameterCount n;
  double h = static_cast<double>(w.hidden), table = static_cast<double>(w.vocab) * h;
  int64_t rows = w.maxPositions > 0 ? w.maxPositions : w.sequence;
  n.embedding = table + (w.positions == Positions::Learned ? static_cast<double>(rows) * h : 0) +
                (w.embeddingNorm ? normWidth(w) : 0);
  n.head = normWidth(w) + (w.tied ? 0 : table);
  double idle = 0;
  auto layer = [&](int64_t index) {
    double sum = attentionParameters(w) + static_cast<double>(w.normsPerLayer) * normWidth(w);
    if (!w.layerHasExperts(index))
      return sum + mlpParameters(w, static_cast<double>(w.ffn), w.biases);
    double one = mlpParameters(w, static_cast<double>(w.moe.hidden), w.moe.biases);
    double shared = w.moe.shared > 0
                        ? mlpParameters(w, static_cast<double>(w.moe.shared * w.moe.hidden), false)
                        : 0;
    n.experts += one * static_cast<double>(w.moe.count);
    idle += one * static_cast<double>(w.moe.count - w.moe.topK);
    return sum + shared + (w.moe.sharedGate ? h : 0) + routerParameters(w) +
           one * static_cast<double>(w.moe.count);
  };
  for (int64_t i = 0; i < w.layers; ++i)
    n.layers += layer(i);
  n.active = n.total() - idle;
  double expertsBefore = n.experts;
  for (int64_t i = 0; i < w.predictAhead; ++i)
    n.ahead += layer(w.layers - 1) + 2 * h * h + 2 * normWidth(w);
  n.experts = expertsBefore;
  return n;
}

FlopCount countFlops(const Workload &w) {
  FlopCount f;
  double s = static_cast<double>(w.sequence), h = static_cast<double>(w.hidden);
  double a = static_cast<double>(w.heads);
  double width = static_cast<double>(w.queryDim() + w.valueDim());
  for (int64_t i = 0; i < w.layers + w.predictAhead; ++i) {
    int64_t index = std::min(i, w.layers - 1);
    double q = a * static_cast<double>(w.queryDim()), v = a * static_cast<double>(w.valueDim());
    double weights;
    if (w.isLatent()) {
      double qr = static_cast<double>(w.latent.queryRank),
             kr = static_cast<double>(w.latent.kvRank);
      weights = (qr > 0 ? h * qr + qr * q : h * q) +
                h * (kr + static_cast<double>(w.latent.ropeDim)) +
                kr * (a * static_cast<double>(w.latent.nopeDim) + v) + v * h;
    } else {
      weights = h * (q + static_cast<double>(2 * w.kvHeads * w.headDim)) + q * h;
    }
    double matrices = w.gated ? 3 : 2;
    if (w.layerHasExperts(index))
      weights += h * static_cast<double>(w.moe.count) +
                 matrices * h * static_cast<double>((w.moe.topK + w.moe.shared) * w.moe.hidden);
    else
      weights += matrices * h * static_cast<double>(w.ffn);
    f.linear += 2 * s * weights;
    f.attentionFull += 2 * s * s * a * width;
    f.attentionCausal += 2 * s * w.averageKeys(w.layerIsWindowed(index)) * a * width;
  }
  f.logits = 2 * s * h * static_cast<double>(w.vocab) * static_cast<double>(1 + w.predictAhead);
  return f;
}

} // namespace gpucc::workload
