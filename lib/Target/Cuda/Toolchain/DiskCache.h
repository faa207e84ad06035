//===- DiskCache.h - Compiled code kept between runs -------------*- C++ -*-===//
//
// One file per entry, FOLDER/ab/abcdef….bin, named by the SHA-256 of everything that determines the
// content. A file starts with the SHA-256 of its payload, so a torn or edited one reads as absent.
// Written under a temporary name, then renamed: concurrent writers are harmless.
//
//   std::string key = sha256({text, options, version});
//   if (auto hit = cache.get(key)) return *hit;
//   cache.put(key, bytes);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_TARGET_CUDA_TOOLCHAIN_DISKCACHE_H
#define GPUCC_LIB_TARGET_CUDA_TOOLCHAIN_DISKCACHE_H

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpucc::cuda {

/// Hex digest over the parts, each preceded by its length: ("ab","c") and ("a","bc") differ.
std::string sha256(const std::vector<std::string_view> &parts);

class DiskCache {
public:
  explicit DiskCache(std::string folder) : folder(std::move(folder)) {}
  std::optional<std::string> get(const std::string &key) const;
  /// False if the folder cannot be written; the caller goes on without a cache.
  bool put(const std::string &key, std::string_view bytes) const;

private:
  std::string pathOf(const std::string &key) const;
  std::string folder;
};

/// Whole file, or nothing. Writes via a temporary name and rename.
std::optional<std::string> readFile(const std::string &path);
bool writeFileAtomically(const std::string &path, std::string_view bytes);

} // namespace gpucc::cuda

#endif
