//===- Nvrtc.cpp - NVIDIA's run-time compiler, loaded when needed ---------===//
//
// Only the functions and result codes used here are declared; they are part of NVRTC's stable ABI
// (unchanged since CUDA 11.1), so no header of the toolkit is needed to build gpucc.
//
//===----------------------------------------------------------------------===//

#include "gpucc/Target/Cuda/Cubin.h"
#include "gpucc/Target/Cuda/Toolchain.h"
#include "lib/Target/Cuda/Toolchain/DiskCache.h"

#include <algorithm>
#include <dlfcn.h>
#include <filesystem>

using namespace gpucc::cuda;
namespace fs = std::filesystem;

using Program = void *;
struct NvrtcLibrary::Functions {
  int (*version)(int *major, int *minor);
  int (*create)(Program *, const char *source, const char *name, int headers,
                const char *const *headerTexts, const char *const *headerNames);
  int (*compile)(Program, int options, const char *const *option);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  int (*cubinSize)(Program, size_t *);
  int (*cubin)(Program, char *);
  int (*ptxSize)(Program, size_t *);
  int (*ptx)(Program, char *);
  int (*destroy)(Program *);
  const char *(*errorString)(int);
};

namespace {
/// libnvrtc.so* in a folder, newest name first.
std::vector<std::string> librariesIn(const fs::path &folder) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.rfind("libnvrtc.so", 0) == 0)
      found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

void append(std::vector<std::string> &to, const std::vector<std::string> &more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// What to try, in order.
std::vector<std::string> candidates(const std::string &path,
                                    const std::vector<std::string> &searchFolders) {
  std::error_code ignored;
  if (!path.empty())
    return fs::is_directory(path, ignored) ? librariesIn(path) : std::vector<std::string>{path};
  std::vector<std::string> files = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};
  for (const char *folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/opt/cuda/lib64",
                             "/usr/lib/x86_64-linux-gnu"})
    append(files, librariesIn(folder));
  for (const fs::directory_entry &entry : fs::directory_iterator("/usr/local", ignored))
    if (std::string(entry.path().filename()).rfind("cuda-", 0) == 0) {
      append(files, librariesIn(entry.path() / "lib64"));
      append(files, librariesIn(entry.path() / "lib"));
    }
  for (const std::string &folder : searchFolders) {
    append(files, librariesIn(folder));
    // The wheels: nvidia/cuXX/lib (13 and later), nvidia/cuda_nvrtc/lib (12).
    for (const fs::directory_entry &entry :
         fs::directory_iterator(fs::path(folder) / "nvidia", ignored))
      append(files, librariesIn(entry.path() / "lib"));
  }
  return files;
}

std::string sized(int (*size)(Program, size_t *), int (*get)(Program, char *), Program program) {
  size_t bytes = 0;
  std::string out;
  if (size(program, &bytes) == 0 && bytes) {
    out.resize(bytes);
    get(program, out.data());
  }
  return out;
}
} // namespace

std::shared_ptr<NvrtcLibrary> NvrtcLibrary::open(const std::string &path, std::string &error,
                                                 const std::vector<std::string> &searchFolders) {
  std::shared_ptr<NvrtcLibrary> library(new NvrtcLibrary);
  const std::vector<std::string> files = candidates(path, searchFolders);
  for (const std::string &file : files) {
    // NVRTC opens its builtins by name; those beside it count.
    std::error_code ignored;
    for (const fs::directory_entry &entry :
         fs::directory_iterator(fs::path(file).parent_path(), ignored))
      if (std::string(entry.path().filename()).rfind("libnvrtc-builtins.so.", 0) == 0)
        dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    if ((library->handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))) {
      library->path = file;
      break;
    }
  }
  if (!library->handle) {
    error = "cannot load NVRTC, CUDA's run-time compiler; tried";
    for (const std::string &file : files)
      error += " " + file;
    error += "; install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, or name the file";
    return nullptr;
  }
  library->fn = std::make_unique<Functions>();
  bool complete = true;
  auto load = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library->handle, name));
    complete = complete && function;
  };
  Functions &fn = *library->fn;
  load(fn.version, "nvrtcVersion");
  load(fn.create, "nvrtcCreateProgram");
  load(fn.compile, "nvrtcCompileProgram");
  load(fn.logSize, "nvrtcGetProgramLogSize");
  load(fn.log, "nvrtcGetProgramLog");
  load(fn.cubinSize, "nvrtcGetCUBINSize");
  load(fn.cubin, "nvrtcGetCUBIN");
  load(fn.ptxSize, "nvrtcGetPTXSize");
  load(fn.ptx, "nvrtcGetPTX");
  load(fn.destroy, "nvrtcDestroyProgram");
  load(fn.errorString, "nvrtcGetErrorString");
  if (!complete) {
    error = library->path + " lacks functions of NVRTC 11.1; install a newer CUDA";
    return nullptr;
  }
  int major = 0, minor = 0;
  fn.version(&major, &minor);
  library->versionText = std::to_string(major) + "." + std::to_string(minor);
  return library;
}

NvrtcLibrary::~NvrtcLibrary() {
  // The library keeps threads and static state; it stays loaded for the life of the process.
}

/// `__launch_bounds__(256)` -> `__launch_bounds__(256, 1)`; empty where there is none.
static std::string boundedByOneBlock(const std::string &text) {
  const std::string bounds = "__launch_bounds__(";
  const size_t begin = text.find(bounds), end = text.find(')', begin);
  if (begin == text.npos || end == text.npos || text.find(',', begin) < end)
    return {};
  return text.substr(0, end) + ", 1" + text.substr(end);
}

static unsigned spilledBytes(const Code &code) {
  unsigned bytes = 0;
  for (const KernelInfo &kernel : readCubin(code.bytes).kernels)
    bytes += kernel.spills() ? std::max(kernel.stackBytes, 1u) : 0;
  return bytes;
}

Code NvrtcLibrary::compile(const std::string &text, const std::string &arch,
                           const CompileOptions &options) const {
  Code code = compileText(text, arch, options);
  const unsigned spilled = code.ok ? spilledBytes(code) : 0; // of PTX: 0
  if (!spilled)
    return code;
  // The assembler spills a few registers to fit eight blocks on a multiprocessor; fewer blocks do.
  const std::string relaxed = boundedByOneBlock(text);
  if (relaxed.empty())
    return code;
  Code again = compileText(relaxed, arch, options);
  return again.ok && spilledBytes(again) < spilled ? again : code;
}

Code NvrtcLibrary::compileText(const std::string &text, const std::string &arch,
                               const CompileOptions &options) const {
  const bool toPtx = arch.rfind("compute_", 0) == 0;
  std::vector<std::string> flags = {
      "--gpu-architecture=" + arch, "-std=c++20",        "-fmad=false", "-default-device",
      "--pre-include=gk.cuh",       "-diag-suppress=177"};
  append(flags, options.extra);
  std::vector<std::string_view> parts = {"nvrtc", versionText, text};
  std::vector<const char *> names, texts, words;
  for (const KernelHeader &header : kernelHeaders()) {
    names.push_back(header.name);
    texts.push_back(header.text.data()); // embedded literals end with a zero
    parts.push_back(header.text);
  }
  for (const std::string &flag : flags) {
    words.push_back(flag.c_str());
    parts.push_back(flag);
  }
  const std::string key = sha256(parts);
  const DiskCache cache(options.cacheFolder);
  Code code;
  if (std::optional<std::string> hit = cache.get(key)) {
    code.ok = code.fromCache = true;
    code.bytes = std::move(*hit);
    return code;
  }
  Program program = nullptr;
  int result = fn->create(&program, text.c_str(), "kernel.cu", static_cast<int>(names.size()),
                          texts.data(), names.data());
  if (result == 0)
    result = fn->compile(program, static_cast<int>(words.size()), words.data());
  if (program)
    code.log = sized(fn->logSize, fn->log, program);
  while (!code.log.empty() && code.log.back() == '\0')
    code.log.pop_back();
  if (result == 0)
    code.bytes =
        toPtx ? sized(fn->ptxSize, fn->ptx, program) : sized(fn->cubinSize, fn->cubin, program);
  else
    code.log = std::string("NVRTC ") + versionText + " for " + arch + ": " +
               fn->errorString(result) + "\n" + code.log;
  if (program)
    fn->destroy(&program);
  code.ok = result == 0 && !code.bytes.empty();
  if (code.ok)
    cache.put(key, code.bytes);
  return code;
}
