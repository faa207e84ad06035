//===- CudaApi.h - The part of the CUDA driver API that the runtime uses --===//
//
// Declared here, so that neither the toolkit nor a driver is needed to build: types and numbers are
// the stable ABI of libcuda (CUDA 12). GPUCC_CUDA_FUNCTIONS lists every function once, by the name
// that cuGetProcAddress resolves to the newest variant; the loader (CudaLibrary.h) makes a table of
// pointers from it, the fake driver (emulation/fakecuda) its definitions.
//
//   cuda::FunctionTable fn;  fn.cuMemAlloc(&pointer, 4096);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_CUDAAPI_H
#define GPUCC_RT_DRIVERS_CUDAAPI_H

#include <cstddef>
#include <cstdint>

namespace gpucc::rt::cuda {

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphNode = struct GraphNodeObject *;
using GraphExec = struct GraphExecObject *;

enum Result : int {
  success = 0,
  invalidValue = 1,
  outOfMemory = 2,
  notInitialized = 3,
  noDevice = 100,
  invalidDevice = 101,
  invalidImage = 200,
  invalidContext = 201,
  noBinaryForGpu = 209,
  notFound = 500,
  notReady = 600,
  illegalAddress = 700,
  launchFailed = 719,
  notSupported = 801,
  captureUnsupported = 900,
  captureInvalidated = 901,
  captureMerge = 902,
  captureUnmatched = 903,
  captureUnjoined = 904,
  captureIsolation = 905,
  graphExecUpdateFailure = 910,
  deviceLost = 46, // CUDA_ERROR_DEVICE_UNAVAILABLE
};

enum : int {
  attributeComputeMajor = 75, // CUdevice_attribute
  attributeComputeMinor = 76,
  attributeMultiprocessors = 16,
  attributeMaxSharedOptIn = 97,
  functionMaxDynamicShared = 8, // CUfunction_attribute
  functionRegisters = 4,
  pointerMemoryType = 2, // CUpointer_attribute
  memoryTypeHost = 1,    // CUmemorytype
  memoryTypeDevice = 2,
  memoryTypeUnified = 4,
  captureThreadLocal = 1, // CUstreamCaptureMode
  captureStatusNone = 0,  // CUstreamCaptureStatus
  captureStatusActive = 1,
};
enum : unsigned {
  streamNonBlocking = 1,
  eventDisableTiming = 2,
  hostAllocPortable = 1,
};

/// CUDA_MEMCPY2D.
struct Copy2D {
  size_t sourceX, sourceY;
  int sourceType;
  const void *sourceHost;
  DevicePointer source;
  void *sourceArray;
  size_t sourcePitch;
  size_t destinationX, destinationY;
  int destinationType;
  void *destinationHost;
  DevicePointer destination;
  void *destinationArray;
  size_t destinationPitch;
  size_t bytes, rows;
};

/// CUgraphExecUpdateResultInfo.
struct GraphUpdateResult {
  int result;
  GraphNode errorNode, errorFromNode;
};

// clang-format off
#define GPUCC_CUDA_FUNCTIONS(X)                                                                    \
  X(cuInit, unsigned flags)                                                                        \
  X(cuDriverGetVersion, int *version)                                                              \
  X(cuGetErrorName, int error, const char **text)                                                  \
  X(cuGetErrorString, int error, const char **text)                                                \
  X(cuDeviceGetCount, int *count)                                                                  \
  X(cuDeviceGet, Device *device, int ordinal)                                                      \
  X(cuDeviceGetName, char *name, int size, Device device)                                          \
  X(cuDeviceGetAttribute, int *value, int attribute, Device device)                                \
  X(cuDeviceTotalMem, size_t *bytes, Device device)                                                \
  X(cuDevicePrimaryCtxRetain, Context *context, Device device)                                     \
  X(cuDevicePrimaryCtxRelease, Device device)                                                      \
  X(cuCtxSetCurrent, Context context)                                                              \
  X(cuCtxGetCurrent, Context *context)                                                             \
  X(cuCtxSynchronize)                                                                              \
  X(cuMemGetInfo, size_t *free, size_t *total)                                                     \
  X(cuMemAlloc, DevicePointer *pointer, size_t bytes)                                              \
  X(cuMemFree, DevicePointer pointer)                                                              \
  X(cuMemHostAlloc, void **pointer, size_t bytes, unsigned flags)                                  \
  X(cuMemFreeHost, void *pointer)                                                                  \
  X(cuPointerGetAttribute, void *data, int attribute, DevicePointer pointer)                       \
  X(cuMemcpyAsync, DevicePointer destination, DevicePointer source, size_t bytes, Stream stream)   \
  X(cuMemcpy2DAsync, const Copy2D *copy, Stream stream)                                            \
  X(cuMemsetD8Async, DevicePointer destination, unsigned char value, size_t count, Stream stream)  \
  X(cuMemsetD16Async, DevicePointer destination, unsigned short value, size_t count, Stream stream)\
  X(cuMemsetD32Async, DevicePointer destination, unsigned value, size_t count, Stream stream)      \
  X(cuMemsetD2D32Async, DevicePointer destination, size_t pitch, unsigned value, size_t width,     \
    size_t height, Stream stream)                                                                  \
  X(cuStreamCreate, Stream *stream, unsigned flags)                                                \
  X(cuStreamDestroy, Stream stream)                                                                \
  X(cuStreamSynchronize, Stream stream)                                                            \
  X(cuStreamQuery, Stream stream)                                                                  \
  X(cuStreamWaitEvent, Stream stream, Event event, unsigned flags)                                 \
  X(cuStreamBeginCapture, Stream stream, int mode)                                                 \
  X(cuStreamEndCapture, Stream stream, Graph *graph)                                               \
  X(cuStreamIsCapturing, Stream stream, int *status)                                               \
  X(cuEventCreate, Event *event, unsigned flags)                                                   \
  X(cuEventDestroy, Event event)                                                                   \
  X(cuEventRecord, Event event, Stream stream)                                                     \
  X(cuEventSynchronize, Event event)                                                               \
  X(cuEventQuery, Event event)                                                                     \
  X(cuEventElapsedTime, float *milliseconds, Event begin, Event end)                               \
  X(cuModuleLoadData, Module *module, const void *image)                                           \
  X(cuModuleUnload, Module module)                                                                 \
  X(cuModuleGetFunction, Function *function, Module module, const char *name)                      \
  X(cuFuncGetAttribute, int *value, int attribute, Function function)                              \
  X(cuFuncSetAttribute, Function function, int attribute, int value)                               \
  X(cuLaunchKernel, Function function, unsigned gridX, unsigned gridY, unsigned gridZ,             \
    unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes, Stream stream,        \
    void **arguments, void **extra)                                                                \
  X(cuGraphInstantiateWithFlags, GraphExec *exec, Graph graph, unsigned long long flags)           \
  X(cuGraphExecUpdate, GraphExec exec, Graph graph, GraphUpdateResult *result)                     \
  X(cuGraphLaunch, GraphExec exec, Stream stream)                                                  \
  X(cuGraphDestroy, Graph graph)                                                                   \
  X(cuGraphExecDestroy, GraphExec exec)
// clang-format on

#define GPUCC_CUDA_MEMBER(NAME, ...) int (*NAME)(__VA_ARGS__);
struct FunctionTable {
  GPUCC_CUDA_FUNCTIONS(GPUCC_CUDA_MEMBER)
};
#undef GPUCC_CUDA_MEMBER

} // namespace gpucc::rt::cuda

#endif // GPUCC_RT_DRIVERS_CUDAAPI_H
