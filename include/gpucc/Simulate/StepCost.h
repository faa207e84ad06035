//===- StepCost.h - what a step takes, part by part --------------*- C++ -*-===//
//
// What: seconds and bytes of one training step of a workload under a layout on a machine. Blocks
// (embedding, layer, head) are costed once, chunks of the pipeline are sums of blocks, the schedule
// is run with the chunks' times, data-parallel traffic and the update follow.
//
// Example, GPT-3 175B, tp 8, pp 8, dp 1 on 64 A100: each of the 8 ranks' shares is 12 layers; the
// first also embeds and the last also makes logits, so the schedule runs with unequal stages.
//
// What is exposed:
//   tensor, expert   waited for, or half of it where the recipe overlaps
//   context          what attention does not hide, and a tenth of the rest
//   data parallel    what the last backward pass of a rank does not hide (`overlap`)
//   host             sqrt(device^2 + host^2) per block when kernels are launched one by one
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SIMULATE_STEPCOST_H
#define GPUCC_SIMULATE_STEPCOST_H

#include "gpucc/CostModel/Memory.h"
#include "gpucc/Workload/Expand.h"
#include <array>
#include <map>

namespace gpucc::simulate {

/// Seconds by what they are spent on. Sums of exposed time: they add up.
struct Parts {
  double matmul = 0, attention = 0, pointwise = 0, host = 0;
  double tensor = 0, context = 0, expert = 0;
  double recompute = 0; ///< forward work that backward repeats, collectives included
  double total() const {
    return matmul + attention + pointwise + host + tensor + context + expert + recompute;
  }
  Parts &operator+=(const Parts &o);
  Parts scaled(double factor) const;
};

/// One block, one micro-batch, one rank.
struct BlockCost {
  Parts forward, backwardInput, backwardWeight;
  using ByRecompute = std::array<double, workload::numRecomputes>;
  ByRecompute again = {}; ///< seconds of forward work that backward repeats
  ByRecompute savedBytes = {};
  double workspaceBytes = 0;           ///< largest op's operands and results
  double parameters = 0, expertParameters = 0, inputBytes = 0;
};
BlockCost blockCost(const cost::Machine &machine, const workload::Workload &workload,
                    const workload::Layout &layout, workload::BlockKind kind,
                    const cost::Calibration &calibration = cost::Calibration::builtin());

/// Block costs by what they depend on; a search asks for the same ones again and again.
class BlockCache {
public:
  BlockCache(const workload::Workload &workload, const cost::Calibration &calibration)
      : workload(workload), calibration(calibration) {}
  const BlockCost &get(const cost::Machine &machine, const workload::Layout &layout,
                       workload::BlockKind kind);
  /// Seconds of a collective, remembered.
  double collective(const cost::Machine &machine, cost::Collective kind, double bytes,
                    cost::RankGroup group);
  int64_t size() const { return static_cast<int64_t>(costs.size()); }

  const workload::Workload &workload;
  const cost::Calibration &calibration;

private:
  /// What of a node decides: of a mixed machine (`machineOfRank`) nothing else varies.
  struct Node {
    cost::DeviceKind device;
    cost::LinkClass intra;
    int devices = 0;
  };
  int64_t numberOf(const cost::Machine &machine);

  std::vector<Node> nodes;
  std::map<std::vector<int64_t>, BlockCost> costs;
  std::map<std::array<double, 6>, double> collectives;
};

/// One chunk (virtual stage) of the pipeline, one micro-batch.
struct ChunkCost {
  int rank = 0;       ///< pipeline rank
  int64_t layers = 0; ///< how many it holds
  /// Recomputation inside backwardInput; in a StepCost also exposed ZeRO-3 and offload traffic.
  solvers::StageSeconds seconds;
  Parts parts;          ///< of forward and backward together
  double keptBytes = 0; ///< from its forward to its backward
  double logitBytes = 0, workspaceBytes = 0;
  double parameters = 0, expertParameters = 0; ///< elements on a rank
};

/// The pipeline's chunks in order. `first` layer indices follow from the sizes.
std::vector<ChunkCost> chunkCosts(BlockCache &cache, const cost::Machine &machine,
                                  const workload::Layout &layout);

/// Layers of every chunk: `layersOfStages` cut into the schedule's chunks.
std::vector<int64_t> layersOfChunks(const workload::Workload &workload,
                                    const workload::Layout &layout);
int rankOfChunk(const workload::Layout &layout, int chunk);
/// The (homogeneous) machine that a pipeline rank sees; the slowest group it touches when mixed.
cost::Machine machineOfRank(const cost::Machine &machine, const workload::Layout &layout, int rank);

/// What a pipeline rank sends and updates once per step.
struct RankTail {
  double gradientSeconds = 0; ///< reduction of gradients and gathering of parameters
  double hiddenGradients = 0; ///< of the former, beside the rank's last backward pass
  double hiddenParameters = 0; ///< of the latter, beside the next step's first forward pass
  double exposed() const { return gradientSeconds - hiddenGradients - hiddenParameters; }
  double updateSeconds = 0;
};

struct StepCost {
  double seconds = 0;
  Parts parts;              ///< of the busiest pipeline rank, whole step
  double bubbleSeconds = 0; ///< of that rank: the step without its work, sends included
  double bubbleShare = 0;   ///< of the step, what the mean pipeline rank waits
  std::vector<double> workSeconds; ///< per pipeline rank: compute, exposed traffic, update
  double sendSeconds = 0;   ///< one boundary once
  double pairShare = 1;     ///< time of an overlapped pair of DualPipe against its two halves
  double gatherSeconds = 0; ///< exposed parameter traffic of ZeRO-3, whole step
  double gradientSeconds = 0, gradientExposed = 0, updateSeconds = 0;
  double offloadSeconds = 0; ///< what offload costs less what passes beside each other save
  std::vector<ChunkCost> chunks;
  std::vector<RankTail> tails;
  std::vector<cost::RankMemory> memory; ///< per pipeline rank
  int busiest = 0, fullest = 0; ///< pipeline ranks: of the most work, of the most memory used
  bool fits = true;
  double memoryLimit = 0; ///< bytes of the fullest rank's device

  double mfu = 0;       ///< model FLOP (attention in full) / (seconds * ranks * dense peak)
  double mfuCausal = 0; ///< the same with masked attention
  double hfu = 0;       ///< FLOP that are run, recomputation included
  double tokensPerSecond = 0;
  const cost::RankMemory &fullestMemory() const { return memory[static_cast<size_t>(fullest)]; }
};

struct StepOptions {
  /// Pipelines with more micro-batches are timed with this many and one round more, and continued
  /// in a line (their middle repeats). 0: always all.
  int64_t mostMicroBatches = 0;
  bool memoryOnly = false; ///< leave the times at zero
  /// Activations by the schedules' closed forms instead of running every row: exact for equal
  /// chunks.
  bool closedFormMemory = false;
  const std::vector<ChunkCost> *chunks = nullptr; ///< `chunkCosts` of this layout, if at hand
};
StepCost stepCost(BlockCache &cache, const cost::Machine &machine, const workload::Layout &layout,
                  StepOptions options = {});
StepCost stepCost(const cost::Machine &machine, const workload::Workload &workload,
                  const workload::Layout &layout,
                  const cost::Calibration &calibration = cost::Calibration::builtin());

/// Seconds that `stepCost` never undercuts, without running the schedule.
double stepBound(BlockCache &cache, const cost::Machine &machine, const workload::Layout &layout,
                 const std::vector<ChunkCost> *chunks = nullptr);

/// Dense peak of the recipe's products, FLOP per second of one device.
double peakOf(const cost::DeviceKind &device, workload::Precision precision);
/// Whether every device of the machine has a rate for the precision; f32 runs everywhere.
bool canRun(const cost::Machine &machine, workload::Precision precision);
/// Empty, or which device lacks the precision, what it has and the nearest that works.
std::string checkPrecision(const cost::Machine &machine, workload::Precision precision);
/// FLOP of one step on all ranks, recomputation included: the numerator of HFU.
double hardwareFlops(const workload::Workload &workload, const workload::Layout &layout);

} // namespace gpucc::simulate
#endif // GPUCC_SIMULATE_STEPCOST_H
