//===- Skeletons.h - Tiles and launches of the CUDA skeletons ----*- C++ -*-===//
//
// The templates of lib/Target/Cuda/Skeletons leave the tile to the caller. Here are the tiles that
// are tested, a choice among them by extents, and the launch that follows. Example:
//
//   GemmProblem p{.tensorCores = true, .elementBytes = 2, .m = 2048, .n = 2304, .k = 768};
//   GemmTile t = chooseGemmTile(p);
//   t.text() == "128, 128, 32, 64, 32, 3"     // BM, BN, BK, WM, WN, STAGES of gk_gemm_mma
//   t.grid(p) == {288, 1, 1};  t.threads() == 256
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_CUDA_SKELETONS_H
#define GPUCC_TARGET_CUDA_SKELETONS_H

#include <array>
#include <cstdint>
#include <string>

namespace gpucc::cuda {

struct GemmProblem {
  bool tensorCores = false;
  int elementBytes = 4; ///< 2: f16, bf16; 4: tf32 on tensor cores, else float
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int multiprocessors = 108; ///< of the device the kernel is for
};

struct GemmTile {
  bool tensorCores;
  int bm, bn, bk; ///< of a block
  int wm, wn;     ///< of a warp (tensor cores) or of a thread
  int stages;     ///< tensor cores only

  int threads() const { return tensorCores ? 32 * (bm / wm) * (bn / wn) : (bm / wm) * (bn / wn); }
  int64_t blocks(const GemmProblem &p) const {
    return ((p.m + bm - 1) / bm) * ((p.n + bn - 1) / bn);
  }
  std::array<int64_t, 3> grid(const GemmProblem &p) const { return {blocks(p), 1, p.batch}; }
  int sharedBytes() const {
    return tensorCores ? stages * (bm + bn) * 64 : (bm + 4 + bn + 4) * bk * 4 * 2;
  }
  /// The template arguments between the extents and V.
  std::string text() const {
    std::string s;
    for (int x : {bm, bn, bk, wm, wn})
      s += (s.empty() ? "" : ", ") + std::to_string(x);
    return tensorCores ? s + ", " + std::to_string(stages) : s;
  }
};

/// The largest tile that still gives every multiprocessor a block, else the one that wastes least
/// on tails. Never changes the bits of the SIMT skeleton.
GemmTile chooseGemmTile(const GemmProblem &problem);

/// Columns per call of the epilogue: the largest of 8 (16-bit results, tensor cores), 4, 2, 1 that
/// divides n and the tile's run of columns.
int chooseEpilogueWidth(const GemmTile &tile, int64_t n, int resultBytes);

} // namespace gpucc::cuda

#endif
