//===- AtomicFile.h - A file that appears complete or not at all
//--------------------------------===//
//
// Written under "<path>.<process>.<number>.tmp", flushed to the disk, renamed over <path>, and the folder flushed:
// after a kill at any moment <path> is the old file or the new one.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_CORE_ATOMICFILE_H
#define GPUCC_RT_CORE_ATOMICFILE_H

#include "core/Status.h"

#include <cstdint>

namespace gpucc::rt {

class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile(); ///< without commit: the temporary file is removed

  Status open(const std::string &path);
  Status write(const void *data, uint64_t bytes);
  /// Overwrites bytes that were written before.
  Status patch(uint64_t offset, const void *data, uint64_t bytes);
  /// `durable`: on the disk when it returns; else as soon as the system likes.
  Status commit(bool durable = true);

private:
  Status fail(const char *action);
  std::string target, temporary;
  int file = -1;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_ATOMICFILE_H
