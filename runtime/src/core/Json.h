//===- Json.h - A small JSON reader
//-------------------------------------------------------------===//
//
// For the headers of safetensors files and the runtime's own logs. Values keep the order of their
// members. Depth and size are bounded by the input; any bytes give a value or a Status.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_CORE_JSON_H
#define GPUCC_RT_CORE_JSON_H

#include "core/Status.h"

#include <map>
#include <string_view>
#include <vector>

namespace gpucc::rt {

struct Json {
  enum class Kind { null, boolean, number, string, array, object } kind = Kind::null;
  bool boolean = false;
  double number = 0;
  int64_t integer = 0; ///< of a number without fraction or exponent, if `isInteger`
  bool isInteger = false;
  std::string string;
  std::vector<Json> items;                  ///< array
  std::multimap<std::string, Json> members; ///< object (a map may hold a type that is not complete)

  const Json *find(std::string_view name) const;
};

Status parseJson(std::string_view text, Json &value);

/// "text" with quotes and escapes.
std::string quoteJson(std::string_view text);

} // namespace gpucc::rt

#endif // GPUCC_RT_CORE_JSON_H
