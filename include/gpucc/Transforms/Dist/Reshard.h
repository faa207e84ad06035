//===- Reshard.h - from one sharding to another -----------------*- C++ -*-===//
//
// The cheapest known sequence of collectives and local steps that brings a
// tensor from one sharding into another on the same mesh. Cheap steps come
// first, so that dear ones move less:
//
//   [{dp},{}] partial {tp}  ->  [{dp},{}]        all_reduce tp
//   [{},{}] partial {dp}    ->  [{dp},{}]        reduce_scatter dp, dim 0
//   [{tp},{}]               ->  [{},{tp}]        all_to_all tp
//   [{},{}]                 ->  [{dp},{tp}]      slice dp dim 0, slice tp dim 1
//   [{dp,tp}]               ->  [{}]             all_gather dp,tp
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_DIST_RESHARD_H
#define GPUCC_TRANSFORMS_DIST_RESHARD_H

#include "gpucc/Facts/Sharding.h"

namespace gpucc {

struct ReshardStep {
  enum Kind {
    Slice,         ///< keep the own block of `dim` (free)
    Mask,          ///< zero on all but the first rank of the group: whole becomes partial (free)
    ReduceScatter, ///< along `dim`
    AllToAll,      ///< the axis moves from `from` to `dim`
    AllReduce,
    AllGather, ///< along `dim`
  };
  Kind kind;
  std::vector<std::string> axes; ///< the group, major to minor
  int64_t dim = -1, from = -1;
  Sharding after;   ///< how the tensor lies when the step is done
  double bytes = 0; ///< sent by one rank
};

/// `shape` is the global shape; both shardings fit the mesh and divide it. Steps over groups of one
/// rank are left out.
std::vector<ReshardStep> planReshard(const Mesh &mesh, const std::vector<int64_t> &shape,
                                     double bytesPerElement, const Sharding &from,
                                     const Sharding &to);

double reshardBytes(const Mesh &mesh, const std::vector<int64_t> &shape, double bytesPerElement,
                    const Sharding &from, const Sharding &to);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_RESHARD_H
