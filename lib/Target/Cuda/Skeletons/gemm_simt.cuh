// gemm_simt.cuh - matrix product on ordinary cores, float, exact order.
//
//   acc(b, i, j) = fma(A(b, i, K-1), B(b, j, K-1), ... fma(A(b, i, 0), B(b, j, 0), 0))
//
// Every sum runs over ascending k in one fma chain, whatever the tile: equal bits for all
// schedules.
//
// Contract of an instantiation (operands and epilogues: operand.cuh):
//   template parameters  M, N, K       extents of one batch
//                        BM, BN, BK    tile of a block, TM x TN of a thread; BM % TM, BN % TN and
//                                      TN % V are 0, V is 1, 2 or 4
//                        V             columns per call of the epilogue; N % V == 0
//   launch               block  (BM / TM) * (BN / TN) threads, one dimension; the kernel says
//                               __launch_bounds__(threads, 1), else ptxas spills for occupancy
//                        grid   (ceil(M / BM) * ceil(N / BN), 1, batches)
//   shared memory        (BM + 4 + BN + 4) * BK * 4 * 2 bytes, static
// Tails in M, N and K are predicated. Example, y = relu(a @ w + bias), printed by the CUDA printer:
//
//   extern "C" __global__ void __launch_bounds__(256, 1) dense(const float *__restrict__ p0, ...) {
//     gk_direct<float, 0, 784, 1> a{p0};      // [M][K] row-major
//     gk_direct<float, 0, 1, 128> w{p1};      // [K][N] row-major: the column is contiguous
//     gk_gemm_simt<64, 128, 784, 64, 64, 16, 4, 4, 4>(
//         a, w, [&](float (&acc)[4], gk_i64 b, int i, int j) {
//           alignas(16) float t[4]; ...
//           gk_store(p3 + i * 128 + j, gk_load<float, 4>(t + 0));
//         });
//   }
#ifndef GPUCC_GEMM_SIMT_CUH
#define GPUCC_GEMM_SIMT_CUH
#include "operand.cuh"

/// One operand's tile on its way: memory -> registers -> shared [BK][ROWS + 4].
template <class Operand, int EXTENT, int K, int ROWS, int BK, int THREADS> struct gk_simt_tile {
  using plan = gk_read_plan<Operand, EXTENT, K>;
  static constexpr int V = plan::width < BK && plan::width < ROWS ? plan::width
                           : BK < ROWS                            ? BK
                                                                  : ROWS;
  using map = gk_tile_map<ROWS, BK, THREADS, V, plan::alongDepth>;
  gk_vec<float, V> held[map::each];

  GK_DEV_MEMBER void fetch(const Operand &operand, gk_i64 b, int row0, int k0) {
    GK_UNROLL
    for (int g = 0; g < map::each; ++g) {
      const map at(g);
      const int r = row0 + at.r, k = k0 + at.d;
      const bool inside = at.inside && r < EXTENT && k < K;
      if constexpr (Operand::direct) {
        if (inside)
          held[g] = gk_load<float, V>(operand.base(b) + r * Operand::row + k * Operand::k);
        else
          GK_UNROLL
        for (int v = 0; v < V; ++v)
          held[g].v[v] = 0.0f;
      } else
        held[g].v[0] = inside ? gk_float(operand.at(b, r, k)) : 0.0f;
    }
  }
  GK_DEV_MEMBER void place(float *tile) const {
    GK_UNROLL
    for (int g = 0; g < map::each; ++g) {
      const map at(g);
      if (!at.inside)
        continue;
      if constexpr (plan::alongDepth || V == 1)
        GK_UNROLL
      for (int v = 0; v < V; ++v)
        tile[(at.d + (plan::alongDepth ? v : 0)) * (ROWS + 4) + at.r] = held[g].v[v];
      else gk_store(tile + at.d * (ROWS + 4) + at.r, held[g]);
    }
  }
};

template <int M, int N, int K, int BM, int BN, int BK, int TM, int TN, int V, class A, class B,
          class Epilogue>
GK_DEV void gk_gemm_simt(const A &a, const B &b, Epilogue &&epilogue) {
  constexpr int columns = BN / TN, threads = BM / TM * columns;
  constexpr int sizeA = BK * (BM + 4), sizeB = BK * (BN + 4);
  constexpr int C = TN % 4 == 0   ? 4
                    : TN % 2 == 0 ? 2
                                  : 1,
                R = TM % 4 == 0   ? 4
                    : TM % 2 == 0 ? 2
                                  : 1;
  static_assert(BM % TM == 0 && BN % TN == 0 && TN % V == 0 && N % V == 0,
                "see the contract above");
  GK_SHARED(float, tiles, [2 * (sizeA + sizeB)]);
  constexpr int tilesN = (N + BN - 1) / BN;
  const int row0 = blockIdx.x / tilesN * BM, column0 = blockIdx.x % tilesN * BN;
  const gk_i64 batch = blockIdx.z;
  const int ti = threadIdx.x / columns * TM;
  // A thread's columns lie C apart in groups, so that a warp reads shared memory without conflicts.
  const int tj = threadIdx.x % columns * C;
  gk_simt_tile<A, M, K, BM, BK, threads> fetchA;
  gk_simt_tile<B, N, K, BN, BK, threads> fetchB;
  alignas(16) float acc[TM][TN];
  GK_UNROLL
  for (int i = 0; i < TM; ++i)
    GK_UNROLL
  for (int j = 0; j < TN; ++j)
    acc[i][j] = 0.0f;
  fetchA.fetch(a, batch, row0, 0);
  fetchB.fetch(b, batch, column0, 0);
  fetchA.place(tiles);
  fetchB.place(tiles + sizeA);
  __syncthreads();
  int stage = 0;
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += BK) {
    const bool more = k0 + BK < K;
    if (more) {
      fetchA.fetch(a, batch, row0, k0 + BK);
      fetchB.fetch(b, batch, column0, k0 + BK);
    }
    const float *sa = tiles + stage * (sizeA + sizeB), *sb = sa + sizeA;
    const int depth = K - k0 < BK ? K - k0 : BK; // a padded k would turn -0 into +0
    auto step = [&](int k) {
      float x[TM], y[TN];
      GK_UNROLL
      for (int i = 0; i < TM; i += R) {
        const gk_vec<float, R> v = gk_load<float, R>(sa + k * (BM + 4) + ti + i);
        GK_UNROLL
        for (int q = 0; q < R; ++q)
          x[i + q] = v.v[q];
      }
      GK_UNROLL
      for (int j = 0; j < TN; j += C) {
        const gk_vec<float, C> v = gk_load<float, C>(sb + k * (BN + 4) + tj + j * columns);
        GK_UNROLL
        for (int q = 0; q < C; ++q)
          y[j + q] = v.v[q];
      }
      GK_UNROLL
      for (int i = 0; i < TM; ++i)
        GK_UNROLL
      for (int j = 0; j < TN; ++j)
        acc[i][j] = fmaf(x[i], y[j], acc[i][j]);
    };
    if (K % BK == 0 || depth == BK) {
#pragma unroll
      for (int k = 0; k < BK; ++k)
        step(k);
    } else
#pragma unroll 1
      for (int k = 0; k < depth; ++k)
        step(k);
    if (more) {
      stage ^= 1;
      fetchA.place(tiles + stage * (sizeA + sizeB));
      fetchB.place(tiles + stage * (sizeA + sizeB) + sizeA);
      __syncthreads();
    }
  }
  constexpr int E = V < C ? V : C; // columns that are neighbours in memory
  static_assert(V <= C, "the epilogue's width is at most the thread's run of columns");
  GK_UNROLL
  for (int i = 0; i < TM; ++i)
    GK_UNROLL
  for (int j = 0; j < TN; j += E) {
    const int row = row0 + ti + i, column = column0 + tj + j / C * C * columns + j % C;
    if (row < M && column < N)
      gk_epilogue<E>(epilogue, acc[i] + j, batch, row, column);
  }
}
#endif // GPUCC_GEMM_SIMT_CUH
