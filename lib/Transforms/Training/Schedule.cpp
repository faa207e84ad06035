//===- Schedule.cpp - learning-rate schedules -------------------------------===//
#include "Schedule.h"

#include <numbers>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::training;

std::optional<LearningRateSchedule> LearningRateSchedule::parse(StringRef text, double rate,
                                                                std::string &error) {
  LearningRateSchedule s;
  s.rate = rate;
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  auto fail = [&]() -> std::optional<LearningRateSchedule> {
    error = ("learning-rate schedule '" + text +
             "' is none of: constant, warmup:STEPS, cosine:WARMUP:TOTAL[:MINIMUM] with "
             "0 <= WARMUP < TOTAL")
                .str();
    return std::nullopt;
  };
  if (parts[0] == "constant")
    return parts.size() == 1 ? std::optional(s) : fail();
  if (parts[0] == "warmup") {
    if (parts.size() != 2 || parts[1].getAsInteger(10, s.warmup) || s.warmup < 1)
      return fail();
    return s;
  }
  if (parts[0] != "cosine" || parts.size() < 3 || parts.size() > 4 ||
      parts[1].getAsInteger(10, s.warmup) || parts[2].getAsInteger(10, s.total) || s.warmup < 0 ||
      s.total <= s.warmup || (parts.size() == 4 && parts[3].getAsDouble(s.minimum)))
    return fail();
  return s;
}

Value LearningRateSchedule::build(graph::GraphBuilder &g, Value step) const {
  auto scalar = RankedTensorType::get({}, g.builder.getF64Type());
  Value k = g.convert(step, g.builder.getF64Type());
  Value value = g.splat(scalar, rate);
  if (total > 0) {
    double span = static_cast<double>(total - warmup);
    Value progress = g.mul(g.add(k, -static_cast<double>(warmup)), 1.0 / span);
    progress = g.binary(graph::BinaryKind::Min, progress, g.splat(scalar, 1.0));
    Value cosine = g.unary(graph::UnaryKind::Cos, g.mul(progress, std::numbers::pi));
    value = g.add(g.mul(g.add(cosine, 1.0), (rate - minimum) / 2), minimum);
  }
  if (warmup > 0) {
    Value rising = g.mul(g.add(k, 1.0), rate / static_cast<double>(warmup));
    Value before = g.compare(graph::CompareKind::Lt, k, static_cast<double>(warmup));
    value = g.select(before, rising, value);
  }
  return value;
}
