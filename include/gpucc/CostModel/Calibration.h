//===- Calibration.h - constants with their provenance ----------*- C++ -*-===//
//
// What: the numbers that no datasheet gives, each with where it comes from. They live in one file,
// lib/CostModel/data/calibration.yaml, which is built in; `--calibration FILE` replaces values.
//
// Example:
//
//     constants:
//       matrix-efficiency.ampere: {value: 0.80, provenance: fitted, source: "bench/costmodel fit"}
//     curves:
//       - {link: nvlink3-nvswitch, ranks: 8, provenance: measured, source: "vTrain tables",
//          bytes: [1048576, 2097152], seconds: [92e-6, 93e-6]}
//
// A key that nobody reads, a missing one and a value out of bounds are errors with their line.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_CALIBRATION_H
#define GPUCC_COSTMODEL_CALIBRATION_H

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace gpucc::cost {

/// How a number was obtained, from most to least direct.
enum class Provenance { Measured, Datasheet, Literature, Fitted };
const char *name(Provenance provenance);
/// The less direct of the two: what a figure computed from both may claim.
Provenance weaker(Provenance a, Provenance b);

struct Constant {
  double value = 0;
  Provenance provenance = Provenance::Fitted;
  std::string source;
  double least = 0, most = 0; ///< bounds of a fit; equal: not free
  bool free() const { return most > least; }
};

/// Measured seconds of an all-reduce on one node: log-linear between points, at the last point's
/// rate beyond, towards `latency` (of a message of 256 bytes, from the closed form) below.
struct Curve {
  std::string link; ///< LinkClass::kind
  int ranks = 0;
  Provenance provenance = Provenance::Measured;
  std::string source;
  std::vector<double> bytes, seconds;
  double at(double size, double latency) const;

private:
  double below(double size, double latency) const;
};

struct Calibration {
  std::string origin = "built-in";
  std::map<std::string, Constant> constants;
  std::vector<Curve> curves;

  /// The value under `key`; the key must be one of the built-in ones.
  double operator()(const std::string &key) const;
  Provenance provenance(const std::string &key) const;
  /// Efficiency of large aligned 16-bit products on an architecture ("ampere", "hopper", ...).
  double matrixEfficiency(const std::string &architecture) const;
  const Curve *curve(const std::string &link, int ranks) const;
  /// Table of constants: value, provenance, source.
  std::string dump() const;

  static const Calibration &builtin();
};

using CalibrationOrError = std::variant<Calibration, std::string>;
/// The built-in calibration with the constants and curves of `text` put over it.
CalibrationOrError parseCalibration(const std::string &text, const std::string &origin);
CalibrationOrError loadCalibration(const std::string &path);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_CALIBRATION_H
