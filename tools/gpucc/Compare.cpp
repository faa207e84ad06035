//===- Compare.cpp - are two arrays equal enough --------------------------===//
#include "Compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace gpucc;

static std::string shapeText(const HostTensor &t) {
  std::string text = std::string(name(t.dtype())) + " [";
  for (size_t i = 0; i < t.shape().size(); ++i)
    text += (i ? ", " : "") + std::to_string(t.shape()[i]);
  return text + "]";
}

tool::Difference tool::compare(const HostTensor &found, const HostTensor &expected, double floor) {
  Difference result;
  if (found.shape() != expected.shape() || found.dtype() != expected.dtype()) {
    result.error = std::numeric_limits<double>::infinity();
    result.problem = "found " + shapeText(found) + ", expected " + shapeText(expected);
    return result;
  }
  double largest = 0;
  for (int64_t i = 0; i < expected.numElements(); ++i)
    if (double v = std::fabs(expected.getFloat(i)); std::isfinite(v))
      largest = std::max(largest, v);
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double a = found.getFloat(i), b = expected.getFloat(i), error;
    if (a == b || (std::isnan(a) && std::isnan(b)))
      error = 0;
    else if (!std::isfinite(a) || !std::isfinite(b))
      error = std::numeric_limits<double>::infinity();
    else
      error = std::fabs(a - b) /
              std::max({std::fabs(b), floor * largest, std::numeric_limits<double>::min()});
    if (error > result.error || (result.index < 0 && error > 0)) {
      result.error = error;
      result.index = i;
      result.found = a;
      result.expected = b;
    }
  }
  return result;
}

HostTensor tool::toHostTensor(const gpucc_rt::Array &array) {
  HostTensor t(static_cast<DType>(array.dtype), array.shape);
  std::memcpy(t.bytes(), array.bytes.data(), static_cast<size_t>(t.byteSize()));
  return t;
}

std::vector<int64_t> tool::coordinates(int64_t index, const std::vector<int64_t> &shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0; index /= shape[d])
    at[d] = index % shape[d];
  return at;
}

std::string tool::place(int64_t index, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t at : coordinates(index, shape))
    text += (text.empty() ? "" : ", ") + std::to_string(at);
  return "[" + text + "]";
}
