//===- Slices.h - Between global tensors and the parts that ranks hold
//--------------------------===//
//
// A part is a box of the global tensor: per dimension [start, start + valid), laid out locally with
// the local extents (padding included). Example: global [7, 4], dp=2 padded to 8 rows, rank 1:
// start {4, 0}, valid {3, 4}, local {4, 4}; scatter copies rows 4..6 to local rows 0..2 and zeroes
// local row 3; gather copies rows 0..2 back to 4..6.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_SLICES_H
#define GPUCC_RT_PLAN_SLICES_H

#include "core/DType.h"
#include "core/Status.h"
#include "plan/RankContext.h"

#include <cstdint>
#include <vector>

namespace gpucc::rt {

using Extents = std::vector<int64_t>;

Extents toExtents(const flatbuffers::Vector<int64_t> *values);
/// Strides in elements of a row-major array.
Extents rowMajorStrides(const Extents &shape);
int64_t elementCount(const Extents &shape);
/// "[2, 3]"
std::string toString(const Extents &shape);

/// A box of a global tensor.
struct Box {
  Extents global; ///< extents of the global tensor
  Extents start;
  Extents valid; ///< extents of the box, cut to the global tensor; may be 0
  Extents local; ///< extents that the rank allocates (>= valid)
  bool empty() const { return elementCount(valid) == 0; }
};

using SliceVector = flatbuffers::Vector<flatbuffers::Offset<plan::DimSlice>>;

/// The box of `rank` in `slot`. No slices: everything. Fails for a negative start.
Status resolveBox(const SliceVector *slices, const Extents &global, const RankContext &rank,
                  uint32_t slot, Box &box);

/// Copies a box of `extents` elements of `bits` each between strided arrays. 4-bit elements must be
/// dense in both.
void copyStrided(unsigned bits, const Extents &extents, const char *source,
                 const Extents &sourceStrides, char *destination,
                 const Extents &destinationStrides);

/// global (row-major) -> local (strides in elements); padding becomes zero.
void scatterBox(DType type, const Box &box, const char *global, char *local,
                const Extents &localStrides, uint64_t localBytes);
/// local -> global (row-major); `add`: sums into the global array instead of replacing.
void gatherBox(DType type, const Box &box, const char *local, const Extents &localStrides,
               char *global, bool add);

} // namespace gpucc::rt

#endif // GPUCC_RT_PLAN_SLICES_H
