// gk.cuh - the fixed wrappers that every generated kernel is written against.
//
// One text for three compilers. NVRTC and clang's CUDA mode see the device (GK_DEVICE = 1) and need
// no other header; clang as plain C++ sees the executor of `runtime/emulation/simt`, whose device.h
// stands in front of this text. A kernel never asks which one it is compiled by. Example of what
// the CUDA printer emits:
//
//   extern "C" __global__ void __launch_bounds__(256) scale(const gk_bf16 *__restrict__ x,
//                                                           gk_bf16 *__restrict__ y) {
//     int i = (blockIdx.x * 256 + threadIdx.x) * 8;
//     gk_vec<gk_bf16, 8> v = gk_load<gk_bf16, 8>(x + i);
//     for (int k = 0; k < 8; k += 1) v.v[k] = gk_to_bf16(gk_float(v.v[k]) * 2.0f);
//     gk_store(y + i, v);
//   }
//
// Bits: nothing here contracts a multiplication with an addition; compile with -fmad=false (NVRTC)
// or
// -ffp-contract=off (clang) and write fmaf where a fused one is meant. All conversions round to
// nearest even, keep denormals, and turn every NaN into the canonical one of the PTX ISA (0x7fff,
// 0x7fffffff).
//
// Contents: 1 types and bits, 2 vectors, 3 conversions, 4 scalars, 5 warp and block, 6 reductions.
// Asynchronous copies and tensor cores are in gk_tensor.cuh.
#ifndef GPUCC_GK_CUH
#define GPUCC_GK_CUH

#if defined(__CUDACC__) || defined(__CUDACC_RTC__) || defined(__CUDA__)
#define GK_DEVICE 1
#define GK_DEV static __device__ __forceinline__
#define GK_SHARED(T, name, dims) __shared__ __align__(16) T name dims
#define GK_UNROLL _Pragma("unroll")
#else
#define GK_DEVICE 0
#define GK_DEV static inline __attribute__((always_inline))
#define GK_UNROLL
#endif

// ---- 1. Types and bits -------------------------------------------------------------------------
using gk_i8 = signed char;
using gk_u8 = unsigned char;
using gk_i16 = short;
using gk_u16 = unsigned short;
using gk_i32 = int;
using gk_u32 = unsigned int;
using gk_i64 = long long;
using gk_u64 = unsigned long long;

/// Storage of the two 16-bit floats; arithmetic happens in float.
struct gk_bf16 {
  gk_u16 bits;
};
struct gk_f16 {
  gk_u16 bits;
};

template <class To, class From> GK_DEV To gk_bitcast(From x) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  return __builtin_bit_cast(To, x);
}

// ---- 2. Vectors --------------------------------------------------------------------------------
/// N elements in one access; N * sizeof(T) is 1, 2, 4, 8, 16 or (two accesses) 32 bytes.
template <class T, int N> struct alignas(sizeof(T) * N) gk_vec {
  T v[N];
};

#if GK_DEVICE
// The compiler's own vector types: a struct of scalars is split and not always put together again.
template <int Bytes> struct gk_word;
template <> struct gk_word<1> {
  using type = unsigned char;
};
template <> struct gk_word<2> {
  using type = unsigned short;
};
template <> struct gk_word<4> {
  using type = unsigned int;
};
template <> struct gk_word<8> {
  using type = uint2;
};
template <> struct gk_word<16> {
  using type = uint4;
};
struct gk_words32 {
  uint4 low, high;
};
template <> struct gk_word<32> {
  using type = gk_words32;
};
#endif

/// Loads N elements from an address aligned to N * sizeof(T) (16 bytes suffice for 32), global,
/// shared or local.
template <class T, int N> GK_DEV gk_vec<T, N> gk_load(const T *p) {
#if GK_DEVICE
  return gk_bitcast<gk_vec<T, N>>(
      *reinterpret_cast<const typename gk_word<sizeof(T) * N>::type *>(p));
#else
  return simt::load<gk_vec<T, N>>(p);
#endif
}
template <class T, int N> GK_DEV void gk_store(T *p, gk_vec<T, N> x) {
#if GK_DEVICE
  using word = typename gk_word<sizeof(T) * N>::type;
#if defined(__CUDACC_RTC__)
  // NVRTC splits a vector store into scalars before it puts neighbours together again, and misses
  // some when several stores share a block; this one it cannot split. The test costs nothing: a
  // pointer's space is known after inlining.
  if constexpr (sizeof(word) == 8 || sizeof(word) == 16)
    if (__isGlobal(p)) {
      __stwb(reinterpret_cast<word *>(p), gk_bitcast<word>(x));
      return;
    }
#endif
  *reinterpret_cast<word *>(p) = gk_bitcast<word>(x);
#else
  simt::store(p, x);
#endif
}
/// Read once and written once: the cache may drop the line (st.global.cs). Never changes a value.
template <class T, int N> GK_DEV void gk_store_stream(T *p, gk_vec<T, N> x) {
#if GK_DEVICE
  if constexpr (sizeof(T) * N == 16)
    __stcs(reinterpret_cast<uint4 *>(p), gk_bitcast<uint4>(x));
  else
    gk_store(p, x);
#else
  simt::store(p, x);
#endif
}

// ---- 3. Conversions ----------------------------------------------------------------------------
GK_DEV float gk_float(gk_bf16 x) { return gk_bitcast<float>((gk_u32)x.bits << 16); }

GK_DEV float gk_float(gk_f16 x) {
#if GK_DEVICE
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
#else
  if ((x.bits & 0x7fff) > 0x7c00)
    return gk_bitcast<float>(0x7fffffffu);
  return (float)gk_bitcast<_Float16>(x.bits);
#endif
}
GK_DEV float gk_float(float x) { return x; }

GK_DEV gk_bf16 gk_to_bf16(float x) {
#if GK_DEVICE
  gk_bf16 r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
#else
  const gk_u32 u = gk_bitcast<gk_u32>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u)
    return {(gk_u16)0x7fff};
  return {(gk_u16)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
#endif
}

GK_DEV gk_f16 gk_to_f16(float x) {
#if GK_DEVICE
  gk_f16 r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
  return r;
#else
  if (x != x)
    return {(gk_u16)0x7fff};
  return {gk_bitcast<gk_u16>((_Float16)x)};
#endif
}

/// The float whose low 13 mantissa bits are zero, nearest with ties away from zero: what a tf32
/// tensor core operand must look like.
GK_DEV float gk_to_tf32(float x) {
#if GK_DEVICE
  gk_u32 r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return gk_bitcast<float>(r);
#else
  const gk_u32 u = gk_bitcast<gk_u32>(x);
  if ((u & 0x7f800000u) == 0x7f800000u)
    return x != x ? gk_bitcast<float>(0x7fffffffu) : x;
  return gk_bitcast<float>((u + 0x1000u) & 0xffffe000u);
#endif
}

template <class A, class B> inline constexpr bool gk_same = false;
template <class A> inline constexpr bool gk_same<A, A> = true;

/// A float as element type T: gk_cast<gk_bf16>(acc). And back: gk_float(x).
template <class T> GK_DEV T gk_cast(float x) {
  if constexpr (gk_same<T, gk_bf16>)
    return gk_to_bf16(x);
  else if constexpr (gk_same<T, gk_f16>)
    return gk_to_f16(x);
  else
    return (T)x;
}

/// Float to integer towards zero; out of range saturates and NaN is 0, as the device's cvt does.
template <class I, class F> GK_DEV I gk_fptoint(F x) {
#if GK_DEVICE
  return (I)x;
#else
  constexpr bool isSigned = (I)-1 < (I)0;
  constexpr int bits = sizeof(I) * 8;
  constexpr I most = isSigned ? (I)(((gk_u64)1 << (bits - 1)) - 1) : (I)-1;
  constexpr I least = isSigned ? (I)((gk_u64)1 << (bits - 1)) : (I)0;
  if (x != x)
    return 0;
  if (x <= (F)least)
    return least;
  if (x >= (F)most)
    return most;
  return (I)x;
#endif
}

// ---- 4. Scalars --------------------------------------------------------------------------------
GK_DEV float gk_inf() { return gk_bitcast<float>(0x7f800000u); }
GK_DEV float gk_nan() { return gk_bitcast<float>(0x7fc00000u); }
GK_DEV int gk_shl(int a, int b) { return (int)((gk_u32)a << b); }
GK_DEV gk_i64 gk_shl(gk_i64 a, gk_i64 b) { return (gk_i64)((gk_u64)a << b); }
GK_DEV int gk_shru(int a, int b) { return (int)((gk_u32)a >> b); }
GK_DEV gk_i64 gk_shru(gk_i64 a, gk_i64 b) { return (gk_i64)((gk_u64)a >> b); }
/// High half of the unsigned product (Philox).
GK_DEV int gk_mulhiu(int a, int b) { return (int)(((gk_u64)(gk_u32)a * (gk_u32)b) >> 32); }
GK_DEV int gk_divu(int a, int b) { return (int)((gk_u32)a / (gk_u32)b); }
GK_DEV int gk_remu(int a, int b) { return (int)((gk_u32)a % (gk_u32)b); }
GK_DEV bool gk_unordered(float a, float b) { return a != a || b != b; }
GK_DEV bool gk_unordered(double a, double b) { return a != a || b != b; }

/// IEEE maximum and minimum: NaN wins, -0 < +0.
GK_DEV float gk_maximum(float a, float b) {
#if GK_DEVICE
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a == b)
    return gk_bitcast<float>(gk_bitcast<gk_u32>(a) & gk_bitcast<gk_u32>(b));
  return gk_unordered(a, b) ? gk_bitcast<float>(0x7fffffffu) : a > b ? a : b;
#endif
}
GK_DEV float gk_minimum(float a, float b) {
#if GK_DEVICE
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  if (a == b)
    return gk_bitcast<float>(gk_bitcast<gk_u32>(a) | gk_bitcast<gk_u32>(b));
  return gk_unordered(a, b) ? gk_bitcast<float>(0x7fffffffu) : a < b ? a : b;
#endif
}
template <class T> GK_DEV T gk_maximum(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
template <class T> GK_DEV T gk_minimum(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }

/// The combiners of reductions. `maxnum` and `minnum` keep the first of two equal zeros and ignore
/// a NaN on the right, which is what the host's one-instruction form does: start them at -inf and
/// +inf. `ordered` says that exchanging the operands can change the bits.
struct gk_add {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return a + b; }
};
struct gk_mul {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return a * b; }
};
struct gk_max {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return gk_maximum(a, b); }
};
struct gk_min {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return gk_minimum(a, b); }
};
struct gk_maxnum {
  static constexpr bool ordered = true;
  template <class T> GK_DEV T of(T a, T b) { return b > a ? b : a; }
};
struct gk_minnum {
  static constexpr bool ordered = true;
  template <class T> GK_DEV T of(T a, T b) { return b < a ? b : a; }
};
struct gk_and {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return (T)(a & b); }
};
struct gk_or {
  static constexpr bool ordered = false;
  template <class T> GK_DEV T of(T a, T b) { return (T)(a | b); }
};
/// Op over two residues of which this thread holds one: the lower residue is the left operand.
template <class Op, class T> GK_DEV T gk_pair(bool up, T own, T got) {
  if constexpr (Op::ordered)
    return up ? Op::of(got, own) : Op::of(own, got);
  else
    return Op::of(own, got);
}

// ---- 5. Warp and block -------------------------------------------------------------------------
/// The value that the lane `lane ^ offset` holds. T of 4 or 8 bytes; all 32 lanes take part.
template <class T> GK_DEV T gk_shfl_xor(T x, int offset) {
  if constexpr (sizeof(T) == 8)
    return gk_bitcast<T>(__shfl_xor_sync(~0u, gk_bitcast<gk_i64>(x), offset));
  else
    return gk_bitcast<T>(__shfl_xor_sync(~0u, gk_bitcast<int>(x), offset));
}
/// The value that lane `from` holds.
template <class T> GK_DEV T gk_shfl(T x, int from) {
  if constexpr (sizeof(T) == 8)
    return gk_bitcast<T>(__shfl_sync(~0u, gk_bitcast<gk_i64>(x), from));
  else
    return gk_bitcast<T>(__shfl_sync(~0u, gk_bitcast<int>(x), from));
}
#define gk_barrier() __syncthreads()

/// Adds and returns the old value, relaxed, device scope. The order of float additions is not
/// fixed: generated code uses it only for integers.
template <class T> GK_DEV T gk_atomic_add(T *p, T x) {
#if GK_DEVICE
  return atomicAdd(p, x);
#else
  return simt::atomicAdd(p, x);
#endif
}

// ---- 6. Reductions -----------------------------------------------------------------------------
// The tree is a function of P alone. P partial results, one per residue of the linear index mod P
// (P = clamp(pow2(extent), 32, 1024)), are combined by residue bits 4, 5, ... upwards, then 3, 2,
// 1,
// 0. T threads hold V consecutive residues each, T * V = P.

/// w[0], w[stride], ... N values, index bit 0 first. A recursion, because NVRTC puts arrays of
/// nested loops whose bounds change into local memory.
template <class Op, int N, class E> GK_DEV E gk_pairs(const E *w, int stride) {
  if constexpr (N == 1)
    return w[0];
  else {
    const E low = gk_pairs<Op, N / 2>(w, stride);
    return Op::of(low, gk_pairs<Op, N / 2>(w + N / 2 * stride, stride));
  }
}
/// The fixed tree over G values: bits 4 and up, then 3, 2, 1, 0. S is the recursion's, start with
/// 1.
template <class Op, int G, int S, class E> GK_DEV E gk_tree(const E *w, int stride) {
  if constexpr (S < 16 && S < G) {
    const E low = gk_tree<Op, G, 2 * S>(w, stride);
    return Op::of(low, gk_tree<Op, G, 2 * S>(w + S * stride, stride));
  } else
    return gk_pairs<Op, G / S>(w, S * stride);
}

/// Reduces the T * V accumulators of one group of T threads; every thread gets the result. The
/// block holds G groups of T consecutive threads. T is a power of two; T >= 32 means whole warps.
/// All threads of the block call it.
///   float sum = gk_reduce<gk_add, 256, 1>(acc);   // acc: float[4], P = 1024
template <class Op, int T, int G, class E, int V> GK_DEV E gk_reduce(E (&a)[V]) {
  constexpr int W = T < 32 ? T : 32;
  constexpr int L = 16 / V < 1 ? 1 : 16 / V < W ? 16 / V : W; // L threads hold the 16 low residues
  static_assert(V <= 16 && T * V >= 32, "a group holds at least 32 residues, a thread at most 16");
  const int lane = threadIdx.x & 31;
  if constexpr (T < 32) {
    GK_UNROLL
    for (int o = L; o < W; o *= 2)
      GK_UNROLL
    for (int v = 0; v < V; ++v)
      a[v] = gk_pair<Op>((lane & o) != 0, a[v], gk_shfl_xor(a[v], o));
    GK_UNROLL
    for (int o = L / 2; o; o /= 2)
      GK_UNROLL
    for (int v = 0; v < V; ++v)
      a[v] = gk_pair<Op>((lane & o) != 0, a[v], gk_shfl_xor(a[v], o));
    GK_UNROLL
    for (int n = V / 2; n; n /= 2)
      GK_UNROLL
    for (int v = 0; v < n; ++v)
      a[v] = Op::of(a[v], a[v + n]);
    return a[0];
  } else {
    int n = V, slot = lane % L * V; // which residue this thread ends with
    // Two threads exchange halves of their accumulators, so that one shuffle serves two results.
    GK_UNROLL
    for (int o = L; o < 32; o *= 2) {
      const bool up = (lane & o) != 0;
      if (n > 1) {
        n /= 2;
        GK_UNROLL
        for (int v = 0; v < n; ++v) {
          const E give = up ? a[v] : a[v + n], own = up ? a[v + n] : a[v];
          a[v] = gk_pair<Op>(up, own, gk_shfl_xor(give, o));
        }
        slot += up ? n : 0;
      } else
        a[0] = gk_pair<Op>(up, a[0], gk_shfl_xor(a[0], o));
    }
    E x = a[0];
    if constexpr (T > 32) {
      GK_SHARED(E, part, [T * G / 32 * 16]);
      __syncthreads(); // the readers of the previous reduction are done
      if (lane < 16)
        part[threadIdx.x / 32 * 16 + slot] = x;
      __syncthreads();
      x = gk_pairs<Op, T / 32>(part + threadIdx.x / T * (T / 32) * 16 + lane % 16, 16);
      GK_UNROLL
      for (int o = 8; o; o /= 2)
        x = gk_pair<Op>((lane & o) != 0, x, gk_shfl_xor(x, o));
    } else { // residue bits 3, 2, ... sit in lane bits log2(L)-1 ... 0, then log2(L), ...
      GK_UNROLL
      for (int o = L / 2; o; o /= 2)
        x = gk_pair<Op>((lane & o) != 0, x, gk_shfl_xor(x, o));
      GK_UNROLL
      for (int o = L; o < 16; o *= 2)
        x = gk_pair<Op>((lane & o) != 0, x, gk_shfl_xor(x, o));
    }
    return x;
  }
}

/// Over the leading dimensions: the block's T threads hold U * (V / U) accumulators each, flat
/// index (u * T + thread) * (V / U) + v of a row-major [G][B] array (G partial results of B
/// columns). out[c], in shared memory, receives column c by the tree over G. All threads call it;
/// it ends in a barrier.   gk_reduce_to<gk_add, 256, 32>(acc, s0);   // acc: float[4], G = 32
template <class Op, int T, int B, int U = 1, class E, int V>
GK_DEV void gk_reduce_to(E (&a)[V], E *out) {
  constexpr int G = T * V / B, each = V / U;
  static_assert(G * B == T * V && (G & (G - 1)) == 0, "a power of two of rows, whole columns");
  GK_SHARED(E, part, [T * V]);
  __syncthreads();
  GK_UNROLL
  for (int u = 0; u < U; ++u)
    GK_UNROLL
  for (int v = 0; v < each; ++v)
    part[(u * T + (int)threadIdx.x) * each + v] = a[u * each + v];
  __syncthreads();
  if constexpr (G <= 32) {
    for (int c = threadIdx.x; c < B; c += T)
      out[c] = gk_tree<Op, G, 1>(part + c, B);
  } else { // level by level in shared memory: G / (2m) * 16 pairs of rows, then 8, 4, 2, 1
    for (int m = 16; m < G; m *= 2) {
      for (int i = threadIdx.x; i < G / (2 * m) * 16 * B; i += T) {
        E *p = part + i / (16 * B) * (2 * m * B) + i % (16 * B);
        *p = Op::of(*p, p[m * B]);
      }
      __syncthreads();
    }
    for (int n = 8; n; n /= 2) {
      for (int i = threadIdx.x; i < n * B; i += T)
        part[i] = Op::of(part[i], part[i + n * B]);
      __syncthreads();
    }
    for (int c = threadIdx.x; c < B; c += T)
      out[c] = part[c];
  }
  __syncthreads();
}
#endif // GPUCC_GK_CUH
