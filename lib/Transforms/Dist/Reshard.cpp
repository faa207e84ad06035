//===- Reshard.cpp - from one sharding to another -------------------------===//
#include "gpucc/Transforms/Dist/Reshard.h"

#include <algorithm>
#include <cassert>

using namespace gpucc;

namespace {
using Axes = std::vector<std::string>;

bool contains(const Axes &axes, const std::string &axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

class Planner {
public:
  Planner(const Mesh &mesh, const std::vector<int64_t> &shape, double elementBytes,
          const Sharding &from, const Sharding &to)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), now(from), to(to) {}

  std::vector<ReshardStep> run() {
    while (cheapStep()) {
    }
    while (allReduce() || gather())
      while (cheapStep()) {
      }
    mask();
    assert(now.dims == to.dims && "every dimension arrived");
    return std::move(steps);
  }

private:
  const Mesh &mesh;
  const std::vector<int64_t> &shape;
  double elementBytes;
  Sharding now;
  const Sharding &to;
  std::vector<ReshardStep> steps;

  /// How many axes of the dimension are right already, from the major one.
  size_t kept(size_t d) const {
    size_t n = 0;
    while (n < now.dims[d].size() && n < to.dims[d].size() && now.dims[d][n] == to.dims[d][n])
      ++n;
    return n;
  }
  /// The axis that the dimension wants next; none while it has wrong ones or when it is done.
  std::optional<std::string> next(size_t d) const {
    size_t n = kept(d);
    if (now.dims[d].size() > n || to.dims[d].size() == n)
      return std::nullopt;
    return to.dims[d][n];
  }
  bool isFree(const std::string &axis) const {
    for (const Axes &dim : now.dims)
      if (contains(dim, axis))
        return false;
    return !contains(now.partial, axis);
  }
  double localBytes(const Sharding &s) const {
    double bytes = elementBytes;
    for (int64_t size : s.localShape(mesh, shape))
      bytes *= static_cast<double>(size);
    return bytes;
  }
  void add(ReshardStep::Kind kind, Axes axes, int64_t dim, int64_t from, Sharding after) {
    int64_t members = 1;
    for (const std::string &axis : axes)
      members *= mesh.axisSize(axis);
    double share = static_cast<double>(members - 1) / static_cast<double>(members), bytes = 0;
    switch (kind) {
    case ReshardStep::Slice:
    case ReshardStep::Mask:
      break;
    case ReshardStep::ReduceScatter:
    case ReshardStep::AllToAll:
      bytes = localBytes(now) * share;
      break;
    case ReshardStep::AllReduce:
      bytes = 2 * localBytes(now) * share;
      break;
    case ReshardStep::AllGather:
      bytes = localBytes(after) * share;
      break;
    }
    now = std::move(after);
    if (members > 1)
      steps.push_back({kind, std::move(axes), dim, from, now, bytes});
  }

  /// A local slice, else a reduce-scatter, else an all-to-all.
  bool cheapStep() {
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (auto axis = next(d); axis && isFree(*axis)) {
        Sharding after = now;
        after.dims[d].push_back(*axis);
        add(ReshardStep::Slice, {*axis}, static_cast<int64_t>(d), -1, std::move(after));
        return true;
      }
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (auto axis = next(d); axis && contains(now.partial, *axis)) {
        Sharding after = now;
        after.dims[d].push_back(*axis);
        std::erase(after.partial, *axis);
        add(ReshardStep::ReduceScatter, {*axis}, static_cast<int64_t>(d), -1, std::move(after));
        return true;
      }
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (auto axis = next(d))
        for (size_t from = 0; from < now.dims.size(); ++from)
          if (now.dims[from].size() > kept(from) && now.dims[from].back() == *axis) {
            Sharding after = now;
            after.dims[from].pop_back();
            after.dims[d].push_back(*axis);
            add(ReshardStep::AllToAll, {*axis}, static_cast<int64_t>(d), static_cast<int64_t>(from),
                std::move(after));
            return true;
          }
    return false;
  }

  bool allReduce() {
    Axes axes;
    for (const std::string &axis : now.partial)
      if (!contains(to.partial, axis) || now.partialKind != to.partialKind)
        axes.push_back(axis);
    if (axes.empty())
      return false;
    Sharding after = now;
    for (const std::string &axis : axes)
      std::erase(after.partial, axis);
    add(ReshardStep::AllReduce, std::move(axes), -1, -1, std::move(after));
    return true;
  }

  bool gather() {
    for (size_t d = 0; d < now.dims.size(); ++d)
      if (size_t n = kept(d); now.dims[d].size() > n) {
        Axes axes(now.dims[d].begin() + static_cast<std::ptrdiff_t>(n), now.dims[d].end());
        Sharding after = now;
        after.dims[d].resize(n);
        add(ReshardStep::AllGather, std::move(axes), static_cast<int64_t>(d), -1, std::move(after));
        return true;
      }
    return false;
  }

  void mask() {
    Axes axes;
    for (const std::string &axis : to.partial)
      if (!contains(now.partial, axis))
        axes.push_back(axis);
    if (axes.empty())
      return;
    Sharding after = to;
    add(ReshardStep::Mask, std::move(axes), -1, -1, std::move(after));
  }
};
} // namespace

std::vector<ReshardStep> gpucc::planReshard(const Mesh &mesh, const std::vector<int64_t> &shape,
                                            double bytesPerElement, const Sharding &from,
                                            const Sharding &to) {
  return Planner(mesh, shape, bytesPerElement, from, to).run();
}

double gpucc::reshardBytes(const Mesh &mesh, const std::vector<int64_t> &shape,
                           double bytesPerElement, const Sharding &from, const Sharding &to) {
  double bytes = 0;
  for (const ReshardStep &step : planReshard(mesh, shape, bytesPerElement, from, to))
    bytes += step.bytes;
  return bytes;
}
