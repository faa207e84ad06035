//===- NcclApi.h - The part of NCCL that the runtime uses -----------------===//
//
// Declared here for the same reason as CudaApi.h: NCCL's ABI for these functions has been stable
// since version 2.14. The loader makes a table of pointers from the list, the fake NCCL its
// definitions.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_COMM_NCCLAPI_H
#define GPUCC_RT_COMM_NCCLAPI_H

#include "drivers/CudaApi.h"

#include <cstddef>

namespace gpucc::rt::nccl {

struct UniqueId {
  char bytes[128];
};
using Comm = struct CommObject *;
/// ncclConfig_t as version 2.14 knew it, which later ones accept by its size and version.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = 21400;
  int blocking = 1;
};
using Stream = cuda::Stream;

enum Result : int {
  success = 0,
  unhandledCudaError = 1,
  systemError = 2,
  internalError = 3,
  invalidArgument = 4,
  invalidUsage = 5,
  remoteError = 6,
  inProgress = 7,
};
enum DataType : int {
  int8 = 0,
  uint8,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  float32,
  float64,
  bfloat16
};
enum ReduceOp : int { sum = 0, product, maximum, minimum, average };

// clang-format off
#define GPUCC_NCCL_FUNCTIONS(X)                                                                    \
  X(ncclGetVersion, int *version)                                                                  \
  X(ncclGetUniqueId, UniqueId *id)                                                                 \
  X(ncclCommInitRankConfig, Comm *comm, int ranks, UniqueId id, int rank, Config *config)          \
  X(ncclCommDestroy, Comm comm)                                                                    \
  X(ncclCommAbort, Comm comm)                                                                      \
  X(ncclCommGetAsyncError, Comm comm, int *error)                                                  \
  X(ncclGroupStart)                                                                                \
  X(ncclGroupEnd)                                                                                  \
  X(ncclAllReduce, const void *input, void *output, size_t count, int type, int op, Comm comm,     \
    Stream stream)                                                                                 \
  X(ncclReduceScatter, const void *input, void *output, size_t outputCount, int type, int op,      \
    Comm comm, Stream stream)                                                                      \
  X(ncclAllGather, const void *input, void *output, size_t inputCount, int type, Comm comm,        \
    Stream stream)                                                                                 \
  X(ncclBroadcast, const void *input, void *output, size_t count, int type, int root, Comm comm,   \
    Stream stream)                                                                                 \
  X(ncclSend, const void *input, size_t count, int type, int peer, Comm comm, Stream stream)       \
  X(ncclRecv, void *output, size_t count, int type, int peer, Comm comm, Stream stream)
// clang-format on

#define GPUCC_NCCL_MEMBER(NAME, ...) int (*NAME)(__VA_ARGS__);
struct FunctionTable {
  GPUCC_NCCL_FUNCTIONS(GPUCC_NCCL_MEMBER)
};
#undef GPUCC_NCCL_MEMBER

} // namespace gpucc::rt::nccl

#endif // GPUCC_RT_COMM_NCCLAPI_H
