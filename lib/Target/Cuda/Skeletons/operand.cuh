// operand.cuh - how the skeletons read their operands.
//
// An operand is a small object that a generated kernel hands to a skeleton. It stands for a matrix
// per batch, element (b, r, k): r is the row of a left operand or the column of a right one, k the
// inner dimension. Two kinds:
//
//   direct   the matrix lies in memory as it is, one of the two strides 1 (or its extent 1). The
//            skeleton copies vectors, on tensor-core skeletons by cp.async:
//              gk_direct<gk_bf16, /*batch*/ 65536, /*row*/ 256, /*k*/ 1> a{p0};
//            or any struct with the same five members (element, row, k, alignment, base), e.g. one
//            whose base(b) divides b for a batch that is broadcast;
//   computed a function of (b, r, k), e.g. a fused prologue or a convolution's window, called with
//            r and k inside the extents only. The second argument says along which dimension
//            neighbouring threads go (true: k), which should be the one along which memory is
//            contiguous:
//              auto a = gk_computed<float, true>([=](gk_i64 b, int r, int k) {
//                return p0[b * 4096 + r * 64 + k] * 2.0f;
//              });
//
// `alignment` of a direct operand is what base(b) is known to be a multiple of, in bytes; strides
// and extents reduce the vector width further, never below one element.
#ifndef GPUCC_OPERAND_CUH
#define GPUCC_OPERAND_CUH
#include "gk.cuh"

#if GK_DEVICE
#define GK_DEV_MEMBER __device__ __forceinline__
#else
#define GK_DEV_MEMBER inline __attribute__((always_inline))
#endif

template <class T, gk_i64 Batch, gk_i64 Row, gk_i64 K, int Alignment = 16> struct gk_direct {
  using element = T;
  static constexpr bool direct = true;
  static constexpr gk_i64 row = Row, k = K;
  static constexpr int alignment =
      Batch * (gk_i64)sizeof(T) % 16 == 0  ? Alignment
      : Batch * (gk_i64)sizeof(T) % 8 == 0 ? (Alignment < 8 ? Alignment : 8)
      : Batch * (gk_i64)sizeof(T) % 4 == 0 ? (Alignment < 4 ? Alignment : 4)
                                           : (int)sizeof(T);
  const T *p;
  GK_DEV_MEMBER const T *base(gk_i64 b) const { return p + b * Batch; }
};

template <class T, bool AlongDepth, class F> struct gk_computed_operand {
  using element = T;
  static constexpr bool direct = false, alongDepth = AlongDepth;
  F f;
  GK_DEV_MEMBER T at(gk_i64 b, int r, int k) const { return f(b, r, k); }
};
template <class T, bool AlongDepth, class F>
GK_DEV gk_computed_operand<T, AlongDepth, F> gk_computed(F f) {
  return {f};
}

/// Elements per vector: the largest power of two, at most 16 bytes, that divides the extent along
/// the contiguous dimension, the other stride and the alignment.
GK_DEV constexpr int gk_width(int bytes, int extent, gk_i64 otherStride, int alignment) {
  int v = 16 / bytes;
  while (v > 1 && (extent % v || otherStride % v || alignment % (v * bytes)))
    v /= 2;
  return v;
}

/// How THREADS threads share a tile of ROWS x DEPTH elements in groups of V along the contiguous
/// dimension: group g of a thread covers rows r .. and depths d ... .
template <int ROWS, int DEPTH, int THREADS, int V, bool ALONG_DEPTH> struct gk_tile_map {
  static constexpr int groups = ROWS * DEPTH / V, each = (groups + THREADS - 1) / THREADS;
  int r, d;
  bool inside;
  GK_DEV_MEMBER gk_tile_map(int g) {
    const int i = g * THREADS + (int)threadIdx.x;
    inside = groups % THREADS == 0 || i < groups;
    if constexpr (ALONG_DEPTH) {
      d = i % (DEPTH / V) * V;
      r = i / (DEPTH / V);
    } else {
      r = i % (ROWS / V) * V;
      d = i / (ROWS / V);
    }
  }
};

/// Width and direction in which Operand is read; computed ones element by element along the depth.
template <class Operand, int ROWS_EXTENT, int K_EXTENT, bool DIRECT = Operand::direct>
struct gk_read_plan {
  static constexpr int width = 1;
  static constexpr bool alongDepth = Operand::alongDepth;
};
template <class Operand, int ROWS_EXTENT, int K_EXTENT>
struct gk_read_plan<Operand, ROWS_EXTENT, K_EXTENT, true> {
  static_assert(Operand::k == 1 || Operand::row == 1 || ROWS_EXTENT == 1 || K_EXTENT == 1,
                "a direct operand has one stride of 1; use a computed one");
  static constexpr bool alongDepth = Operand::k == 1 || (Operand::row != 1 && ROWS_EXTENT == 1);
  static constexpr int width =
      (alongDepth ? Operand::k : Operand::row) != 1 ? 1
      : alongDepth ? gk_width(sizeof(typename Operand::element), K_EXTENT,
                              ROWS_EXTENT == 1 ? 0 : Operand::row, Operand::alignment)
                   : gk_width(sizeof(typename Operand::element), ROWS_EXTENT,
                              K_EXTENT == 1 ? 0 : Operand::k, Operand::alignment);
};

/// Hands an accumulator tile to the epilogue V columns at a time. V = 1: epilogue(float, b, i, j);
/// else epilogue(float (&)[V], b, i, j) with j a multiple of V, all V columns inside.
template <int V, class Epilogue>
GK_DEV void gk_epilogue(Epilogue &epilogue, const float *acc, gk_i64 b, int i, int j) {
  if constexpr (V == 1)
    epilogue(acc[0], b, i, j);
  else {
    alignas(16) float a[V];
    GK_UNROLL
    for (int v = 0; v < V; ++v)
      a[v] = acc[v];
    epilogue(a, b, i, j);
  }
}
#endif // GPUCC_OPERAND_CUH
