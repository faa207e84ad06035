//===- HostTensor.h - a dense tensor in host memory -------------*- C++ -*-===//
//
// Row-major, dense, shared storage: copying a HostTensor shares its bytes (the
// constant folder and the evaluator pass them around by value). Small floats
// are stored in their own format and read as double; int64 and uint64 keep
// all their bits through getInt / setInt.
//
//   HostTensor t(DType::BF16, {2, 3});
//   t.setFloat(4, 1.5);         // element [1, 1], rounded to nearest even
//   double v = t.getFloat(4);
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_FACTS_HOSTTENSOR_H
#define GPUCC_FACTS_HOSTTENSOR_H

#include "gpucc/Facts/DType.h"

#include <memory>
#include <vector>

namespace gpucc {

class HostTensor {
public:
  HostTensor() = default;
  /// Owns zeroed storage.
  HostTensor(DType type, std::vector<int64_t> shape);
  /// Wraps `bytes`, which must hold byteSize() bytes; `keepAlive` shares ownership (may be null
  /// when the caller outlives the tensor).
  HostTensor(DType type, std::vector<int64_t> shape, void *bytes, std::shared_ptr<void> keepAlive);

  static HostTensor scalarFloat(DType type, double value);
  static HostTensor scalarInt(DType type, int64_t value);

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t numElements() const { return count; }
  int64_t byteSize() const { return gpucc::byteSize(type, count); }
  bool isValid() const { return data != nullptr || count == 0; }

  void *bytes() { return data; }
  const void *bytes() const { return data; }

  /// Element at linear (row-major) index as a double; integers are converted.
  double getFloat(int64_t index) const;
  /// Stores with round-to-nearest-even into float types (f8E4M3 saturates to NaN as IEEE-like
  /// conversion without saturation does); truncates toward zero into integers.
  void setFloat(int64_t index, double value);

  /// Element as a 64-bit pattern of its value: exact for every integer type (u64 reinterpreted).
  int64_t getInt(int64_t index) const;
  void setInt(int64_t index, int64_t value);

  /// A deep copy with storage of its own.
  HostTensor clone() const;
  /// The same bytes under another shape with the same number of elements.
  HostTensor reshaped(std::vector<int64_t> shape) const;
  /// Shape, type and every byte are equal.
  bool identical(const HostTensor &other) const;

  /// Row-major strides in elements.
  static std::vector<int64_t> stridesOf(const std::vector<int64_t> &shape);

private:
  DType type = DType::F32;
  std::vector<int64_t> dims;
  int64_t count = 0;
  void *data = nullptr;
  std::shared_ptr<void> owner;
};

/// Conversions of the small float formats; bits sit in the low end. Round to nearest even, NaN
/// stays NaN, denormals are kept.
double decodeFloat(DType type, uint64_t bits);
uint64_t encodeFloat(DType type, double value);

} // namespace gpucc

#endif // GPUCC_FACTS_HOSTTENSOR_H
