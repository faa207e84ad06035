// attention.cuh - what both attention skeletons share: operands, masks, the contract.
//
//   o(b, h, i, :) = sum over j of p(i, j) * v(b, g, j, :),   g = h / (heads / kvHeads)
//   p(i, :)       = softmax over j of score(scale * q(b, h, i, :) . k(b, g, j, :), b, h, i, j)
// computed tile of keys by tile of keys with a running maximum and sum: no score reaches memory.
//
// Contract of an instantiation (attention_mma.cuh for gk_f16 and gk_bf16, attention_simt.cuh for
// float):
//   Shape       gk_attention_shape<Heads, KvHeads, SQ, SK, D, Causal, Offset, Window>
//                 Causal: query i sees keys j <= i + Offset (Offset = SK - SQ aligns the ends)
//                 Window > 0: and only j > i + Offset - Window
//   q, k, v     gk_heads<T, batchStride, headStride, rowStride>{pointer} (the last dimension is
//               contiguous), or an operand gk_computed_heads<T>(f) with f(b, h, s, d), e.g. rotary
//               embedding fused as a prologue
//   scale       float factor on the products
//   score       (float s, gk_i64 b, int h, int i, int j) -> float: bias, soft cap, a mask that
//               returns -gk_inf(). gk_plain_score{} = s
//   epilogue    (float acc or float (&acc)[V], gk_i64 b, int h, int i, int d)
//   statistics  (float lse, gk_i64 b, int h, int i): the natural logarithm of the row's sum of
//               exponentials, for a backward pass. gk_no_statistics{} = nothing
//   launch      grid (ceil(SQ / BQ), Heads, batch); block and BQ in the two files; the kernel says
//               __launch_bounds__(threads, 1)
// A row with every key masked gives NaN, as the softmax it stands for does. D % V == 0. Example:
//
//   using shape = gk_attention_shape<12, 12, 128, 128, 64, true>;
//   gk_heads<gk_bf16, 128 * 768, 64, 768> q{p0}, k{p1}, v{p2};          // [batch][seq][head][64]
//   gk_attention_mma<gk_bf16, shape, 8>(q, k, v, 0.125f, gk_plain_score{},
//       [&](float (&acc)[8], gk_i64 b, int h, int i, int d) { ... gk_store(p3 + ..., ...); },
//       gk_no_statistics{});
#ifndef GPUCC_ATTENTION_CUH
#define GPUCC_ATTENTION_CUH
#include "gk_tensor.cuh"
#include "operand.cuh"

template <int Heads, int KvHeads, int SQ, int SK, int D, bool Causal = false, int Offset = 0,
          int Window = 0>
struct gk_attention_shape {
  static_assert(Heads % KvHeads == 0, "each key head serves the same number of query heads");
  static constexpr int heads = Heads, kvHeads = KvHeads, sq = SQ, sk = SK, d = D, offset = Offset,
                       window = Window;
  static constexpr bool causal = Causal;

  /// Does query i see key j?
  static GK_DEV_MEMBER bool sees(int i, int j) {
    return j < SK && (!Causal || j <= i + Offset) && (Window <= 0 || j > i + Offset - Window);
  }
  /// Keys [first, last) that some query of [i0, i1) sees, first rounded down to a tile of T keys.
  static GK_DEV_MEMBER int first(int i0, int T) {
    const int low = Window > 0 ? i0 + Offset - Window + 1 : 0;
    return low > 0 ? low / T * T : 0;
  }
  static GK_DEV_MEMBER int last(int i1) {
    const int high = Causal ? i1 + Offset : SK;
    return high < 0 ? 0 : high < SK ? high : SK;
  }
};

template <class T, gk_i64 Batch, gk_i64 Head, gk_i64 Row, int Alignment = 16> struct gk_heads {
  using element = T;
  static constexpr bool direct = true;
  static constexpr gk_i64 row = Row;
  const T *p;
  GK_DEV_MEMBER const T *base(gk_i64 b, int h) const { return p + b * Batch + h * Head; }
  /// Elements per copy of rows of d elements.
  static GK_DEV_MEMBER constexpr int width(int d) {
    int v = gk_width(sizeof(T), d, Row, Alignment);
    while (v > 1 && (Batch % v || Head % v))
      v /= 2;
    return v;
  }
};
template <class T, class F> struct gk_computed_heads_operand {
  using element = T;
  static constexpr bool direct = false;
  F f;
  GK_DEV_MEMBER T at(gk_i64 b, int h, int s, int d) const { return f(b, h, s, d); }
  static GK_DEV_MEMBER constexpr int width(int) { return 1; }
};
template <class T, class F> GK_DEV gk_computed_heads_operand<T, F> gk_computed_heads(F f) {
  return {f};
}

struct gk_plain_score {
  GK_DEV_MEMBER float operator()(float s, gk_i64, int, int, int) const { return s; }
};
struct gk_no_statistics {
  GK_DEV_MEMBER void operator()(float, gk_i64, int, int) const {}
};

GK_DEV float gk_exp2(float x) {
#if GK_DEVICE
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return exp2f(x);
#endif
}
GK_DEV float gk_log2(float x) {
#if GK_DEVICE
  float r;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return log2f(x);
#endif
}

/// Rows row0 .. row0 + ROWS - 1 of a head into shared memory at PLACE::at(row, d); zeros beyond
/// LIMIT rows and D columns, up to DP. Copies by cp.async where a width of 4 bytes or more allows
/// it.
template <class Place, int ROWS, int D, int DP, int LIMIT, int THREADS, class Operand>
GK_DEV void gk_fetch_rows(typename Operand::element *to, const Operand &operand, gk_i64 b, int h,
                          int row0) {
  using T = typename Operand::element;
  constexpr int V = Operand::width(D), bytes = V * (int)sizeof(T), groups = ROWS * DP / V;
  GK_UNROLL
  for (int g = 0; g < (groups + THREADS - 1) / THREADS; ++g) {
    const int n = g * THREADS + (int)threadIdx.x;
    if (groups % THREADS != 0 && n >= groups)
      continue;
    const int r = n / (DP / V), d = n % (DP / V) * V, s = row0 + r;
    const bool inside = s < LIMIT && d < D;
    T *cell = to + Place::at(r, d);
    if constexpr (Operand::direct) {
      const T *base = operand.base(b, h);
      const T *from = inside ? base + s * Operand::row + d : base;
      if constexpr (bytes >= 4)
        gk_cp_async<bytes>(cell, from, inside ? bytes : 0);
      else
        *cell = inside ? *from : gk_cast<T>(0.0f);
    } else
      *cell = inside ? operand.at(b, h, s, d) : gk_cast<T>(0.0f);
  }
}
#endif // GPUCC_ATTENTION_CUH
