//===- Zip.cpp - Reading and writing zip archives
//-----------------------------------------------===//
#include "support/Zip.h"

#include <algorithm>
#include <cstring>
#include <zlib.h>

using namespace gpucc::rt;

namespace {
constexpr uint32_t localMagic = 0x04034b50, centralMagic = 0x02014b50, endMagic = 0x06054b50,
                   end64Magic = 0x06064b50, locator64Magic = 0x07064b50;

template <typename T> T get(std::string_view file, uint64_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}
bool inside(std::string_view file, uint64_t at, uint64_t bytes) {
  return bytes <= file.size() && at <= file.size() - bytes;
}

struct Directory {
  uint64_t offset = 0, entries = 0;
};

struct Entry {
  std::string name;
  uint16_t method = 0, flags = 0;
  uint32_t crc = 0;
  uint64_t packed = 0, size = 0, offset = 0;
};

Status findDirectory(std::string_view file, Directory &directory) {
  constexpr uint64_t endSize = 22;
  for (uint64_t back = endSize; back <= file.size() && back <= endSize + 65535; ++back) {
    uint64_t at = file.size() - back;
    if (get<uint32_t>(file, at) != endMagic)
      continue;
    directory.entries = get<uint16_t>(file, at + 10);
    directory.offset = get<uint32_t>(file, at + 16);
    // zip64: a locator right before, pointing to the larger record
    if (at >= 20 && get<uint32_t>(file, at - 20) == locator64Magic) {
      uint64_t record = get<uint64_t>(file, at - 12);
      if (!inside(file, record, 56) || get<uint32_t>(file, record) != end64Magic)
        return GPUCC_RT_FAIL(Code::io, "damaged zip archive (zip64 record)");
      directory.entries = get<uint64_t>(file, record + 32);
      directory.offset = get<uint64_t>(file, record + 48);
    }
    return {};
  }
  return GPUCC_RT_FAIL(Code::io,
                       "not a zip archive (no directory at its end; was it cut off?); an .npz "
                       "file is one: write it again with numpy.savez");
}

/// Sizes that did not fit 32 bits are in the extra field, in this order.
void readZip64(std::string_view extra, Entry &entry) {
  for (uint64_t at = 0; inside(extra, at, 4);) {
    uint16_t id = get<uint16_t>(extra, at), length = get<uint16_t>(extra, at + 2);
    at += 4;
    if (!inside(extra, at, length))
      return;
    uint64_t field = at;
    for (uint64_t *value : {&entry.size, &entry.packed, &entry.offset})
      if (id == 1 && *value == 0xFFFFFFFFu && field + 8 <= at + length) {
        *value = get<uint64_t>(extra, field);
        field += 8;
      }
    at += length;
  }
}

Status readEntry(std::string_view file, uint64_t &at, Entry &entry) {
  if (!inside(file, at, 46) || get<uint32_t>(file, at) != centralMagic)
    return GPUCC_RT_FAIL(Code::io, "damaged zip archive (directory)");
  entry.flags = get<uint16_t>(file, at + 8);
  entry.method = get<uint16_t>(file, at + 10);
  entry.crc = get<uint32_t>(file, at + 16);
  entry.packed = get<uint32_t>(file, at + 20);
  entry.size = get<uint32_t>(file, at + 24);
  uint64_t nameLength = get<uint16_t>(file, at + 28), extraLength = get<uint16_t>(file, at + 30),
           commentLength = get<uint16_t>(file, at + 32);
  entry.offset = get<uint32_t>(file, at + 42);
  if (!inside(file, at + 46, nameLength + extraLength + commentLength))
    return GPUCC_RT_FAIL(Code::io, "damaged zip archive (directory)");
  entry.name = std::string(file.substr(at + 46, nameLength));
  readZip64(file.substr(at + 46 + nameLength, extraLength), entry);
  at += 46 + nameLength + extraLength + commentLength;
  return {};
}

Status inflateMember(std::string_view packed, std::vector<char> &bytes) {
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return GPUCC_RT_FAIL(Code::outOfMemory, "zlib cannot start");
  uint64_t in = 0, out = 0;
  int result = Z_OK;
  while (result == Z_OK) {
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data() + in));
    stream.avail_in = static_cast<uInt>(std::min<uint64_t>(packed.size() - in, 1u << 30));
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data() + out);
    stream.avail_out = static_cast<uInt>(std::min<uint64_t>(bytes.size() - out, 1u << 30));
    uint64_t inBefore = stream.avail_in, outBefore = stream.avail_out;
    result = inflate(&stream, Z_NO_FLUSH);
    in += inBefore - stream.avail_in;
    out += outBefore - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || out != bytes.size())
    return GPUCC_RT_FAIL(Code::io, "its compressed data is damaged; copy the file again");
  return {};
}

Status extract(std::string_view file, const Entry &entry, std::vector<char> &bytes) {
  if (entry.flags & 1)
    return GPUCC_RT_FAIL(Code::io, "is encrypted");
  if (!inside(file, entry.offset, 30) || get<uint32_t>(file, entry.offset) != localMagic)
    return GPUCC_RT_FAIL(Code::io, "has no local header");
  uint64_t data = entry.offset + 30 + get<uint16_t>(file, entry.offset + 26) +
                  get<uint16_t>(file, entry.offset + 28);
  if (!inside(file, data, entry.packed))
    return GPUCC_RT_FAIL(Code::io, "leaves the file");
  if (entry.method == 0 && entry.packed == entry.size) {
    bytes.assign(file.data() + data, file.data() + data + entry.size);
  } else if (entry.method == 8) {
    // deflate makes data at most 1032 times smaller: larger claims are damage, not a reason to
    // allocate
    if (entry.size / 1040 > entry.packed + 64)
      return GPUCC_RT_FAIL(Code::io, "claims ", entry.size, " bytes from ", entry.packed);
    bytes.resize(entry.size);
    GPUCC_RT_TRY(inflateMember(file.substr(data, entry.packed), bytes));
  } else {
    return GPUCC_RT_FAIL(Code::io, "has compression method ", entry.method,
                         "; stored and deflated members can be read");
  }
  uint64_t crc = crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
  if (crc != entry.crc)
    return GPUCC_RT_FAIL(Code::io,
                         "does not have its checksum; the file is damaged: copy it again");
  return {};
}
} // namespace

Status gpucc::rt::readZip(std::string_view file, std::vector<ZipMember> &members) {
  if (file.size() < 22)
    return GPUCC_RT_FAIL(Code::io, "not a zip archive: ", file.size(),
                         " bytes; an .npz file is one: write it with numpy.savez");
  Directory directory;
  GPUCC_RT_TRY(findDirectory(file, directory));
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    Entry entry;
    GPUCC_RT_TRY(readEntry(file, at, entry));
    members.push_back({entry.name, {}});
    GPUCC_RT_TRY(
        extract(file, entry, members.back().bytes).prefixed("member '" + entry.name + "'"));
  }
  return {};
}

Status gpucc::rt::makeZip(const std::vector<ZipMember> &members, std::vector<char> &file) {
  auto put = [&](auto value) {
    const char *bytes = reinterpret_cast<const char *>(&value);
    file.insert(file.end(), bytes, bytes + sizeof(value));
  };
  struct Placed {
    uint32_t crc, size, offset;
  };
  std::vector<Placed> placed;
  // The fields that local header and directory share, from "version needed" on. 1980-01-01, no
  // time.
  auto common = [&](const ZipMember &member, const Placed &p) {
    // Flag bit 11: the name is UTF-8. Without it a reader takes it for code page 437.
    bool ascii = std::all_of(member.name.begin(), member.name.end(),
                             [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    put(uint16_t(20)), put(uint16_t(ascii ? 0 : 0x0800)), put(uint16_t(0)), put(uint16_t(0)),
        put(uint16_t(0x21));
    put(p.crc), put(p.size), put(p.size);
    put(uint16_t(member.name.size())), put(uint16_t(0));
  };
  if (members.size() > 0xFFFF)
    return GPUCC_RT_FAIL(Code::unsupported, members.size(),
                         " arrays do not fit into one .npz, which holds 65535");
  for (const ZipMember &member : members) {
    if (member.name.size() > 0xFFFF)
      return GPUCC_RT_FAIL(Code::unsupported, "a name of ", member.name.size(),
                           " bytes does not fit into an .npz: '", member.name.substr(0, 60), "...'");
    if (member.bytes.size() + file.size() + (1u << 20) > 0xFFFFFFFFull)
      return GPUCC_RT_FAIL(Code::unsupported, "arrays of more than 4 GiB do not fit into one .npz");
    auto crc = static_cast<uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef *>(member.bytes.data()), member.bytes.size()));
    placed.push_back(
        {crc, static_cast<uint32_t>(member.bytes.size()), static_cast<uint32_t>(file.size())});
    put(localMagic);
    common(member, placed.back());
    file.insert(file.end(), member.name.begin(), member.name.end());
    file.insert(file.end(), member.bytes.begin(), member.bytes.end());
  }
  auto directory = static_cast<uint32_t>(file.size());
  for (size_t i = 0; i < members.size(); ++i) {
    put(centralMagic), put(uint16_t(20));
    common(members[i], placed[i]);
    put(uint16_t(0)), put(uint16_t(0)), put(uint16_t(0)), put(uint32_t(0)), put(placed[i].offset);
    file.insert(file.end(), members[i].name.begin(), members[i].name.end());
  }
  uint32_t size = static_cast<uint32_t>(file.size()) - directory;
  auto count = static_cast<uint16_t>(members.size());
  put(endMagic), put(uint16_t(0)), put(uint16_t(0)), put(count), put(count), put(size);
  put(directory), put(uint16_t(0));
  return {};
}
