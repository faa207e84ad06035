// gk_tensor.cuh - asynchronous copies, matrix fragments and tensor cores, after gk.cuh.
//
// cp.async, ldmatrix and mma.sync as functions whose meaning is the PTX ISA's, on the device by one
// instruction each and under `runtime/emulation/simt` by the executor. The usual life of a tile:
//
//   gk_cp_async<16>(&sA[stage][row][col], a + row * lda + col, row < m ? 16 : 0); // tail: zeros
//   gk_cp_commit();
//   gk_cp_wait<1>();            // all but the newest group have landed: for this thread,
//   __syncthreads();            // ... and for the others
//   gk_u32 fa[4], fb[4];
//   gk_ldmatrix_x4(fa, &sA[stage][lane & 15][(lane >> 4) * 8]);
//   gk_mma<gk_bf16>(acc, fa, fb);
//
// A copy that is not yet waited for may land at any moment; reading its target earlier is what the
// executor reports as a wrong wait count.
#ifndef GPUCC_GK_TENSOR_CUH
#define GPUCC_GK_TENSOR_CUH
#include "gk.cuh"

#if GK_DEVICE
GK_DEV gk_u32 gk_smem(const void *p) { return (gk_u32)__cvta_generic_to_shared(p); }
#endif

/// Asynchronous copies begin with sm_80.
#if GK_DEVICE && __CUDA_ARCH__ >= 800
#define GK_ASYNC 1
#else
#define GK_ASYNC 0
#endif

/// Copies `valid` of Bytes (4, 8 or 16, both addresses aligned to Bytes) from global to shared
/// memory and fills the rest with zeros. With valid = 0 the source is not read, but must be a legal
/// pointer value.
template <int Bytes> GK_DEV void gk_cp_async(void *to, const void *from, int valid = Bytes) {
#if GK_DEVICE
#if GK_ASYNC
  if constexpr (Bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(gk_smem(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(valid)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(gk_smem(to)),
                 "l"(__cvta_generic_to_global(from)), "n"(Bytes), "r"(valid)
                 : "memory");
#else // at once: whoever waits finds it done
  auto *cell = static_cast<unsigned char *>(to);
  const auto *source = static_cast<const unsigned char *>(from);
  GK_UNROLL
  for (int word = 0; word < Bytes / 4; ++word)
    if (4 * word + 4 <= valid)
      reinterpret_cast<gk_u32 *>(cell)[word] = reinterpret_cast<const gk_u32 *>(source)[word];
    else
      for (int i = 4 * word; i < 4 * word + 4; ++i)
        cell[i] = i < valid ? source[i] : 0;
#endif
#else
  simt::cpAsync(to, from, Bytes, valid);
#endif
}
GK_DEV void gk_cp_commit() {
#if GK_ASYNC
  asm volatile("cp.async.commit_group;" ::: "memory");
#elif !GK_DEVICE
  simt::cpCommit();
#endif
}
/// Waits until at most N of this thread's newest groups are still in flight.
template <int N> GK_DEV void gk_cp_wait() {
#if GK_ASYNC
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#elif !GK_DEVICE
  simt::cpWait(N);
#endif
}

/// Four 8x8 matrices of 16-bit elements: lane l names row l % 8 of matrix l / 8 (16 bytes,
/// aligned); r[i] of lane l is elements 2 * (l % 4), + 1 of row l / 4 of matrix i. `_trans`
/// transposes each.
GK_DEV void gk_ldmatrix_x4(gk_u32 (&r)[4], const void *row) {
#if GK_DEVICE
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(gk_smem(row))
               : "memory");
#else
  simt::ldmatrix(r, row, false);
#endif
}
GK_DEV void gk_ldmatrix_x4_trans(gk_u32 (&r)[4], const void *row) {
#if GK_DEVICE
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(gk_smem(row))
               : "memory");
#else
  simt::ldmatrix(r, row, true);
#endif
}

/// d += a * b on a tensor core, fragments as in the PTX ISA. T = gk_f16 or gk_bf16: m16n8k16, a
/// holds four registers of two elements, b two. T = float: m16n8k8 on tf32 bit patterns
/// (gk_to_tf32). Accumulation in float; the order inside one instruction is the hardware's.
template <class T> GK_DEV void gk_mma(float (&d)[4], const gk_u32 (&a)[4], const gk_u32 (&b)[2]) {
#if GK_DEVICE
  if constexpr (gk_same<T, gk_f16>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else if constexpr (gk_same<T, gk_bf16>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  simt::mma(gk_same<T, gk_f16> ? 0 : gk_same<T, gk_bf16> ? 1 : 2, d, a, b);
#endif
}
#endif // GPUCC_GK_TENSOR_CUH
