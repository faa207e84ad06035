// gemm_mma.cuh - matrix product on tensor cores: mma.sync fed by cp.async through several stages.
//
//   acc(b, i, j) = sum over k of A(b, i, k) * B(b, j, k),   float accumulation
//
// Element type T of both operands: gk_f16, gk_bf16, or float, which is rounded to tf32 on the way.
//
// Contract of an instantiation (operands and epilogues: operand.cuh):
//   template parameters  T             element type of the operands
//                        M, N, K       extents of one batch
//                        BM, BN, BK    tile of a block: multiples of the warp's tile; BK = 32 for
//                                      16-bit types, 16 for float (64 bytes)
//                        WM, WN        tile of a warp: WM % 16 == 0, WN % 16 == 0
//                        STAGES        tiles in flight, >= 2
//                        V             columns per call of the epilogue, 1 to 8; N % V == 0
//   launch               block  32 * (BM / WM) * (BN / WN) threads, one dimension; the kernel says
//                               __launch_bounds__(threads, 1)
//                        grid   (ceil(M / BM) * ceil(N / BN), 1, batches)
//   shared memory        STAGES * (BM + BN) * 64 bytes, static: at most 49152
// M, N and K need not be multiples of anything: tails are filled with zeros while copying. Direct
// operands use 16-byte copies where extents and strides allow, else 8, 4 or 2. Example:
//
//   extern "C" __global__ void __launch_bounds__(256, 1) qkv(const gk_bf16 *__restrict__ p0, ...) {
//     gk_direct<gk_bf16, 0, 768, 1> a{p0};    // [M][K]
//     gk_direct<gk_bf16, 0, 1, 2304> b{p1};   // [K][N]
//     gk_gemm_mma<gk_bf16, 512, 2304, 768, 128, 128, 32, 64, 32, 3, 8>(
//         a, b, [&](float (&acc)[8], gk_i64 b, int i, int j) {
//           ... gk_store(p2 + i * 2304 + j, ...);
//         });
//   }
#ifndef GPUCC_GEMM_MMA_CUH
#define GPUCC_GEMM_MMA_CUH
#include "gk_tensor.cuh"
#include "operand.cuh"

/// A tile of an operand in shared memory: rows of `columns` elements, 16-byte chunks of a row
/// exchanged by an exclusive or with the row, so that eight rows of one column are in eight
/// different banks.
template <class T, class Operand, int EXTENT, int K, int ROWS, int BK, int THREADS>
struct gk_mma_tile {
  using plan = gk_read_plan<Operand, EXTENT, K>;
  static constexpr bool alongDepth = plan::alongDepth;
  static constexpr int V = plan::width, bytes = V * (int)sizeof(T);
  static constexpr int columns = alongDepth ? BK : ROWS, chunk = 16 / (int)sizeof(T);
  static constexpr int chunks = columns / chunk, elements = ROWS * BK;
  using map = gk_tile_map<ROWS, BK, THREADS, V, alongDepth>;
  static_assert(V <= chunk && (chunks & (chunks - 1)) == 0, "a row is a power of two of chunks");

  /// Where element (r, k) of the tile lies.
  static GK_DEV_MEMBER int at(int r, int k) {
    const int outer = alongDepth ? r : k, inner = alongDepth ? k : r;
    const int turn = chunks >= 8 ? outer & 7 : outer / (8 / chunks) & (chunks - 1);
    return outer * columns + ((inner / chunk) ^ turn) * chunk + inner % chunk;
  }

  static GK_DEV_MEMBER void fetch(T *tile, const Operand &operand, gk_i64 b, int row0, int k0) {
    GK_UNROLL
    for (int g = 0; g < map::each; ++g) {
      const map m(g);
      if (!m.inside)
        continue;
      const int r = row0 + m.r, k = k0 + m.d;
      const bool inside = r < EXTENT && k < K;
      T *to = tile + at(m.r, m.d);
      if constexpr (Operand::direct) {
        const T *base = operand.base(b);
        const T *from = inside ? base + r * Operand::row + k * Operand::k : base;
        if constexpr (bytes >= 4)
          gk_cp_async<bytes>(to, from, inside ? bytes : 0);
        else
          *to = inside ? *from : gk_cast<T>(0.0f);
      } else
        *to = inside ? operand.at(b, r, k) : gk_cast<T>(0.0f);
    }
  }

  /// The left fragment of rows m0 .. m0 + 15: 16 deep for 16-bit types, 8 for float.
  static GK_DEV_MEMBER void left(gk_u32 (&a)[4], const T *tile, int m0, int k0) {
    const int lane = threadIdx.x & 31;
    if constexpr (sizeof(T) == 4) {
      GK_UNROLL
      for (int i = 0; i < 4; ++i)
        a[i] = gk_bitcast<gk_u32>(
            gk_to_tf32(tile[at(m0 + lane / 4 + i % 2 * 8, k0 + lane % 4 + i / 2 * 4)]));
    } else if constexpr (alongDepth)
      gk_ldmatrix_x4(a, tile + at(m0 + (lane & 15), k0 + (lane >> 4) * 8));
    else
      gk_ldmatrix_x4_trans(a,
                           tile + at(m0 + (lane >> 3 & 1) * 8, k0 + (lane & 7) + (lane >> 4) * 8));
  }
  /// Right fragments of columns n0 .. n0 + 7 (b[0]) and n0 + 8 .. n0 + 15 (b[1]).
  static GK_DEV_MEMBER void right(gk_u32 (&b)[2][2], const T *tile, int n0, int k0) {
    const int lane = threadIdx.x & 31;
    if constexpr (sizeof(T) == 4) {
      GK_UNROLL
      for (int j = 0; j < 2; ++j)
        GK_UNROLL
      for (int i = 0; i < 2; ++i)
        b[j][i] =
            gk_bitcast<gk_u32>(gk_to_tf32(tile[at(n0 + j * 8 + lane / 4, k0 + lane % 4 + i * 4)]));
    } else {
      gk_u32 q[4];
      if constexpr (alongDepth)
        gk_ldmatrix_x4(q, tile + at(n0 + (lane & 7) + (lane >> 4) * 8, k0 + (lane >> 3 & 1) * 8));
      else
        gk_ldmatrix_x4_trans(
            q, tile + at(n0 + (lane >> 4) * 8, k0 + (lane & 7) + (lane >> 3 & 1) * 8));
      b[0][0] = q[0];
      b[0][1] = q[1];
      b[1][0] = q[2];
      b[1][1] = q[3];
    }
  }
};

/// Accumulators [MI][NI][4] of all warps -> epilogue in rows of V columns, through `stage` in
/// shared memory: 16 rows of each warp at a time.
template <int M, int N, int BM, int BN, int WM, int WN, int V, int MI, int NI, class Epilogue>
GK_DEV void gk_mma_epilogue(float (&acc)[MI][NI][4], float *stage, int row0, int column0,
                            gk_i64 batch, Epilogue &epilogue) {
  constexpr int threads = 32 * (BM / WM) * (BN / WN), rows = BM / WM * 16, pitch = BN + 4;
  constexpr int C = V < 4 ? V : 4;
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const int warpRow = warp / (BN / WN), warpColumn = warp % (BN / WN) * WN;
  GK_UNROLL
  for (int mi = 0; mi < MI; ++mi) {
    GK_UNROLL
    for (int ni = 0; ni < NI; ++ni)
      GK_UNROLL
    for (int h = 0; h < 2; ++h)
      gk_store(stage + (warpRow * 16 + lane / 4 + h * 8) * pitch + warpColumn + ni * 8 +
                   lane % 4 * 2,
               gk_vec<float, 2>{{acc[mi][ni][2 * h], acc[mi][ni][2 * h + 1]}});
    __syncthreads();
#pragma unroll 1
    for (int g = threadIdx.x; g < rows * (BN / V); g += threads) {
      const int r = g / (BN / V), c = g % (BN / V) * V;
      const int i = row0 + r / 16 * WM + mi * 16 + r % 16, j = column0 + c;
      if (i < M && j < N) {
        float x[V];
        GK_UNROLL
        for (int v = 0; v < V; v += C) {
          const gk_vec<float, C> q = gk_load<float, C>(stage + r * pitch + c + v);
          GK_UNROLL
          for (int w = 0; w < C; ++w)
            x[v + w] = q.v[w];
        }
        gk_epilogue<V>(epilogue, x, batch, i, j);
      }
    }
    __syncthreads();
  }
}

template <class T, int M, int N, int K, int BM, int BN, int BK, int WM, int WN, int STAGES, int V,
          class A, class B, class Epilogue>
GK_DEV void gk_gemm_mma(const A &a, const B &b, Epilogue &&epilogue) {
  constexpr int threads = 32 * (BM / WM) * (BN / WN), MI = WM / 16, NI = WN / 8;
  constexpr int KM = sizeof(T) == 4 ? 8 : 16, tilesK = (K + BK - 1) / BK;
  static_assert(gk_same<T, typename A::element> && gk_same<T, typename B::element>,
                "both operands have the element type T");
  static_assert(BM % WM == 0 && BN % WN == 0 && WM % 16 == 0 && WN % 16 == 0 && STAGES >= 2 &&
                    N % V == 0,
                "see the contract above");
  using tileA = gk_mma_tile<T, A, M, K, BM, BK, threads>;
  using tileB = gk_mma_tile<T, B, N, K, BN, BK, threads>;
  constexpr int stageElements = tileA::elements + tileB::elements;
  static_assert(STAGES * stageElements * sizeof(T) >= BM / WM * 16 * (BN + 4) * sizeof(float),
                "the epilogue reuses the stages");
  GK_SHARED(T, tiles, [STAGES * stageElements]);
  constexpr int tilesN = (N + BN - 1) / BN;
  const int row0 = blockIdx.x / tilesN * BM, column0 = blockIdx.x % tilesN * BN;
  const gk_i64 batch = blockIdx.z;
  const int warp = threadIdx.x / 32;
  const int m0 = warp / (BN / WN) * WM, n0 = warp % (BN / WN) * WN;
  float acc[MI][NI][4];
  GK_UNROLL
  for (int i = 0; i < MI; ++i)
    GK_UNROLL
  for (int j = 0; j < NI; ++j)
    GK_UNROLL
  for (int q = 0; q < 4; ++q)
    acc[i][j][q] = 0.0f;
  auto fetch = [&](int tile) {
    T *to = tiles + tile % STAGES * stageElements;
    tileA::fetch(to, a, batch, row0, tile * BK);
    tileB::fetch(to + tileA::elements, b, batch, column0, tile * BK);
  };
  GK_UNROLL
  for (int s = 0; s < STAGES - 1; ++s) {
    if (s < tilesK)
      fetch(s);
    gk_cp_commit();
  }
#pragma unroll 1
  for (int tile = 0; tile < tilesK; ++tile) {
    gk_cp_wait<STAGES - 2>();
    __syncthreads(); // tile has landed for all threads, and tile - 1 has been read by all
    if (tile + STAGES - 1 < tilesK)
      fetch(tile + STAGES - 1);
    gk_cp_commit();
    const T *sa = tiles + tile % STAGES * stageElements, *sb = sa + tileA::elements;
#pragma unroll
    for (int k = 0; k < BK; k += KM) {
      gk_u32 fa[MI][4], fb[NI / 2][2][2];
      GK_UNROLL
      for (int i = 0; i < MI; ++i)
        tileA::left(fa[i], sa, m0 + i * 16, k);
      GK_UNROLL
      for (int j = 0; j < NI / 2; ++j)
        tileB::right(fb[j], sb, n0 + j * 16, k);
      GK_UNROLL
      for (int i = 0; i < MI; ++i)
        GK_UNROLL
      for (int j = 0; j < NI; ++j)
        gk_mma<T>(acc[i][j], fa[i], fb[j / 2][j % 2]);
    }
  }
  gk_cp_wait<0>();
  __syncthreads();
  gk_mma_epilogue<M, N, BM, BN, WM, WN, V>(acc, reinterpret_cast<float *>(tiles), row0, column0,
                                           batch, epilogue);
}
#endif // GPUCC_GEMM_MMA_CUH
