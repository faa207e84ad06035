//===- WeightFiles.cpp - weights mapped from the model's files ------------===//
#include "gpucc/Support/WeightFiles.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace gpucc;

struct WeightFiles::Mapping {
  void *data = nullptr;
  int64_t size = 0;
  ~Mapping() {
    if (data)
      munmap(data, static_cast<size_t>(size));
  }
};

std::optional<HostTensor> WeightFiles::get(const std::string &file, int64_t offset, DType type,
                                           std::vector<int64_t> shape, std::string &error) {
  std::shared_ptr<Mapping> &mapping = mappings[file];
  if (!mapping) {
    std::string path = file.empty() || file[0] == '/' || folder.empty() ? file : folder + "/" + file;
    // Without O_NONBLOCK a named pipe would wait here for a writer.
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info = {};
    auto fresh = std::make_shared<Mapping>();
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
      fresh->size = info.st_size;
      void *data = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
      fresh->data = data == MAP_FAILED ? nullptr : data;
    }
    int code = errno;
    if (fd >= 0)
      close(fd);
    if (!fresh->data) {
      error = "cannot map the weight file '" + path + "': " + std::strerror(code);
      return std::nullopt;
    }
    mapping = fresh;
  }
  int64_t count = 1;
  for (int64_t d : shape)
    count *= d;
  int64_t bytes = byteSize(type, count);
  if (offset < 0 || bytes > mapping->size || offset > mapping->size - bytes) {
    error = "the weight file '" + file + "' has " + std::to_string(mapping->size) +
            " bytes; a tensor wants " + std::to_string(bytes) + " at offset " +
            std::to_string(offset) + ": the file is cut short or belongs to another model";
    return std::nullopt;
  }
  return HostTensor(type, std::move(shape), static_cast<char *>(mapping->data) + offset, mapping);
}
