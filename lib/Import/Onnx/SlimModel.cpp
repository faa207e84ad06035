//===- SlimModel.cpp - a model file without the bytes of its weights ------===//
#include "lib/Import/Onnx/SlimModel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace gpucc::onnx_import;

namespace {
/// One field of a message on the wire.
struct Field {
  uint32_t number = 0, wire = 0;
  size_t begin = 0;              ///< of the tag
  size_t payload = 0, bytes = 0; ///< of the content (wire type 2)
  size_t end = 0;
};

/// Walks the fields of data[at, end).
class Reader {
public:
  Reader(StringRef data, size_t begin, size_t end) : data(data), at(begin), end(end) {}

  bool done() const { return at >= end; }
  size_t position() const { return at; }

  bool next(Field &f) {
    f.begin = at;
    uint64_t tag, length;
    if (!varint(tag))
      return false;
    f.number = static_cast<uint32_t>(tag >> 3);
    f.wire = tag & 7;
    f.payload = at;
    switch (f.wire) {
    case 0:
      if (!varint(length))
        return false;
      break;
    case 1:
      if (end - at < 8)
        return false;
      at += 8;
      break;
    case 2:
      if (!varint(length) || length > end - at)
        return false;
      f.payload = at;
      f.bytes = length;
      at += length;
      break;
    case 5:
      if (end - at < 4)
        return false;
      at += 4;
      break;
    default: // groups do not occur in ONNX
      return false;
    }
    f.end = at;
    return f.number != 0;
  }

private:
  bool varint(uint64_t &value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
      uint8_t byte = data[at++];
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return true;
    }
    return false;
  }

  StringRef data;
  size_t at, end;
};

void appendVarint(std::string &out, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void appendMessage(std::string &out, uint32_t number, StringRef content) {
  appendVarint(out, number << 3 | 2);
  appendVarint(out, content.size());
  out.append(content.data(), content.size());
}

struct Slimmer {
  StringRef file;
  SlimModel &slim;
  size_t brokenAt = 0;

  bool broken(const Reader &r) {
    brokenAt = r.position();
    return false;
  }

  /// TensorProto: raw_data = 9, float_data = 4, double_data = 10.
  bool tensor(const Field &f, std::string &out) {
    Reader r(file, f.payload, f.end);
    Field inner;
    std::string rest;
    SmallVector<Field> raw, packed;
    while (!r.done()) {
      if (!r.next(inner))
        return broken(r);
      if (inner.wire == 2 && inner.number == 9)
        raw.push_back(inner);
      else if (inner.wire == 2 && (inner.number == 4 || inner.number == 10))
        packed.push_back(inner);
      else
        rest.append(file.data() + inner.begin, inner.end - inner.begin);
    }
    Span span;
    bool takeRaw = raw.size() == 1 && packed.empty();
    bool takePacked = packed.size() == 1 && raw.empty();
    if (takeRaw || takePacked) {
      const Field &taken = takeRaw ? raw[0] : packed[0];
      span = {true, taken.payload, taken.bytes};
    } else { // several pieces: the parser joins or refuses them
      for (const Field &piece : concat<const Field>(raw, packed))
        rest.append(file.data() + piece.begin, piece.end - piece.begin);
    }
    slim.spans.push_back(span);
    appendMessage(out, 5, rest);
    return true;
  }

  /// GraphProto: initializer = 5.
  bool graph(const Field &f, std::string &out) {
    Reader r(file, f.payload, f.end);
    Field inner;
    std::string rest;
    while (!r.done()) {
      if (!r.next(inner))
        return broken(r);
      if (inner.wire == 2 && inner.number == 5) {
        if (!tensor(inner, rest))
          return false;
      } else {
        rest.append(file.data() + inner.begin, inner.end - inner.begin);
      }
    }
    appendMessage(out, 7, rest);
    return true;
  }

  /// ModelProto: graph = 7.
  bool model() {
    Reader r(file, 0, file.size());
    Field f;
    while (!r.done()) {
      if (!r.next(f))
        return broken(r);
      if (f.wire == 2 && f.number == 7) {
        if (!graph(f, slim.bytes))
          return false;
      } else {
        slim.bytes.append(file.data() + f.begin, f.end - f.begin);
      }
    }
    return true;
  }
};
} // namespace

bool gpucc::onnx_import::slimModel(StringRef file, SlimModel &slim, std::string &error) {
  Slimmer slimmer{file, slim};
  if (slimmer.model())
    return true;
  error = "not a protobuf message from byte " + std::to_string(slimmer.brokenAt) + " on";
  return false;
}
