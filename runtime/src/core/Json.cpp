//===- Json.cpp - A small JSON reader
//-----------------------------------------------------------===//
#include "core/Json.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>

using namespace gpucc::rt;

const Json *Json::find(std::string_view name) const {
  for (const auto &[key, value] : members)
    if (key == name)
      return &value;
  return nullptr;
}

namespace {
class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  Status document(Json &value) {
    GPUCC_RT_TRY(parse(value, 0));
    skipSpace();
    return at == text.size() ? Status() : error("text after the value");
  }

private:
  static constexpr int maxDepth = 64;

  Status error(const char *what) { return GPUCC_RT_FAIL(Code::io, "JSON, byte ", at, ": ", what); }
  void skipSpace() {
    while (at < text.size() && std::string_view(" \t\r\n").find(text[at]) != std::string_view::npos)
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool takeWord(std::string_view word) {
    if (text.substr(at, word.size()) != word)
      return false;
    at += word.size();
    return true;
  }

  Status parse(Json &value, int depth) {
    skipSpace();
    if (depth > maxDepth)
      return error("nested too deeply");
    if (at >= text.size())
      return error("the text ends in the middle of a value");
    if (take('{'))
      return object(value, depth);
    if (take('['))
      return array(value, depth);
    if (text[at] == '"') {
      value.kind = Json::Kind::string;
      return string(value.string);
    }
    if (takeWord("null"))
      return {};
    if (takeWord("true") || takeWord("false")) {
      value.kind = Json::Kind::boolean;
      value.boolean = text[at - 2] == 'u';
      return {};
    }
    return number(value);
  }

  Status object(Json &value, int depth) {
    value.kind = Json::Kind::object;
    if (take('}'))
      return {};
    do {
      skipSpace();
      std::string key;
      GPUCC_RT_TRY(string(key));
      if (!take(':'))
        return error("':' expected");
      GPUCC_RT_TRY(parse(value.members.emplace(std::move(key), Json())->second, depth + 1));
    } while (take(','));
    return take('}') ? Status() : error("',' or '}' expected");
  }

  Status array(Json &value, int depth) {
    value.kind = Json::Kind::array;
    if (take(']'))
      return {};
    do {
      value.items.emplace_back();
      GPUCC_RT_TRY(parse(value.items.back(), depth + 1));
    } while (take(','));
    return take(']') ? Status() : error("',' or ']' expected");
  }

  Status number(Json &value) {
    size_t end = at;
    while (end < text.size() &&
           std::string_view("+-.eE0123456789").find(text[end]) != std::string_view::npos)
      ++end;
    std::string digits(text.substr(at, end - at));
    // Not strtod: a program that embeds the runtime may have a locale with a decimal comma.
    const char *last = digits.data() + digits.size();
    auto [rest, problem] = std::from_chars(digits.data(), last, value.number);
    if (problem == std::errc::result_out_of_range)
      return error("a number that a double does not hold");
    if (problem != std::errc() || rest != last)
      return error("a value expected");
    value.kind = Json::Kind::number;
    if (digits.find_first_of(".eE") == std::string::npos) {
      errno = 0;
      value.integer = std::strtoll(digits.c_str(), nullptr, 10);
      value.isInteger = errno == 0;
    }
    at = end;
    return {};
  }

  Status string(std::string &value) {
    if (at >= text.size() || text[at] != '"')
      return error("a string expected");
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        value += text[at];
        continue;
      }
      if (++at >= text.size())
        break;
      static constexpr std::string_view names = "\"\\/bfnrt", chars = "\"\\/\b\f\n\r\t";
      size_t which = names.find(text[at]);
      if (which != std::string_view::npos)
        value += chars[which];
      else if (text[at] == 'u')
        GPUCC_RT_TRY(unicode(value));
      else
        return error("unknown escape");
    }
    if (at >= text.size())
      return error("the text ends inside a string");
    ++at;
    return {};
  }

  Status hex4(uint32_t &code) {
    code = 0;
    for (int i = 0; i < 4; ++i) {
      if (++at >= text.size() || !std::isxdigit(static_cast<unsigned char>(text[at])))
        return error("four hexadecimal digits expected");
      char c = text[at];
      code = code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return {};
  }

  Status unicode(std::string &value) {
    uint32_t code = 0, low = 0;
    GPUCC_RT_TRY(hex4(code));
    if (code >= 0xD800 && code < 0xDC00) {
      if (text.substr(at + 1, 2) != "\\u")
        return error("half of a surrogate pair");
      at += 2;
      GPUCC_RT_TRY(hex4(low));
      if (low < 0xDC00 || low > 0xDFFF)
        return error("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code < 0x80) {
      value += static_cast<char>(code);
      return {};
    }
    int extra = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static constexpr uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    value += static_cast<char>(lead[extra] | code >> (6 * extra));
    while (extra-- > 0)
      value += static_cast<char>(0x80 | ((code >> (6 * extra)) & 63));
    return {};
  }

  std::string_view text;
  size_t at = 0;
};
} // namespace

Status gpucc::rt::parseJson(std::string_view text, Json &value) {
  value = Json();
  return Parser(text).document(value);
}

std::string gpucc::rt::quoteJson(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", c);
      result += escape;
    } else {
      result += c;
    }
  }
  return result + "\"";
}
