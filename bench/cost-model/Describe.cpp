//===- Describe.cpp - rows of one run to workload, layout, machine --------===//
#include "Describe.h"
#include <algorithm>
#include <cmath>

namespace gpucc::bench {

using namespace workload;

std::string familyOf(const std::string &source) {
  const Stack *stack = stackOf(source);
  return stack ? stack->family : source;
}

namespace {

void override(int64_t &value, int64_t given) {
  if (given > 0)
    value = given;
}

/// A cell that cannot be meant: such a run would only cost time.
std::string implausible(const Run &run) {
  const Workload &w = run.workload;
  const Layout &l = run.layout;
  auto inside = [](int64_t value, int64_t least, int64_t most) {
    return value >= least && value <= most;
  };
  bool sizes = inside(w.layers, 1, 2000) && inside(w.hidden, 1, 1 << 20) &&
               inside(w.heads, 1, 1 << 14) && inside(w.kvHeads, 1, 1 << 14) &&
               inside(w.headDim, 0, 1 << 14) && inside(w.ffn, 0, 1 << 22) &&
               inside(w.vocab, 0, 1 << 24) && inside(w.sequence, 1, 1 << 26);
  if (!sizes)
    return "implausible sizes";
  bool degrees = inside(l.tp, 1, 4096) && inside(l.cp, 1, 4096) && inside(l.pp, 1, 512) &&
                 inside(l.dp, 1, 1 << 20) && inside(l.ep, 1, 4096) &&
                 inside(l.virtualStages, 1, 256) && inside(l.microBatch, 1, 1 << 16) &&
                 inside(l.globalBatch, 1, 1 << 24) && inside(run.gpus, 1, 1 << 20) &&
                 inside(run.machine.devicesPerNode, 1, 1024) && l.pp <= w.layers + 2 &&
                 l.microBatches() >= 1 && l.expertData() >= 1 &&
                 (l.zeroGroup == 0 || l.dp * l.cp % l.zeroGroup == 0);
  if (!degrees)
    return "implausible layout";
  auto figure = [](double value, double least, double most) { // 0: not measured
    return value == 0 || (value >= least && value <= most);
  };
  // Products alone, at the datasheet's peak.
  double least = run.oneLayer
                     ? 0
                     : 2.7 * countFlops(w).linear * static_cast<double>(l.globalBatch) / run.gpus /
                           simulate::peakOf(run.machine.device, l.recipe.precision);
  bool figures =
      figure(run.seconds, std::max(1e-6, least), 1e5) && figure(run.memoryBytes, 1e6, 1e13);
  return figures ? "" : "implausible time, rate or memory";
}

std::string describeMachine(Run &run, const Row &row, const Stack &stack) {
  int64_t gpus = row.integer("gpus"), perNode = row.integer("gpus_per_node");
  std::string name = machineOf(row.text("gpu_type"));
  if (name.empty())
    return row.text("gpu_type").empty() ? "no device stated" : "device " + row.text("gpu_type");
  if (gpus < 1)
    return "incomplete";
  if (gpus > 1 << 20 || perNode > 1024)
    return "implausible layout";
  run.gpus = static_cast<int>(gpus);
  run.machine = std::get<cost::Machine>(cost::loadMachine(name));
  // A rack of 72 is one NVLink domain however many devices a tray has.
  if (perNode > 0 && run.machine.devicesPerNode <= 8)
    run.machine.devicesPerNode = static_cast<int>(perNode);
  run.machine.nodes = (run.gpus + run.machine.devicesPerNode - 1) / run.machine.devicesPerNode;
  if (stack.network > 0)
    run.machine.inter.bandwidth = stack.network * 1e9;
  return "";
}

/// Early rows say no layer count, but their TFLOP/s are 96 B s l h^2 over the time.
void describeBloom(Run &run, const Row &row) {
  Workload &w = run.workload;
  double seconds = row.metric("iteration_time_s"), rate = row.metric("TFLOPs_per_GPU_hw");
  double h = static_cast<double>(w.hidden), batch = row.number("global_batch");
  run.layersInferred = !w.layers;
  if (!w.layers && seconds > 0 && rate > 0)
    w.layers = std::lround(seconds * rate * 1e12 * run.gpus /
                           (96 * batch * static_cast<double>(w.sequence) * h * h));
  if (!w.heads)
    w.heads = 80; // unstated: the head dimension of its neighbours (180) instead of a default
  if (!w.vocab)
    w.vocab = 250000;
  w.positions = workload::Positions::Alibi;
  w.embeddingNorm = true;
  int64_t tp = std::max<int64_t>(1, row.integer("tp"));
  w.vocab = (w.vocab + 128 * tp - 1) / (128 * tp) * (128 * tp); // Megatron pads it
  run.date = found(row.notes, "note \"([^\"]*)\"");
}

/// Llama's: 8/3 of the hidden size, rounded up to 256.
int64_t gatedWidth(int64_t hidden) { return (hidden * 8 / 3 + 255) / 256 * 256; }

std::string describeModel(Run &run, const Row &row, const Stack &stack) {
  Workload &w = run.workload;
  std::string base = workloadOf(row.name);
  bool isKnown = !base.empty();
  if (!isKnown)
    base = familyLike(row.name);
  w = std::get<Workload>(loadWorkload(base));
  w.name = row.text("model");
  int64_t layers = row.integer("layers"), hidden = row.integer("hidden"),
          heads = row.integer("heads");
  if (!isKnown) {
    w.layers = layers;
    w.hidden = hidden;
    w.heads = heads;
    w.vocab = 0;
    w.sequence = 0;
    if (const Sizes *s = sizesOf(row.name))
      w.layers = s->layers, w.hidden = s->hidden, w.heads = s->heads, w.vocab = s->vocab;
  }
  bool resized = (hidden && hidden != w.hidden) || (heads && heads != w.heads);
  override(w.layers, layers);
  override(w.hidden, hidden);
  override(w.heads, heads);
  override(w.vocab, row.integer("vocab"));
  override(w.sequence, row.integer("seq"));
  if (row.from("BLOOM"))
    describeBloom(run, row);
  if (row.from("AMP"))
    override(w.heads, 16);
  if (w.layers < 1 || w.hidden < 1 || w.heads < 1 || w.sequence < 1)
    return "incomplete";
  if (!isKnown || base == "mpt-7b") {
    int64_t ffn = row.integer("ffn");
    w.ffn = ffn > 100 ? ffn : w.gated ? gatedWidth(w.hidden) : 4 * w.hidden;
    w.headDim = w.hidden / w.heads;
    w.kvHeads = row.integer("kv_heads") > 0 ? row.integer("kv_heads") : w.heads;
  } else if (!w.hasExperts() && !w.isLatent()) {
    override(w.ffn, row.integer("ffn") > 100 ? row.integer("ffn") : 0);
    override(w.kvHeads, row.integer("kv_heads"));
    if (resized)
      w.headDim = w.hidden / w.heads;
  }
  if (row.from("InternEvo"))
    w.ffn = gatedWidth(w.hidden);
  if (has(row.name, "truncated")) {
    w.predictAhead = 0;
    w.moe.denseLayers = w.hasExperts() ? std::min<int64_t>(w.moe.denseLayers, 1) : 0;
  }
  w.maxPositions = std::max(w.maxPositions, w.sequence);
  if (!stack.flash)
    w.dropout = w.dropout || (!isKnown && !w.gated);
  run.mixture = w.hasExperts();
  return "";
}

void describeMeasured(Run &run, const Row &row) {
  const Workload &w = run.workload;
  const Layout &l = run.layout;
  double batch = static_cast<double>(l.globalBatch), s = static_cast<double>(w.sequence);
  FlopCount f = countFlops(w);
  double hardware = (4 * (f.linear + f.attentionFull) + 3 * f.logits);
  double again = l.recompute == Recompute::Full        ? f.linear + f.attentionFull
                 : l.recompute == Recompute::Selective ? f.attentionFull
                                                       : 0;
  double peak = simulate::peakOf(run.machine.device, l.recipe.precision) / 1e14; // TFLOP/s per cent
  struct Rate {
    const char *key;
    double flops, unit = 1; ///< `unit` of the metric in TFLOP/s per GPU
  };
  const Rate rates[] = {{"TFLOPs_per_GPU_hw", hardware},
                        {"TFLOPs_per_GPU_model", f.model()},
                        {"TFLOPs_per_GPU_model_forced_balance", f.model(true)},
                        {"TFLOPs_per_GPU", hardware},
                        {"MFU_pct", f.model(), peak},
                        {"HFU_pct", f.model() + again, peak}};
  if (double t = row.metric("iteration_time_s"); t > 0)
    run.seconds = t;
  else if (double ms = row.metric("iteration_time_ms"); ms > 0)
    run.seconds = ms / 1e3;
  else if (double rate = row.metric("tokens_per_s_per_GPU"); rate > 0)
    run.seconds = batch * s / (rate * run.gpus);
  else if (double derived = row.metric("tokens_per_s_per_GPU_derived"); derived > 0)
    run.seconds = batch * s / (derived * run.gpus);
  else if (double samples = row.metric("samples_per_s"); samples > 0)
    run.seconds = batch / samples;
  else if (double layer = row.metric("layer_forward_ms"); layer > 0) {
    double back = row.metric("layer_backward_ms");
    run.seconds = (layer + back) / 1e3;
    run.oneLayer = true;
    run.backwardToo = back > 0;
  } else
    for (const Rate &r : rates)
      if (double value = row.metric(r.key); value > 0) {
        run.seconds = batch * r.flops / (value * r.unit * 1e12 * run.gpus);
        break;
      }
  if (run.unstated.batch) // bubbles depend on it, memory does not
    run.seconds = 0;
  run.hardwareTflops = row.metric("TFLOPs_per_GPU_hw");
  const std::pair<const char *, double> memories[] = {{"peak_mem_GB", 1e9},
                                                      {"peak_mem_GiB", 1073741824.0},
                                                      {"peak_mem_MB", 1e6},
                                                      {"rank0_peak_mem_GB", 1e9}};
  for (auto [key, unit] : memories)
    if (row.metric(key) > 0)
      run.memoryBytes = row.metric(key) * unit;
  if (row.hasMetric("fits"))
    run.fits = row.metric("fits") > 0;
  if (run.fits == 0)
    run.seconds = 0;
  // Its table calls GPT-OSS in 26.06.01 a regression (cudnn-frontend issue 256).
  bool regression = row.from("26.06") && has(row.name, "oss");
  run.doubtful = has(row.notes, "CHECK") || regression ||
                 (row.from("Alpa") && run.seconds > 1000) ||
                 (has(row.notes, "packed") && has(row.name, "sft"));
}

} // namespace

std::string describe(const std::vector<Cells> &lines, Run &run) {
  Row row(lines);
  run.source = row.source;
  run.family = familyOf(row.source);
  run.id = found(row.notes, "run_id=([^; ]+)");
  const Stack *stack = stackOrUsual(row.source, machineOf(row.text("gpu_type")));
  run.stack = stack->software;
  if (isOutside(row.name))
    return "architecture";
  for (auto step : {describeMachine, describeModel, describeLayout})
    if (std::string why = step(run, row, *stack); !why.empty())
      return why;
  describeMeasured(run, row);
  if (std::string why = implausible(run); !why.empty())
    return why;
  std::string compared = row.from("selective") ? row.text("recompute") : "";
  for (const std::string &part :
       {row.source, run.date, row.text("layers"), row.text("hidden"), row.text("heads"),
        row.text("model"), std::to_string(run.gpus), std::to_string(run.layout.globalBatch),
        std::to_string(run.workload.sequence), row.text("precision"), compared})
    run.group += (run.group.empty() ? "" : "|") + part;
  return "";
}

} // namespace gpucc::bench
