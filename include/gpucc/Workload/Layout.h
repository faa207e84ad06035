//===- Layout.h - how a workload lies on ranks ------------------*- C++ -*-===//
//
// What: the degrees of parallelism, the pipeline schedule, the micro-batch, what is sharded,
// recomputed or moved to the host, and the recipe (precision, kernels, overlap) of the stack that
// runs it. One layout is one layout.yaml.
//
// Example, 64 ranks:
//
//     tp: 8
//     pp: 4
//     dp: 2
//     schedule: interleaved
//     virtual-stages: 2
//     micro-batch: 1
//     global-batch: 128
//     zero: 1
//     recompute: selective
//
// Ranks are numbered tensor parallel innermost, then context, data, pipeline: a tp group has stride
// 1, cp stride tp, dp stride tp * cp, pp stride tp * cp * dp. Experts lie on the ranks of one
// stage: an ep group is consecutive (stride expertTp).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_WORKLOAD_LAYOUT_H
#define GPUCC_WORKLOAD_LAYOUT_H

#include "gpucc/CostModel/Cost.h"
#include "gpucc/Solvers/Schedules.h"
#include "gpucc/Workload/Workload.h"

namespace gpucc::workload {

enum class Precision { F32, Tf32, F16, BF16, F8, F4 }; ///< F8, F4: block linear layers; rest BF16
enum class Recompute { None, Selective, Cheap, Full, Ops };
inline constexpr size_t numRecomputes = static_cast<size_t>(Recompute::Ops) + 1;
/// Selective repeats the attention core. Cheap repeats what costs little: norms, activation
/// functions, latent attention's up-projections, and the core if its scores are written to memory.
/// Full repeats the layer from its input. Ops is torchtitan's choice by operator: all but attention
/// and every second product.
const char *name(Precision precision); ///< "f32", "tf32", "f16", "bf16", "f8", "f4"
const char *name(Recompute recompute); ///< "none", "selective", "cheap", "full", "ops"

/// How stage boundaries are sent: beside compute; with the rank waiting until they are gone, as
/// Megatron-LM's 1F1B does (core/pipeline_parallel/schedules.py, also DeepSpeed); or so except in
/// interleaved schedules, where Megatron-Core overlaps them (--overlap-p2p-communication).
enum class Sends { Beside, BesideInterleaved, Waited };
const char *name(Sends sends); ///< "beside", "beside-interleaved", "waited"

/// What the software stack does; not part of the search.
struct Recipe {
  Precision precision = Precision::BF16;
  bool flashAttention = true; ///< false: scores are written to memory
  double attentionRate = 1;   ///< of its kernel library, FlashAttention 2 being 1
  bool fusedPointwise = true; ///< false: every elementwise op is a kernel of its own
  bool fusedLoss = true;    ///< false: each step of the vocabulary's softmax passes over f32 logits
  bool inPlaceLoss = false; ///< fused further: its gradient overwrites the 16-bit logits
  bool quantizedAttention = false; ///< the core's products are fp8, too
  bool fusedExperts = false; ///< activation and quantization are epilogues of the experts' products
  double bucketBytes = 0; ///< most bytes of one data-parallel collective; 0: a layer or all at once
  double hostShare = 1;   ///< of the operators, what no CUDA Graph launches
  bool waitedLaunches = false;  ///< the host waits for every kernel (CUDA_LAUNCH_BLOCKING=1)
  bool cudaGraphs = false;      ///< kernels are launched by a graph, not by the host one by one
  int gradientBytes = 4;        ///< of an accumulated and reduced gradient element
  int secondGradientBytes = 0;  ///< of a copy that is kept beside it (16-bit, as autograd makes it)
  int optimizerBytes = 12;      ///< per element: f32 master and two moments
  bool contiguousBuckets = false; ///< gradients and parameters lie in buffers that collectives use
                                  ///< in place (Megatron-Core's distributed optimizer)
  bool overlapGradients = true; ///< data-parallel traffic runs beside the backward pass
  bool overlapParameters = true; ///< ... and new parameters are gathered beside the next forward
  bool overlapTensor = false;    ///< tensor-parallel collectives are cut up and run beside matmuls
  bool separateProducts = false; ///< query, key, value and gate, up are products of their own
  bool stopsRecomputing = false; ///< with what backward reads (PyTorch's early stop)
  bool asyncTensor = false; ///< backward: an input gradient is summed beside the weight's product
  bool overlapExperts = false;   ///< all-to-alls of one micro-batch run beside another's compute
  double quantizeBytes = 4; ///< moved per element that becomes fp8: cast and transposed copy (4),
                            ///< current scaling reads it once more (6), per row and column (10)
  double quantizeWeightBytes = 0; ///< moved per weight and micro-batch to cast it; 0: cast per step
  double rescaleBytes = 0; ///< moved per result of a backward product whose scales are no tensor's
  bool gatherQuantized = false;  ///< tensor-parallel gathers move fp8; with keepQuantized each rank
                                 ///< casts its own rows
  bool fusedAccumulation = true; ///< a weight gradient is added to the others by its own product
  bool fusedBiasGradient = true; ///< false: a kernel sums a bias's gradient over the rows
  bool keepQuantized = true;     ///< fp8: backward reads the quantized input, so only that is kept
  bool reduceWhole = false;      ///< ZeRO-1 all-reduces gradients instead of scattering them
  bool expertsOnce = false;      ///< a token goes once to a node, whatever experts it has there
  bool gatherContext = false; ///< keys and values are gathered before attention, not ring by ring
  bool dispatchQuantized = false; ///< fp8 tokens go to their experts; what comes back is 16 bits
  bool keepActivationQuantized = false; ///< the input of an activation function is kept as fp8
  Sends sends = Sends::Beside;          ///< stage boundaries and compute
  bool scatterSends = false;     ///< a stage boundary is sent in tp pieces also without `sp`
  bool operator==(const Recipe &) const = default;
};

struct Layout {
  int64_t tp = 1, cp = 1, ep = 1, pp = 1, dp = 1;
  bool sequenceParallel = true; ///< norms and residuals are split over tp along the sequence
  int64_t expertTp = 1;         ///< tensor parallelism inside one expert
  solvers::ScheduleKind schedule = solvers::ScheduleKind::OneFOneB;
  int64_t virtualStages = 1;
  int64_t microBatch = 1, globalBatch = 1; ///< sequences
  int zeroStage = 0;                       ///< 1: optimizer, 2: + gradients, 3: + parameters
  int64_t zeroGroup = 0; ///< ranks that share one copy; 0: all data-parallel ranks
  Recompute recompute = Recompute::None;
  int64_t recomputeLayers = -1;     ///< layers per stage that recompute; -1: all
  double offloadOptimizer = 0;      ///< share of the optimizer state kept in host memory
  double offloadActivations = 0;    ///< share of the activations moved out and back
  std::vector<int64_t> stageLayers; ///< layers of each stage; empty: `layersOfStages` decides
  Recipe recipe;

  int64_t ranks() const { return tp * cp * pp * dp; }
  int64_t microBatches() const;            ///< per data-parallel rank and step, rounded up
  int64_t tokens(const Workload &w) const; ///< of a micro-batch on one rank of a tp group
  int64_t sequenceShards() const { return sequenceParallel ? tp : 1; }
  int64_t expertData() const; ///< ranks that hold the same experts
  std::string dump() const;   ///< layout.yaml
  std::string line() const;   ///< one line for tables: "tp8 pp4 dp2 interleaved x2 mb1 zero1 ..."
  bool operator==(const Layout &) const = default;
};

/// Whether there is work of another micro-batch to run beside expert traffic. Megatron-Core merges
/// the forward pass of one chunk with the backward pass of another: it asks for chunks
/// (virtual stages) under a pipeline and refuses full recomputation
/// (overlap_moe_expert_parallel_comm in transformer_config.py). DualPipe is made of such pairs.
bool canOverlapExperts(const Layout &layout);

enum class Axis { Tensor, Context, Expert, ExpertTensor, Data, Gradient, ExpertData, Pipeline };
/// The ranks of one group along an axis. Gradient = data and context together.
cost::RankGroup groupOf(const Layout &layout, Axis axis);

/// Layers of each of the pp stages: `stageLayers`, or an even split; a remainder goes to the middle
/// stages first, because the first also embeds and the last also makes logits.
std::vector<int64_t> layersOfStages(const Workload &workload, const Layout &layout);

using LayoutOrError = std::variant<Layout, std::string>;
/// `keys`: receives the keys that the text gives; the others stay as in `start`.
LayoutOrError parseLayout(const std::string &text, const std::string &origin,
                          std::vector<std::string> *keys = nullptr, const Layout &start = {});
LayoutOrError loadLayout(const std::string &path, std::vector<std::string> *keys = nullptr,
                         const Layout &start = {});
/// "tp=8,pp=4,micro-batch=1": sets those keys of `layout`; empty when fine. The keys are those of
/// layout.yaml; a key that `keys` has already is refused.
std::string applyPins(const std::string &text, Layout &layout, std::vector<std::string> &keys);

/// Which rule the pair breaks and the nearest layout that works; empty when fine. `ranks` > 0: the
/// layout must use exactly so many.
std::string checkLayout(const Workload &workload, const Layout &layout, int64_t ranks = 0);
/// The same for a person: the layout that it names as the nearest that works was tried and does.
std::string explainLayout(const Workload &workload, const Layout &layout, int64_t ranks = 0);

} // namespace gpucc::workload
#endif // GPUCC_WORKLOAD_LAYOUT_H
