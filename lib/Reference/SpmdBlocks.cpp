//===- SpmdBlocks.cpp - global tensors to blocks of ranks and back --------===//
#include "gpucc/Reference/SpmdEvaluate.h"

#include <cmath>

using namespace gpucc;

std::vector<int64_t> gpucc::globalShape(const Mesh &mesh, const Sharding &sharding,
                                        std::vector<int64_t> local) {
  for (size_t d = 0; d < local.size(); ++d)
    local[d] *= sharding.parts(mesh, d);
  return local;
}

/// Calls f(block index, whole index) for each element of the rank's block inside the whole.
static void forBlock(const Mesh &mesh, const Sharding &sharding, const std::vector<int64_t> &shape,
                     int64_t rank, llvm::function_ref<void(int64_t, int64_t)> f) {
  std::vector<int64_t> local = sharding.localShape(mesh, shape);
  std::vector<int64_t> strides = HostTensor::stridesOf(shape);
  std::vector<int64_t> offset(shape.size()), index(shape.size(), 0);
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    offset[d] = sharding.offset(mesh, rank, shape, d);
    count *= local[d];
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      at += (offset[d] + index[d]) * strides[d];
      inside &= offset[d] + index[d] < shape[d];
    }
    if (inside)
      f(i, at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < local[d])
        break;
      index[d] = 0;
    }
  }
}

static void copy(const HostTensor &from, int64_t i, HostTensor &to, int64_t j) {
  if (isFloat(from.dtype()))
    to.setFloat(j, from.getFloat(i));
  else
    to.setInt(j, from.getInt(i));
}

/// First of the ranks that hold parts of one partial value.
static bool leadsPartial(const Mesh &mesh, const Sharding &sharding, int64_t rank) {
  for (const std::string &axis : sharding.partial)
    if (mesh.coordinate(rank, axis) != 0)
      return false;
  return true;
}

HostTensor gpucc::cutBlock(const Mesh &mesh, const Sharding &sharding, const HostTensor &whole,
                           int64_t rank) {
  HostTensor block(whole.dtype(), sharding.localShape(mesh, whole.shape()));
  if (leadsPartial(mesh, sharding, rank))
    forBlock(mesh, sharding, whole.shape(), rank,
             [&](int64_t i, int64_t at) { copy(whole, at, block, i); });
  return block;
}

static bool sameElement(const HostTensor &a, const HostTensor &b, int64_t i) {
  if (!isFloat(a.dtype()))
    return a.getInt(i) == b.getInt(i);
  double x = a.getFloat(i), y = b.getFloat(i);
  return x == y || (std::isnan(x) && std::isnan(y));
}

static double combine(ReduceKind kind, double a, double b) {
  switch (kind) {
  case ReduceKind::Sum:
    return a + b;
  case ReduceKind::Prod:
    return a * b;
  case ReduceKind::Max:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  case ReduceKind::Min:
    return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  case ReduceKind::And:
    return a != 0 && b != 0;
  case ReduceKind::Or:
    return a != 0 || b != 0;
  }
  return a;
}

/// Integers wrap: sums and products are those of unsigned 64-bit numbers, cut to the type.
static int64_t combine(ReduceKind kind, bool isUnsignedType, int64_t a, int64_t b) {
  auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  bool less = isUnsignedType ? x < y : a < b;
  switch (kind) {
  case ReduceKind::Sum:
    return static_cast<int64_t>(x + y);
  case ReduceKind::Prod:
    return static_cast<int64_t>(x * y);
  case ReduceKind::Max:
    return less ? b : a;
  case ReduceKind::Min:
    return less ? a : b;
  case ReduceKind::And:
    return a & b;
  case ReduceKind::Or:
    return a | b;
  }
  return a;
}

/// Blocks of the ranks that share a partial value, combined; ranks without a block add nothing.
static HostTensor combinePartial(ReduceKind kind, const std::vector<const HostTensor *> &parts) {
  HostTensor sum(parts[0]->dtype(), parts[0]->shape());
  for (int64_t i = 0; i < sum.numElements(); ++i) {
    if (isFloat(sum.dtype())) {
      double value = parts[0]->getFloat(i);
      for (size_t p = 1; p < parts.size(); ++p)
        value = combine(kind, value, parts[p]->getFloat(i));
      sum.setFloat(i, value);
    } else {
      int64_t value = parts[0]->getInt(i);
      for (size_t p = 1; p < parts.size(); ++p)
        value = combine(kind, isUnsigned(sum.dtype()), value, parts[p]->getInt(i));
      sum.setInt(i, value);
    }
  }
  return sum;
}

std::optional<HostTensor> gpucc::gatherBlocks(const Mesh &mesh, const Sharding &sharding,
                                              const std::vector<int64_t> &shape, DType type,
                                              llvm::function_ref<const HostTensor *(int64_t)> block,
                                              std::string &error) {
  HostTensor whole(type, shape);
  std::vector<int64_t> writer(static_cast<size_t>(whole.numElements()), -1);
  for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
    const HostTensor *own = block(rank);
    if (!own)
      continue;
    HostTensor value = *own;
    if (!sharding.partial.empty()) {
      std::vector<const HostTensor *> parts;
      std::vector<int64_t> group = mesh.group(rank, sharding.partial);
      for (int64_t member : group)
        if (const HostTensor *part = block(member))
          parts.push_back(part);
      value = combinePartial(sharding.partialKind, parts);
    }
    int64_t differs = -1, other = -1;
    forBlock(mesh, sharding, shape, rank, [&](int64_t i, int64_t at) {
      if (writer[at] < 0) {
        writer[at] = rank;
        copy(value, i, whole, at);
      } else if (differs < 0) {
        HostTensor single(type, {});
        copy(value, i, single, 0);
        HostTensor there(type, {});
        copy(whole, at, there, 0);
        if (!sameElement(single, there, 0)) {
          differs = at;
          other = writer[at];
        }
      }
    });
    if (differs >= 0) {
      error = "copies on ranks " + std::to_string(other) + " and " + std::to_string(rank) +
              " differ at element " + std::to_string(differs);
      return std::nullopt;
    }
  }
  return whole;
}
