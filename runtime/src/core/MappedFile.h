//===- MappedFile.h - A file mapped for reading
//-------------------------------------------------===//
#ifndef GPUCC_RT_CORE_MAPPEDFILE_H
#define GPUCC_RT_CORE_MAPPEDFILE_H

#include "core/Status.h"

#include <cstdint>

namespace gpucc::rt {

class MappedFile {
public:
  MappedFile() = default;
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  /// `what` names the file's purpose in errors: "weights", "state".
  Status open(const std::string &path, const char *what);
  const char *data() const { return bytes; }
  uint64_t size() const { return length; }
  /// To map parts of it elsewhere; -1 when nothing is open.
  int descriptor() const { return file; }

private:
  const char *bytes = nullptr;
  uint64_t length = 0;
  int file = -1;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_MAPPEDFILE_H
