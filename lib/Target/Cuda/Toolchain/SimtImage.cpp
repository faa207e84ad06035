//===- SimtImage.cpp - Kernel text to an image for the CPU executor -------===//
//
// clang compiles the kernel file as C++ behind a precompiled header (device.h of the executor,
// gk.cuh, gk_tensor.cuh) and links it with the fixed image.cpp: about 0.1 s + 0.07 s per kernel.
// The folder of headers, precompiled header and image.o is made once per compiler and text of the
// headers:
//
//   CACHE/simt-<hash>/{device.h, gk.cuh, ..., pre.h, pre.h.pch, image.o}
//
//===----------------------------------------------------------------------===//

#include "gpucc/Target/Cuda/Toolchain.h"
#include "lib/Target/Cuda/Toolchain/DiskCache.h"
#include "lib/Target/Cuda/Toolchain/KernelText.h"

#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace gpucc::cuda;
namespace fs = std::filesystem;

namespace {
/// Flags that decide bits and checks; part of every key. x86-64-v3 has the FMA and f16 conversions
/// of the kernels, and keeps an image loadable on machines other than the one that made it.
const std::vector<std::string> baseFlags = {"-std=c++20",
                                            "-O1",
                                            "-march=x86-64-v3",
                                            "-fPIC",
                                            "-ffp-contract=off",
                                            "-fno-math-errno",
                                            "-fno-fast-math",
                                            "-fno-strict-aliasing",
                                            "-fwrapv",
                                            "-fno-exceptions",
                                            "-fno-rtti",
                                            "-nostdinc++",
                                            "-gline-tables-only",
                                            "-Wno-everything"};
/// A fiber has a stack of 64 KiB.
const std::vector<std::string> frameFlags = {"-Wframe-larger-than=49152",
                                             "-Werror=frame-larger-than"};
/// No tail calls: a call of the executor returns into the kernel, where reports find its line.
const std::vector<std::string> kernelFlags = {"-fsanitize=thread", "-fno-optimize-sibling-calls",
                                              "-mllvm", "-tsan-instrument-func-entry-exit=0"};

struct Run {
  int status = -1; ///< exit code, -1 = could not be started
  std::string output;
};

/// Runs a program; stdout and stderr go to `outputFile`, whose content is returned.
Run run(const std::vector<std::string> &command, const std::string &outputFile) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, outputFile.c_str(), O_CREAT | O_WRONLY | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  Run result;
  if (failed)
    return result;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  result.output = readFile(outputFile).value_or("");
  return result;
}

/// A folder of its own for one compilation, removed at the end.
class ScratchFolder {
public:
  explicit ScratchFolder(const std::string &parent) {
    static std::atomic<unsigned> counter{0};
    path = parent + "/tmp-" + std::to_string(getpid()) + "-" + std::to_string(counter++);
    std::error_code ignored;
    fs::create_directories(path, ignored);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

std::vector<std::string> with(std::vector<std::string> command,
                              const std::vector<std::string> &more) {
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

/// No image may tell where it was made: the same kernel gives the same bytes anywhere.
std::vector<std::string> withoutPaths(const std::vector<std::string> &folders) {
  std::vector<std::string> flags = {"-fdebug-compilation-dir=."};
  for (const std::string &folder : folders)
    flags.push_back("-ffile-prefix-map=" + folder + "/=");
  return flags;
}

/// Makes pre.h.pch and image.o in `folder`; the error text or nothing.
std::string buildBase(const std::string &clang, const std::string &folder) {
  std::string prefix = "#include \"device.h\"\n";
  for (const KernelHeader &header : simtHeaders())
    if (!writeFileAtomically(folder + "/" + header.name, header.text))
      return "cannot write " + folder + "/" + header.name;
  for (const KernelHeader &header : kernelHeaders()) {
    if (!writeFileAtomically(folder + "/" + header.name, header.text))
      return "cannot write " + folder + "/" + header.name;
    if (std::string_view(header.name).substr(0, 2) == "gk")
      prefix += "#include \"" + std::string(header.name) + "\"\n";
  }
  writeFileAtomically(folder + "/pre.h", prefix);
  const std::vector<std::string> start = with(with({clang}, baseFlags), withoutPaths({folder}));
  Run r = run(with(with(start, kernelFlags), {"-x", "c++-header", folder + "/pre.h", "-Xclang",
                                              "-fno-pch-timestamp", "-o", folder + "/pre.h.pch"}),
              folder + "/log");
  if (r.status)
    return r.output;
  r = run(with(start, {"-O2", "-c", folder + "/image.cpp", "-o", folder + "/image.o"}),
          folder + "/log");
  return r.status ? r.output : std::string();
}
} // namespace

std::shared_ptr<SimtCompiler> SimtCompiler::open(const std::string &clangName,
                                                 const std::string &cacheFolder,
                                                 std::string &error) {
  std::shared_ptr<SimtCompiler> compiler(new SimtCompiler);
  if (cacheFolder.empty()) {
    error = "simt images need a cache folder for their precompiled header; name one";
    return nullptr;
  }
  ScratchFolder scratch(cacheFolder);
  std::string tried;
  for (const std::string &name : clangName.empty()
                                     ? std::vector<std::string>{"clang++-22", "clang++"}
                                     : std::vector<std::string>{clangName}) {
    Run r = run({name, "--version"}, scratch.path + "/version");
    tried += (tried.empty() ? "" : ", ") + name;
    if (r.status == 0) {
      compiler->clang = name;
      compiler->versionText = r.output.substr(0, r.output.find('\n'));
      break;
    }
  }
  if (compiler->clang.empty()) {
    error = "cannot run clang (tried " + tried +
            "), which makes simt images; install clang-22 or "
            "name its path";
    return nullptr;
  }
  std::vector<std::string_view> parts = {"layout 3", compiler->versionText};
  for (const KernelHeader &header : simtHeaders())
    parts.push_back(header.text);
  for (const KernelHeader &header : kernelHeaders())
    parts.push_back(header.text);
  const std::vector<std::string> flags = with(baseFlags, kernelFlags);
  parts.insert(parts.end(), flags.begin(), flags.end());
  compiler->cacheFolder = cacheFolder;
  compiler->baseFolder = cacheFolder + "/simt-" + sha256(parts).substr(0, 16);
  if (fs::exists(compiler->baseFolder + "/image.o"))
    return compiler;
  // The precompiled header remembers absolute paths, so it is made in its final place, under a lock
  // that another process making the same folder waits for.
  std::error_code ignored;
  fs::create_directories(compiler->baseFolder, ignored);
  const int lock =
      ::open((compiler->baseFolder + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock >= 0)
    (void)lockf(lock, F_LOCK, 0);
  if (!fs::exists(compiler->baseFolder + "/image.o"))
    error = buildBase(compiler->clang, compiler->baseFolder);
  if (lock >= 0)
    close(lock);
  if (!error.empty())
    return nullptr;
  return compiler;
}

Code SimtCompiler::compile(const std::string &text, const CompileOptions &options) const {
  std::vector<std::string_view> parts = {"simt", baseFolder, text};
  parts[1].remove_prefix(cacheFolder.size()); // the hash of compiler and headers, not the place
  for (const std::string &flag : options.extra)
    parts.push_back(flag);
  const std::string key = sha256(parts);
  const DiskCache cache(options.cacheFolder);
  Code code;
  if (std::optional<std::string> hit = cache.get(key)) {
    code.ok = code.fromCache = true;
    code.bytes = std::move(*hit);
    return code;
  }
  std::string source = text + "\n#line 1 \"entries\"\n";
  for (const std::string &name : kernelNames(text))
    source += "SIMT_ENTRY(" + name + ")\n";
  ScratchFolder scratch(cacheFolder);
  const std::string file = scratch.path + "/kernel.cu", image = scratch.path + "/kernel.so";
  if (!writeFileAtomically(file, source)) {
    code.log = "cannot write " + file;
    return code;
  }
  std::vector<std::string> command = with(with({clang}, baseFlags), kernelFlags);
  command = with(command,
                 {"-include-pch", baseFolder + "/pre.h.pch", "-I", baseFolder, "-x", "c++", file});
  command = with(with(command, withoutPaths({baseFolder, scratch.path})), frameFlags);
  command = with(command, options.extra);
  Run r = run(with(command, {"-c", "-o", scratch.path + "/kernel.o"}), scratch.path + "/log");
  code.log = r.output;
  if (r.status)
    return code;
  r = run({clang, "-shared", "-Wl,--build-id=none", "-nostartfiles", scratch.path + "/kernel.o",
           baseFolder + "/image.o", "-lm", "-o", image},
          scratch.path + "/log");
  code.log += r.output;
  std::optional<std::string> bytes = r.status ? std::nullopt : readFile(image);
  if (!bytes)
    return code;
  code.bytes = std::move(*bytes);
  code.ok = true;
  cache.put(key, code.bytes);
  return code;
}
