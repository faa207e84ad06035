//===- MappedFile.cpp - A file mapped for reading
//-----------------------------------------------===//
#include "core/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gpucc::rt;

MappedFile::~MappedFile() {
  if (bytes)
    munmap(const_cast<char *>(bytes), length);
  if (file >= 0)
    close(file);
}

Status MappedFile::open(const std::string &path, const char *what) {
  // Without O_NONBLOCK a named pipe would wait here for a writer; regular files do not care.
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return GPUCC_RT_FAIL(Code::io, "cannot open ", what, " '", path, "': ", std::strerror(errno));
  struct stat info;
  bool regular = fstat(file, &info) == 0 && S_ISREG(info.st_mode);
  void *address = MAP_FAILED;
  if (regular && info.st_size > 0)
    address = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  int problem = errno;
  if (!regular)
    return GPUCC_RT_FAIL(Code::io, what, " '", path, "' is not a file");
  if (info.st_size == 0)
    return {};
  if (address == MAP_FAILED)
    return GPUCC_RT_FAIL(Code::io, "cannot map ", what, " '", path, "': ", std::strerror(problem));
  bytes = static_cast<const char *>(address);
  length = static_cast<uint64_t>(info.st_size);
  return {};
}
