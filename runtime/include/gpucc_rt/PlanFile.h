//===- PlanFile.h - The container of a plan: header, index, blobs
//-------------------------------===//
//
// A plan file is a 64-byte header, a FlatBuffers index (plan.fbs) and aligned blobs:
//
//   0        64               4096 * k             4096 * m
//   | header | index ... | 0.. | blob 0 ... | 0.. | blob 1 ... |
//
// This header has no dependency, so the compiler (which writes plans), the runtime (which maps
// them) and tests (which do both) share one description of the container. Writing:
//
//   PlanFileWriter writer;
//   uint64_t offset = writer.addBlob(bytes, size);  // -> Blob.offset; blobs sorted by hash
//   ... build the index with those offsets ...
//   writer.write(indexBytes, indexSize,
//                [&](const void *p, size_t n) { return fwrite(p, 1, n, f) == n; });
//
// Same blobs and index, same bytes: there are no clocks or padding garbage in the file.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLANFILE_H
#define GPUCC_RT_PLANFILE_H

#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

namespace gpucc::rt {

inline constexpr char planMagic[8] = {'G', 'P', 'U', 'C', 'C', 'P', 'L', 'N'};
/// Changes when the meaning of a field changes; a runtime executes exactly its own major version.
inline constexpr uint32_t planMajorVersion = 1;
/// Grows with appended fields; a runtime accepts plans whose `minimumMinor` is at most its own.
inline constexpr uint32_t planMinorVersion = 1;
/// The first that knows outputs of varying size.
inline constexpr uint32_t planMinorOfVaryingSizes = 1;
inline constexpr uint64_t planBlobAlignment = 4096;

struct PlanHeader {
  char magic[8];
  uint32_t major;
  uint32_t minor;
  uint32_t minimumMinor; ///< least minor version of a runtime that understands the plan
  uint32_t reserved;
  uint64_t indexOffset; ///< always sizeof(PlanHeader)
  uint64_t indexSize;
  uint64_t blobOffset; ///< multiple of planBlobAlignment
  uint64_t fileSize;
  uint64_t indexHash; ///< xxh64 of the index
};
static_assert(sizeof(PlanHeader) == 64, "the header is part of the file format");

/// XXH64 (Y. Collet's published specification), seed 0: the hash of blobs and of the index.
inline uint64_t xxh64(const void *data, size_t size) {
  constexpr uint64_t p1 = 0x9E3779B185EBCA87ull, p2 = 0xC2B2AE3D27D4EB4Full,
                     p3 = 0x165667B19E3779F9ull, p4 = 0x85EBCA77C2B2AE63ull,
                     p5 = 0x27D4EB2F165667C5ull;
  auto rotate = [](uint64_t x, int r) { return (x << r) | (x >> (64 - r)); };
  auto read64 = [](const uint8_t *p) {
    uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
  };
  auto round = [&](uint64_t acc, uint64_t lane) { return rotate(acc + lane * p2, 31) * p1; };
  const auto *p = static_cast<const uint8_t *>(data);
  size_t left = size;
  uint64_t h;
  if (left >= 32) {
    uint64_t acc[4] = {p1 + p2, p2, 0, 0 - p1};
    for (; left >= 32; left -= 32, p += 32)
      for (int i = 0; i < 4; ++i)
        acc[i] = round(acc[i], read64(p + 8 * i));
    h = rotate(acc[0], 1) + rotate(acc[1], 7) + rotate(acc[2], 12) + rotate(acc[3], 18);
    for (uint64_t a : acc)
      h = (h ^ round(0, a)) * p1 + p4;
  } else {
    h = p5;
  }
  h += size;
  for (; left >= 8; left -= 8, p += 8)
    h = rotate(h ^ round(0, read64(p)), 27) * p1 + p4;
  if (left >= 4) {
    uint32_t v;
    std::memcpy(&v, p, 4);
    h = rotate(h ^ (v * p1), 23) * p2 + p3;
    left -= 4, p += 4;
  }
  for (; left > 0; --left, ++p)
    h = rotate(h ^ (*p * p5), 11) * p1;
  h = (h ^ (h >> 33)) * p2;
  h = (h ^ (h >> 29)) * p3;
  return h ^ (h >> 32);
}

/// Lays blobs out and writes the file. Blobs are borrowed until write() returns.
class PlanFileWriter {
public:
  /// Least minor version of a runtime that understands the plan.
  uint32_t minimumMinor = 0;

  /// Takes `bytes` bytes; returns the offset for Blob.offset (from the start of the blob section).
  uint64_t addBlob(const void *data, uint64_t bytes) {
    uint64_t offset = align(blobBytes);
    blobs.push_back({data, bytes, offset});
    blobBytes = offset + bytes;
    return offset;
  }

  /// Writes header, index and blobs in order through `sink(data, size) -> ok`; false as soon as the
  /// sink fails.
  bool write(const void *index, uint64_t indexSize,
             const std::function<bool(const void *, size_t)> &sink) const {
    PlanHeader header = {};
    std::memcpy(header.magic, planMagic, sizeof(planMagic));
    header.major = planMajorVersion;
    header.minor = planMinorVersion;
    header.minimumMinor = minimumMinor;
    header.indexOffset = sizeof(PlanHeader);
    header.indexSize = indexSize;
    header.blobOffset = align(sizeof(PlanHeader) + indexSize);
    header.fileSize = header.blobOffset + blobBytes;
    header.indexHash = xxh64(index, indexSize);
    uint64_t position = 0;
    auto put = [&](const void *data, uint64_t size) {
      position += size;
      return size == 0 || sink(data, size);
    };
    auto pad = [&](uint64_t to) {
      static const char zeros[planBlobAlignment] = {};
      return put(zeros, to - position);
    };
    if (!put(&header, sizeof(header)) || !put(index, indexSize) || !pad(header.blobOffset))
      return false;
    for (const Entry &blob : blobs)
      if (!pad(header.blobOffset + blob.offset) || !put(blob.data, blob.size))
        return false;
    return true;
  }

  /// The whole file in memory.
  std::vector<char> toBytes(const void *index, uint64_t indexSize) const {
    std::vector<char> bytes;
    write(index, indexSize, [&](const void *data, size_t size) {
      bytes.insert(bytes.end(), static_cast<const char *>(data),
                   static_cast<const char *>(data) + size);
      return true;
    });
    return bytes;
  }

private:
  struct Entry {
    const void *data;
    uint64_t size, offset;
  };
  static uint64_t align(uint64_t n) {
    return (n + planBlobAlignment - 1) / planBlobAlignment * planBlobAlignment;
  }
  std::vector<Entry> blobs;
  uint64_t blobBytes = 0;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_PLANFILE_H
