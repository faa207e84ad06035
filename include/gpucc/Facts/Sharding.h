//===- Sharding.h - meshes and how a tensor lies on them --------*- C++ -*-===//
//
// A mesh is a list of named axes, major to minor: rank = row-major index of
// its coordinates. A sharding says, per dimension, over which axes it is split
// (major to minor, in equal blocks of ceil(size/parts); the last ones may be
// short or empty) and over which axes the value is still a partial result.
// Axes that appear nowhere hold copies.
//
//   mesh dp=2, tp=4:  rank 6 has dp=1, tp=2
//   tensor 8x12 with {{dp},{tp}}: rank 6 holds rows 4..7, columns 6..8
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_SHARDING_H
#define GPUCC_FACTS_SHARDING_H

#include "gpucc/Facts/ShardingRule.h"

#include <optional>
#include <string>
#include <vector>

namespace gpucc {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis &) const = default;
};

struct Mesh {
  std::vector<MeshAxis> axes;

  int64_t numRanks() const;
  /// Size of an axis; 1 when the mesh has no such axis.
  int64_t axisSize(const std::string &axis) const;
  /// Coordinate of `rank` on `axis`; 0 when the mesh has no such axis.
  int64_t coordinate(int64_t rank, const std::string &axis) const;
  /// Ranks that differ from `rank` only on `over`, in order of their coordinates.
  std::vector<int64_t> group(int64_t rank, const std::vector<std::string> &over) const;
  std::string check() const;
  std::string dump() const; ///< "dp=2,tp=4"
  bool operator==(const Mesh &) const = default;
};

struct Sharding {
  std::vector<std::vector<std::string>> dims; ///< per dimension: axes, major to minor
  std::vector<std::string> partial;           ///< axes over which the value is not yet reduced
  ReduceKind partialKind = ReduceKind::Sum;

  static Sharding replicated(size_t rank) { return {std::vector<std::vector<std::string>>(rank), {}, ReduceKind::Sum}; }
  bool isReplicated() const;
  /// Number of blocks dimension `dim` is cut into.
  int64_t parts(const Mesh &mesh, size_t dim) const;
  /// Shape of the block every rank allocates: ceil(size / parts).
  std::vector<int64_t> localShape(const Mesh &mesh, const std::vector<int64_t> &shape) const;
  /// First global index of `rank`'s block in dimension `dim`.
  int64_t offset(const Mesh &mesh, int64_t rank, const std::vector<int64_t> &shape, size_t dim) const;
  /// Unknown axes, an axis used twice, wrong rank; empty when fine.
  std::string check(const Mesh &mesh, size_t rank) const;
  std::string dump() const; ///< "[{dp},{}] partial sum {tp}"
  bool operator==(const Sharding &) const = default;
};

} // namespace gpucc

#endif // GPUCC_FACTS_SHARDING_H
