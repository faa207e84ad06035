//===- Gemm.h - Instances of the GEMM skeletons as kernel texts --*- C++ -*-===//
//
// A case says extents, layouts, types and tile; `textOf` prints the kernel that a code generator
// would.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_EMULATION_GEMM_H
#define GPUCC_TEST_EMULATION_GEMM_H

#include <ostream>
#include <string>

namespace gpucc::test {

struct GemmCase {
  std::string name;
  std::string type; ///< gk_f16, gk_bf16, float (tf32 on tensor cores)
  bool mma;
  int batch, m, n, k;
  bool transposedA, transposedB; ///< A stored [K][M]; B stored [N][K]
  int bm, bn, bk, tm, tn;        ///< tile; of a thread (SIMT) or of a warp (mma)
  int stages, v;
  bool computedB = false;

  int threads() const { return mma ? 32 * (bm / tm) * (bn / tn) : bm / tm * (bn / tn); }
  unsigned gridX() const {
    return static_cast<unsigned>(((m + bm - 1) / bm) * ((n + bn - 1) / bn));
  }
};
inline void PrintTo(const GemmCase &c, std::ostream *os) { *os << c.name; }

/// y[b][i][j] = acc + bias[j], stored as float.
inline std::string textOf(const GemmCase &c) {
  auto s = [](long long x) { return std::to_string(x); };
  const std::string t = c.type;
  std::string text = std::string("#include \"") + (c.mma ? "gemm_mma" : "gemm_simt") + ".cuh\"\n" +
                     "extern \"C\" __global__ void __launch_bounds__(" + s(c.threads()) +
                     ", 1) gemm(const " + t + " *__restrict__ p0, const " + t +
                     " *__restrict__ p1, const float *__restrict__ p2, float *__restrict__ p3) {\n";
  text += "  gk_direct<" + t + ", " + s(c.m * c.k) + ", " + s(c.transposedA ? 1 : c.k) + ", " +
          s(c.transposedA ? c.m : 1) + "> a{p0};\n";
  if (c.computedB)
    text += std::string("  auto b = gk_computed<") + t + ", " + (c.transposedB ? "true" : "false") +
            ">([=](gk_i64 b, int r, int k) { return p1[b * " + s(c.n * c.k) + " + " +
            (c.transposedB ? "r * " + s(c.k) + " + k" : "k * " + s(c.n) + " + r") + "]; });\n";
  else
    text += "  gk_direct<" + t + ", " + s(c.n * c.k) + ", " + s(c.transposedB ? c.k : 1) + ", " +
            s(c.transposedB ? 1 : c.n) + "> b{p1};\n";
  const std::string extents = s(c.m) + ", " + s(c.n) + ", " + s(c.k) + ", ";
  if (c.mma)
    text += "  gk_gemm_mma<" + t + ", " + extents + s(c.bm) + ", " + s(c.bn) + ", " + s(c.bk) +
            ", " + s(c.tm) + ", " + s(c.tn) + ", " + s(c.stages) + ", " + s(c.v) + ">";
  else
    text += "  gk_gemm_simt<" + extents + s(c.bm) + ", " + s(c.bn) + ", " + s(c.bk) + ", " +
            s(c.tm) + ", " + s(c.tn) + ", " + s(c.v) + ">";
  const std::string row = "(b * " + s(c.m) + " + i) * " + s(c.n) + " + j";
  if (c.v == 1)
    text += "(a, b, [&](float acc, gk_i64 b, int i, int j) {\n    p3[" + row +
            "] = acc + p2[j];\n  });\n}\n";
  else
    text += "(a, b, [&](float (&acc)[" + s(c.v) +
            "], gk_i64 b, int i, int j) {\n    for (int v = 0; v < " + s(c.v) +
            "; ++v) acc[v] += p2[j + v];\n    for (int v = 0; v < " + s(c.v) +
            "; v += " + (c.v < 4 ? s(c.v) : "4") + ") gk_store(p3 + " + row +
            " + v, gk_load<float, " + (c.v < 4 ? s(c.v) : "4") + ">(acc + v));\n  });\n}\n";
  return text;
}

/// Layouts, tails in every extent, unaligned rows, batches, both sizes of tile.
inline const GemmCase gemmCases[] = {
    {"f32_tiny", "float", false, 1, 3, 5, 7, false, false, 64, 64, 16, 4, 4, 0, 1},
    {"f32_64", "float", false, 1, 64, 64, 64, false, false, 64, 64, 16, 4, 4, 0, 4},
    {"f32_tails", "float", false, 2, 70, 68, 51, false, false, 64, 64, 16, 4, 4, 0, 4},
    {"f32_nt", "float", false, 1, 65, 30, 44, false, true, 64, 64, 16, 4, 4, 0, 2},
    {"f32_tn", "float", false, 3, 36, 20, 33, true, false, 64, 64, 16, 4, 4, 0, 4},
    {"f32_tt_computed", "float", false, 1, 40, 37, 29, true, true, 64, 64, 16, 4, 4, 0, 1, true},
    {"f32_large", "float", false, 1, 130, 132, 40, false, false, 128, 128, 8, 8, 8, 0, 4},
    {"f32_narrow", "float", false, 1, 10, 256, 64, false, false, 16, 128, 16, 2, 4, 0, 4},
    {"bf16_64", "gk_bf16", true, 1, 64, 64, 64, false, false, 64, 64, 32, 32, 32, 4, 8},
    {"bf16_large", "gk_bf16", true, 1, 128, 128, 160, false, false, 128, 128, 32, 64, 32, 3, 8},
    {"bf16_nt", "gk_bf16", true, 2, 72, 40, 104, false, true, 64, 64, 32, 32, 32, 4, 8},
    {"bf16_tn", "gk_bf16", true, 1, 48, 80, 56, true, false, 64, 64, 32, 32, 32, 4, 4},
    {"f16_tt", "gk_f16", true, 1, 40, 24, 48, true, true, 64, 64, 32, 32, 32, 4, 2},
    {"f16_odd", "gk_f16", true, 2, 33, 41, 35, false, false, 64, 64, 32, 32, 32, 4, 1},
    {"f16_even", "gk_f16", true, 1, 50, 42, 46, false, true, 64, 64, 32, 32, 32, 4, 2},
    {"f16_computed", "gk_f16", true, 1, 40, 72, 40, false, false, 64, 64, 32, 32, 32, 4, 8, true},
    {"f16_small", "gk_f16", true, 1, 16, 16, 16, false, false, 32, 32, 32, 16, 16, 4, 4},
    {"tf32_nn", "float", true, 1, 64, 64, 48, false, false, 64, 64, 16, 32, 32, 4, 4},
    {"tf32_nt_tails", "float", true, 2, 66, 60, 44, false, true, 64, 64, 16, 32, 32, 4, 4},
    {"tf32_tn", "float", true, 1, 100, 48, 60, true, false, 64, 64, 16, 32, 32, 4, 4},
    {"tf32_large", "float", true, 1, 128, 136, 32, false, false, 128, 128, 16, 64, 32, 3, 4},
};

} // namespace gpucc::test

#endif
