//===- Fields.cpp - YAML in and out by a table ----------------------------===//
#include "Fields.h"
#include "gpucc/Facts/Text.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <yaml-cpp/yaml.h>

namespace gpucc::workload {

std::string joined(const std::vector<std::string> &words, const char *separator) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? "" : separator) + word;
  return out;
}

namespace {

bool parseInteger(const std::string &text, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  long long parsed = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || errno != 0 || parsed > (int64_t(1) << 40))
    return false;
  value = parsed;
  return true;
}

std::string leaf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string unknownKey(const std::vector<Field> &fields, const std::string &path) {
  std::string parent =
      path.size() > leaf(path).size() ? path.substr(0, path.size() - leaf(path).size()) : "";
  std::vector<std::string> siblings;
  std::string nearest;
  size_t best = slipsAllowed(leaf(path)) + 1;
  for (const Field &field : fields) {
    if (field.path.compare(0, parent.size(), parent) == 0) {
      std::string rest = field.path.substr(parent.size());
      std::string first = rest.substr(0, rest.find('.'));
      if (std::find(siblings.begin(), siblings.end(), first) == siblings.end())
        siblings.push_back(first);
    }
    size_t d = editDistance(leaf(field.path), leaf(path));
    if (d < best) {
      best = d;
      nearest = field.path;
    }
  }
  return path + ": found an unknown key, allowed " + joined(siblings) + "; " +
         (nearest.empty() ? "correct or remove the key" : "did you mean " + nearest + "?");
}

std::string wrongValue(const Field &field, const std::string &found) {
  return field.path + ": found '" + found + "', allowed " + field.allowed + "; write e.g. " +
         leaf(field.path) + ": " + field.example;
}

class Reading {
public:
  Reading(const std::vector<Field> &fields, const std::string &origin, const std::string &only,
          FieldsResult &result)
      : fields(fields), origin(origin), only(only), result(result) {}

  void map(const YAML::Node &node, const std::string &prefix) {
    std::set<std::string> seen;
    for (const auto &entry : node) {
      std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
      std::string path = prefix.empty() ? key : prefix + "." + key;
      if (!only.empty() && path != only)
        continue;
      int line = entry.first.Mark().line + 1;
      if (!seen.insert(key).second)
        fail(line, path + ": found the key twice, allowed once; remove one of them");
      result.lines[path] = line;
      value(entry.second, path, line);
      if (!result.error.empty())
        return;
    }
  }

private:
  void value(const YAML::Node &node, const std::string &path, int line) {
    auto it = std::find_if(fields.begin(), fields.end(),
                           [&](const Field &field) { return field.path == path; });
    if (it != fields.end()) {
      std::string text = node.IsScalar() ? node.Scalar() : "";
      bool list = node.IsSequence();
      for (size_t i = 0; list && i < node.size(); ++i)
        text += (i ? "," : "") + (node[i].IsScalar() ? node[i].Scalar() : std::string("?"));
      if (node.IsMap())
        fail(line, wrongValue(*it, "a mapping of keys"));
      else if (!it->set(text))
        fail(line, wrongValue(*it, text));
      return;
    }
    bool section = std::any_of(fields.begin(), fields.end(), [&](const Field &field) {
      return field.path.compare(0, path.size() + 1, path + ".") == 0;
    });
    if (!section)
      fail(line, unknownKey(fields, path));
    else if (!node.IsMap())
      fail(line, path + ": found " + (node.IsScalar() ? "'" + node.Scalar() + "'" : "a list") +
                     ", allowed a mapping of keys; write key: value lines under it");
    else
      map(node, path);
  }

  void fail(int line, const std::string &message) {
    if (result.error.empty())
      result.error = origin + ":" + std::to_string(line) + ": " + message;
  }

  const std::vector<Field> &fields;
  const std::string &origin, &only;
  FieldsResult &result;
};

} // namespace

Field integerField(std::string path, int64_t &value, int64_t least, std::string example,
                   int64_t most) {
  std::string allowed = "a whole number of at least " + std::to_string(least);
  if (most < int64_t(1) << 40)
    allowed += " and at most " + std::to_string(most);
  return {std::move(path), std::move(allowed), std::move(example),
          [&value, least, most](const std::string &text) {
            int64_t parsed = 0;
            if (!parseInteger(text, parsed) || parsed < least || parsed > most)
              return false;
            value = parsed;
            return true;
          },
          [&value] { return std::to_string(value); }};
}

Field flagField(std::string path, bool &value) {
  return {std::move(path), "true or false", "true",
          [&value](const std::string &text) {
            bool yes = text == "true" || text == "on" || text == "yes";
            if (!yes && text != "false" && text != "off" && text != "no")
              return false;
            value = yes;
            return true;
          },
          [&value] { return value ? "true" : "false"; }};
}

Field shareField(std::string path, double &value) {
  return {std::move(path), "a share from 0 to 1", "0.5",
          [&value](const std::string &text) {
            char *end = nullptr;
            double parsed = std::strtod(text.c_str(), &end);
            if (text.empty() || *end != 0 || !(parsed >= 0 && parsed <= 1))
              return false;
            value = parsed;
            return true;
          },
          [&value] {
            std::ostringstream out;
            out << value;
            return out.str();
          }};
}

Field textField(std::string path, std::string &value, std::string example) {
  return {std::move(path), "a name", std::move(example),
          [&value](const std::string &text) {
            value = text;
            return !text.empty() && text.find('\n') == std::string::npos;
          },
          [&value] { return value; }};
}

Field listField(std::string path, std::vector<int64_t> &value, std::string example) {
  return {std::move(path), "a list of whole numbers of at least 0", std::move(example),
          [&value](const std::string &text) {
            value.clear();
            std::stringstream parts(text);
            for (std::string part; std::getline(parts, part, ',');) {
              int64_t parsed = 0;
              if (!parseInteger(part, parsed) || parsed < 0)
                return false;
              value.push_back(parsed);
            }
            return !value.empty();
          },
          [&value] {
            std::vector<std::string> words;
            for (int64_t v : value)
              words.push_back(std::to_string(v));
            return words.empty() ? std::string() : "[" + joined(words) + "]";
          }};
}

Field choiceField(std::string path, std::vector<std::string> names, std::function<int()> get,
                  std::function<void(int)> set) {
  std::string allowed = "one of " + joined(names), example = names.front();
  return {std::move(path), std::move(allowed), std::move(example),
          [names, set = std::move(set)](const std::string &text) {
            auto it = std::find(names.begin(), names.end(), text);
            if (it == names.end())
              return false;
            set(static_cast<int>(it - names.begin()));
            return true;
          },
          [names, get = std::move(get)] { return names[static_cast<size_t>(get())]; }};
}

FieldsResult readFields(const std::string &text, const std::string &origin,
                        const std::vector<Field> &fields, const std::string &only) {
  FieldsResult result;
  try {
    std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() != 1 || !documents[0].IsMap())
      result.error = origin +
                     ":1: found no mapping, allowed one YAML mapping of keys; start with "
                     "a line such as " +
                     leaf(fields.front().path) + ": " + fields.front().example;
    else
      Reading(fields, origin, only, result).map(documents[0], "");
  } catch (const YAML::Exception &e) {
    result.error = origin + ":" + std::to_string(e.mark.line + 1) +
                   ": found text that is not YAML (" + e.msg +
                   "); allowed a YAML mapping; check indentation and brackets on that line";
  }
  return result;
}

std::string writeFields(const std::vector<Field> &fields) {
  std::string out, section;
  for (const Field &field : fields) {
    std::string value = field.get();
    if (value.empty())
      continue;
    size_t dot = field.path.find('.');
    std::string parent = dot == std::string::npos ? "" : field.path.substr(0, dot);
    if (parent != section && !parent.empty())
      out += parent + ":\n";
    section = parent;
    out += (parent.empty() ? "" : "  ") +
           (parent.empty() ? field.path : field.path.substr(dot + 1)) + ": " + value + "\n";
  }
  return out;
}

std::string atLine(const std::string &message, const std::string &origin,
                   const std::map<std::string, int> &lines) {
  std::string path = message.substr(0, message.find(':'));
  while (!path.empty() && !lines.count(path)) {
    size_t dot = path.rfind('.');
    path = dot == std::string::npos ? "" : path.substr(0, dot);
  }
  int line = path.empty() ? 1 : lines.at(path);
  return origin + ":" + std::to_string(line) + ": " + message;
}

std::string setField(const std::vector<Field> &fields, const std::string &key,
                     const std::string &value) {
  for (const Field &field : fields)
    if (field.path == key)
      return field.set(value) ? "" : wrongValue(field, value);
  return unknownKey(fields, key);
}

bool readFile(const std::string &path, std::string &text) {
  std::ifstream file(path);
  if (!file)
    return false;
  std::stringstream buffer;
  buffer << file.rdbuf();
  text = buffer.str();
  return file.good() || file.eof();
}

} // namespace gpucc::workload
