//===- Safetensors.cpp - Reading and writing .safetensors files
//---------------------------------===//
#include "core/Safetensors.h"

#include "core/AtomicFile.h"
#include "core/Json.h"
#include "gpucc_rt/PlanFile.h"

#include <cstdio>
#include <cstring>

using namespace gpucc::rt;

static constexpr std::pair<const char *, DType> typeNames[] = {
    {"F64", DType::f64},   {"F32", DType::f32},        {"F16", DType::f16},
    {"BF16", DType::bf16}, {"F8_E4M3", DType::f8e4m3}, {"F8_E5M2", DType::f8e5m2},
    {"I64", DType::i64},   {"I32", DType::i32},        {"I16", DType::i16},
    {"I8", DType::i8},     {"U64", DType::u64},        {"U32", DType::u32},
    {"U16", DType::u16},   {"U8", DType::u8},          {"BOOL", DType::i1}};

uint64_t SafetensorsEntry::bytes() const {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<uint64_t>(extent);
  return dtypeBytes(dtype, count);
}

Status SafetensorsReader::open(const std::string &path) {
  GPUCC_RT_TRY(file.open(path, "safetensors file"));
  return parse(path).prefixed(path);
}

static Status parseEntry(const std::string &name, const Json &value, uint64_t dataBytes,
                         SafetensorsEntry &entry) {
  const Json *type = value.find("dtype"), *shape = value.find("shape"),
             *offsets = value.find("data_offsets");
  if (!type || !shape || !offsets || offsets->items.size() != 2 || !offsets->items[0].isInteger ||
      !offsets->items[1].isInteger)
    return GPUCC_RT_FAIL(Code::io, "'", name, "' lacks dtype, shape or data_offsets");
  entry.name = name;
  bool known = false;
  for (auto [text, dtype] : typeNames)
    if (type->string == text)
      entry.dtype = dtype, known = true;
  if (!known)
    return GPUCC_RT_FAIL(Code::io, "'", name, "' has unknown dtype '", type->string, "'");
  uint64_t count = 1;
  for (const Json &extent : shape->items) {
    bool fine = extent.isInteger && extent.integer >= 0 &&
                !__builtin_mul_overflow(count, static_cast<uint64_t>(extent.integer), &count) &&
                count < (uint64_t(1) << 47);
    if (!fine)
      return GPUCC_RT_FAIL(Code::io, "'", name, "' has a bad shape");
    entry.shape.push_back(extent.integer);
  }
  int64_t begin = offsets->items[0].integer, end = offsets->items[1].integer;
  if (begin < 0 || end < begin || static_cast<uint64_t>(end) > dataBytes ||
      static_cast<uint64_t>(end - begin) != entry.bytes())
    return GPUCC_RT_FAIL(Code::io, "'", name, "' has ", entry.bytes(), " bytes, its offsets are ",
                         begin, " to ", end, " of ", dataBytes);
  entry.offset = static_cast<uint64_t>(begin);
  return {};
}

Status SafetensorsReader::parse(const std::string &) {
  uint64_t length = 0;
  if (file.size() < 8)
    return GPUCC_RT_FAIL(Code::io, "not a safetensors file: ", file.size(), " bytes");
  std::memcpy(&length, file.data(), 8);
  if (length > file.size() - 8)
    return GPUCC_RT_FAIL(Code::io, "not a safetensors file: a header of ", length, " bytes in ",
                         file.size());
  Json header;
  GPUCC_RT_TRY(parseJson({file.data() + 8, length}, header));
  base = 8 + length;
  for (const auto &[name, value] : header.members) {
    if (name == "__metadata__") {
      for (const auto &[key, text] : value.members)
        meta[key] = text.string;
      continue;
    }
    table.emplace_back();
    GPUCC_RT_TRY(parseEntry(name, value, file.size() - base, table.back()));
  }
  return {};
}

const SafetensorsEntry *SafetensorsReader::find(const std::string &name) const {
  for (const SafetensorsEntry &entry : table)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// The checksum of a file: xxh64 over the xxh64 of each tensor, in file order, as 16 hexadecimal
/// digits.
static std::string checksum(const std::vector<uint64_t> &hashes) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(xxh64(hashes.data(), hashes.size() * 8)));
  return text;
}

Status SafetensorsReader::checkData(const std::string &path) const {
  auto found = meta.find("xxh64");
  if (found == meta.end())
    return {};
  std::vector<uint64_t> hashes;
  for (const SafetensorsEntry &entry : table)
    hashes.push_back(xxh64(data(entry), entry.bytes()));
  if (checksum(hashes) == found->second)
    return {};
  return GPUCC_RT_FAIL(Code::io, path,
                       ": the data does not have the checksum in its header; the file is damaged, "
                       "use an older one");
}

Status
gpucc::rt::writeSafetensors(const std::string &path, const std::vector<SafetensorsEntry> &entries,
                            const std::map<std::string, std::string> &metadata,
                            const std::function<Status(const SafetensorsEntry &, char *)> &fill) {
  std::string header = "{\"__metadata__\":{\"xxh64\":\"";
  uint64_t checksumAt = 8 + header.size(); // filled in when the data is known
  header += "0000000000000000\"";
  for (const auto &[key, value] : metadata)
    header += "," + quoteJson(key) + ":" + quoteJson(value);
  header += "}";
  uint64_t offset = 0;
  for (const SafetensorsEntry &entry : entries) {
    const char *type = nullptr;
    for (auto [text, dtype] : typeNames)
      if (dtype == entry.dtype)
        type = text;
    if (!type)
      return GPUCC_RT_FAIL(Code::unsupported, "safetensors cannot hold ", dtypeName(entry.dtype),
                           " ('", entry.name, "')");
    header += "," + quoteJson(entry.name) + ":{\"dtype\":\"" + type + "\",\"shape\":[";
    for (size_t d = 0; d < entry.shape.size(); ++d)
      header += (d ? "," : "") + std::to_string(entry.shape[d]);
    header += concat("],\"data_offsets\":[", offset, ",", offset + entry.bytes(), "]}");
    offset += entry.bytes();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' '); // the data starts aligned
  AtomicFile file;
  GPUCC_RT_TRY(file.open(path));
  uint64_t length = header.size();
  GPUCC_RT_TRY(file.write(&length, sizeof(length)));
  GPUCC_RT_TRY(file.write(header.data(), header.size()));
  std::vector<char> buffer;
  std::vector<uint64_t> hashes;
  for (const SafetensorsEntry &entry : entries) {
    buffer.resize(entry.bytes());
    GPUCC_RT_TRY(fill(entry, buffer.data()));
    GPUCC_RT_TRY(file.write(buffer.data(), buffer.size()));
    hashes.push_back(xxh64(buffer.data(), buffer.size()));
  }
  GPUCC_RT_TRY(file.patch(checksumAt, checksum(hashes).data(), 16));
  return file.commit();
}
