//===- ParallelFor.cpp - The one thread pool of the process
//-------------------------------------===//
#include "drivers/ParallelFor.h"

#include <algorithm>
#include <sched.h>

// The interface of libgomp that g++ -fopenmp emits calls to.
extern "C" {
void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_max_threads(void);
void omp_set_num_threads(int);
}

using namespace gpucc::rt;

namespace {
struct Job {
  int64_t count;
  void (*body)(void *, int64_t, int64_t);
  void *context;
};

void runPart(void *data) {
  const Job &job = *static_cast<Job *>(data);
  int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();
  int64_t each = job.count / parts, more = job.count % parts;
  int64_t begin = part * each + std::min(part, more);
  int64_t end = begin + each + (part < more);
  if (begin < end)
    job.body(job.context, begin, end);
}
} // namespace

void gpucc::rt::parallelFor(int64_t count, int64_t grain, int threads,
                            void (*body)(void *, int64_t, int64_t), void *context) {
  int64_t parts = partsOf(count, grain, threads);
  if (parts <= 1) {
    if (count > 0)
      body(context, 0, count);
    return;
  }
  Job job = {count, body, context};
  GOMP_parallel(runPart, &job, static_cast<unsigned>(parts), 0);
}

int gpucc::rt::availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

ThreadCountScope::ThreadCountScope(int threads) : before(omp_get_max_threads()) {
  omp_set_num_threads(threads);
}
ThreadCountScope::~ThreadCountScope() { omp_set_num_threads(before); }
