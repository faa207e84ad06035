//===- Safetensors.h - Reading and writing .safetensors files
//-----------------------------------===//
//
// The format of published weights: 8 bytes header length, a JSON header {"name": {"dtype": "F32",
// "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {...}}, then the data. Writing is
// atomic: a file beside the target, fsync, rename.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_CORE_SAFETENSORS_H
#define GPUCC_RT_CORE_SAFETENSORS_H

#include "core/DType.h"
#include "core/MappedFile.h"

#include <functional>
#include <map>
#include <vector>

namespace gpucc::rt {

struct SafetensorsEntry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  uint64_t offset = 0; ///< in the data section (reader)
  uint64_t bytes() const;
};

class SafetensorsReader {
public:
  Status open(const std::string &path);
  const SafetensorsEntry *find(const std::string &name) const;
  const std::vector<SafetensorsEntry> &entries() const { return table; }
  const std::map<std::string, std::string> &metadata() const { return meta; }
  /// Compares the data with the checksum of writeSafetensors; files of others have none and pass.
  Status checkData(const std::string &path) const;
  const char *data(const SafetensorsEntry &entry) const {
    return file.data() + base + entry.offset;
  }

private:
  Status parse(const std::string &path);
  MappedFile file;
  uint64_t base = 0;
  std::vector<SafetensorsEntry> table;
  std::map<std::string, std::string> meta;
};

/// Writes all entries and, as metadata "xxh64", a checksum of their data; `fill(entry, buffer)`
/// supplies the bytes of each when its turn comes, so that one tensor at a time is in memory.
Status writeSafetensors(const std::string &path, const std::vector<SafetensorsEntry> &entries,
                        const std::map<std::string, std::string> &metadata,
                        const std::function<Status(const SafetensorsEntry &, char *)> &fill);

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_SAFETENSORS_H
