//===- Layout.cpp - groups, stages, layout.yaml ---------------------------===//
#include "gpucc/Workload/Layout.h"
#include "Fields.h"
#include <algorithm>
#include <numeric>

namespace gpucc::workload {

namespace {
const std::vector<std::string> precisions = {"f32", "tf32", "f16", "bf16", "f8", "f4"};
const std::vector<std::string> sendings = {"beside", "beside-interleaved", "waited"};
const std::vector<std::string> recomputes = {"none", "selective", "cheap", "full", "ops"};
int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
} // namespace

const char *name(Precision precision) { return precisions[static_cast<size_t>(precision)].c_str(); }
const char *name(Sends sends) { return sendings[static_cast<size_t>(sends)].c_str(); }
const char *name(Recompute recompute) { return recomputes[static_cast<size_t>(recompute)].c_str(); }

int64_t Layout::microBatches() const {
  return std::max<int64_t>(1, ceilDiv(globalBatch, std::max<int64_t>(1, microBatch * dp)));
}

int64_t Layout::tokens(const Workload &w) const { return microBatch * w.sequence / cp; }

int64_t Layout::expertData() const { return std::max<int64_t>(1, tp * cp * dp / (ep * expertTp)); }

bool canOverlapExperts(const Layout &l) {
  bool pairs =
      l.pp == 1 || solvers::chunksPerRank(l.schedule, static_cast<int>(l.virtualStages)) > 1;
  return pairs && l.recompute != Recompute::Full;
}

cost::RankGroup groupOf(const Layout &l, Axis axis) {
  switch (axis) {
  case Axis::Tensor:
    return {l.tp, 1};
  case Axis::Context:
    return {l.cp, l.tp};
  case Axis::Expert:
    return {l.ep, l.expertTp};
  case Axis::ExpertTensor:
    return {l.expertTp, 1};
  case Axis::Data:
    return {l.dp, l.tp * l.cp};
  case Axis::Gradient:
    return {l.dp * l.cp, l.tp};
  case Axis::ExpertData:
    return {l.expertData(), l.ep * l.expertTp};
  case Axis::Pipeline:
    return {l.pp, l.tp * l.cp * l.dp};
  }
  return {};
}

std::vector<int64_t> layersOfStages(const Workload &w, const Layout &l) {
  if (!l.stageLayers.empty())
    return l.stageLayers;
  int64_t all = w.layers + w.predictAhead, p = l.pp;
  std::vector<int64_t> stages(static_cast<size_t>(p), all / p);
  // The rest goes to stages 1, 2, ...; the last one and then stage 0 come at the end.
  for (int64_t i = 0; i < all % p; ++i)
    ++stages[static_cast<size_t>((i + 1) % p)];
  return stages;
}

namespace {

/// More ranks, or micro-batches, than any machine has: products of degrees stay in range.
constexpr int64_t mostDegree = 1 << 20, mostRanks = 1 << 24, mostMicroBatches = 1 << 16;

Field boundedField(const char *key, double &value, double least, double most, const char *allowed,
                   const char *example) {
  Field field = shareField(key, value);
  field.allowed = allowed;
  field.example = example;
  field.set = [&value, least, most](const std::string &text) {
    char *end = nullptr;
    double parsed = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0 || !(parsed >= least && parsed <= most))
      return false;
    value = parsed;
    return true;
  };
  return field;
}

std::vector<Field> fieldsOf(Layout &l) {
  using solvers::ScheduleKind;
  std::vector<std::string> schedules;
  for (ScheduleKind kind : solvers::allScheduleKinds())
    schedules.push_back(solvers::name(kind));
  auto small = [](std::string path, int &value, int least, int most, std::string example) {
    Field field = choiceField(std::move(path), {""}, nullptr, nullptr);
    field.allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    field.example = std::move(example);
    field.get = [&value] { return std::to_string(value); };
    field.set = [&value, least, most](const std::string &text) {
      if (text.empty() || text.size() > 3 || text.find_first_not_of("0123456789") != text.npos)
        return false;
      int parsed = std::stoi(text);
      if (parsed < least || parsed > most)
        return false;
      value = parsed;
      return true;
    };
    return field;
  };
  Recipe &r = l.recipe;
  Field quantize = boundedField("recipe.quantize-bytes", r.quantizeBytes, 2, 32,
                                "bytes per element, from 2 to 32", "4");
  Field quantizeWeight = boundedField("recipe.quantize-weight-bytes", r.quantizeWeightBytes, 0, 32,
                                      "bytes per element, from 0 to 32", "10");
  Field rescale = boundedField("recipe.rescale-bytes", r.rescaleBytes, 0, 32,
                               "bytes per element, from 0 to 32", "4");
  Field bucket = boundedField("recipe.bucket-bytes", r.bucketBytes, 0, 1e15,
                              "bytes, 0 for no limit", "40000000");
  Field attentionRate = boundedField("recipe.attention-rate", r.attentionRate, 0.1, 10,
                                     "a factor from 0.1 to 10", "1.3");
  Field recomputeLayers = integerField("recompute-layers", l.recomputeLayers, 0, "4");
  recomputeLayers.get = [&l] {
    return l.recomputeLayers < 0 ? std::string() : std::to_string(l.recomputeLayers);
  };
  return {
      integerField("tp", l.tp, 1, "8", mostDegree),
      flagField("sp", l.sequenceParallel),
      integerField("cp", l.cp, 1, "2", mostDegree),
      integerField("ep", l.ep, 1, "8", mostDegree),
      integerField("expert-tp", l.expertTp, 1, "1", mostDegree),
      integerField("pp", l.pp, 1, "4", mostDegree),
      integerField("dp", l.dp, 1, "16", mostDegree),
      choiceField(
          "schedule", schedules, [&l] { return static_cast<int>(l.schedule); },
          [&l](int i) { l.schedule = static_cast<ScheduleKind>(i); }),
      integerField("virtual-stages", l.virtualStages, 1, "2", mostDegree),
      integerField("micro-batch", l.microBatch, 1, "1", mostDegree),
      integerField("global-batch", l.globalBatch, 1, "1024", int64_t(1) << 30),
      small("zero", l.zeroStage, 0, 3, "1"),
      integerField("zero-group", l.zeroGroup, 0, "8", mostDegree),
      choiceField(
          "recompute", recomputes, [&l] { return static_cast<int>(l.recompute); },
          [&l](int i) { l.recompute = static_cast<Recompute>(i); }),
      recomputeLayers,
      shareField("offload-optimizer", l.offloadOptimizer),
      shareField("offload-activations", l.offloadActivations),
      listField("stage-layers", l.stageLayers, "[11, 12, 12, 11]"),
      choiceField(
          "recipe.precision", precisions, [&r] { return static_cast<int>(r.precision); },
          [&r](int i) { r.precision = static_cast<Precision>(i); }),
      flagField("recipe.flash-attention", r.flashAttention),
      flagField("recipe.fused-pointwise", r.fusedPointwise),
      flagField("recipe.fused-loss", r.fusedLoss),
      flagField("recipe.in-place-loss", r.inPlaceLoss),
      flagField("recipe.fused-experts", r.fusedExperts),
      flagField("recipe.quantized-attention", r.quantizedAttention),
      flagField("recipe.keep-quantized", r.keepQuantized),
      flagField("recipe.cuda-graphs", r.cudaGraphs),
      flagField("recipe.waited-launches", r.waitedLaunches),
      shareField("recipe.host-share", r.hostShare),
      flagField("recipe.experts-once", r.expertsOnce),
      bucket,
      small("recipe.gradient-bytes", r.gradientBytes, 1, 4, "4"),
      small("recipe.second-gradient-bytes", r.secondGradientBytes, 0, 4, "2"),
      small("recipe.optimizer-bytes", r.optimizerBytes, 0, 16, "12"),
      flagField("recipe.contiguous-buckets", r.contiguousBuckets),
      flagField("recipe.overlap-gradients", r.overlapGradients),
      flagField("recipe.overlap-parameters", r.overlapParameters),
      flagField("recipe.overlap-tensor", r.overlapTensor),
      flagField("recipe.async-tensor", r.asyncTensor),
      flagField("recipe.separate-products", r.separateProducts),
      flagField("recipe.stops-recomputing", r.stopsRecomputing),
      flagField("recipe.overlap-experts", r.overlapExperts),
      attentionRate,
      quantize,
      quantizeWeight,
      rescale,
      flagField("recipe.gather-quantized", r.gatherQuantized),
      flagField("recipe.fused-accumulation", r.fusedAccumulation),
      flagField("recipe.fused-bias-gradient", r.fusedBiasGradient),
      flagField("recipe.reduce-whole", r.reduceWhole),
      flagField("recipe.gather-context", r.gatherContext),
      flagField("recipe.dispatch-quantized", r.dispatchQuantized),
      flagField("recipe.keep-activation-quantized", r.keepActivationQuantized),
      choiceField(
          "recipe.sends", sendings, [&r] { return static_cast<int>(r.sends); },
          [&r](int i) { r.sends = static_cast<Sends>(i); }),
      flagField("recipe.scatter-sends", r.scatterSends),
  };
}

} // namespace

std::string Layout::dump() const {
  Layout copy = *this;
  return writeFields(fieldsOf(copy));
}

std::string Layout::line() const {
  auto degree = [](const char *key, int64_t value) {
    return value == 1 ? std::string() : " " + std::string(key) + std::to_string(value);
  };
  std::string out = "tp" + std::to_string(tp) + (tp > 1 && !sequenceParallel ? " sp-off" : "") +
                    degree("cp", cp) + degree("ep", ep) + degree("etp", expertTp) + " pp" +
                    std::to_string(pp) + " dp" + std::to_string(dp);
  if (pp > 1)
    out += std::string(" ") + solvers::name(schedule) + degree("x", virtualStages);
  out += " mb" + std::to_string(microBatch) + " zero" + std::to_string(zeroStage) +
         degree("group", std::max<int64_t>(1, zeroGroup)) + " recompute=" + name(recompute);
  if (recompute != Recompute::None && recomputeLayers >= 0)
    out += "(" + std::to_string(recomputeLayers) + " per stage)";
  if (offloadOptimizer > 0)
    out += " offload-optimizer";
  if (offloadActivations > 0)
    out += " offload-activations";
  return out;
}

LayoutOrError parseLayout(const std::string &text, const std::string &origin,
                          std::vector<std::string> *keys, const Layout &start) {
  Layout l = start;
  FieldsResult result = readFields(text, origin, fieldsOf(l));
  if (!result.error.empty())
    return result.error;
  for (const auto &[key, line] : result.lines)
    if (keys)
      keys->push_back(key);
  return l;
}

LayoutOrError loadLayout(const std::string &path, std::vector<std::string> *keys,
                         const Layout &start) {
  std::string text;
  if (!readFile(path, text))
    return "--layout: found '" + path +
           "', which cannot be read, allowed a layout.yaml; `gpucc plan --export` writes one";
  return parseLayout(text, path, keys, start);
}

std::string applyPins(const std::string &text, Layout &layout, std::vector<std::string> &keys) {
  std::vector<Field> fields = fieldsOf(layout);
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string pair = text.substr(at, end - at);
    size_t equals = pair.find('=');
    if (equals == std::string::npos)
      return "--pin: found '" + pair + "', allowed key=value pairs; write e.g. tp=8,pp=4";
    std::string key = pair.substr(0, equals);
    if (key == "micro-batches") // the vocabulary of gpucc compile
      return "--pin micro-batches: found a count of micro-batches, which `gpucc compile` pins; "
             "here "
             "write their size and the batch: micro-batch=1,global-batch=64 (the count is "
             "global-batch / (dp * micro-batch))";
    if (std::find(keys.begin(), keys.end(), key) != keys.end())
      return "--pin " + key + ": found the key twice, allowed once; remove one of them";
    std::string problem = setField(fields, key, pair.substr(equals + 1));
    if (size_t example = problem.find("; write e.g. "); example != std::string::npos && key == "dp")
      problem = problem.substr(0, example) +
                "; leave the key out: dp takes the GPUs that the other "
                "degrees leave";
    if (!problem.empty())
      return "--pin " + problem;
    keys.push_back(key);
    at = end + 1;
  }
  return "";
}

namespace {

/// The divisor of `of` nearest to `wanted`.
int64_t nearestDivisor(int64_t of, int64_t wanted) {
  int64_t best = 1;
  for (int64_t d = 1; d <= of; ++d)
    if (of % d == 0 && std::llabs(d - wanted) < std::llabs(best - wanted))
      best = d;
  return best;
}

std::string mustDivide(const char *key, int64_t value, const char *what, int64_t of,
                       const char *why) {
  if (value >= 1 && of % value == 0)
    return "";
  return std::string(key) + ": found " + std::to_string(value) + ", allowed a divisor of " + what +
         " = " + std::to_string(of) + ": " + why + "; the nearest that works is " + key + "=" +
         std::to_string(nearestDivisor(of, value));
}

/// Sizes whose products would leave 64 bits, or take for ever.
std::string tooLarge(const Layout &l) {
  double ranks = 1;
  for (auto [key, value] : {std::pair{"tp", l.tp},
                            {"cp", l.cp},
                            {"ep", l.ep},
                            {"pp", l.pp},
                            {"dp", l.dp},
                            {"expert-tp", l.expertTp},
                            {"virtual-stages", l.virtualStages},
                            {"micro-batch", l.microBatch},
                            {"global-batch", l.globalBatch}}) {
    int64_t most = std::string(key) == "global-batch" ? int64_t(1) << 30 : mostDegree;
    if (value < 1 || value > most)
      return std::string(key) + ": found " + std::to_string(value) + ", allowed 1 to " +
             std::to_string(most);
  }
  for (int64_t degree : {l.tp, l.cp, l.pp, l.dp})
    ranks *= static_cast<double>(degree);
  if (ranks > static_cast<double>(mostRanks))
    return "tp: found more than " + std::to_string(mostRanks) +
           " ranks as tp * cp * pp * dp, allowed at most that many; lower a degree";
  if (l.microBatches() > mostMicroBatches)
    return "global-batch: found " + std::to_string(l.microBatches()) +
           " micro-batches per rank, allowed at most " + std::to_string(mostMicroBatches) +
           "; raise micro-batch or dp";
  return "";
}

std::string checkSchedule(const Workload &w, const Layout &l) {
  int64_t v = l.virtualStages, p = l.pp, m = l.microBatches();
  std::string problem = solvers::checkScheduleShape(l.schedule, static_cast<int>(p),
                                                    static_cast<int>(m), static_cast<int>(v));
  if (!problem.empty())
    return problem;
  int64_t chunks = p * solvers::chunksPerRank(l.schedule, static_cast<int>(v));
  int64_t all = w.layers + w.predictAhead;
  if (l.schedule == solvers::ScheduleKind::DualPipe)
    chunks = p; // two copies of the model
  if (p > 1 && all + 2 < chunks)
    return "pp: found " + std::to_string(p) + " with " + std::to_string(chunks / p) +
           " chunks per rank, allowed at most " + std::to_string(all + 2) +
           " chunks in all: each holds a layer, the embedding or the head; the nearest that works "
           "is pp=" +
           std::to_string(std::max<int64_t>(1, (all + 2) / (chunks / p)));
  if (!l.stageLayers.empty()) {
    int64_t sum = std::accumulate(l.stageLayers.begin(), l.stageLayers.end(), int64_t(0));
    if (static_cast<int64_t>(l.stageLayers.size()) != p || sum != all)
      return "stage-layers: found " + std::to_string(l.stageLayers.size()) + " stages with " +
             std::to_string(sum) + " layers, allowed " + std::to_string(p) + " stages with " +
             std::to_string(all) + "; remove the key for an even split";
  }
  return "";
}

} // namespace

std::string checkLayout(const Workload &w, const Layout &l, int64_t ranks) {
  std::string problem = tooLarge(l);
  if (!problem.empty())
    return problem;
  auto rule = [&](std::string found) {
    if (problem.empty())
      problem = std::move(found);
  };
  rule(mustDivide("tp", l.tp, "attention.heads", w.heads, "a head is never split"));
  if (!w.isLatent() && l.tp > w.kvHeads)
    rule(mustDivide("tp", l.tp, "attention.heads / kv-heads * kv-heads",
                    w.kvHeads * (l.tp / std::max<int64_t>(1, w.kvHeads)),
                    "key heads are copied to equal numbers of ranks"));
  if (w.ffn > 0)
    rule(mustDivide("tp", l.tp, "mlp.hidden", w.ffn, "columns of the MLP are split evenly"));
  rule(mustDivide("cp", l.cp, "sequence", w.sequence, "ranks hold equal pieces of a sequence"));
  if (l.sequenceParallel && l.tp > 1)
    rule(mustDivide("tp", l.tp, "sequence / cp", w.sequence / l.cp,
                    "sequence parallelism splits a piece again; sp=off lifts the rule"));
  if (!w.hasExperts() && l.ep * l.expertTp > 1)
    rule("ep: found " + std::to_string(l.ep) +
         ", allowed 1: the workload has no experts; the nearest that works is ep=1");
  if (w.hasExperts()) {
    rule(mustDivide("ep", l.ep, "moe.experts", w.moe.count, "ranks hold equal numbers of experts"));
    rule(mustDivide("ep", l.ep, "tp * cp * dp / expert-tp",
                    std::max<int64_t>(1, l.tp * l.cp * l.dp / l.expertTp),
                    "experts lie on the ranks of one stage"));
    if (l.tp % l.expertTp != 0)
      rule(mustDivide("expert-tp", l.expertTp, "tp", l.tp, "an expert is split inside a tp group"));
    if (l.tp > 1 && !l.sequenceParallel)
      rule(
          "sp: found off with tp=" + std::to_string(l.tp) +
          " and experts, allowed on: without it every tp rank would route every token; the nearest "
          "that works is sp=on");
  }
  if (l.globalBatch % (l.microBatch * l.dp) != 0)
    rule("global-batch: found " + std::to_string(l.globalBatch) + ", allowed a multiple of " +
         "micro-batch * dp = " + std::to_string(l.microBatch * l.dp) +
         ": every rank runs the same number of micro-batches; the nearest that works is " +
         "global-batch=" +
         std::to_string(std::max<int64_t>(1, (l.globalBatch + l.microBatch * l.dp / 2) /
                                                 (l.microBatch * l.dp)) *
                        l.microBatch * l.dp));
  if (l.zeroGroup > 0)
    rule(mustDivide("zero-group", l.zeroGroup, "dp * cp", l.dp * l.cp,
                    "groups of equal size share a copy"));
  rule(checkSchedule(w, l));
  if (ranks > 0 && l.ranks() != ranks)
    rule("dp: found tp * cp * pp * dp = " + std::to_string(l.ranks()) + " ranks, allowed " +
         std::to_string(ranks) + " (--gpus); the nearest that works is dp=" +
         std::to_string(std::max<int64_t>(1, ranks / (l.tp * l.cp * l.pp))));
  return problem;
}

} // namespace gpucc::workload
