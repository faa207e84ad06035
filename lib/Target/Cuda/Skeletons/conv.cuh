// conv.cuh - convolution and its two gradients as implicit matrix products, ordinary cores, float.
//
// The matrices of gemm_simt.cuh are computed from the tensors while they are read; nothing is
// unfolded in memory. With x, y the image and the result, dx, dy, dw gradients, channels inside
// their group:
//
//   forward           y(n, co, oh, ow)   = sum (ci, kh, kw) of w(co, ci, kh, kw) * x(n, ci, ih, iw)
//   backward data     dx(n, ci, ih, iw)  = sum (co, kh, kw) of w(co, ci, kh, kw) * dy(n, co, oh,
//   ow) backward weights  dw(co, ci, kh, kw) = sum (n, oh, ow)  of dy(n, co, oh, ow) * x(n, ci, ih,
//   iw) where ih = oh * strideH - padTop + kh * dilationH, likewise iw; outside the image x is 0.
// Each sum is one fma chain in the order of its list (last index fastest): equal bits for all
// tiles.
//
// Contract of an instantiation:
//   Shape      gk_conv_shape<...> below, all extents; C and CO are those of the whole tensor
//   BM ... V   the tile of gemm_simt.cuh. Forward: OW % V == 0; backward data: W % V == 0; backward
//              weights: V == 1
//   x, dy      functions (n, c, h, w) -> float, called inside the tensor only, channels counted
//   over
//              all groups:
//                [&](int n, int c, int h, int w) { return p0[((n * 64 + c) * 56 + h) * 56 + w]; }
//   w          (co, ciInGroup, kh, kw) -> float
//   epilogue   (acc, n, co, oh, ow), (acc, n, ci, ih, iw) or (acc, co, ciInGroup, kh, kw); acc is a
//              float (V == 1) or float (&)[V], neighbours in the last index
//   launch     as gemm_simt.cuh with grid z = groups and, for tiles BM x BN,
//                forward           M = CO / G,  N = batch * OH * OW
//                backward data     M = C / G,   N = batch * H * W
//                backward weights  M = CO / G,  N = C / G * KH * KW
// A one-dimensional convolution has H = KH = OH = 1.
#ifndef GPUCC_CONV_CUH
#define GPUCC_CONV_CUH
#include "gemm_simt.cuh"

template <int N, int C, int H, int W, int CO, int KH, int KW, int OH, int OW, int StrideH = 1,
          int StrideW = 1, int DilationH = 1, int DilationW = 1, int PadTop = 0, int PadLeft = 0,
          int Groups = 1>
struct gk_conv_shape {
  static constexpr int n = N, c = C, h = H, w = W, co = CO, kh = KH, kw = KW, oh = OH, ow = OW;
  static constexpr int strideH = StrideH, strideW = StrideW, dilationH = DilationH,
                       dilationW = DilationW, padTop = PadTop, padLeft = PadLeft;
  static constexpr int inGroup = C / Groups, outGroup = CO / Groups;
};

/// Index i in row-major [..][B][A]: the last, the one before, the rest.
template <int B, int A> struct gk_split {
  int rest, b, a;
  GK_DEV_MEMBER gk_split(int i) : rest(i / (A * B)), b(i / A % B), a(i % A) {}
};

template <class Shape, int BM, int BN, int BK, int TM, int TN, int V, class X, class Weights,
          class Epilogue>
GK_DEV void gk_conv_forward(X &&x, Weights &&w, Epilogue &&epilogue) {
  using s = Shape;
  constexpr int K = s::inGroup * s::kh * s::kw, N = s::n * s::oh * s::ow;
  static_assert(s::ow % V == 0, "the epilogue's columns are neighbours in one row of the image");
  auto left = gk_computed<float, true>([&](gk_i64 g, int r, int k) {
    const gk_split<s::kh, s::kw> q(k);
    return w((int)g * s::outGroup + r, q.rest, q.b, q.a);
  });
  auto right = gk_computed<float, false>([&](gk_i64 g, int r, int k) {
    const gk_split<s::kh, s::kw> q(k);
    const gk_split<s::oh, s::ow> p(r);
    const int h = p.b * s::strideH - s::padTop + q.b * s::dilationH;
    const int v = p.a * s::strideW - s::padLeft + q.a * s::dilationW;
    return h >= 0 && h < s::h && v >= 0 && v < s::w ? x(p.rest, (int)g * s::inGroup + q.rest, h, v)
                                                    : 0.0f;
  });
  gk_gemm_simt<s::outGroup, N, K, BM, BN, BK, TM, TN, V>(
      left, right, [&](auto &&acc, gk_i64 g, int i, int j) {
        const gk_split<s::oh, s::ow> p(j);
        epilogue(acc, p.rest, (int)g * s::outGroup + i, p.b, p.a);
      });
}

template <class Shape, int BM, int BN, int BK, int TM, int TN, int V, class DY, class Weights,
          class Epilogue>
GK_DEV void gk_conv_backward_data(DY &&dy, Weights &&w, Epilogue &&epilogue) {
  using s = Shape;
  constexpr int K = s::outGroup * s::kh * s::kw, N = s::n * s::h * s::w;
  static_assert(s::w % V == 0, "the epilogue's columns are neighbours in one row of the image");
  auto left = gk_computed<float, true>([&](gk_i64 g, int r, int k) {
    const gk_split<s::kh, s::kw> q(k);
    return w((int)g * s::outGroup + q.rest, r, q.b, q.a);
  });
  auto right = gk_computed<float, false>([&](gk_i64 g, int r, int k) {
    const gk_split<s::kh, s::kw> q(k);
    const gk_split<s::h, s::w> p(r);
    const int h = p.b + s::padTop - q.b * s::dilationH, v = p.a + s::padLeft - q.a * s::dilationW;
    const bool hit = h >= 0 && v >= 0 && h % s::strideH == 0 && v % s::strideW == 0 &&
                     h / s::strideH < s::oh && v / s::strideW < s::ow;
    return hit ? dy(p.rest, (int)g * s::outGroup + q.rest, h / s::strideH, v / s::strideW) : 0.0f;
  });
  gk_gemm_simt<s::inGroup, N, K, BM, BN, BK, TM, TN, V>(
      left, right, [&](auto &&acc, gk_i64 g, int i, int j) {
        const gk_split<s::h, s::w> p(j);
        epilogue(acc, p.rest, (int)g * s::inGroup + i, p.b, p.a);
      });
}

template <class Shape, int BM, int BN, int BK, int TM, int TN, int V, class X, class DY,
          class Epilogue>
GK_DEV void gk_conv_backward_weights(X &&x, DY &&dy, Epilogue &&epilogue) {
  using s = Shape;
  constexpr int K = s::n * s::oh * s::ow, N = s::inGroup * s::kh * s::kw;
  static_assert(V == 1, "weights are written one by one");
  auto left = gk_computed<float, true>([&](gk_i64 g, int r, int k) {
    const gk_split<s::oh, s::ow> p(k);
    return dy(p.rest, (int)g * s::outGroup + r, p.b, p.a);
  });
  auto right = gk_computed<float, true>([&](gk_i64 g, int r, int k) {
    const gk_split<s::kh, s::kw> q(r);
    const gk_split<s::oh, s::ow> p(k);
    const int h = p.b * s::strideH - s::padTop + q.b * s::dilationH;
    const int v = p.a * s::strideW - s::padLeft + q.a * s::dilationW;
    return h >= 0 && h < s::h && v >= 0 && v < s::w ? x(p.rest, (int)g * s::inGroup + q.rest, h, v)
                                                    : 0.0f;
  });
  gk_gemm_simt<s::outGroup, N, K, BM, BN, BK, TM, TN, 1>(
      left, right, [&](float acc, gk_i64 g, int i, int j) {
        const gk_split<s::kh, s::kw> q(j);
        epilogue(acc, (int)g * s::outGroup + i, q.rest, q.b, q.a);
      });
}
#endif // GPUCC_CONV_CUH
