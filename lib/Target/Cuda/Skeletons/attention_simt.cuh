// attention_simt.cuh - attention on ordinary cores, float; contract in attention.cuh.
//
//   block 128 threads, BQ = 32 queries: four threads share a row; tiles of 16 keys
//   D <= 160, V is 1, 2 or 4
//   shared memory (64 * (P + 4) + 640) * 4 bytes, P = D rounded up to a multiple of 16
#ifndef GPUCC_ATTENTION_SIMT_CUH
#define GPUCC_ATTENTION_SIMT_CUH
#include "attention.cuh"

template <int PITCH> struct gk_padded_rows {
  static GK_DEV_MEMBER int at(int r, int d) { return r * PITCH + d; }
};

template <class Shape, int V, class Q, class K, class Values, class Score, class Epilogue,
          class Statistics>
GK_DEV void gk_attention_simt(const Q &q, const K &k, const Values &v, float scale, Score score,
                              Epilogue &&epilogue, Statistics statistics) {
  using s = Shape;
  constexpr int BQ = 32, BK = 16, threads = 128, DP = (s::d + 15) / 16 * 16, pitch = DP + 4;
  static_assert(s::d <= 160 && s::d % V == 0 && V <= 4, "see the contract above");
  using place = gk_padded_rows<pitch>;
  GK_SHARED(float, sq, [BQ * pitch]);
  GK_SHARED(float, sk, [BK * pitch]);
  GK_SHARED(float, sv, [BK * pitch]);
  GK_SHARED(float, sp, [BQ * (BK + 4)]);
  const int r = threadIdx.x / 4, quarter = threadIdx.x % 4;
  const int h = blockIdx.y, kvHead = h / (s::heads / s::kvHeads), i0 = blockIdx.x * BQ, i = i0 + r;
  const gk_i64 b = blockIdx.z;
  gk_fetch_rows<place, BQ, s::d, DP, s::sq, threads>(sq, q, b, h, i0);
  const int first = s::first(i0, BK), last = s::last(i0 + BQ < s::sq ? i0 + BQ : s::sq);
  // Columns of this thread: 4 at 16 * c + 4 * quarter.
  float o[DP / 16][4], top = -gk_inf(), sum = 0.0f;
  GK_UNROLL
  for (int c = 0; c < DP / 16; ++c)
    GK_UNROLL
  for (int e = 0; e < 4; ++e)
    o[c][e] = 0.0f;
  constexpr float log2e = 1.44269504f;
#pragma unroll 1
  for (int j0 = first; j0 < last; j0 += BK) {
    gk_fetch_rows<place, BK, s::d, DP, s::sk, threads>(sk, k, b, kvHead, j0);
    gk_fetch_rows<place, BK, s::d, DP, s::sk, threads>(sv, v, b, kvHead, j0);
    gk_cp_commit();
    gk_cp_wait<0>();
    __syncthreads();
    float p[4] = {0.0f, 0.0f, 0.0f, 0.0f}; // keys quarter, quarter + 4, ...
#pragma unroll 4
    for (int d = 0; d < DP; d += 4) {
      const gk_vec<float, 4> x = gk_load<float, 4>(sq + r * pitch + d);
      GK_UNROLL
      for (int n = 0; n < 4; ++n) {
        const gk_vec<float, 4> y = gk_load<float, 4>(sk + (n * 4 + quarter) * pitch + d);
        GK_UNROLL
        for (int e = 0; e < 4; ++e)
          p[n] = fmaf(x.v[e], y.v[e], p[n]);
      }
    }
    float high = top;
    GK_UNROLL
    for (int n = 0; n < 4; ++n) {
      const int j = j0 + n * 4 + quarter;
      p[n] = s::sees(i, j) && i < s::sq ? score(p[n] * scale, b, h, i, j) : -gk_inf();
      high = p[n] > high ? p[n] : p[n] != p[n] ? p[n] : high;
    }
    GK_UNROLL
    for (int lanes = 1; lanes < 4; lanes *= 2) {
      const float other = gk_shfl_xor(high, lanes);
      high = other > high ? other : other != other ? other : high;
    }
    const float base = high == -gk_inf() ? 0.0f : high; // nothing seen yet: all exponents are -inf
    const float shrink = gk_exp2((top - base) * log2e);
    top = high;
    float part = 0.0f;
    GK_UNROLL
    for (int n = 0; n < 4; ++n) {
      p[n] = gk_exp2((p[n] - base) * log2e);
      part += p[n];
      sp[r * (BK + 4) + n * 4 + quarter] = p[n];
    }
    sum = sum * shrink + part;
    __syncwarp();
    GK_UNROLL
    for (int c = 0; c < DP / 16; ++c)
      GK_UNROLL
    for (int e = 0; e < 4; ++e)
      o[c][e] *= shrink;
#pragma unroll 4
    for (int j = 0; j < BK; ++j) {
      const float weight = sp[r * (BK + 4) + j];
      GK_UNROLL
      for (int c = 0; c < DP / 16; ++c) {
        const gk_vec<float, 4> y = gk_load<float, 4>(sv + j * pitch + 16 * c + 4 * quarter);
        GK_UNROLL
        for (int e = 0; e < 4; ++e)
          o[c][e] = fmaf(weight, y.v[e], o[c][e]);
      }
    }
    __syncthreads();
  }
  gk_cp_commit();
  gk_cp_wait<0>();
  GK_UNROLL
  for (int lanes = 1; lanes < 4; lanes *= 2)
    sum += gk_shfl_xor(sum, lanes);
  if (i >= s::sq)
    return;
  if (quarter == 0)
    statistics(top + gk_log2(sum) * 0.693147181f, b, h, i);
  const float inverse = 1.0f / sum;
  GK_UNROLL
  for (int c = 0; c < DP / 16; ++c)
    GK_UNROLL
  for (int e = 0; e < 4; e += V) {
    const int d = 16 * c + 4 * quarter + e;
    if (d < s::d) {
      alignas(16) float x[V];
      GK_UNROLL
      for (int n = 0; n < V; ++n)
        x[n] = o[c][e + n] * inverse;
      if constexpr (V == 1)
        epilogue(x[0], b, h, i, d);
      else
        epilogue(x, b, h, i, d);
    }
  }
}
#endif // GPUCC_ATTENTION_SIMT_CUH
