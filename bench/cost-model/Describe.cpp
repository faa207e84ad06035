//===- Describe.cpp - rows of one run to workload, layout, machine --------===//
#include "Names.h"
#include "Recipes.h"
#include "Runs.h"
#include "Stacks.h"
#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

namespace gpucc::bench {

using namespace workload;

std::string familyOf(const std::string &source) {
  const Stack *stack = stackOf(source);
  return stack ? stack->family : source;
}

namespace {

double number(const Cells &cells, const std::string &key) {
  auto it = cells.find(key);
  if (it == cells.end())
    return 0;
  static const std::regex grouped("-?[0-9]{1,3}(,[0-9]{3})+(\\.[0-9]*)?");
  std::string digits = it->second;
  if (digits.find(',') != std::string::npos && std::regex_match(digits, grouped))
    std::erase(digits, ',');
  char *end = nullptr;
  double value = std::strtod(digits.c_str(), &end);
  bool fine = end != digits.c_str() && !*end && std::abs(value) < 1e12; // no NaN either
  return fine ? value : 0;
}

const std::string &text(const Cells &cells, const std::string &key) {
  static const std::string none;
  auto it = cells.find(key);
  return it == cells.end() ? none : it->second;
}

std::string found(const std::string &notes, const char *pattern) {
  std::smatch m;
  return std::regex_search(notes, m, std::regex(pattern)) ? m[1].str() : "";
}

/// "ZeRO-1", "zero3", "stage 2", "none".
int spelledStage(const std::string &zero, int unstated) {
  std::string digit = found(zero, "(?:zero|stage)[ _-]*([0-3])");
  return !digit.empty() ? digit[0] - '0' : zero == "none" || zero == "off" ? 0 : unstated;
}

/// "full", "Full recompute", "True", "uniform" (Megatron's method over all layers).
bool recomputesAll(const std::string &recompute) {
  for (const char *word : {"true", "yes", "on", "all", "uniform", "full recompute",
                           "full recomputation", "full checkpointing", "full"})
    if (recompute == word)
      return true;
  return recompute.starts_with("full (") || recompute.starts_with("full,");
}

class Describing {
public:
  Describing(const std::vector<Cells> &rows) : first(rows.front()) {
    for (const Cells &row : rows)
      metrics[text(row, "metric_name")] = number(row, "metric_value");
    notes = text(first, "notes");
    name = lower(text(first, "model") + (has(notes, "LoRA") ? " lora" : ""));
    source = text(first, "source");
  }

  /// Empty, or why the run cannot be described.
  std::string describe(Run &run) {
    run.source = source;
    run.family = familyOf(source);
    run.id = found(notes, "run_id=([^; ]+)");
    const Stack *stack = stackOrUsual(source, machineOf(text(first, "gpu_type")));
    run.stack = stack->software;
    if (isOutside(name))
      return "architecture";
    for (auto step :
         {&Describing::machine, &Describing::model, &Describing::layout, &Describing::measured})
      if (std::string why = (this->*step)(run, *stack); !why.empty())
        return why;
    if (std::string why = implausible(run); !why.empty())
      return why;
    run.group = source + "|" + run.date + "|" + text(first, "layers") + "|" +
                text(first, "hidden") + "|" + text(first, "heads") + "|" + text(first, "model") +
                "|" + std::to_string(run.gpus) + "|" + std::to_string(run.layout.globalBatch) +
                "|" + std::to_string(run.workload.sequence) + "|" + text(first, "precision") + "|" +
                (has(source, "selective") ? text(first, "recompute") : "");
    return "";
  }

private:
  /// A cell that cannot be meant: such a run would only cost time.
  static std::string implausible(const Run &run) {
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
                   l.microBatches() >= 1 && l.expertData() >= 1;
    return degrees ? "" : "implausible layout";
  }

  double metric(const char *key) const {
    auto it = metrics.find(key);
    return it == metrics.end() ? 0 : it->second;
  }

  std::string machine(Run &run, const Stack &stack) {
    run.gpus = static_cast<int>(number(first, "gpus"));
    int perNode = static_cast<int>(number(first, "gpus_per_node"));
    std::string name = machineOf(text(first, "gpu_type"));
    if (name.empty())
      return text(first, "gpu_type").empty() ? "no device stated"
                                             : "device " + text(first, "gpu_type");
    if (run.gpus < 1)
      return "incomplete";
    run.machine = std::get<cost::Machine>(cost::loadMachine(name));
    // A rack of 72 is one NVLink domain however many devices a tray has.
    if (perNode > 0 && run.machine.devicesPerNode <= 8)
      run.machine.devicesPerNode = perNode;
    run.machine.nodes = (run.gpus + run.machine.devicesPerNode - 1) / run.machine.devicesPerNode;
    if (stack.network > 0)
      run.machine.inter.bandwidth = stack.network * 1e9;
    return "";
  }

  std::string model(Run &run, const Stack &stack) {
    Workload &w = run.workload;
    std::string base = workloadOf(name);
    bool isKnown = !base.empty();
    if (!isKnown)
      base = "gpt-1.7b"; // the family's defaults
    w = std::get<Workload>(loadWorkload(base));
    w.name = text(first, "model");
    int64_t layers = integer("layers"), hidden = integer("hidden"), heads = integer("heads");
    if (!isKnown) {
      w.layers = layers;
      w.hidden = hidden;
      w.heads = heads;
      w.vocab = 0;
      w.sequence = 0;
      if (const Sizes *s = sizesOf(name))
        w.layers = s->layers, w.hidden = s->hidden, w.heads = s->heads, w.vocab = s->vocab;
    }
    override(w.layers, layers);
    override(w.hidden, hidden);
    override(w.heads, heads);
    override(w.vocab, integer("vocab"));
    override(w.sequence, integer("seq"));
    if (has(source, "BLOOM"))
      bloom(run);
    if (has(source, "AMP"))
      override(w.heads, 16);
    if (w.layers < 1 || w.hidden < 1 || w.heads < 1 || w.sequence < 1)
      return "incomplete";
    if (!isKnown || base == "mpt-7b") {
      w.ffn = integer("ffn") > 100 ? integer("ffn") : 4 * w.hidden;
      w.headDim = w.hidden / w.heads;
      w.kvHeads = integer("kv_heads") > 0 ? integer("kv_heads") : w.heads;
    } else if (!w.hasExperts() && !w.isLatent()) {
      override(w.ffn, integer("ffn") > 100 ? integer("ffn") : 0);
      override(w.kvHeads, integer("kv_heads"));
      if (layers && hidden)
        w.headDim = w.hidden / w.heads;
    }
    if (has(source, "InternEvo"))
      w.ffn = 256 * ((static_cast<int64_t>(8.0 / 3 * static_cast<double>(w.hidden)) + 255) / 256);
    if (has(name, "truncated")) {
      w.predictAhead = 0;
      w.moe.denseLayers = w.hasExperts() ? std::min<int64_t>(w.moe.denseLayers, 1) : 0;
    }
    w.maxPositions = std::max(w.maxPositions, w.sequence);
    if (!stack.flash)
      w.dropout = w.dropout || !isKnown;
    run.mixture = w.hasExperts();
    return "";
  }

  /// Early rows say no layer count, but their TFLOP/s are 96 B s l h^2 over the time.
  void bloom(Run &run) {
    Workload &w = run.workload;
    double seconds = metric("iteration_time_s"), rate = metric("TFLOPs_per_GPU_hw");
    double h = static_cast<double>(w.hidden), batch = number(first, "global_batch");
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
    int64_t tp = std::max<int64_t>(1, integer("tp"));
    w.vocab = (w.vocab + 128 * tp - 1) / (128 * tp) * (128 * tp); // Megatron pads it
    run.date = found(notes, "note \"([^\"]*)\"");
  }

  int64_t integer(const char *key) const { return static_cast<int64_t>(number(first, key)); }
  static void override(int64_t &value, int64_t given) {
    if (given > 0)
      value = given;
  }

  std::string layout(Run &run, const Stack &stack) {
    Layout &l = run.layout;
    Recipe &r = l.recipe;
    r.flashAttention = stack.flash;
    // FlashAttention 3 and cuDNN on Hopper: 1.5 to 2.0 times FlashAttention 2 forward, 1.5 to 1.75
    // backward (arXiv 2407.08608).
    bool newest = stack.attentionRate > 1, hopper = run.machine.device.architecture == "hopper";
    r.attentionRate = newest && hopper ? 1.6 : stack.attentionRate;
    r.fusedPointwise = stack.fused;
    // 384 GPUs hung without CUDA_LAUNCH_BLOCKING=1 (BLOOM's chronicles, "dealing with JZ hanging").
    r.waitedLaunches = has(source, "BLOOM");
    // Megatron-LM of April 2022, the one with sequence parallelism, fuses the accumulation and sums
    // input gradients beside weight gradients (core/tensor_parallel/layers.py), not DeepSpeed's.
    bool megatron2022 = has(source, "selective");
    r.fusedAccumulation = stack.flash || megatron2022;
    r.asyncTensor = megatron2022;
    bool xla = has(source, "Alpa");           // its fusion takes in reductions and casts
    r.fusedBiasGradient = stack.flash || xla; // Transformer Engine does, autograd of PyTorch not
    r.fusedLoss = stack.flash || xla;         // Megatron of 2021-22: cross entropy step by step
    r.overlapGradients = stack.overlapGradients;
    r.overlapTensor = stack.overlapTensor;
    r.gradientBytes = stack.gradientBytes;
    r.overlapParameters =
        !has(source, "InternEvo"); // overlap_sync_param is off in its configurations
    r.reduceWhole = stack.reduceWhole;
    r.bucketBytes = stack.bucketMegabytes * 1e6;
    r.scatterSends = !stack.flash; // Megatron's scatter-gather between stages
    r.sends = sendsOf(stack.software);
    r.contiguousBuckets = r.sends == Sends::BesideInterleaved; // Megatron-Core
    setPrecision(run, lower(text(first, "precision")));
    // Kernels written for Ampere use Hopper's mma.sync, 0.63 of its wgmma rate (Luo et al. 2024).
    if (has(source, "Mosaic") && run.machine.device.architecture == "hopper")
      r.attentionRate *= 0.63;
    r.separateProducts = has(source, "titan"); // models/llama3/model.py: wq, wk, wv, w1, w3
    r.keepQuantized = !has(source, "titan") && !has(source, "async-TP"); // torchao keeps 16 bits
    run.allocated = stack.allocated;
    run.reserved = has(source, "titan"); // components/metrics.py prints reserved_bytes.all.peak
    // Compiled since 2025-02 (pull request 859): logits and their gradient are 16-bit tensors.
    r.inPlaceLoss = has(source, "titan") && has(source, "2025");
    l.sequenceParallel = stack.sequenceParallel;
    l.tp = integer("tp"), l.cp = std::max<int64_t>(1, integer("cp")), l.pp = integer("pp");
    l.dp = integer("dp"), l.ep = std::max<int64_t>(1, integer("ep"));
    l.virtualStages = std::max<int64_t>(1, integer("vpp"));
    l.microBatch = integer("micro_batch");
    l.globalBatch = static_cast<int64_t>(number(first, "global_batch"));
    std::string zero = lower(text(first, "zero_stage"));
    l.zeroStage = zero.empty()                          ? stack.zeroStage
                  : has(zero, "fsdp") || zero[0] == '3' ? 3
                  : has(zero, "hsdp")                   ? 3
                  : zero[0] >= '0' && zero[0] <= '2'    ? zero[0] - '0'
                                                        : spelledStage(zero, stack.zeroStage);
    if (l.zeroStage == 3 && has(source, "SC'21"))
      r.bucketBytes = 100e6; // DeepSpeed fetches 5e7 elements ahead
    if (l.zeroStage == 3 && l.pp > 1 && (has(source, "titan") || has(source, "AutoModel")))
      l.zeroStage = 2; // FSDP2 keeps parameters gathered between micro-batches under a pipeline
    if (has(source, "Herd"))
      l.zeroStage = 1; // parameters stay after the forward pass
    if (std::string g = found(zero, "group=([0-9]+)"); !g.empty())
      l.zeroGroup = std::stoll(g);
    std::string rec = lower(text(first, "recompute"));
    l.recompute = rec.empty()                                             ? stack.recompute
                  : recomputesAll(rec)                                    ? Recompute::Full
                  : rec.starts_with("selective") || has(rec, "core_attn") ? Recompute::Selective
                                                                          : Recompute::None;
    run.unstated.recompute = rec.empty() && !stack.recomputeStated;
    // llama3_8b.toml, which both ran, recomputes by operator; asyncTP_llama3_h100_2025-06 says so,
    // and full of its 70B rows.
    if (has(source, "titan") && (l.recompute == Recompute::Selective || has(source, "H200") ||
                                 (rec.empty() && has(name, "8b"))))
      l.recompute = Recompute::Ops;
    // torch.utils.checkpoint without reentrance ends early since PyTorch 2.1 (pull request 90105):
    // llm-foundry forbids reentrance and measured its amp_bf16 rows again in October 2023, those in
    // pure bf16 are older.
    r.stopsRecomputing = has(source, "Mosaic") && has(lower(text(first, "precision")), "amp");
    // Table 5 compares the two together with neither of them, Table 4 names what each row has.
    if (has(source, "selective"))
      l.sequenceParallel = (has(source, "Table 5") && l.recompute == Recompute::Selective) ||
                           has(notes, "seqpar") || has(notes, "sequence parallel") ||
                           has(notes, "sequence_parallel=True");
    if (has(notes, "async TP"))
      r.overlapTensor = true;
    // DeepEP and HybridEP send a token once to a node (AutoModel's rows name DeepEP); CUDA Graphs
    // hold attention and router of mixtures on GB200 and GB300 (Megatron-Bridge performance guide).
    r.expertsOnce = run.mixture && (!has(source, "AutoModel") || has(notes, "DeepEP"));
    r.gatherContext = has(source, "Herd"); // its section 3.3.2, exposed
    r.overlapExperts = has(source, "DeepSeek-V3");
    if (has(source, "DeepSeek-V3")) { // its section 3.2.3: norms, up-projections, SwiGLU run again
      l.recompute = Recompute::Cheap;
      r.dispatchQuantized = r.keepActivationQuantized = true;
      r.optimizerBytes = 8; // f32 master, moments of 16 bits
    }
    if (has(source, "Bridge"))
      setBridge(run, name, lower(text(first, "precision")));
    if (has(name, "lora"))
      return "LoRA";
    return degrees(run, stack);
  }

  std::string degrees(Run &run, const Stack &stack) {
    Layout &l = run.layout;
    for (int64_t degree : {l.tp, l.cp, l.pp, l.dp, l.ep})
      if (degree < 0 || degree > 1 << 20)
        return "implausible layout";
    if (!l.tp || !l.pp || !l.dp) {
      if (has(source, "Alpa")) {
        std::string method = found(notes, "method=([^; ]+)");
        if (has(method, "equal") || has(method, "deepspeed") || has(method, "zero"))
          return "layout";
        run.unstated.layout = run.unstated.microBatch = true;
        run.unstated.onlyPipeline = has(method, "inter_only");
        run.unstated.onlyTensor = has(method, "intra_only");
        l.tp = l.pp = 1;
        l.dp = run.gpus;
      } else if (l.tp && l.pp) {
        l.dp = std::max<int64_t>(1, run.gpus / (l.tp * l.pp * l.cp));
      } else if (l.tp || l.pp || l.dp) {
        return "layout";
      } else { // none stated: the best that fits, as its authors would have chosen
        run.unstated.layout = run.unstated.microBatch = true;
        l.tp = l.pp = 1;
        l.dp = std::max<int64_t>(1, run.gpus / l.cp);
      }
    }
    if (l.ranks() != run.gpus)
      return "layout is not the number of GPUs";
    if (run.mixture && !number(first, "ep") && l.zeroStage == 3)
      l.ep = std::min<int64_t>(run.gpus, run.workload.moe.count);
    l.ep = std::min(l.ep, std::max<int64_t>(1, run.workload.moe.count));
    if (l.ep > 1)
      l.expertTp = 1;
    if (!l.globalBatch && l.microBatch)
      l.globalBatch = l.microBatch * l.dp * (l.pp > 1 ? l.pp : 1);
    if (!l.globalBatch)
      return "batch";
    if (!l.microBatch) {
      l.microBatch = 1;
      if (!has(source, "Herd") && !run.unstated.microBatch)
        run.unstated.microBatch = run.unstated.virtualStages = true;
    }
    if (has(source, "Launcher") && l.pp > 1 && !integer("vpp"))
      run.unstated.virtualStages = true;
    if (has(source, "Herd"))
      l.virtualStages = 8; // its schedule keeps one layer per chunk
    l.schedule = l.pp > 1 && l.virtualStages > 1 ? solvers::ScheduleKind::Interleaved
                                                 : solvers::ScheduleKind::OneFOneB;
    if (has(source, "DeepSeek-V3"))
      l.schedule = solvers::ScheduleKind::DualPipe;
    stages(run, stack);
    return "";
  }

  /// DeepSpeed's pipeline printed where each stage begins, in modules: two come before the first
  /// layer (embedding, transposition) and four behind the last.
  bool printedPartition(Layout &l, int64_t layers) const {
    std::stringstream text(found(notes, "layer partition \\[([^\\]]*)"));
    std::vector<int64_t> begins;
    for (int64_t module; text >> module;)
      begins.push_back(std::clamp<int64_t>(module - 2, 0, layers));
    if (begins.size() != static_cast<size_t>(l.pp) + 1 || l.pp == 1)
      return false;
    for (size_t i = 0; i + 1 < begins.size(); ++i)
      l.stageLayers.push_back(begins[i + 1] - begins[i]);
    return true;
  }

  /// How the software deals with layers that do not divide.
  void stages(Run &run, const Stack &stack) {
    Layout &l = run.layout;
    int64_t layers = run.workload.layers + run.workload.predictAhead, p = l.pp;
    if (printedPartition(l, layers) || p == 1)
      return;
    // Megatron-Bridge's recipe: sixteen chunks of four; the last has one, the prediction layer and
    // the loss (recipes/deepseek/h100/deepseek_v3.py, layout_map).
    if (has(run.source, "Bridge") && run.workload.isLatent() && p * l.virtualStages <= 16) {
      l.stageLayers.assign(static_cast<size_t>(p), (layers + 2) / p);
      l.stageLayers.back() = layers - (p - 1) * ((layers + 2) / p);
      return;
    }
    if (layers % p == 0)
      return;
    if ((layers + 2) % p == 0) { // embedding and head count as layers
      l.stageLayers.assign(static_cast<size_t>(p), (layers + 2) / p);
      --l.stageLayers.front();
      --l.stageLayers.back();
    } else if (stack.greedyStages) {
      int64_t each = (layers + p - 1) / p, left = layers;
      for (int64_t i = 0; i < p; ++i) {
        l.stageLayers.push_back(std::min(each, left));
        left -= l.stageLayers.back();
      }
    }
  }

  std::string measured(Run &run, const Stack &) {
    const Workload &w = run.workload;
    const Layout &l = run.layout;
    double batch = static_cast<double>(l.globalBatch), s = static_cast<double>(w.sequence);
    FlopCount f = countFlops(w);
    double hardware = (4 * (f.linear + f.attentionFull) + 3 * f.logits);
    struct Rate {
      const char *key;
      double flops;
    };
    const Rate rates[] = {{"TFLOPs_per_GPU_hw", hardware},
                          {"TFLOPs_per_GPU_model", f.model()},
                          {"TFLOPs_per_GPU_model_forced_balance", f.model(true)},
                          {"TFLOPs_per_GPU", hardware}};
    if (double t = metric("iteration_time_s"); t > 0)
      run.seconds = t;
    else if (double ms = metric("iteration_time_ms"); ms > 0)
      run.seconds = ms / 1e3;
    else if (double rate = metric("tokens_per_s_per_GPU"); rate > 0)
      run.seconds = batch * s / (rate * run.gpus);
    else if (double derived = metric("tokens_per_s_per_GPU_derived"); derived > 0)
      run.seconds = batch * s / (derived * run.gpus);
    else if (double samples = metric("samples_per_s"); samples > 0)
      run.seconds = batch / samples;
    else if (double layer = metric("layer_forward_ms"); layer > 0) {
      double back = metric("layer_backward_ms");
      run.seconds = (layer + back) / 1e3;
      run.oneLayer = true;
      run.backwardToo = back > 0;
    } else
      for (const Rate &r : rates)
        if (double tflops = metric(r.key); tflops > 0) {
          run.seconds = batch * r.flops / (tflops * 1e12 * run.gpus);
          break;
        }
    run.hardwareTflops = metric("TFLOPs_per_GPU_hw");
    const std::pair<const char *, double> memories[] = {{"peak_mem_GB", 1e9},
                                                        {"peak_mem_GiB", 1073741824.0},
                                                        {"peak_mem_MB", 1e6},
                                                        {"rank0_peak_mem_GB", 1e9}};
    for (auto [key, unit] : memories)
      if (metric(key) > 0)
        run.memoryBytes = metric(key) * unit;
    if (metrics.count("fits"))
      run.fits = metric("fits") > 0;
    if (run.fits == 0)
      run.seconds = 0;
    // Its table calls GPT-OSS in 26.06.01 a regression (cudnn-frontend issue 256).
    bool regression = has(source, "26.06") && has(name, "oss");
    run.doubtful = has(notes, "CHECK") || regression ||
                   (has(source, "Alpa") && run.seconds > 1000) ||
                   (has(notes, "packed") && has(name, "sft"));
    return "";
  }

  const Cells &first;
  std::map<std::string, double> metrics;
  std::string notes, name, source;
};

} // namespace

std::string describe(const std::vector<Cells> &rows, Run &run) {
  return Describing(rows).describe(run);
}

} // namespace gpucc::bench
