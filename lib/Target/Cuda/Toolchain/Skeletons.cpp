//===- Skeletons.cpp - Choose a tile --------------------------------------===//

#include "gpucc/Target/Cuda/Skeletons.h"

#include <algorithm>

using namespace gpucc::cuda;

/// Largest first. Every entry is exercised by test/emulation/GemmTest.cpp.
static const GemmTile halfTiles[] = {
    {true, 128, 128, 32, 64, 32, 3}, {true, 64, 64, 32, 32, 32, 4}, {true, 32, 32, 32, 16, 16, 4}};
static const GemmTile tf32Tiles[] = {
    {true, 128, 128, 16, 64, 32, 3}, {true, 64, 64, 16, 32, 32, 4}, {true, 32, 32, 16, 16, 16, 4}};
static const GemmTile simtTiles[] = {
    {false, 128, 128, 8, 8, 8, 0}, {false, 64, 64, 16, 4, 4, 0}, {false, 16, 128, 16, 2, 4, 0}};

GemmTile gpucc::cuda::chooseGemmTile(const GemmProblem &p) {
  const auto &tiles = !p.tensorCores ? simtTiles : p.elementBytes == 2 ? halfTiles : tf32Tiles;
  for (const GemmTile &tile : tiles)
    if (tile.bm <= p.m && tile.bn <= p.n && tile.blocks(p) * p.batch >= p.multiprocessors)
      return tile;
  // Too small to fill the device: least area computed for nothing, then the larger tile.
  return *std::min_element(std::begin(tiles), std::end(tiles),
                           [&](const GemmTile &a, const GemmTile &b) {
                             return a.blocks(p) * a.bm * a.bn < b.blocks(p) * b.bm * b.bn;
                           });
}

int gpucc::cuda::chooseEpilogueWidth(const GemmTile &tile, int64_t n, int resultBytes) {
  for (int v : {8, 4, 2})
    if (n % v == 0 && v * resultBytes <= 16 &&
        (tile.tensorCores ? tile.bn % v == 0 : v <= 4 && tile.wn % v == 0))
      return v;
  return 1;
}
