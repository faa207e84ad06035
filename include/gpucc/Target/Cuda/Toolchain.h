//===- Toolchain.h - From kernel source to code a device can load -*- C++ -*-===//
//
// What turns the text of one CUDA kernel file into bytes:
//
//   NvrtcLibrary  text -> cubin (sm_80, sm_90a, sm_100a, ...), by libnvrtc loaded at run time
//   SimtCompiler  text -> x86-64 shared object that runs the same text on the CPU, by clang
//   readCubin     cubin -> registers, spills, shared memory, counts of instructions (Cubin.h)
//
// A kernel file includes "gk.cuh" and, for skeletons, "gemm_mma.cuh" and so on; these texts are
// part of this library (`kernelHeaders`), so nothing has to be installed beside it. Both compilers
// keep results in a folder, keyed by the text, all headers, the options and the compiler's version.
// Example:
//
//   std::string error;
//   auto nvrtc = cuda::NvrtcLibrary::open({}, error);     // null: no NVRTC, `error` says why
//   cuda::Code code = nvrtc->compile(text, "sm_90a", {.cacheFolder = "/tmp/cache"});
//   if (!code.ok) print(code.log);
//
// Standard library only: usable without LLVM. Functions may be called from several threads at a
// time.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_CUDA_TOOLCHAIN_H
#define GPUCC_TARGET_CUDA_TOOLCHAIN_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpucc::cuda {

/// A text that kernels may include by name, e.g. {"gk.cuh", "// gk.cuh - ..."}.
struct KernelHeader {
  const char *name;
  std::string_view text;
};
const std::vector<KernelHeader> &kernelHeaders();

/// Result of a compilation. `log` holds the compiler's messages, also when it succeeded.
struct Code {
  bool ok = false;
  std::string bytes;
  std::string log;
  bool fromCache = false;
};

/// The kernels (`extern "C" __global__` functions) of a kernel file, in order.
std::vector<std::string> kernelNames(std::string_view text);

struct CompileOptions {
  /// Where results are kept; empty = no cache. Created when missing.
  std::string cacheFolder;
  /// Further compiler options, e.g. "-Xptxas=-v". Part of the key.
  std::vector<std::string> extra;
};

/// libnvrtc, by dlopen.
class NvrtcLibrary {
public:
  /// `path`: a library file or a folder that holds libnvrtc.so.*; empty = the loader's search path,
  /// then CUDA's usual folders, then `searchFolders` (say, site-packages of a Python environment,
  /// where the wheel nvidia-cuda-nvrtc puts it). Null and a text that lists what was tried if none
  /// loads.
  static std::shared_ptr<NvrtcLibrary> open(const std::string &path, std::string &error,
                                            const std::vector<std::string> &searchFolders = {});
  ~NvrtcLibrary();

  /// `arch` is "sm_80", "sm_90a", ...: to a cubin; "compute_90": to PTX. Where registers spill, the
  /// same text is compiled once more for at least one block per multiprocessor instead of many.
  Code compile(const std::string &text, const std::string &arch,
               const CompileOptions &options) const;

  /// "13.0", part of every key.
  const std::string &version() const { return versionText; }
  const std::string &file() const { return path; }

private:
  NvrtcLibrary() = default;
  Code compileText(const std::string &text, const std::string &arch,
                   const CompileOptions &options) const;
  struct Functions;
  std::unique_ptr<Functions> fn;
  void *handle = nullptr;
  std::string versionText, path;
};

/// clang as the compiler of simt images.
class SimtCompiler {
public:
  /// `clang`: path or name of clang++; empty = clang++-22, then clang++. `cacheFolder` also holds
  /// the precompiled header, so it must be given. Null and a text if clang cannot be run.
  static std::shared_ptr<SimtCompiler> open(const std::string &clang,
                                            const std::string &cacheFolder, std::string &error);
  Code compile(const std::string &text, const CompileOptions &options = {}) const;
  const std::string &version() const { return versionText; }

private:
  SimtCompiler() = default;
  std::string clang, versionText, cacheFolder, baseFolder;
};

} // namespace gpucc::cuda

#endif
