//===- PointwiseEvaluate.cpp - pointwise ops on the CPU -------------------===//
//
// Floats go through double, integers through 64 bits and wrap when stored:
//
//   i8: 100 + 100 is 200 in 64 bits and -56 when stored
//
//===----------------------------------------------------------------------===//
#include "dialects/Graph/Evaluate.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::graph;

namespace {
template <typename T, typename F> std::vector<T> map(std::vector<T> x, F f) {
  for (T &v : x)
    v = f(v);
  return x;
}
template <typename T, typename F>
std::vector<T> map(std::vector<T> a, const std::vector<T> &b, F f) {
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = f(a[i], b[i]);
  return a;
}

std::vector<double> unaryFloat(UnaryKind kind, std::vector<double> x) {
  using D = double;
  switch (kind) {
  case UnaryKind::Neg:
    return map(x, [](D v) { return -v; });
  case UnaryKind::Abs:
    return map(x, [](D v) { return std::fabs(v); });
  case UnaryKind::Sign:
    return map(x, [](D v) { return v > 0 ? 1.0 : v < 0 ? -1.0 : v; });
  case UnaryKind::Exp:
    return map(x, [](D v) { return std::exp(v); });
  case UnaryKind::Expm1:
    return map(x, [](D v) { return std::expm1(v); });
  case UnaryKind::Log:
    return map(x, [](D v) { return std::log(v); });
  case UnaryKind::Log1p:
    return map(x, [](D v) { return std::log1p(v); });
  case UnaryKind::Sqrt:
    return map(x, [](D v) { return std::sqrt(v); });
  case UnaryKind::Rsqrt:
    return map(x, [](D v) { return 1 / std::sqrt(v); });
  case UnaryKind::Reciprocal:
    return map(x, [](D v) { return 1 / v; });
  case UnaryKind::Tanh:
    return map(x, [](D v) { return std::tanh(v); });
  case UnaryKind::Erf:
    return map(x, [](D v) { return std::erf(v); });
  case UnaryKind::Logistic:
    return map(x, [](D v) { return 1 / (1 + std::exp(-v)); });
  case UnaryKind::Relu:
    return map(x, [](D v) { return v <= 0 ? 0.0 : v; });
  case UnaryKind::Sin:
    return map(x, [](D v) { return std::sin(v); });
  case UnaryKind::Cos:
    return map(x, [](D v) { return std::cos(v); });
  case UnaryKind::Tan:
    return map(x, [](D v) { return std::tan(v); });
  case UnaryKind::Asin:
    return map(x, [](D v) { return std::asin(v); });
  case UnaryKind::Acos:
    return map(x, [](D v) { return std::acos(v); });
  case UnaryKind::Atan:
    return map(x, [](D v) { return std::atan(v); });
  case UnaryKind::Sinh:
    return map(x, [](D v) { return std::sinh(v); });
  case UnaryKind::Cosh:
    return map(x, [](D v) { return std::cosh(v); });
  case UnaryKind::Asinh:
    return map(x, [](D v) { return std::asinh(v); });
  case UnaryKind::Acosh:
    return map(x, [](D v) { return std::acosh(v); });
  case UnaryKind::Atanh:
    return map(x, [](D v) { return std::atanh(v); });
  case UnaryKind::Floor:
    return map(x, [](D v) { return std::floor(v); });
  case UnaryKind::Ceil:
    return map(x, [](D v) { return std::ceil(v); });
  case UnaryKind::RoundEven:
    return map(x, [](D v) { return std::nearbyint(v); });
  case UnaryKind::IsNan:
    return map(x, [](D v) { return std::isnan(v) ? 1.0 : 0.0; });
  case UnaryKind::IsInf:
    return map(x, [](D v) { return std::isinf(v) ? 1.0 : 0.0; });
  case UnaryKind::Not:
    break;
  }
  llvm_unreachable("the verifier admits no such kind for floats");
}

int64_t unaryInt(UnaryKind kind, DType type, int64_t v) {
  bool negative = !isUnsigned(type) && v < 0;
  switch (kind) {
  case UnaryKind::Neg:
    return static_cast<int64_t>(-static_cast<uint64_t>(v));
  case UnaryKind::Abs:
    return negative ? static_cast<int64_t>(-static_cast<uint64_t>(v)) : v;
  case UnaryKind::Sign:
    return negative ? -1 : v != 0;
  case UnaryKind::Relu:
    return negative ? 0 : v;
  case UnaryKind::Not:
    return type == DType::I1 ? !v : ~v;
  default:
    llvm_unreachable("the verifier admits no such kind for integers");
  }
}

double modFloat(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

std::vector<double> binaryFloat(BinaryKind kind, const std::vector<double> &a,
                                const std::vector<double> &b) {
  using D = double;
  switch (kind) {
  case BinaryKind::Add:
    return map(a, b, [](D x, D y) { return x + y; });
  case BinaryKind::Sub:
    return map(a, b, [](D x, D y) { return x - y; });
  case BinaryKind::Mul:
    return map(a, b, [](D x, D y) { return x * y; });
  case BinaryKind::Div:
    return map(a, b, [](D x, D y) { return x / y; });
  case BinaryKind::Pow:
    return map(a, b, [](D x, D y) { return std::pow(x, y); });
  case BinaryKind::Max:
    return map(a, b, maxNan);
  case BinaryKind::Min:
    return map(a, b, minNan);
  case BinaryKind::Rem:
    return map(a, b, [](D x, D y) { return std::fmod(x, y); });
  case BinaryKind::Mod:
    return map(a, b, modFloat);
  default:
    llvm_unreachable("the verifier admits no such kind for floats");
  }
}

/// Exact in 64 bits; narrower results wrap when they are stored.
class IntArithmetic {
public:
  explicit IntArithmetic(DType type)
      : isUnsigned(gpucc::isUnsigned(type)), width(type == DType::I1 ? 1 : bitWidth(type)) {}

  int64_t apply(BinaryKind kind, int64_t a, int64_t b) const {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    switch (kind) {
    case BinaryKind::Add:
      return static_cast<int64_t>(x + y);
    case BinaryKind::Sub:
      return static_cast<int64_t>(x - y);
    case BinaryKind::Mul:
      return static_cast<int64_t>(x * y);
    case BinaryKind::Div:
      return divide(a, b);
    case BinaryKind::Rem:
      return remainder(a, b);
    case BinaryKind::Mod: {
      int64_t r = remainder(a, b);
      return !isUnsigned && r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case BinaryKind::Pow:
      return power(a, b);
    case BinaryKind::Max:
      return less(a, b) ? b : a;
    case BinaryKind::Min:
      return less(a, b) ? a : b;
    case BinaryKind::And:
      return a & b;
    case BinaryKind::Or:
      return a | b;
    case BinaryKind::Xor:
      return a ^ b;
    case BinaryKind::Shl:
      return y < width ? static_cast<int64_t>(x << y) : 0;
    case BinaryKind::Shr:
      if (isUnsigned)
        return y < width ? static_cast<int64_t>(x >> y) : 0;
      return a >> std::min<uint64_t>(y, width - 1);
    }
    llvm_unreachable("all kinds are listed");
  }

  bool less(int64_t a, int64_t b) const {
    return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  }

private:
  int64_t divide(int64_t a, int64_t b) const {
    if (b == 0)
      return 0;
    if (isUnsigned)
      return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
    return b == -1 ? static_cast<int64_t>(-static_cast<uint64_t>(a)) : a / b;
  }
  int64_t remainder(int64_t a, int64_t b) const {
    if (b == 0)
      return 0;
    if (isUnsigned)
      return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
    return b == -1 ? 0 : a % b;
  }
  int64_t power(int64_t a, int64_t b) const {
    if (!isUnsigned && b < 0)
      return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
    uint64_t result = 1, base = static_cast<uint64_t>(a);
    for (auto e = static_cast<uint64_t>(b); e; e >>= 1, base *= base)
      if (e & 1)
        result *= base;
    return static_cast<int64_t>(result);
  }

  bool isUnsigned;
  uint64_t width;
};

template <typename T, typename Less>
std::vector<int64_t> compareAll(CompareKind kind, const std::vector<T> &a, const std::vector<T> &b,
                                Less less) {
  std::vector<int64_t> y(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    bool equal = a[i] == b[i], below = less(a[i], b[i]), above = less(b[i], a[i]);
    const bool answers[] = {equal, !equal, below, below || equal, above, above || equal};
    y[i] = answers[static_cast<int>(kind)];
  }
  return y;
}
} // namespace

LogicalResult UnaryOp::evaluate(ArrayRef<HostTensor> operands,
                                MutableArrayRef<HostTensor> results) {
  if (isFloat(operands[0].dtype())) {
    fromDoubles(unaryFloat(getKind(), toDoubles(operands[0])), results[0]);
    return success();
  }
  std::vector<int64_t> x = toInts(operands[0]);
  for (int64_t &v : x)
    v = unaryInt(getKind(), operands[0].dtype(), v);
  fromInts(x, results[0]);
  return success();
}

LogicalResult BinaryOp::evaluate(ArrayRef<HostTensor> operands,
                                 MutableArrayRef<HostTensor> results) {
  if (isFloat(operands[0].dtype())) {
    fromDoubles(binaryFloat(getKind(), toDoubles(operands[0]), toDoubles(operands[1])), results[0]);
    return success();
  }
  IntArithmetic arithmetic(operands[0].dtype());
  fromInts(map(toInts(operands[0]), toInts(operands[1]),
               [&](int64_t a, int64_t b) { return arithmetic.apply(getKind(), a, b); }),
           results[0]);
  return success();
}

LogicalResult CompareOp::evaluate(ArrayRef<HostTensor> operands,
                                  MutableArrayRef<HostTensor> results) {
  if (isFloat(operands[0].dtype())) {
    fromInts(compareAll(getKind(), toDoubles(operands[0]), toDoubles(operands[1]),
                        [](double a, double b) { return a < b; }),
             results[0]);
    return success();
  }
  IntArithmetic arithmetic(operands[0].dtype());
  fromInts(compareAll(getKind(), toInts(operands[0]), toInts(operands[1]),
                      [&](int64_t a, int64_t b) { return arithmetic.less(a, b); }),
           results[0]);
  return success();
}

LogicalResult SelectOp::evaluate(ArrayRef<HostTensor> operands,
                                 MutableArrayRef<HostTensor> results) {
  auto *condition = static_cast<const uint8_t *>(operands[0].bytes());
  for (int64_t i = 0, n = operands[0].numElements(); i < n;) {
    int64_t end = i + 1; // runs of equal conditions are copied at once
    while (end < n && !condition[end] == !condition[i])
      ++end;
    copyElements(operands[condition[i] ? 1 : 2], i, results[0], i, end - i);
    i = end;
  }
  return success();
}

/// Saturates a float into an integer type; NaN gives 0.
static int64_t saturate(double v, DType type) {
  if (std::isnan(v))
    return 0;
  double top = std::ldexp(1.0, static_cast<int>(bitWidth(type)) - (isUnsigned(type) ? 0 : 1));
  if (v >= top)
    return greatestInt(type);
  if (v <= (isUnsigned(type) ? 0 : -top))
    return leastInt(type);
  return isUnsigned(type) ? static_cast<int64_t>(static_cast<uint64_t>(v))
                          : static_cast<int64_t>(v);
}

LogicalResult ConvertOp::evaluate(ArrayRef<HostTensor> operands,
                                  MutableArrayRef<HostTensor> results) {
  const HostTensor &x = operands[0];
  HostTensor &y = results[0];
  if (isFloat(y.dtype())) {
    fromDoubles(toDoubles(x), y);
    return success();
  }
  if (!isFloat(x.dtype())) {
    fromInts(toInts(x), y);
    return success();
  }
  std::vector<double> values = toDoubles(x);
  for (int64_t i = 0, n = x.numElements(); i < n; ++i)
    y.setInt(i, y.dtype() == DType::I1 ? values[i] != 0 : saturate(values[i], y.dtype()));
  return success();
}
