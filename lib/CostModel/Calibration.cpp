//===- Calibration.cpp - reading the constants ----------------------------===//
//
// The built-in file defines which keys exist; a user's file may replace their values and curves.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Calibration.h"
#include "gpucc/CostModel/YamlReader.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace gpucc::cost {

const char *builtinCalibrationText();

const char *name(Provenance provenance) {
  switch (provenance) {
  case Provenance::Measured:
    return "measured";
  case Provenance::Datasheet:
    return "datasheet";
  case Provenance::Literature:
    return "literature";
  case Provenance::Fitted:
    return "fitted";
  }
  return "";
}

Provenance weaker(Provenance a, Provenance b) { return std::max(a, b); }

double Curve::at(double size, double latency) const {
  size_t last = bytes.size() - 1;
  if (size >= bytes[last]) // latency no longer counts
    return seconds[last] * size / bytes[last];
  size_t hi =
      static_cast<size_t>(std::upper_bound(bytes.begin(), bytes.end(), size) - bytes.begin());
  if (!hi)
    return below(size, latency);
  double share = std::log(size / bytes[hi - 1]) / std::log(bytes[hi] / bytes[hi - 1]);
  return std::exp((1 - share) * std::log(seconds[hi - 1]) + share * std::log(seconds[hi]));
}

/// A latency plus bytes grows the more steeply the larger the size, on log axes: so below the first
/// point the curve is at most as steep as right above it, and bends down to the latency at 256
/// bytes: y = y1 + m x + c x^2 with x, y logs from the first point.
double Curve::below(double size, double latency) const {
  if (bytes[0] <= 256 || latency <= 0 || latency >= seconds[0])
    return seconds[0];
  double span = std::log(256 / bytes[0]), drop = std::log(latency / seconds[0]);
  double above = std::log(seconds[1] / seconds[0]) / std::log(bytes[1] / bytes[0]);
  double slope = std::clamp(above, 0.0, drop / span);
  double bend = (drop - slope * span) / (span * span);
  double x = std::log(std::clamp(size, 256.0, bytes[0]) / bytes[0]);
  return seconds[0] * std::exp(slope * x + bend * x * x);
}

double Calibration::operator()(const std::string &key) const {
  auto it = constants.find(key);
  assert(it != constants.end() && "a constant that calibration.yaml does not define");
  return it == constants.end() ? 1.0 : it->second.value;
}

Provenance Calibration::provenance(const std::string &key) const {
  auto it = constants.find(key);
  return it == constants.end() ? Provenance::Fitted : it->second.provenance;
}

double Calibration::matrixEfficiency(const std::string &architecture) const {
  auto it = constants.find("matrix-efficiency." + architecture);
  return it != constants.end() ? it->second.value : (*this)("matrix-efficiency.older");
}

const Curve *Calibration::curve(const std::string &link, int ranks) const {
  for (const Curve &c : curves)
    if (c.link == link && c.ranks == ranks)
      return &c;
  return nullptr;
}

std::string Calibration::dump() const {
  std::ostringstream out;
  for (const auto &[key, c] : constants) {
    char line[160];
    std::snprintf(line, sizeof line, "%-28s %12.6g  %-10s ", key.c_str(), c.value,
                  name(c.provenance));
    out << line << c.source << "\n";
  }
  return out.str();
}

namespace {

const std::vector<std::string> provenances = {"measured", "datasheet", "literature", "fitted"};

Provenance readProvenance(YamlReader &reader, const YAML::Node &node, const std::string &path) {
  std::string word = reader.choice(node, path, "provenance", provenances, "measured");
  return static_cast<Provenance>(std::find(provenances.begin(), provenances.end(), word) -
                                 provenances.begin());
}

void readConstants(YamlReader &reader, const YAML::Node &root, bool define, Calibration &c) {
  YAML::Node all = reader.map(root, "", "constants", false);
  if (!all.IsDefined() || !all.IsMap())
    return;
  for (const auto &entry : all) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
    std::string path = "constants." + key;
    if (!define && !c.constants.count(key)) {
      std::string known;
      for (const auto &[k, unused] : c.constants)
        known += (known.empty() ? "" : ", ") + k;
      reader.fail(entry.first, path, "an unknown constant", known, "correct or remove it");
      return;
    }
    YAML::Node node = reader.map(all, "constants", key, true);
    reader.onlyKeys(node, path, {"value", "provenance", "source", "least", "most"});
    Constant &constant = c.constants[key];
    constant.value = reader.number(node, path, "value", nullptr, std::nullopt, 0);
    constant.provenance = readProvenance(reader, node, path);
    constant.source = reader.text(node, path, "source", "");
    constant.least = reader.number(node, path, "least", nullptr, constant.least);
    constant.most = reader.number(node, path, "most", nullptr, constant.most);
  }
}

std::vector<double> readNumbers(YamlReader &reader, const YAML::Node &node,
                                const std::string &key) {
  std::vector<double> values;
  YAML::Node list = reader.list(node, "curves", key);
  if (list.IsDefined() && list.IsSequence())
    for (const auto &item : list) {
      char *end = nullptr;
      std::string text = item.IsScalar() ? item.Scalar() : "";
      double value = std::strtod(text.c_str(), &end);
      bool rising = values.empty() || key != "bytes" || value > values.back();
      if (text.empty() || *end || !std::isfinite(value) || value <= 0 || !rising)
        reader.fail(item, "curves." + key, "'" + text + "'", "positive numbers, bytes rising",
                    "remove or correct the point");
      values.push_back(value);
    }
  return values;
}

void readCurves(YamlReader &reader, const YAML::Node &root, Calibration &c) {
  YAML::Node list = reader.list(root, "", "curves");
  if (!list.IsDefined() || !list.IsSequence())
    return;
  for (const auto &node : list) {
    if (!node.IsMap()) {
      reader.fail(node, "curves", "something else", "a mapping of keys", "write - link: ...");
      return;
    }
    reader.onlyKeys(node, "curves", {"link", "ranks", "provenance", "source", "bytes", "seconds"});
    Curve curve;
    curve.link = reader.text(node, "curves", "link");
    curve.ranks =
        static_cast<int>(reader.integer(node, "curves", "ranks", std::nullopt, 2, 100000));
    curve.provenance = readProvenance(reader, node, "curves");
    curve.source = reader.text(node, "curves", "source", "");
    curve.bytes = readNumbers(reader, node, "bytes");
    curve.seconds = readNumbers(reader, node, "seconds");
    if (curve.bytes.size() != curve.seconds.size() || curve.bytes.size() < 2)
      reader.fail(node, "curves",
                  std::to_string(curve.bytes.size()) + " bytes and " +
                      std::to_string(curve.seconds.size()) + " seconds",
                  "as many of one as of the other, at least two", "complete the shorter list");
    std::erase_if(c.curves, [&](const Curve &old) {
      return old.link == curve.link && old.ranks == curve.ranks;
    });
    c.curves.push_back(std::move(curve));
  }
}

CalibrationOrError parseOver(Calibration base, bool define, const std::string &text,
                             const std::string &origin) {
  std::string error =
      readYaml(text, origin, "a calibration", [&](YamlReader &reader, const YAML::Node &root) {
        reader.onlyKeys(root, "", {"constants", "curves"});
        readConstants(reader, root, define, base);
        readCurves(reader, root, base);
      });
  if (!error.empty())
    return error;
  base.origin = origin;
  return base;
}

} // namespace

const Calibration &Calibration::builtin() {
  static const Calibration calibration = [] {
    CalibrationOrError parsed =
        parseOver(Calibration(), /*define=*/true, builtinCalibrationText(), "built-in");
    if (std::string *wrong = std::get_if<std::string>(&parsed)) {
      std::fprintf(stderr, "%s\n", wrong->c_str());
      assert(false && "the built-in calibration does not parse");
      return Calibration();
    }
    return std::get<Calibration>(parsed);
  }();
  return calibration;
}

CalibrationOrError parseCalibration(const std::string &text, const std::string &origin) {
  return parseOver(Calibration::builtin(), /*define=*/false, text, origin);
}

CalibrationOrError loadCalibration(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return "--calibration: found '" + path +
           "', which cannot be read; allowed a calibration file; "
           "write one with gpucc profile or start from lib/CostModel/data/calibration.yaml";
  return parseCalibration(text.str(), path);
}

} // namespace gpucc::cost
