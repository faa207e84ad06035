//===- image.cpp - The fixed half of a simt image -------------------------===//
//
// Compiled once per compiler and linked into every image: the table of executor functions and the
// callbacks that clang's -fsanitize=thread puts at each memory access of the kernel. Accesses to
// the fiber's own stack (the thread's locals) end here; all others become `hooks.access(address,
// bytes, read or write, alignment, return address)`, where bounds, alignment and races are checked.
// The sanitizer's own runtime is not linked.
//
//===----------------------------------------------------------------------===//
#include "device.h"

extern "C" {
static simt_hook_table hooks;

/// Called by the loader. Returns the version the image was built for; nothing is kept on a
/// mismatch.
__attribute__((visibility("default"))) unsigned simt_bind(const simt_hook_table *table) {
  constexpr unsigned version = 1;
  if (table->version == version)
    hooks = *table;
  return version;
}

#define PC __builtin_return_address(0)
void simt_barrier(const char *site) { hooks.barrier(site, PC); }
void simt_collective(unsigned mask, const char *site, simt_combine fn, void *argument) {
  hooks.collective(mask, site, fn, argument, PC);
}
void *simt_shared_array(const void *key, simt_size bytes, simt_size align, const char *name) {
  return hooks.sharedArray(key, bytes, align, name);
}
void simt_access(const void *p, simt_size bytes, unsigned flags, unsigned align) {
  hooks.access(p, bytes, flags, align, PC);
}
void simt_async_copy(void *to, const void *from, unsigned bytes, unsigned valid) {
  hooks.asyncCopy(to, from, bytes, valid, PC);
}
void simt_async_commit() { hooks.asyncCommit(); }
void simt_async_wait(unsigned pending) { hooks.asyncWait(pending); }
void simt_mma_all(void **laneArguments, unsigned mask) { hooks.mma(laneArguments, mask); }

static inline __attribute__((always_inline)) void
note(const void *p, simt_size bytes, unsigned flags, unsigned align, const void *pc) {
  const simt_size frame = (simt_size)__builtin_frame_address(0);
  if (((simt_size)p ^ frame) < simt::stackBytes)
    return;
  hooks.access(p, bytes, flags, align, pc);
}
#define ACCESS(n)                                                                                  \
  void __tsan_read##n(void *p) { note(p, n, simt_read, n, PC); }                                   \
  void __tsan_write##n(void *p) { note(p, n, simt_write, n, PC); }                                 \
  void __tsan_read_write##n(void *p) { note(p, n, simt_read | simt_write, n, PC); }                \
  void __tsan_volatile_read##n(void *p) { note(p, n, simt_read, n, PC); }                          \
  void __tsan_volatile_write##n(void *p) { note(p, n, simt_write, n, PC); }                        \
  void __tsan_unaligned_read##n(void *p) { note(p, n, simt_read, 1, PC); }                         \
  void __tsan_unaligned_write##n(void *p) { note(p, n, simt_write, 1, PC); }                       \
  void __tsan_unaligned_read_write##n(void *p) { note(p, n, simt_read | simt_write, 1, PC); }      \
  void __tsan_unaligned_volatile_read##n(void *p) { note(p, n, simt_read, 1, PC); }                \
  void __tsan_unaligned_volatile_write##n(void *p) { note(p, n, simt_write, 1, PC); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_read_range(void *p, simt_size n) { note(p, n, simt_read, 1, PC); }
void __tsan_write_range(void *p, simt_size n) { note(p, n, simt_write, 1, PC); }
void *__tsan_memcpy(void *to, const void *from, simt_size n) {
  note(from, n, simt_read, 1, PC);
  note(to, n, simt_write, 1, PC);
  return __builtin_memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, simt_size n) {
  note(from, n, simt_read, 1, PC);
  note(to, n, simt_write, 1, PC);
  return __builtin_memmove(to, from, n);
}
void *__tsan_memset(void *to, int c, simt_size n) {
  note(to, n, simt_write, 1, PC);
  return __builtin_memset(to, c, n);
}
}
