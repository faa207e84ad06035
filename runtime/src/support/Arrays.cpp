//===- Arrays.cpp - .npz and .npy files
//---------------------------------------------------------===//
#include "gpucc_rt/Arrays.h"

#include "core/AtomicFile.h"
#include "core/DType.h"
#include "core/MappedFile.h"
#include "plan/Slices.h"
#include "support/Zip.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <random>

namespace rt = gpucc::rt;
using rt::Code;
using rt::DType;
using Array = gpucc_rt::Array;

static DType toDType(gpucc_rt_dtype type) { return static_cast<DType>(type); }

/// numpy's names; bf16 arrays of ml_dtypes come as V2.
static constexpr std::pair<const char *, DType> numpyTypes[] = {
    {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},
    {"i4", DType::i32}, {"i2", DType::i16}, {"i1", DType::i8},  {"u8", DType::u64},
    {"u4", DType::u32}, {"u2", DType::u16}, {"u1", DType::u8},  {"b1", DType::i1},
    {"V2", DType::bf16}};

const char *gpucc_rt::dtypeName(gpucc_rt_dtype dtype) { return rt::dtypeName(toDType(dtype)); }

uint64_t gpucc_rt::dtypeBytes(gpucc_rt_dtype dtype, uint64_t elements) {
  return rt::dtypeBytes(toDType(dtype), elements);
}

std::string gpucc_rt::describe(gpucc_rt_dtype dtype, const std::vector<int64_t> &shape) {
  return std::string(dtypeName(dtype)) + " " + rt::toString(shape);
}

const Array *gpucc_rt::findArray(const std::vector<Array> &arrays, const std::string &name) {
  for (const Array &array : arrays)
    if (array.name == name)
      return &array;
  return nullptr;
}

namespace {
/// The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class NpyHeader {
public:
  explicit NpyHeader(std::string_view text) : text(text) {}

  rt::Status read(Array &array, bool &fortran) {
    std::string descr;
    size_t at = 0;
    if (!after("'descr':", at) || at >= text.size() || text[at] != '\'')
      return GPUCC_RT_FAIL(Code::io, "a .npy header without a plain 'descr' (structured arrays "
                                     "cannot be read); write it with numpy.save");
    size_t end = text.find('\'', at + 1);
    descr = std::string(text.substr(at + 1, end == std::string_view::npos ? 0 : end - at - 1));
    if (descr.size() < 3 || (descr[0] == '>'))
      return GPUCC_RT_FAIL(Code::io, "element type '", descr,
                           "' cannot be read (big endian?); allowed are little-endian numbers: "
                           "convert it with astype");
    bool known = false;
    for (auto [name, type] : numpyTypes)
      if (descr.substr(1) == name)
        array.dtype = static_cast<gpucc_rt_dtype>(type), known = true;
    if (!known)
      return GPUCC_RT_FAIL(
          Code::io, "element type '", descr,
          "' cannot be read; allowed are floats, integers and bool: convert it with astype");
    if (!after("'fortran_order':", at))
      return GPUCC_RT_FAIL(Code::io, "a .npy header without 'fortran_order'");
    fortran = text.substr(at, 4) == "True";
    return shape(array.shape);
  }

private:
  bool after(std::string_view key, size_t &at) {
    at = text.find(key);
    if (at == std::string_view::npos)
      return false;
    at += key.size();
    while (at < text.size() && text[at] == ' ')
      ++at;
    return true;
  }

  rt::Status shape(std::vector<int64_t> &extents) {
    size_t at = 0;
    if (!after("'shape':", at) || at >= text.size() || text[at] != '(')
      return GPUCC_RT_FAIL(Code::io, "a .npy header without 'shape'");
    uint64_t count = 1;
    for (++at; at < text.size() && text[at] != ')'; ++at) {
      if (text[at] == '-')
        return GPUCC_RT_FAIL(Code::io, "a .npy array with a negative dimension; sizes are 0 or "
                                       "more: write it with numpy.save");
      if (!std::isdigit(static_cast<unsigned char>(text[at])))
        continue;
      int64_t extent = 0;
      for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])); ++at)
        if (extent < (int64_t(1) << 47))
          extent = extent * 10 + (text[at] - '0');
      extents.push_back(extent);
      if (__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count) ||
          count > (uint64_t(1) << 47) || extents.size() > GPUCC_RT_MAX_RANK)
        return GPUCC_RT_FAIL(Code::io, "a .npy array with too many elements or dimensions; at most "
                                       "2^47 elements in 16 dimensions are allowed: correct its "
                                       "shape");
      --at;
    }
    return {};
  }

  std::string_view text;
};

rt::Status parseNpy(std::string_view file, Array &array) {
  if (file.size() < 10 || file.substr(0, 6) != "\x93NUMPY")
    return GPUCC_RT_FAIL(Code::io, "not a .npy array; write it with numpy.save");
  uint64_t length = static_cast<unsigned char>(file[8]) | static_cast<unsigned char>(file[9]) << 8;
  uint64_t start = 10;
  if (file[6] >= 2) {
    if (file.size() < 12)
      return GPUCC_RT_FAIL(Code::io, "a .npy array that was cut off");
    length |= static_cast<uint64_t>(static_cast<unsigned char>(file[10])) << 16 |
              static_cast<uint64_t>(static_cast<unsigned char>(file[11])) << 24;
    start = 12;
  }
  if (length > file.size() - start)
    return GPUCC_RT_FAIL(Code::io, "a .npy array that was cut off");
  bool fortran = false;
  GPUCC_RT_TRY(NpyHeader(file.substr(start, length)).read(array, fortran));
  uint64_t bytes = gpucc_rt::dtypeBytes(array.dtype, rt::elementCount(array.shape));
  const char *data = file.data() + start + length;
  if (bytes > file.size() - start - length)
    return GPUCC_RT_FAIL(Code::io, "a .npy array that was cut off: ", bytes,
                         " bytes of data "
                         "expected, ",
                         file.size() - start - length, " found; write it again with numpy.save");
  array.bytes.resize(bytes);
  rt::Extents target = rt::rowMajorStrides(array.shape), source = target;
  if (fortran) {
    int64_t stride = 1;
    for (size_t d = 0; d < source.size(); ++d) {
      source[d] = stride;
      stride *= array.shape[d];
    }
  }
  rt::copyStrided(rt::dtypeBits(toDType(array.dtype)), array.shape, data, source,
                  array.bytes.data(), target);
  return {};
}

rt::Status readFile(const std::string &path, std::vector<Array> &arrays) {
  rt::MappedFile file;
  GPUCC_RT_TRY(file.open(path, "arrays"));
  std::string_view bytes(file.data(), file.size());
  if (bytes.substr(0, 6) == "\x93NUMPY") {
    size_t slash = path.rfind('/') + 1, dot = path.rfind('.');
    arrays.emplace_back();
    arrays.back().name = path.substr(slash, dot > slash ? dot - slash : std::string::npos);
    return parseNpy(bytes, arrays.back());
  }
  std::vector<rt::ZipMember> members;
  GPUCC_RT_TRY(rt::readZip(bytes, members));
  for (const rt::ZipMember &member : members) {
    bool npy = member.name.size() > 4 && member.name.substr(member.name.size() - 4) == ".npy";
    if (!npy)
      continue;
    arrays.emplace_back();
    arrays.back().name = member.name.substr(0, member.name.size() - 4);
    GPUCC_RT_TRY(parseNpy({member.bytes.data(), member.bytes.size()}, arrays.back())
                     .prefixed("'" + arrays.back().name + "'"));
  }
  return {};
}

rt::Status makeNpy(const Array &array, std::vector<char> &bytes) {
  const char *type = nullptr;
  for (auto [name, dtype] : numpyTypes)
    if (dtype == toDType(array.dtype))
      type = name;
  if (!type)
    return GPUCC_RT_FAIL(Code::unsupported, "numpy has no type for ",
                         gpucc_rt::dtypeName(array.dtype), " ('", array.name, "')");
  bool byte = rt::dtypeBits(toDType(array.dtype)) == 8;
  std::string header =
      rt::concat("{'descr': '", byte ? '|' : '<', type, "', 'fortran_order': False, 'shape': (");
  for (int64_t extent : array.shape)
    header += std::to_string(extent) + ",";
  if (array.shape.size() > 1)
    header.pop_back();
  header += "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  bytes = {'\x93',
           'N',
           'U',
           'M',
           'P',
           'Y',
           1,
           0,
           static_cast<char>(header.size() & 255),
           static_cast<char>(header.size() >> 8)};
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), array.bytes.begin(), array.bytes.end());
  return {};
}

rt::Status writeFile(const std::string &path, const std::vector<Array> &arrays) {
  std::vector<rt::ZipMember> members;
  for (const Array &array : arrays) {
    members.push_back({array.name + ".npy", {}});
    if (toDType(array.dtype) == DType::bf16) {
      Array wide = array;
      GPUCC_RT_TRY(rt::Status::adopt(gpucc_rt::convert(wide, GPUCC_RT_F32).release()));
      GPUCC_RT_TRY(makeNpy(wide, members.back().bytes));
    } else {
      GPUCC_RT_TRY(makeNpy(array, members.back().bytes));
    }
  }
  std::vector<char> bytes;
  GPUCC_RT_TRY(rt::makeZip(members, bytes));
  rt::AtomicFile file;
  GPUCC_RT_TRY(file.open(path));
  GPUCC_RT_TRY(file.write(bytes.data(), bytes.size()));
  return file.commit();
}

rt::Status convertArray(Array &array, DType to) {
  DType from = toDType(array.dtype);
  if (from == to)
    return {};
  if ((rt::dtypeIsFloat(from) && !rt::dtypeIsFloat(to)) || !rt::canCast(from, to))
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", array.name, "' is ", rt::dtypeName(from),
                         ", needed is ", rt::dtypeName(to));
  auto count = static_cast<uint64_t>(rt::elementCount(array.shape));
  std::vector<char> bytes(rt::dtypeBytes(to, count)), back(array.bytes.size());
  rt::castElements(from, array.bytes.data(), to, bytes.data(), count);
  if (!rt::dtypeIsFloat(to)) { // integers must survive
    rt::castElements(to, bytes.data(), from, back.data(), count);
    if (back != array.bytes)
      return GPUCC_RT_FAIL(Code::invalidArgument, "'", array.name, "' is ", rt::dtypeName(from),
                           " with values that do not fit ", rt::dtypeName(to));
  }
  array.dtype = static_cast<gpucc_rt_dtype>(to);
  array.bytes = std::move(bytes);
  return {};
}
} // namespace

gpucc_rt::Status gpucc_rt::readArrays(const std::string &path, std::vector<Array> &arrays) {
  return readFile(path, arrays).prefixed(path).release();
}
gpucc_rt::Status gpucc_rt::readNpy(const void *bytes, uint64_t size, Array &array) {
  return parseNpy({static_cast<const char *>(bytes), size}, array).release();
}
gpucc_rt::Status gpucc_rt::writeArrays(const std::string &path, const std::vector<Array> &arrays) {
  return writeFile(path, arrays).release();
}
gpucc_rt::Status gpucc_rt::convert(Array &array, gpucc_rt_dtype dtype) {
  return convertArray(array, toDType(dtype)).release();
}

gpucc_rt::Status gpucc_rt::randomInputs(const Plan &plan, uint32_t profile, uint64_t seed,
                                        std::vector<Array> &arrays) {
  std::mt19937_64 generator(seed); // its sequence is fixed by the C++ standard
  for (uint32_t t = 0; t < plan.info().tensors; ++t) {
    gpucc_rt_tensor_info info = plan.tensor(t);
    if (info.role != GPUCC_RT_INPUT && info.role != GPUCC_RT_LABEL)
      continue;
    Array array;
    array.name = info.name;
    array.dtype = info.dtype;
    if (Status status = plan.profileDims(profile, t, array.shape))
      return status;
    auto count = static_cast<uint64_t>(rt::elementCount(array.shape));
    std::vector<double> values(count);
    bool isFloat = rt::dtypeIsFloat(toDType(info.dtype));
    int64_t limit = info.limit > 0 ? info.limit : 2; // masks and truth values are 0 or 1
    for (double &value : values) {
      uint64_t bits = generator();
      value = isFloat ? static_cast<double>(bits >> 11) * 0x1p-52 - 1
                      : static_cast<double>(bits % static_cast<uint64_t>(limit));
    }
    array.bytes.resize(dtypeBytes(info.dtype, count));
    if (!rt::canCast(DType::f64, toDType(info.dtype)))
      return GPUCC_RT_FAIL(Code::unsupported, "no random ", dtypeName(info.dtype), " for '",
                           info.name, "'")
          .release();
    rt::castElements(DType::f64, values.data(), toDType(info.dtype), array.bytes.data(), count);
    arrays.push_back(std::move(array));
  }
  return {};
}
