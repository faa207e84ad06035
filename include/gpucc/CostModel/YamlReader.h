//===- YamlReader.h - a YAML mapping, key by key, with taught errors -*- C++ -*-===//
//
// What: reads machine, calibration, workload and layout files. The schema of a file is the
// sequence of calls that read it; `onlyKeys` refuses what no call asks for, so that a misspelt key
// is never ignored. The first mistake wins and carries line, path, found, allowed and remedy.
//
// Example: `reader.number(device, "device", "memory", &bytesQuantity, std::nullopt)` on
// "memory: 80" in line 4 of m.yaml gives
// "m.yaml:4: device.memory: found '80', allowed a size with a unit (B, KB, ...) of at least 0;
// write e.g. 80 GB".
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_COSTMODEL_YAMLREADER_H
#define GPUCC_COSTMODEL_YAMLREADER_H

#include <functional>
#include <optional>
#include <string>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace gpucc::cost {

/// A number with a unit.
struct Quantity {
  struct Unit {
    const char *name;
    double factor;
  };
  const char *what;
  const char *example;
  std::vector<Unit> units;
};
extern const Quantity bytesQuantity, rateQuantity, timeQuantity, flopsQuantity;

class YamlReader {
public:
  explicit YamlReader(std::string origin) : origin(std::move(origin)) {}
  std::string error; ///< the first mistake; empty when all is well

  void fail(const YAML::Node &at, const std::string &path, const std::string &found,
            const std::string &allowed, const std::string &remedy);

  /// The mapping under `key`; an undefined node when absent and not `required`.
  YAML::Node map(const YAML::Node &parent, const std::string &path, const std::string &key,
                 bool required);
  /// The list under `key`; an undefined node when absent.
  YAML::Node list(const YAML::Node &parent, const std::string &path, const std::string &key);

  /// `otherwise`: the value when the key is absent; none: it is required.
  double number(const YAML::Node &parent, const std::string &path, const std::string &key,
                const Quantity *quantity, std::optional<double> otherwise, double least = 0,
                double most = 1e30);
  /// A whole number of at least `least`.
  int64_t integer(const YAML::Node &parent, const std::string &path, const std::string &key,
                  std::optional<int64_t> otherwise, int64_t least = 0, int64_t most = 1LL << 40);
  bool boolean(const YAML::Node &parent, const std::string &path, const std::string &key,
               bool otherwise);
  std::string text(const YAML::Node &parent, const std::string &path, const std::string &key,
                   std::optional<std::string> otherwise = std::nullopt);
  /// One of `choices`.
  std::string choice(const YAML::Node &parent, const std::string &path, const std::string &key,
                     const std::vector<std::string> &choices,
                     std::optional<std::string> otherwise = std::nullopt);

  /// Every key of `node` must be one of `known`, and be there once.
  void onlyKeys(const YAML::Node &node, const std::string &path,
                const std::vector<std::string> &known);

  static std::string join(const std::string &path, const std::string &key) {
    return path.empty() ? key : path + "." + key;
  }

private:
  YAML::Node child(const YAML::Node &parent, const std::string &path, const std::string &key,
                   bool required, const std::string &allowed);

  std::string origin;
};

/// Parses `text` and calls `read` on the root, which must be a mapping. Returns the first mistake,
/// also of text that is not YAML; empty when all is well. `what`: "a machine description".
std::string readYaml(const std::string &text, const std::string &origin, const char *what,
                     const std::function<void(YamlReader &, const YAML::Node &)> &read);

} // namespace gpucc::cost
#endif // GPUCC_COSTMODEL_YAMLREADER_H
