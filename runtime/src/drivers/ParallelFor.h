//===- ParallelFor.h - The one thread pool of the process
//---------------------------------------===//
//
// oneDNN computes on libgomp's threads, so do the kernels: parallelFor calls GOMP_parallel
// directly, which needs no OpenMP compiler (clang's would bring a second runtime, libomp). Example:
// parallelFor(1000, /*grain=*/100, /*threads=*/4, f) calls f(0, 250), f(250, 500), f(500, 750),
// f(750, 1000) on four threads.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_PARALLELFOR_H
#define GPUCC_RT_DRIVERS_PARALLELFOR_H

#include <algorithm>
#include <cstdint>

namespace gpucc::rt {

/// Into how many ranges parallelFor cuts.
inline int64_t partsOf(int64_t count, int64_t grain, int threads) {
  return std::min<int64_t>(threads, count / std::max<int64_t>(grain, 1));
}

/// Calls body(context, begin, end) on ranges that cover [0, count) once; at least `grain` items per
/// thread.
void parallelFor(int64_t count, int64_t grain, int threads,
                 void (*body)(void *context, int64_t begin, int64_t end), void *context);

template <typename Fn> void parallelFor(int64_t count, int64_t grain, int threads, Fn fn) {
  parallelFor(
      count, grain, threads,
      [](void *context, int64_t begin, int64_t end) { (*static_cast<Fn *>(context))(begin, end); },
      &fn);
}

/// CPUs that this process may use.
int availableCores();

/// While it lives, libraries on the calling thread use so many threads of the pool.
class ThreadCountScope {
public:
  explicit ThreadCountScope(int threads);
  ~ThreadCountScope();

private:
  int before;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_PARALLELFOR_H
