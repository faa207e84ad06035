//===- AtomicFile.cpp - A file that appears complete or not at all
//------------------------------===//
#include "core/AtomicFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace gpucc::rt;

AtomicFile::~AtomicFile() {
  if (file < 0)
    return;
  close(file);
  unlink(temporary.c_str());
}

Status AtomicFile::fail(const char *action) {
  return GPUCC_RT_FAIL(Code::io, "cannot ", action, " '", target, "': ", std::strerror(errno));
}

Status AtomicFile::open(const std::string &path) {
  target = path;
  // What a link leads to is replaced, not the link; devices and pipes cannot be.
  struct stat info;
  if (stat(path.c_str(), &info) == 0) {
    if (!S_ISREG(info.st_mode))
      return GPUCC_RT_FAIL(Code::io, "cannot write '", path,
                           "': it is not a regular file, and the file is made anew and renamed; "
                           "give the path of a file");
    if (char *real = realpath(path.c_str(), nullptr)) {
      target = real;
      std::free(real);
    }
  }
  // A name of its own: two writers must not truncate each other's file. The last one to commit wins.
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; file < 0 && attempt < 1000; ++attempt) {
    temporary = concat(target, ".", getpid(), ".", counter++, ".tmp");
    file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file < 0 && errno != EEXIST) // EEXIST: a killed process of this number left it
      break;
  }
  return file < 0 ? fail("write") : Status();
}

Status AtomicFile::write(const void *data, uint64_t bytes) {
  const auto *at = static_cast<const char *>(data);
  while (bytes > 0) {
    ssize_t n = ::write(file, at, std::min<uint64_t>(bytes, 1u << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return fail("write");
    at += n;
    bytes -= static_cast<uint64_t>(n);
  }
  return {};
}

Status AtomicFile::patch(uint64_t offset, const void *data, uint64_t bytes) {
  ssize_t n = pwrite(file, data, bytes, static_cast<off_t>(offset));
  return n == static_cast<ssize_t>(bytes) ? Status() : fail("write");
}

Status AtomicFile::commit(bool durable) {
  if (durable && fsync(file) != 0)
    return fail("flush");
  // Network file systems and quotas report here what did not fit.
  if (close(std::exchange(file, -1)) != 0) {
    Status status = fail("write");
    unlink(temporary.c_str());
    return status;
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) {
    Status status = fail("rename to");
    unlink(temporary.c_str());
    return status;
  }
  if (!durable)
    return {};
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) { // some file systems cannot flush folders; the rename itself is done
    (void)fsync(directory);
    close(directory);
  }
  return {};
}
