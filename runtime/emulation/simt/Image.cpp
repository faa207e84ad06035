//===- Image.cpp - Load an image, find kernels and source lines -----------===//

#include "Image.h"
#include "Executor.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace gpucc::rt::simt;

namespace {
/// Writes all bytes, also when the kernel takes them piecewise.
bool writeAll(int file, const char *bytes, size_t size) {
  while (size) {
    ssize_t n = write(file, bytes, size);
    if (n <= 0)
      return false;
    bytes += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

std::string pathOf(int file) {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

/// The lines "file:line" that a symbolizer prints, innermost first; empty when it cannot be run.
std::vector<std::string> frames(const std::string &command) {
  std::vector<std::string> out;
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return out;
  char line[1024];
  while (fgets(line, sizeof(line), pipe)) {
    std::string text(line, strcspn(line, "\n"));
    size_t colon = text.find(':');
    if (colon == std::string::npos || text.compare(0, 2, "??") == 0)
      continue;
    if (size_t slash = text.rfind('/'); slash != std::string::npos)
      text = text.substr(slash + 1);
    if (size_t space = text.find(' '); space != std::string::npos)
      text.resize(space);
    // llvm-symbolizer adds the column: file:line:column.
    if (size_t first = text.find(':'), last = text.rfind(':'); first != last)
      text.resize(last);
    out.push_back(text);
  }
  pclose(pipe);
  return out;
}

/// Wrappers and executor text that stand in front of every kernel.
bool isWrapper(const std::string &place) {
  return place.compare(0, 3, "gk.") == 0 || place.compare(0, 10, "gk_tensor.") == 0 ||
         place.compare(0, 9, "device.h:") == 0;
}
} // namespace

std::unique_ptr<Image> Image::load(const void *bytes, size_t size, std::string &error) {
  const auto *header = static_cast<const Elf64_Ehdr *>(bytes);
  if (size < sizeof(Elf64_Ehdr) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_machine != EM_X86_64 || header->e_phoff > size ||
      header->e_phnum * sizeof(Elf64_Phdr) > size - header->e_phoff) {
    error = "not a simt image: expected an x86-64 ELF shared object; compile with the architecture "
            "'simt' in --target";
    return nullptr;
  }
  std::unique_ptr<Image> image(new Image);
  image->file = memfd_create("simt", MFD_CLOEXEC);
  if (image->file < 0 || !writeAll(image->file, static_cast<const char *>(bytes), size)) {
    error = "cannot hold a simt image of " + std::to_string(size) + " bytes in memory";
    return nullptr;
  }
  image->handle = dlopen(pathOf(image->file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!image->handle) {
    error = std::string("cannot load a simt image: ") + dlerror();
    return nullptr;
  }
  auto bind = reinterpret_cast<unsigned (*)(const void *)>(dlsym(image->handle, "simt_bind"));
  unsigned version = bind ? bind(Executor::hooks()) : 0;
  if (version != Executor::hookVersion) {
    error = "the simt image was made for executor version " + std::to_string(version) +
            ", this one is version " + std::to_string(Executor::hookVersion) + "; compile it again";
    return nullptr;
  }
  struct link_map *map = nullptr;
  dlinfo(image->handle, RTLD_DI_LINKMAP, &map);
  image->low = map->l_addr;
  const auto *segments =
      reinterpret_cast<const Elf64_Phdr *>(static_cast<const char *>(bytes) + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i)
    if (segments[i].p_type == PT_LOAD)
      image->high =
          std::max<uintptr_t>(image->high, image->low + segments[i].p_vaddr + segments[i].p_memsz);
  return image;
}

Image::~Image() {
  if (handle)
    dlclose(handle);
  if (file >= 0)
    close(file);
}

bool Image::find(const std::string &name, Kernel &out) const {
  out.name = name;
  out.image = this;
  out.entry = reinterpret_cast<void (*)(void **)>(dlsym(handle, (name + "__simt").c_str()));
  out.parameterBytes = static_cast<const unsigned *>(dlsym(handle, (name + "__params").c_str()));
  return out.entry && out.parameterBytes;
}

std::string Image::place(uint32_t offset) const {
  char hex[32];
  snprintf(hex, sizeof(hex), "0x%x", offset ? offset - 1 : 0); // inside the call, not after it
  const std::string path = pathOf(file);
  std::vector<std::string> lines;
  for (const std::string &tool :
       {std::string("llvm-symbolizer-22 --functions=none -i --obj=") + path + " " + hex,
        std::string("addr2line -i -e ") + path + " " + hex,
        std::string("llvm-symbolizer --functions=none -i --obj=") + path + " " + hex}) {
    lines = frames(tool + " 2>/dev/null");
    if (!lines.empty())
      break;
  }
  if (lines.empty())
    return std::string("image+") + hex;
  size_t inner = 0;
  while (inner + 1 < lines.size() && isWrapper(lines[inner]))
    ++inner;
  if (lines[inner] == lines.back())
    return lines[inner];
  return lines[inner] + " (called from " + lines.back() + ")";
}
