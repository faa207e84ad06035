//===- Fields.h - a struct as a table of named fields ------------*- C++ -*-===//
//
// What: one table row per key of a YAML file: its path, what it allows, how to set and print it.
// Reading, writing, pinning ("tp=8") and messages all come from the same table, so none of them can
// know a key that another does not.
//
// Example row: integer("attention.kv-heads", &Workload::kvHeads, 1). A mistake reads
//
//     w.yaml:7: attention.kv-heads: found 'two', allowed a whole number of at least 1; write e.g.
//     kv-heads: 8
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_WORKLOAD_FIELDS_H
#define GPUCC_LIB_WORKLOAD_FIELDS_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpucc::workload {

/// A row with the object bound: what to do with text.
struct Field {
  std::string path;                             ///< "moe.top-k"
  std::string allowed;                          ///< "a whole number of at least 1"
  std::string example;                          ///< "8"
  std::function<bool(const std::string &)> set; ///< false: not allowed
  std::function<std::string()> get;             ///< empty: leave the key out when writing
};

/// A whole number from `least` to `most`.
Field integerField(std::string path, int64_t &value, int64_t least, std::string example,
                   int64_t most = int64_t(1) << 40);
Field flagField(std::string path, bool &value);
Field shareField(std::string path, double &value); ///< 0..1
Field textField(std::string path, std::string &value, std::string example);
Field listField(std::string path, std::vector<int64_t> &value, std::string example);
/// One of `names`, numbered from 0.
Field choiceField(std::string path, std::vector<std::string> names, std::function<int()> get,
                  std::function<void(int)> set);

struct FieldsResult {
  std::string error;                ///< with origin and line
  std::map<std::string, int> lines; ///< of every key that the text has
};
/// Sets every key of the YAML text; unknown, repeated and ill-typed keys are errors. `only`: keys
/// with another first path element are skipped ("family" before all others).
FieldsResult readFields(const std::string &text, const std::string &origin,
                        const std::vector<Field> &fields, const std::string &only = "");
std::string writeFields(const std::vector<Field> &fields);
/// "origin:line: message", the line being that of the key with which the message begins (or of the
/// longest part of its path that the text has).
std::string atLine(const std::string &message, const std::string &origin,
                   const std::map<std::string, int> &lines);
/// Sets one field by name or says what is wrong.
std::string setField(const std::vector<Field> &fields, const std::string &key,
                     const std::string &value);
/// The text of a file, or an error that also names `known`.
bool readFile(const std::string &path, std::string &text);
std::string joined(const std::vector<std::string> &words, const char *separator = ", ");

} // namespace gpucc::workload
#endif // GPUCC_LIB_WORKLOAD_FIELDS_H
