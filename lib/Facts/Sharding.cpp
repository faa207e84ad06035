//===- Sharding.cpp - meshes and how a tensor lies on them ----------------===//
#include "gpucc/Facts/Sharding.h"

#include <algorithm>
#include <cassert>

using namespace gpucc;

int64_t Mesh::numRanks() const {
  int64_t n = 1;
  for (const MeshAxis &a : axes)
    n *= a.size;
  return n;
}

int64_t Mesh::axisSize(const std::string &axis) const {
  for (const MeshAxis &a : axes)
    if (a.name == axis)
      return a.size;
  return 1;
}

int64_t Mesh::coordinate(int64_t rank, const std::string &axis) const {
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].name == axis)
      return rank % axes[i].size;
    rank /= axes[i].size;
  }
  return 0;
}

std::vector<int64_t> Mesh::group(int64_t rank, const std::vector<std::string> &over) const {
  std::vector<int64_t> ranks;
  for (int64_t r = 0, n = numRanks(); r < n; ++r) {
    bool same = true;
    for (const MeshAxis &a : axes)
      if (std::find(over.begin(), over.end(), a.name) == over.end())
        same &= coordinate(r, a.name) == coordinate(rank, a.name);
    if (same)
      ranks.push_back(r);
  }
  // Rank order is the order of coordinates with the mesh's major axis first; reorder by `over`.
  std::stable_sort(ranks.begin(), ranks.end(), [&](int64_t x, int64_t y) {
    for (const std::string &a : over)
      if (coordinate(x, a) != coordinate(y, a))
        return coordinate(x, a) < coordinate(y, a);
    return false;
  });
  return ranks;
}

std::string Mesh::check() const {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].size < 1)
      return "axis '" + axes[i].name + "' has size " + std::to_string(axes[i].size) +
             "; it must be at least 1";
    for (size_t j = 0; j < i; ++j)
      if (axes[i].name == axes[j].name)
        return "axis '" + axes[i].name + "' is named twice";
  }
  return {};
}

std::string Mesh::dump() const {
  std::string out;
  for (const MeshAxis &a : axes)
    out += (out.empty() ? "" : ",") + a.name + '=' + std::to_string(a.size);
  return out;
}

bool Sharding::isReplicated() const {
  return partial.empty() &&
         std::all_of(dims.begin(), dims.end(), [](const auto &d) { return d.empty(); });
}

int64_t Sharding::parts(const Mesh &mesh, size_t dim) const {
  int64_t n = 1;
  for (const std::string &a : dims[dim])
    n *= mesh.axisSize(a);
  return n;
}

std::vector<int64_t> Sharding::localShape(const Mesh &mesh,
                                          const std::vector<int64_t> &shape) const {
  assert(shape.size() == dims.size() && "one entry per dimension");
  std::vector<int64_t> local = shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t p = parts(mesh, d);
    local[d] = (shape[d] + p - 1) / p;
  }
  return local;
}

int64_t Sharding::offset(const Mesh &mesh, int64_t rank, const std::vector<int64_t> &shape,
                         size_t dim) const {
  int64_t index = 0;
  for (const std::string &a : dims[dim])
    index = index * mesh.axisSize(a) + mesh.coordinate(rank, a);
  return index * localShape(mesh, shape)[dim];
}

std::string Sharding::check(const Mesh &mesh, size_t rank) const {
  if (dims.size() != rank)
    return "the sharding has " + std::to_string(dims.size()) + " dimensions, the tensor " +
           std::to_string(rank);
  std::vector<std::string> seen;
  auto use = [&](const std::string &a) -> std::string {
    bool known = std::any_of(mesh.axes.begin(), mesh.axes.end(),
                             [&](const MeshAxis &m) { return m.name == a; });
    if (!known)
      return "axis '" + a + "' is not one of the mesh (" + mesh.dump() + ")";
    if (std::find(seen.begin(), seen.end(), a) != seen.end())
      return "axis '" + a + "' is used twice";
    seen.push_back(a);
    return {};
  };
  for (const auto &d : dims)
    for (const std::string &a : d)
      if (auto e = use(a); !e.empty())
        return e;
  for (const std::string &a : partial)
    if (auto e = use(a); !e.empty())
      return e;
  return {};
}

static void dumpAxes(std::string &out, const std::vector<std::string> &axes) {
  out += '{';
  for (size_t i = 0; i < axes.size(); ++i)
    out += (i ? "," : "") + axes[i];
  out += '}';
}

std::string Sharding::dump() const {
  std::string out = "[";
  for (size_t d = 0; d < dims.size(); ++d) {
    out += d ? "," : "";
    dumpAxes(out, dims[d]);
  }
  out += ']';
  if (!partial.empty()) {
    out += std::string(" partial ") + name(partialKind) + ' ';
    dumpAxes(out, partial);
  }
  return out;
}
