//===- KernelCompiler.cpp - Many kernels, several architectures, a few threads ----===//

#include "gpucc/Target/Cuda/KernelCompiler.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>

using namespace gpucc::cuda;

std::shared_ptr<KernelCompiler> KernelCompiler::open(const KernelCompilerOptions &options,
                                                     std::string &error) {
  std::shared_ptr<KernelCompiler> made(new KernelCompiler);
  made->options = options;
  for (const std::string &architecture : options.architectures) {
    if (architecture == "simt") {
      if (!made->simt)
        made->simt = SimtCompiler::open(options.clang, options.cacheFolder, error);
      if (!made->simt)
        return nullptr;
    } else if (!made->nvrtc) {
      made->nvrtc = NvrtcLibrary::open(options.nvrtc, error, options.nvrtcSearchFolders);
      if (!made->nvrtc)
        return nullptr;
    }
  }
  return made;
}

Code KernelCompiler::compileOne(const std::string &text, const std::string &architecture) const {
  const CompileOptions compile{options.cacheFolder, {}};
  return architecture == "simt" ? simt->compile(text, compile)
                                : nvrtc->compile(text, architecture, compile);
}

CompiledKernels KernelCompiler::compile(const std::vector<std::string> &texts) const {
  const size_t architectures = options.architectures.size();
  CompiledKernels result;
  result.code.assign(texts.size(), std::vector<Code>(architectures));
  std::map<std::string_view, size_t> first;
  std::vector<size_t> distinct, sameAs(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    auto [it, isNew] = first.try_emplace(texts[i], i);
    sameAs[i] = it->second;
    if (isNew)
      distinct.push_back(i);
  }
  // Tasks are taken in order by whoever is free; each writes to its own place.
  const size_t tasks = distinct.size() * architectures;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t t; (t = next++) < tasks;) {
      const size_t i = distinct[t / architectures], a = t % architectures;
      result.code[i][a] = compileOne(texts[i], options.architectures[a]);
    }
  };
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t jobs = std::min<size_t>(options.jobs ? options.jobs : cores, tasks);
  std::vector<std::thread> threads;
  for (size_t j = 1; j < jobs; ++j)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();

  for (size_t i = 0; i < texts.size(); ++i) {
    if (sameAs[i] != i) {
      result.code[i] = result.code[sameAs[i]];
      ++result.shared;
      continue;
    }
    for (size_t a = 0; a < architectures; ++a) {
      const Code &code = result.code[i][a];
      (code.fromCache ? result.fromCache : result.compiled) += 1;
      if (!code.ok && result.error.empty()) {
        const std::vector<std::string> names = kernelNames(texts[i]);
        result.error = "kernel '" + (names.empty() ? std::to_string(i) : names[0]) + "' for " +
                       options.architectures[a] + " does not compile:\n" + code.log;
      }
    }
  }
  return result;
}
