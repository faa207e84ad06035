//===- device.h - What a CUDA kernel sees when clang compiles it for the CPU -===//
//
// This text stands in front of gk.cuh when a kernel becomes a `simt` image (an x86-64 shared object
// that runs the very source that NVRTC compiles). One fiber is one CUDA thread; everything that
// threads do together goes through a table of functions, `simt_hook_table`, which the executor
// (Executor.h) hands to the image after loading it. No header is included, so that a precompiled
// one stays small.
//
//   __syncthreads()            simt_barrier("kernel.cu:12")
//   __shfl_xor_sync(m, v, o)   simt_collective(m, site, combine, &arg): all lanes of m meet, the
//                              last one runs combine over every lane's argument, then all go on
//   GK_SHARED(float, s, [32])  a reference to the block's array, by the address of a static key
//   x[i] (plain access)        clang's -fsanitize=thread calls, see image.cpp
//
// A fiber's stack is aligned to its size, so the description of the running thread is found by
// masking the frame address: no thread-local storage, hence any number of images.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_DEVICE_H
#define GPUCC_RT_EMULATION_SIMT_DEVICE_H

#define __global__ __attribute__((used))
#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
#define __align__(n) alignas(n)
#define __launch_bounds__(...)
#define __constant__ static const
#define GK_SHARED(T, name, dims)                                                                   \
  typedef T name##_type dims;                                                                      \
  static const char name##_key = 0;                                                                \
  name##_type &name = *(name##_type *)simt_shared_array(&name##_key, sizeof(name##_type), 16, #name)
#define SIMT_STRING2(x) #x
#define SIMT_STRING(x) SIMT_STRING2(x)
#define SIMT_SITE __FILE__ ":" SIMT_STRING(__LINE__)
#define SIMT_PLAIN __attribute__((no_sanitize("thread")))
#define SIMT_AS1 __attribute__((address_space(1))) // accesses that -fsanitize=thread leaves alone

extern "C" {
typedef __SIZE_TYPE__ simt_size;
struct simt_dim3 {
  unsigned x, y, z;
};
/// At the lowest address of every fiber's stack.
struct simt_thread {
  simt_dim3 threadIdx, blockIdx, blockDim, gridDim;
  unsigned lane, linear;
};
typedef void (*simt_combine)(void **laneArguments, unsigned mask);
enum { simt_read = 1, simt_write = 2, simt_atomic = 4 };
/// Functions of the executor. Append only; `version` is checked when an image is loaded. `pc` is
/// the place in the kernel, for reports.
struct simt_hook_table {
  unsigned version;
  void (*barrier)(const char *site, const void *pc);
  void (*collective)(unsigned mask, const char *site, simt_combine fn, void *argument,
                     const void *pc);
  void *(*sharedArray)(const void *key, simt_size bytes, simt_size align, const char *name);
  void (*access)(const void *p, simt_size bytes, unsigned flags, unsigned align, const void *pc);
  void (*asyncCopy)(void *to, const void *from, unsigned bytes, unsigned valid, const void *pc);
  void (*asyncCommit)();
  void (*asyncWait)(unsigned pending);
  void (*mma)(void **laneArguments, unsigned mask);
};
#define SIMT_HIDDEN __attribute__((visibility("hidden")))
// The same functions as the kernel calls them; image.cpp adds the caller's address. Two calls stay
// two.
SIMT_HIDDEN __attribute__((nomerge)) void simt_barrier(const char *site);
SIMT_HIDDEN __attribute__((nomerge)) void simt_collective(unsigned mask, const char *site,
                                                          simt_combine fn, void *argument);
SIMT_HIDDEN void *simt_shared_array(const void *key, simt_size bytes, simt_size align,
                                    const char *name);
SIMT_HIDDEN void simt_access(const void *p, simt_size bytes, unsigned flags, unsigned align);
SIMT_HIDDEN void simt_async_copy(void *to, const void *from, unsigned bytes, unsigned valid);
SIMT_HIDDEN void simt_async_commit();
SIMT_HIDDEN void simt_async_wait(unsigned pending);
SIMT_HIDDEN void simt_mma_all(void **laneArguments, unsigned mask);

float fmaf(float, float, float);
double fma(double, double, double);
float sqrtf(float);
float fabsf(float);
float copysignf(float, float);
float floorf(float);
float ceilf(float);
float truncf(float);
float rintf(float);
float roundf(float);
float fminf(float, float);
float fmaxf(float, float);
float fmodf(float, float);
float expf(float);
float exp2f(float);
float expm1f(float);
float logf(float);
float log2f(float);
float log10f(float);
float log1pf(float);
float powf(float, float);
float sinf(float);
float cosf(float);
float tanf(float);
float sinhf(float);
float coshf(float);
float tanhf(float);
float asinf(float);
float acosf(float);
float atanf(float);
float atan2f(float, float);
float asinhf(float);
float acoshf(float);
float atanhf(float);
float erff(float);
float erfcf(float);
float cbrtf(float);
double sqrt(double);
double fabs(double);
double floor(double);
double ceil(double);
double trunc(double);
double rint(double);
double exp(double);
double log(double);
double pow(double, double);
double exp2(double);
double expm1(double);
double log2(double);
double log1p(double);
double sin(double);
double cos(double);
double tan(double);
double sinh(double);
double cosh(double);
double asin(double);
double acos(double);
double atan(double);
double asinh(double);
double acosh(double);
double atanh(double);
double copysign(double, double);
double fmod(double, double);
double fmin(double, double);
double fmax(double, double);
double atan2(double, double);
double tanh(double);
double erf(double);
}

namespace simt {
constexpr simt_size stackBytes = 64 << 10;
inline __attribute__((always_inline)) const SIMT_AS1 simt_thread *self() {
  return (const SIMT_AS1 simt_thread *)((simt_size)__builtin_frame_address(0) & ~(stackBytes - 1));
}

template <simt_size N> struct bytes;
template <> struct bytes<1> {
  typedef unsigned char type;
};
template <> struct bytes<2> {
  typedef unsigned short type;
};
template <> struct bytes<4> {
  typedef unsigned type;
};
template <> struct bytes<8> {
  typedef unsigned long long type;
};
template <> struct bytes<16> {
  typedef unsigned type __attribute__((vector_size(16)));
};
template <> struct bytes<32> {
  typedef unsigned type __attribute__((vector_size(32)));
};

/// A pointer into one of the kernel's own arrays has a size that the compiler knows: not shared
/// with anybody, no check, and the array may live in registers.
template <class V, class T> inline __attribute__((always_inline)) V load(const T *p) {
  typedef typename bytes<sizeof(V)>::type raw;
  if (__builtin_object_size(p, 0) == (simt_size)-1)
    simt_access(p, sizeof(V), simt_read, sizeof(V) < 16 ? sizeof(V) : 16);
  else
    return __builtin_bit_cast(V, *(const raw *)p);
  return __builtin_bit_cast(V, (raw) * (const SIMT_AS1 raw *)p);
}
template <class T, class V> inline __attribute__((always_inline)) void store(T *p, V x) {
  typedef typename bytes<sizeof(V)>::type raw;
  if (__builtin_object_size(p, 0) == (simt_size)-1) {
    simt_access(p, sizeof(V), simt_write, sizeof(V) < 16 ? sizeof(V) : 16);
    *(SIMT_AS1 raw *)p = __builtin_bit_cast(raw, x);
  } else
    *(raw *)p = __builtin_bit_cast(raw, x);
}

template <class T> struct shuffle_arg {
  T value, result;
  int from;
};
template <class T> SIMT_PLAIN void shuffle_all(void **lanes, unsigned mask) {
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1) {
      shuffle_arg<T> &x = *(shuffle_arg<T> *)lanes[l];
      const int s = x.from;
      x.result =
          s >= 0 && s < 32 && (mask >> s & 1) ? ((shuffle_arg<T> *)lanes[s])->value : x.value;
    }
}
template <class T>
inline __attribute__((always_inline)) T shuffle(unsigned mask, T v, int from, const char *site) {
  shuffle_arg<T> x;
  SIMT_AS1 shuffle_arg<T> *q = (SIMT_AS1 shuffle_arg<T> *)&x;
  q->value = v;
  q->from = from;
  simt_collective(mask, site, shuffle_all<T>, &x);
  return q->result;
}
struct vote_arg {
  bool yes;
  unsigned result;
};
SIMT_PLAIN inline void vote_all(void **lanes, unsigned mask) {
  unsigned all = 0;
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1)
      all |= (unsigned)((vote_arg *)lanes[l])->yes << l;
  for (int l = 0; l < 32; ++l)
    if (mask >> l & 1)
      ((vote_arg *)lanes[l])->result = all;
}
inline __attribute__((always_inline)) unsigned ballot(unsigned mask, bool yes, const char *site) {
  vote_arg x;
  SIMT_AS1 vote_arg *q = (SIMT_AS1 vote_arg *)&x;
  q->yes = yes;
  simt_collective(mask, site, vote_all, &x);
  return q->result;
}

/// Atomics go through the access hook themselves, marked as such: two of them never race.
template <class T> inline __attribute__((always_inline)) T atomicAdd(T *p, T v) {
  simt_access(p, sizeof(T), simt_read | simt_write | simt_atomic, sizeof(T));
  const T old = *(const SIMT_AS1 T *)p; // one host thread runs all the fibers of a launch
  *(SIMT_AS1 T *)p = old + v;
  return old;
}

inline __attribute__((always_inline)) void cpAsync(void *to, const void *from, int n, int valid) {
  simt_async_copy(to, from, n, valid);
}
inline __attribute__((always_inline)) void cpCommit() { simt_async_commit(); }
inline __attribute__((always_inline)) void cpWait(int n) { simt_async_wait(n); }

struct row16 {
  unsigned w[4];
};
struct ldmatrix_arg {
  row16 row;
  unsigned r[4];
};
template <bool Transpose> SIMT_PLAIN void ldmatrix_all(void **lanes, unsigned) {
  for (int l = 0; l < 32; ++l)
    for (int i = 0; i < 4; ++i) {
      unsigned &out = ((ldmatrix_arg *)lanes[l])->r[i];
      if (!Transpose) {
        out = ((ldmatrix_arg *)lanes[8 * i + (l >> 2)])->row.w[l & 3];
        continue;
      }
      auto element = [&](int row) SIMT_PLAIN {
        const int column = l >> 2;
        return ((ldmatrix_arg *)lanes[8 * i + row])->row.w[column / 2] >> column % 2 * 16 & 0xffffu;
      };
      out = element(2 * (l & 3)) | element(2 * (l & 3) + 1) << 16;
    }
}
inline __attribute__((always_inline)) void ldmatrix(unsigned (&r)[4], const void *row,
                                                    bool transpose) {
  simt_access(row, 16, simt_read, 16);
  ldmatrix_arg x;
  SIMT_AS1 ldmatrix_arg *q = (SIMT_AS1 ldmatrix_arg *)&x;
  for (int i = 0; i < 4; ++i)
    q->row.w[i] = ((const SIMT_AS1 row16 *)row)->w[i];
  simt_collective(~0u, "ldmatrix", transpose ? ldmatrix_all<true> : ldmatrix_all<false>, &x);
  for (int i = 0; i < 4; ++i)
    r[i] = q->r[i];
}
/// What the executor's mma sees of one lane; kind 0 = f16, 1 = bf16, 2 = tf32.
struct mma_arg {
  int kind;
  float d[4];
  unsigned a[4], b[2];
};
inline __attribute__((always_inline)) void mma(int kind, float (&d)[4], const unsigned (&a)[4],
                                               const unsigned (&b)[2]) {
  mma_arg x;
  SIMT_AS1 mma_arg *q = (SIMT_AS1 mma_arg *)&x;
  q->kind = kind;
  for (int i = 0; i < 4; ++i) {
    q->d[i] = d[i];
    q->a[i] = a[i];
  }
  q->b[0] = b[0];
  q->b[1] = b[1];
  simt_collective(~0u, "mma.sync", simt_mma_all, &x);
  for (int i = 0; i < 4; ++i)
    d[i] = q->d[i];
}
} // namespace simt

namespace simt {
template <class T, T... I> struct integers {};
template <class... A> struct parameter_sizes {
  unsigned bytes[sizeof...(A) + 1] = {sizeof(A)..., 0};
};
template <class... A> constexpr parameter_sizes<A...> sizesOf(void (*)(A...)) { return {}; }
template <class... A, unsigned... I>
inline SIMT_PLAIN void call(void (*kernel)(A...), void **arguments, integers<unsigned, I...>) {
  kernel(*(A *)arguments[I]...);
}
template <class... A> inline SIMT_PLAIN void call(void (*kernel)(A...), void **arguments) {
  call(kernel, arguments, __make_integer_seq<integers, unsigned, sizeof...(A)>());
}
} // namespace simt

#define threadIdx (simt::self()->threadIdx)
#define blockIdx (simt::self()->blockIdx)
#define blockDim (simt::self()->blockDim)
#define gridDim (simt::self()->gridDim)
#define warpSize 32
#define __syncthreads() simt_barrier("__syncthreads at " SIMT_SITE)
#define __syncwarp(...) simt_collective(~0u, "__syncwarp at " SIMT_SITE, nullptr, nullptr)
#define __shfl_sync(m, v, s, ...) simt::shuffle(m, v, (s) & 31, "__shfl_sync at " SIMT_SITE)
#define __shfl_xor_sync(m, v, o, ...)                                                              \
  simt::shuffle(m, v, (int)(simt::self()->lane ^ (o)), "__shfl_xor_sync at " SIMT_SITE)
#define __shfl_down_sync(m, v, o, ...)                                                             \
  simt::shuffle(m, v, (int)(simt::self()->lane + (o)), "__shfl_down_sync at " SIMT_SITE)
#define __shfl_up_sync(m, v, o, ...)                                                               \
  simt::shuffle(m, v, (int)simt::self()->lane - (int)(o), "__shfl_up_sync at " SIMT_SITE)
#define __ballot_sync(m, p) simt::ballot(m, p, "__ballot_sync at " SIMT_SITE)

/// What Image.h expects for each kernel; the compiler adds one line per `__global__` function.
#define SIMT_ENTRY(kernel)                                                                         \
  extern "C" {                                                                                     \
  extern const decltype(simt::sizesOf(kernel)) kernel##__params;                                   \
  const decltype(simt::sizesOf(kernel)) kernel##__params;                                          \
  SIMT_PLAIN void kernel##__simt(void **arguments) { simt::call(kernel, arguments); }              \
  }
#endif // GPUCC_RT_EMULATION_SIMT_DEVICE_H
