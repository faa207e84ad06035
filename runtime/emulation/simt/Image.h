//===- Image.h - A loaded simt image -----------------------------*- C++ -*-===//
//
// An image is an x86-64 shared object that the compiler made from a kernel's CUDA source (device.h
// says how). For each kernel `k` it exports
//   void k__simt(void **arguments)       calls k with *arguments[i] as its i-th parameter
//   const unsigned k__params[]           sizes of the parameters in bytes, 0 ends
// and `simt_bind`, which receives the executor's functions. The bytes are loaded from an anonymous
// file; they are code of this machine, so load only what you would run.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_SIMT_IMAGE_H
#define GPUCC_RT_EMULATION_SIMT_IMAGE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gpucc::rt::simt {

class Image;

struct Kernel {
  std::string name;
  void (*entry)(void **arguments) = nullptr;
  const unsigned *parameterBytes = nullptr; ///< ends with 0
  const Image *image = nullptr;
};

class Image {
public:
  /// Null and an error text when the bytes are no image, or one for another executor.
  static std::unique_ptr<Image> load(const void *bytes, size_t size, std::string &error);
  ~Image();
  Image(const Image &) = delete;
  Image &operator=(const Image &) = delete;

  /// False when there is no such kernel.
  bool find(const std::string &name, Kernel &out) const;

  bool contains(const void *p) const {
    auto a = reinterpret_cast<uintptr_t>(p);
    return a >= low && a < high;
  }
  uint32_t offsetOf(const void *pc) const {
    return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pc) - low);
  }
  /// "kernel.cu:12" of the call that returns to `offset`; the outermost line if a wrapper was
  /// inlined there. Asks llvm-symbolizer or addr2line; "image+0x1a2b" when neither is installed.
  std::string place(uint32_t offset) const;

private:
  Image() = default;
  void *handle = nullptr;
  int file = -1;
  uintptr_t low = 0, high = 0;
};

} // namespace gpucc::rt::simt

#endif
