//===- Slices.cpp - Boxes of global tensors
//-----------------------------------------------------===//
#include "plan/Slices.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;

Extents gpucc::rt::toExtents(const flatbuffers::Vector<int64_t> *values) {
  return values ? Extents(values->begin(), values->end()) : Extents();
}

Extents gpucc::rt::rowMajorStrides(const Extents &shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

int64_t gpucc::rt::elementCount(const Extents &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string gpucc::rt::toString(const Extents &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

Status gpucc::rt::resolveBox(const SliceVector *slices, const Extents &global,
                             const RankContext &rank, uint32_t slot, Box &box) {
  box = {global, Extents(global.size(), 0), global, global};
  if (!slices || slices->size() == 0)
    return {};
  for (uint32_t d = 0; d < slices->size(); ++d) {
    int64_t start = rank.evaluate(slices->Get(d)->start(), slot);
    if (start < 0)
      return GPUCC_RT_FAIL(Code::invalidPlan, "slice of dimension ", d, " starts at ", start,
                           " on rank ", rank.rank, ", slot ", slot, "; starts are >= 0");
    box.start[d] = std::min(start, global[d]);
    box.local[d] = slices->Get(d)->size();
    box.valid[d] = std::min(box.local[d], global[d] - box.start[d]);
  }
  return {};
}

namespace {
/// Dimensions of the copy after dropping extents of 1 and merging those that are dense in both
/// arrays.
struct MergedDims {
  Extents extents, source, destination; // outermost first; strides in elements
};

MergedDims mergeDims(const Extents &extents, const Extents &source, const Extents &destination) {
  MergedDims merged;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1)
      continue;
    if (!merged.extents.empty() && merged.source.back() == extents[d] * source[d] &&
        merged.destination.back() == extents[d] * destination[d]) {
      merged.extents.back() *= extents[d];
      merged.source.back() = source[d];
      merged.destination.back() = destination[d];
    } else {
      merged.extents.push_back(extents[d]);
      merged.source.push_back(source[d]);
      merged.destination.push_back(destination[d]);
    }
  }
  return merged;
}

/// Calls row(source offset, destination offset) for every point of all but the innermost dimension;
/// offsets in elements.
template <typename RowFn> void forEachRow(const MergedDims &dims, RowFn row) {
  size_t outer = dims.extents.size() - 1;
  Extents index(outer, 0);
  int64_t s = 0, t = 0;
  while (true) {
    row(s, t);
    size_t d = outer;
    for (; d-- > 0;) {
      s += dims.source[d], t += dims.destination[d];
      if (++index[d] < dims.extents[d])
        break;
      s -= dims.source[d] * dims.extents[d], t -= dims.destination[d] * dims.extents[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1))
      return;
  }
}
} // namespace

void gpucc::rt::copyStrided(unsigned bits, const Extents &extents, const char *source,
                            const Extents &sourceStrides, char *destination,
                            const Extents &destinationStrides) {
  int64_t count = elementCount(extents);
  if (count == 0)
    return;
  if (bits < 8) { // dense, as the verifier demands of 4-bit tensors
    std::memcpy(destination, source, (count * bits + 7) / 8);
    return;
  }
  int64_t bytes = bits / 8;
  MergedDims dims = mergeDims(extents, sourceStrides, destinationStrides);
  if (dims.extents.empty()) {
    std::memcpy(destination, source, bytes);
    return;
  }
  int64_t n = dims.extents.back(), s1 = dims.source.back(), t1 = dims.destination.back();
  forEachRow(dims, [&](int64_t s, int64_t t) {
    if (s1 == 1 && t1 == 1) {
      std::memcpy(destination + t * bytes, source + s * bytes, n * bytes);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(destination + (t + i * t1) * bytes, source + (s + i * s1) * bytes, bytes);
  });
}

static int64_t startOffset(const Box &box, const Extents &strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d)
    offset += box.start[d] * strides[d];
  return offset;
}

void gpucc::rt::scatterBox(DType type, const Box &box, const char *global, char *local,
                           const Extents &localStrides, uint64_t localBytes) {
  if (box.valid != box.local)
    std::memset(local, 0, localBytes);
  if (box.empty())
    return;
  Extents strides = rowMajorStrides(box.global);
  const char *source = global + startOffset(box, strides) * dtypeBits(type) / 8;
  copyStrided(dtypeBits(type), box.valid, source, strides, local, localStrides);
}

void gpucc::rt::gatherBox(DType type, const Box &box, const char *local,
                          const Extents &localStrides, char *global, bool add) {
  if (box.empty())
    return;
  Extents strides = rowMajorStrides(box.global);
  char *target = global + startOffset(box, strides) * dtypeBits(type) / 8;
  if (!add) {
    copyStrided(dtypeBits(type), box.valid, local, localStrides, target, strides);
    return;
  }
  // Partial sums: element by element in f64 (exact for the types that gradients have).
  MergedDims dims = mergeDims(box.valid, localStrides, strides);
  if (dims.extents.empty())
    dims = {{1}, {1}, {1}};
  int64_t bytes = dtypeBits(type) / 8;
  forEachRow(dims, [&](int64_t s, int64_t t) {
    for (int64_t i = 0; i < dims.extents.back(); ++i) {
      double a = 0, b = 0;
      char *sum = target + (t + i * dims.destination.back()) * bytes;
      castElements(type, local + (s + i * dims.source.back()) * bytes, DType::f64, &a, 1);
      castElements(type, sum, DType::f64, &b, 1);
      a += b;
      castElements(DType::f64, &a, type, sum, 1);
    }
  });
}
