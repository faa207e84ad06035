// attention_mma.cuh - attention on tensor cores for gk_f16 and gk_bf16; contract in attention.cuh.
//
//   block 128 threads, BQ = 64 queries: each of 4 warps owns 16; tiles of 64 keys (32 when P = 128)
//   D <= 128; shared memory 256 * P bytes with P = D rounded up to a power of two >= 16
// The queries' fragments stay in registers. While the scores of a tile are computed its values are
// still on their way, and the next keys arrive during the softmax:
//
//   wait K(t) | S = Q K(t)' | fetch K(t+1) | softmax | wait V(t) | O += P V(t) | fetch V(t+1)
#ifndef GPUCC_ATTENTION_MMA_CUH
#define GPUCC_ATTENTION_MMA_CUH
#include "attention.cuh"

/// [rows][DP] of 16-bit elements, chunks exchanged as in gemm_mma.cuh.
template <int DP> struct gk_head_tile {
  static constexpr int chunks = DP / 8;
  static GK_DEV_MEMBER int at(int r, int d) {
    const int turn = chunks >= 8 ? r & 7 : r / (8 / chunks) & (chunks - 1);
    return r * DP + ((d / 8) ^ turn) * 8 + d % 8;
  }
};

template <class T> GK_DEV gk_u32 gk_pack(float low, float high) {
  return (gk_u32)gk_cast<T>(low).bits | (gk_u32)gk_cast<T>(high).bits << 16;
}

template <class T, class Shape, int V, class Q, class K, class Values, class Score, class Epilogue,
          class Statistics>
GK_DEV void gk_attention_mma(const Q &q, const K &k, const Values &v, float scale, Score score,
                             Epilogue &&epilogue, Statistics statistics) {
  using s = Shape;
  constexpr int DP = s::d <= 16 ? 16 : s::d <= 32 ? 32 : s::d <= 64 ? 64 : 128;
  constexpr int BQ = 64, BK = DP <= 64 ? 64 : 32, threads = 128;
  static_assert(s::d <= 128 && s::d % V == 0 && V <= 8 && sizeof(T) == 2, "see the contract above");
  using place = gk_head_tile<DP>;
  GK_SHARED(T, tiles, [2 * BQ * DP]); // keys and values; at the ends the queries and the results
  T *const sk = tiles, *const sv = tiles + BK * DP;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const int h = blockIdx.y, kvHead = h / (s::heads / s::kvHeads), i0 = blockIdx.x * BQ;
  const gk_i64 b = blockIdx.z;

  gk_fetch_rows<place, BQ, s::d, DP, s::sq, threads>(sk, q, b, h, i0);
  gk_cp_commit();
  gk_cp_wait<0>();
  __syncthreads();
  gk_u32 fq[DP / 16][4];
  GK_UNROLL
  for (int d = 0; d < DP / 16; ++d)
    gk_ldmatrix_x4(fq[d], sk + place::at(warp * 16 + (lane & 15), d * 16 + (lane >> 4) * 8));
  __syncthreads();

  auto fetchKeys = [&](int j0) {
    gk_fetch_rows<place, BK, s::d, DP, s::sk, threads>(sk, k, b, kvHead, j0);
  };
  auto fetchValues = [&](int j0) {
    gk_fetch_rows<place, BK, s::d, DP, s::sk, threads>(sv, v, b, kvHead, j0);
  };
  const int first = s::first(i0, BK), last = s::last(i0 + BQ < s::sq ? i0 + BQ : s::sq);
  const int row = i0 + warp * 16 + lane / 4; // this thread's rows: row and row + 8
  float o[DP / 8][4], top[2] = {-gk_inf(), -gk_inf()}, sum[2] = {0.0f, 0.0f};
  GK_UNROLL
  for (int n = 0; n < DP / 8; ++n)
    GK_UNROLL
  for (int e = 0; e < 4; ++e)
    o[n][e] = 0.0f;
  constexpr float log2e = 1.44269504f;
  if (first < last) {
    fetchKeys(first);
    gk_cp_commit();
    fetchValues(first);
    gk_cp_commit();
  }
#pragma unroll 1
  for (int j0 = first; j0 < last; j0 += BK) {
    gk_cp_wait<1>();
    __syncthreads();
    float p[BK / 8][4];
    GK_UNROLL
    for (int n = 0; n < BK / 8; ++n)
      GK_UNROLL
    for (int e = 0; e < 4; ++e)
      p[n][e] = 0.0f;
#pragma unroll
    for (int d = 0; d < DP / 16; ++d)
#pragma unroll
      for (int n = 0; n < BK / 16; ++n) {
        gk_u32 f[4];
        gk_ldmatrix_x4(
            f, sk + place::at(n * 16 + (lane & 7) + (lane >> 4) * 8, d * 16 + (lane >> 3 & 1) * 8));
        const gk_u32 f0[2] = {f[0], f[1]}, f1[2] = {f[2], f[3]};
        gk_mma<T>(p[2 * n], fq[d], f0);
        gk_mma<T>(p[2 * n + 1], fq[d], f1);
      }
    __syncthreads();
    if (j0 + BK < last)
      fetchKeys(j0 + BK);
    gk_cp_commit();
    GK_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int i = row + half * 8;
      float high = top[half];
      GK_UNROLL
      for (int n = 0; n < BK / 8; ++n)
        GK_UNROLL
      for (int e = 0; e < 2; ++e) {
        const int j = j0 + n * 8 + lane % 4 * 2 + e;
        float &x = p[n][half * 2 + e];
        x = s::sees(i, j) && i < s::sq ? score(x * scale, b, h, i, j) : -gk_inf();
        high = x > high ? x : x != x ? x : high;
      }
      GK_UNROLL
      for (int lanes = 1; lanes < 4; lanes *= 2) {
        const float other = gk_shfl_xor(high, lanes);
        high = other > high ? other : other != other ? other : high;
      }
      const float base =
          high == -gk_inf() ? 0.0f : high; // nothing seen yet: all exponents are -inf
      const float shrink = gk_exp2((top[half] - base) * log2e);
      top[half] = high;
      float part = 0.0f;
      GK_UNROLL
      for (int n = 0; n < BK / 8; ++n)
        GK_UNROLL
      for (int e = 0; e < 2; ++e) {
        float &x = p[n][half * 2 + e];
        x = gk_exp2((x - base) * log2e);
        part += x;
      }
      sum[half] = sum[half] * shrink + part;
      GK_UNROLL
      for (int n = 0; n < DP / 8; ++n)
        GK_UNROLL
      for (int e = 0; e < 2; ++e)
        o[n][half * 2 + e] *= shrink;
    }
    gk_cp_wait<1>();
    __syncthreads();
#pragma unroll
    for (int j = 0; j < BK / 16; ++j) {
      const gk_u32 fp[4] = {gk_pack<T>(p[2 * j][0], p[2 * j][1]),
                            gk_pack<T>(p[2 * j][2], p[2 * j][3]),
                            gk_pack<T>(p[2 * j + 1][0], p[2 * j + 1][1]),
                            gk_pack<T>(p[2 * j + 1][2], p[2 * j + 1][3])};
#pragma unroll
      for (int n = 0; n < DP / 16; ++n) {
        gk_u32 f[4];
        gk_ldmatrix_x4_trans(
            f, sv + place::at(j * 16 + (lane & 7) + (lane >> 3 & 1) * 8, n * 16 + (lane >> 4) * 8));
        const gk_u32 f0[2] = {f[0], f[1]}, f1[2] = {f[2], f[3]};
        gk_mma<T>(o[2 * n], fp, f0);
        gk_mma<T>(o[2 * n + 1], fp, f1);
      }
    }
    __syncthreads();
    if (j0 + BK < last)
      fetchValues(j0 + BK);
    gk_cp_commit();
  }
  gk_cp_wait<0>();
  // Rows through shared memory, each warp its own 16, so that a thread writes V columns.
  float *const stage = reinterpret_cast<float *>(tiles) + warp * 16 * DP;
  GK_UNROLL
  for (int half = 0; half < 2; ++half) {
    GK_UNROLL
    for (int lanes = 1; lanes < 4; lanes *= 2)
      sum[half] += gk_shfl_xor(sum[half], lanes);
    const float inverse = 1.0f / sum[half];
    const int i = row + half * 8;
    if (i < s::sq && lane % 4 == 0)
      statistics(top[half] + gk_log2(sum[half]) * 0.693147181f, b, h, i);
    GK_UNROLL
    for (int n = 0; n < DP / 8; ++n)
      gk_store(stage + (lane / 4 + half * 8) * DP + n * 8 + lane % 4 * 2,
               gk_vec<float, 2>{{o[n][half * 2] * inverse, o[n][half * 2 + 1] * inverse}});
  }
  __syncwarp();
  constexpr int C = V < 4 ? V : 4;
#pragma unroll 1
  for (int g = lane; g < 16 * (s::d / V); g += 32) {
    const int r = g / (s::d / V), d = g % (s::d / V) * V, i = i0 + warp * 16 + r;
    if (i < s::sq) {
      float x[V];
      GK_UNROLL
      for (int e = 0; e < V; e += C) {
        const gk_vec<float, C> w = gk_load<float, C>(stage + r * DP + d + e);
        GK_UNROLL
        for (int c = 0; c < C; ++c)
          x[e + c] = w.v[c];
      }
      if constexpr (V == 1)
        epilogue(x[0], b, h, i, d);
      else
        epilogue(x, b, h, i, d);
    }
  }
}
#endif // GPUCC_ATTENTION_MMA_CUH
