//===- ChunkCost.cpp - blocks to chunks of the pipeline -------------------===//
//
// Chunk c of P holds consecutive layers; the first also embeds, the last also makes logits. The
// first `recomputeLayers` of a rank's layers recompute, spread evenly over its chunks.
//
//===----------------------------------------------------------------------===//
#include "Step.h"
#include <algorithm>

namespace gpucc::simulate {

using namespace workload;
using solvers::ScheduleKind;

namespace {

/// Chunks that one copy of the model is cut into.
int64_t chunksOfModel(const Layout &l) {
  if (l.pp == 1)
    return 1;
  int64_t chunks = solvers::chunksPerRank(l.schedule, static_cast<int>(l.virtualStages));
  return l.schedule == ScheduleKind::DualPipe ? l.pp : l.pp * chunks;
}

void addBlock(ChunkCost &chunk, const BlockCost &b, Recompute mode, double recomputed) {
  // `recomputed`: 0 or 1 for one layer; embedding and head never recompute.
  double again = b.again[static_cast<int>(mode)];
  again *= recomputed;
  chunk.parts += b.forward;
  chunk.parts += b.backwardInput;
  chunk.parts += b.backwardWeight;
  chunk.parts.recompute += again;
  chunk.seconds.forward += b.forward.total();
  chunk.seconds.backwardInput += b.backwardInput.total() + again;
  chunk.seconds.backwardWeight += b.backwardWeight.total();
  chunk.keptBytes += recomputed > 0 ? b.savedBytes[static_cast<int>(mode)] : b.savedBytes[0];
  chunk.parameters += b.parameters;
  chunk.expertParameters += b.expertParameters;
  // A recomputed layer rebuilds all that it did not keep, one layer at a time.
  double rebuilt = recomputed > 0 ? b.savedBytes[0] - b.savedBytes[static_cast<int>(mode)] : 0;
  chunk.workspaceBytes = std::max(chunk.workspaceBytes, b.workspaceBytes + rebuilt);
}

} // namespace

int rankOfChunk(const Layout &l, int chunk) {
  int p = static_cast<int>(l.pp);
  switch (l.schedule) {
  case ScheduleKind::ZbV:
  case ScheduleKind::DualPipeV:
    return chunk < p ? chunk : 2 * p - 1 - chunk;
  case ScheduleKind::DualPipe:
    return chunk < p ? chunk : 2 * p - 1 - chunk; // p + j runs on rank p - 1 - j
  default:
    return chunk % p;
  }
}

std::vector<int64_t> layersOfChunks(const Workload &w, const Layout &l) {
  int64_t chunks = chunksOfModel(l);
  if (l.stageLayers.empty() || chunks == l.pp) {
    Layout flat = l;
    flat.pp = chunks;
    return layersOfStages(w, flat);
  }
  // Given per rank: a rank's chunks are filled up to those of the fullest rank, earlier chunks
  // first, and none is left empty. So a last rank with fewer layers has them before its logits.
  std::vector<int64_t> result(static_cast<size_t>(chunks)), left = l.stageLayers;
  int64_t perRank = chunks / l.pp;
  int64_t full = (*std::max_element(left.begin(), left.end()) + perRank - 1) / perRank;
  std::vector<int64_t> seen(static_cast<size_t>(l.pp), 0);
  for (int64_t c = 0; c < chunks; ++c) {
    size_t r = static_cast<size_t>(rankOfChunk(l, static_cast<int>(c)));
    int64_t after = perRank - 1 - seen[r]++;
    result[static_cast<size_t>(c)] =
        after > 0 ? std::clamp<int64_t>(left[r] - after, std::min<int64_t>(1, left[r]), full)
                  : left[r];
    left[r] -= result[static_cast<size_t>(c)];
  }
  return result;
}

cost::Machine machineOfRank(const cost::Machine &machine, const Layout &layout, int rank) {
  if (!machine.mixed())
    return machine;
  int64_t perRank = layout.tp * layout.cp * layout.dp, first = rank * perRank,
          last = first + perRank - 1, at = 0;
  cost::Machine own = machine;
  own.moreNodes.clear();
  double slowest = -1;
  for (const cost::NodeGroup &group : machine.groups()) {
    int64_t end = at + static_cast<int64_t>(group.devicesPerNode) * group.nodes;
    double speed = group.device.matrixPeak(DType::F16);
    if (first < end && last >= at && (slowest < 0 || speed < slowest)) {
      slowest = speed;
      own.device = group.device;
      own.devicesPerNode = group.devicesPerNode;
      own.intra = group.intra;
    }
    at = end;
  }
  own.nodes = machine.numDevices() / std::max(1, own.devicesPerNode);
  return own;
}

std::vector<ChunkCost> chunkCosts(BlockCache &cache, const cost::Machine &machine,
                                  const Layout &l) {
  const Workload &w = cache.workload;
  std::vector<BlockKind> blocks = blocksOf(w);
  std::vector<int64_t> layers = layersOfChunks(w, l);
  std::vector<ChunkCost> chunks;
  std::vector<cost::Machine> machines;
  for (int r = 0; r < (machine.mixed() ? l.pp : 1); ++r)
    machines.push_back(machineOfRank(machine, l, r));
  // A model has few kinds of blocks: each is looked up once per machine.
  std::map<std::pair<size_t, BlockKind>, const BlockCost *> known;
  auto costOf = [&](size_t machineIndex, BlockKind kind) -> const BlockCost & {
    const BlockCost *&found = known[{machineIndex, kind}];
    if (!found)
      found = &cache.get(machines[machineIndex], l, kind);
    return *found;
  };
  int64_t next = 1, perRank = chunksOfModel(l) / l.pp; // blocks[0] is the embedding
  for (size_t c = 0; c < layers.size(); ++c) {
    ChunkCost chunk;
    chunk.rank = rankOfChunk(l, static_cast<int>(c));
    chunk.layers = layers[c];
    size_t m = machine.mixed() ? static_cast<size_t>(chunk.rank) : 0;
    int64_t limit = l.recomputeLayers < 0
                        ? layers[c]
                        : (l.recomputeLayers + perRank - 1) / std::max<int64_t>(1, perRank);
    if (c == 0)
      addBlock(chunk, costOf(m, blocks.front()), Recompute::None, 0);
    for (int64_t k = 0; k < layers[c]; ++k)
      addBlock(chunk, costOf(m, blocks[static_cast<size_t>(next++)]), l.recompute,
               l.recompute != Recompute::None && k < limit ? 1 : 0);
    if (c + 1 == layers.size()) {
      const BlockCost &head = costOf(m, blocks.back());
      double before = chunk.keptBytes, workspace = chunk.workspaceBytes;
      addBlock(chunk, head, Recompute::None, 0);
      chunk.workspaceBytes = workspace; // what the head needs are its logits
      chunk.logitBytes = chunk.keptBytes - before;
      // Further predicted tokens have logits of their own.
      for (int64_t a = 0; a < w.predictAhead; ++a) {
        double parameters = chunk.parameters;
        addBlock(chunk, head, Recompute::None, 0);
        chunk.workspaceBytes = workspace;
        chunk.parameters = parameters;
      }
      // A tied matrix lives on both ends of a pipeline.
      if (w.tied && layers.size() > 1)
        chunk.parameters += static_cast<double>(w.vocab * w.hidden) / static_cast<double>(l.tp);
    }
    if (l.offloadActivations > 0)
      chunk.keptBytes *= 1 - l.offloadActivations;
    chunks.push_back(chunk);
  }
  if (hasTwoCopies(l)) // the second copy, in the other direction
    for (int c = 0; c < l.pp; ++c) {
      chunks.push_back(chunks[static_cast<size_t>(c)]);
      chunks.back().rank = static_cast<int>(l.pp) - 1 - c;
    }
  return chunks;
}

} // namespace gpucc::simulate
