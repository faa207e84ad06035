//===- YamlReader.cpp - lookups and their messages ------------------------===//
//
// yaml-cpp gives marks (lines) but no schema. A key is searched by walking the mapping instead of
// by operator[], because the latter creates what it does not find.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/YamlReader.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

namespace gpucc::cost {

const Quantity bytesQuantity{"a size with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB)",
                             "80 GB",
                             {{"B", 1},
                              {"KB", 1e3},
                              {"MB", 1e6},
                              {"GB", 1e9},
                              {"TB", 1e12},
                              {"KiB", 1024.0},
                              {"MiB", 1048576.0},
                              {"GiB", 1073741824.0},
                              {"TiB", 1099511627776.0}}};
const Quantity rateQuantity{"a bandwidth with a unit (MB/s, GB/s, TB/s, Gb/s)",
                            "450 GB/s",
                            {{"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"Gb/s", 1e9 / 8}}};
const Quantity timeQuantity{"a time with a unit (ns, us, ms, s)",
                            "3 us",
                            {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};
const Quantity flopsQuantity{"a rate with a unit (GFLOP/s, TFLOP/s, PFLOP/s)",
                             "989 TFLOP/s",
                             {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}};

void YamlReader::fail(const YAML::Node &at, const std::string &path, const std::string &found,
                      const std::string &allowed, const std::string &remedy) {
  if (!error.empty())
    return;
  // A node that a missing key gave has no place of its own: then the file's first line.
  int line = at.IsDefined() ? std::max(0, at.Mark().line) + 1 : 1;
  std::ostringstream out;
  out << origin << ":" << line << ": " << path << ": found " << found << ", allowed " << allowed
      << "; " << remedy;
  error = out.str();
}

YAML::Node YamlReader::child(const YAML::Node &parent, const std::string &path,
                             const std::string &key, bool required, const std::string &allowed) {
  YAML::Node node;
  if (parent.IsDefined() && parent.IsMap())
    for (const auto &entry : parent)
      if (entry.first.IsScalar() && entry.first.Scalar() == key)
        node.reset(entry.second);
  if (required && (!node.IsDefined() || node.IsNull()))
    fail(parent, join(path, key), "nothing", allowed, "add the key " + key);
  return node;
}

YAML::Node YamlReader::map(const YAML::Node &parent, const std::string &path,
                           const std::string &key, bool required) {
  YAML::Node node = child(parent, path, key, required, "a mapping");
  if (node.IsDefined() && !node.IsNull() && !node.IsMap()) {
    fail(node, join(path, key), "something else", "a mapping of keys", "write key: value lines");
    return YAML::Node();
  }
  return node;
}

YAML::Node YamlReader::list(const YAML::Node &parent, const std::string &path,
                            const std::string &key) {
  YAML::Node node = child(parent, path, key, false, "a list");
  if (node.IsDefined() && !node.IsNull() && !node.IsSequence()) {
    fail(node, join(path, key), "something else", "a list",
         "write [a, b] or lines that begin with -");
    return YAML::Node();
  }
  return node;
}

double YamlReader::number(const YAML::Node &parent, const std::string &path, const std::string &key,
                          const Quantity *quantity, std::optional<double> otherwise, double least,
                          double most) {
  std::string allowed = quantity ? quantity->what : "a number";
  YAML::Node node = child(parent, path, key, !otherwise.has_value(), allowed);
  if (!node.IsDefined() || node.IsNull())
    return otherwise.value_or(0);
  std::string text = node.IsScalar() ? node.Scalar() : "a list or mapping";
  // Not strtod, whose decimal point is the locale's.
  const char *begin = text.c_str() + (text[0] == '+');
  double value = NAN;
  const char *end = std::from_chars(begin, text.c_str() + text.size(), value).ptr;
  std::string unit(end);
  size_t start = unit.find_first_not_of(' ');
  unit.erase(0, start == std::string::npos ? unit.size() : start);
  double factor = quantity ? 0 : 1;
  for (const Quantity::Unit &candidate : quantity ? quantity->units : std::vector<Quantity::Unit>())
    if (unit == candidate.name)
      factor = candidate.factor;
  bool wrong = end == begin || factor == 0 || (!quantity && !unit.empty()) || !std::isfinite(value);
  if (wrong || value < least || value > most) {
    std::ostringstream bound;
    bound << allowed << " of at least " << least;
    if (most < 1e30)
      bound << " and at most " << most;
    fail(node, join(path, key), "'" + text + "'", bound.str(),
         std::string("write e.g. ") + (quantity    ? quantity->example
                                       : least > 1 ? "16"
                                                   : "1"));
    return otherwise.value_or(0);
  }
  return value * factor;
}

int64_t YamlReader::integer(const YAML::Node &parent, const std::string &path,
                            const std::string &key, std::optional<int64_t> otherwise, int64_t least,
                            int64_t most) {
  std::optional<double> fallback;
  if (otherwise)
    fallback = static_cast<double>(*otherwise);
  double value = number(parent, path, key, nullptr, fallback, static_cast<double>(least),
                        static_cast<double>(most));
  if (value != std::floor(value)) {
    std::ostringstream found;
    found << "'" << value << "'";
    fail(child(parent, path, key, false, ""), join(path, key), found.str(), "a whole number",
         "round it");
  }
  return static_cast<int64_t>(value);
}

bool YamlReader::boolean(const YAML::Node &parent, const std::string &path, const std::string &key,
                         bool otherwise) {
  YAML::Node node = child(parent, path, key, false, "true or false");
  if (!node.IsDefined() || node.IsNull())
    return otherwise;
  std::string text = node.IsScalar() ? node.Scalar() : "a list or mapping";
  if (text == "true" || text == "false")
    return text == "true";
  fail(node, join(path, key), "'" + text + "'", "true or false", "write one of the two");
  return otherwise;
}

std::string YamlReader::text(const YAML::Node &parent, const std::string &path,
                             const std::string &key, std::optional<std::string> otherwise) {
  YAML::Node node = child(parent, path, key, !otherwise, "a name");
  if (node.IsDefined() && node.IsScalar())
    return node.Scalar();
  if (!node.IsDefined() || node.IsNull())
    return otherwise.value_or("");
  fail(node, join(path, key), "no name", "a name", "write " + key + ": some-name");
  return "";
}

std::string YamlReader::choice(const YAML::Node &parent, const std::string &path,
                               const std::string &key, const std::vector<std::string> &choices,
                               std::optional<std::string> otherwise) {
  std::string value = text(parent, path, key, otherwise);
  if (!error.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
    return value;
  std::string list;
  for (const std::string &c : choices)
    list += (list.empty() ? "" : ", ") + c;
  fail(child(parent, path, key, false, ""), join(path, key), "'" + value + "'", "one of " + list,
       "write one of them");
  return choices.front();
}

void YamlReader::onlyKeys(const YAML::Node &node, const std::string &path,
                          const std::vector<std::string> &known) {
  if (!node.IsDefined() || !node.IsMap())
    return;
  std::set<std::string> seen;
  for (const auto &entry : node) {
    std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "a list or mapping";
    if (!seen.insert(key).second)
      fail(entry.first, join(path, key), "the key a second time", "every key once",
           "remove one of the two");
    if (std::find(known.begin(), known.end(), key) != known.end())
      continue;
    std::string list;
    for (const std::string &k : known)
      list += (list.empty() ? "" : ", ") + k;
    fail(entry.first, join(path, key), "an unknown key", list, "correct or remove the key");
  }
}

std::string readYaml(const std::string &text, const std::string &origin, const char *what,
                     const std::function<void(YamlReader &, const YAML::Node &)> &read) {
  try {
    YAML::Node root = YAML::Load(text);
    if (!root.IsMap())
      return origin + ":1: found no mapping, allowed " + what +
             " (key: value lines); start from a "
             "built-in one";
    YamlReader reader(origin);
    read(reader, root);
    return reader.error;
  } catch (const YAML::Exception &e) {
    std::ostringstream out;
    out << origin << ":" << std::max(0, e.mark.line) + 1 << ": found text that is not YAML ("
        << e.msg << "); allowed a YAML mapping; check indentation and brackets on that line";
    return out.str();
  }
}

} // namespace gpucc::cost
