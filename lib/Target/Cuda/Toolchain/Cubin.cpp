//===- Cubin.cpp - ELF sections, resource attributes, opcodes -------------===//

#include "gpucc/Target/Cuda/Cubin.h"

#include <cstring>
#include <map>
#include <optional>

using namespace gpucc::cuda;

namespace {
/// Bounds-checked little-endian reads of a file that may be broken.
class Bytes {
public:
  explicit Bytes(std::string_view data) : data(data) {}
  template <class T> T at(uint64_t offset) const {
    T value{};
    if (offset + sizeof(T) <= data.size())
      memcpy(&value, data.data() + offset, sizeof(T));
    return value;
  }
  std::string_view range(uint64_t offset, uint64_t size) const {
    return offset <= data.size() && size <= data.size() - offset ? data.substr(offset, size)
                                                                 : std::string_view();
  }
  std::string text(uint64_t offset) const {
    if (offset >= data.size())
      return {};
    std::string_view rest = data.substr(offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

private:
  std::string_view data;
};

struct Section {
  std::string name;
  uint32_t type = 0, link = 0, info = 0;
  uint64_t offset = 0, size = 0;
};

struct Attribute {
  uint8_t number;
  std::string_view value;
};

/// EIATTR numbers of `.nv.info`.
enum : uint8_t { FrameSize = 0x11, ParameterInfo = 0x17, MaxThreads = 0x05, RegisterCount = 0x2f };

/// Format 4 has a 16-bit size and a value; the others carry two bytes in place.
std::vector<Attribute> attributes(std::string_view section) {
  std::vector<Attribute> out;
  Bytes bytes(section);
  for (uint64_t at = 0; at + 4 <= section.size();) {
    const auto format = bytes.at<uint8_t>(at), number = bytes.at<uint8_t>(at + 1);
    const uint64_t size = format == 4 ? bytes.at<uint16_t>(at + 2) : 0;
    out.push_back({number, format == 4 ? bytes.range(at + 4, size) : bytes.range(at + 2, 2)});
    at += 4 + size;
  }
  return out;
}

template <class T> T valueAt(std::string_view value, uint64_t offset) {
  return Bytes(value).at<T>(offset);
}

Instruction classify(unsigned opcode) {
  switch (opcode) {
  case 0x23c:
    return Instruction::HMMA;
  case 0x9f0: // A from shared memory
  case 0xdf0: // A from registers
    return Instruction::HGMMA;
  case 0x83b:
    return Instruction::LDSM;
  case 0xfae:
    return Instruction::LDGSTS;
  case 0x5b4:
    return Instruction::UTMALDG;
  case 0x981:
    return Instruction::LDG;
  case 0x986:
    return Instruction::STG;
  case 0x984:
    return Instruction::LDS;
  case 0x388:
  case 0x988:
    return Instruction::STS;
  case 0x983:
    return Instruction::LDL;
  case 0x387:
  case 0x987:
    return Instruction::STL;
  case 0xb1d:
    return Instruction::BAR;
  case 0xf89:
  case 0x589:
  case 0x989:
    return Instruction::SHFL;
  case 0x308:
    return Instruction::MUFU;
  case 0x223: // operands from registers, immediates, constant memory
  case 0x423:
  case 0x823:
  case 0xc23:
    return Instruction::FFMA;
  case 0x221:
  case 0x421:
  case 0x821:
  case 0xc21:
    return Instruction::FADD;
  case 0x220:
  case 0x420:
  case 0x820:
  case 0xc20:
    return Instruction::FMUL;
  case 0x9a8: // ATOMG, integers (floats too on sm_80)
  case 0x9a3: // ATOMG, floats
  case 0x3a9: // ATOMG.CAS
  case 0x98e: // RED, result not used
  case 0x9a6: // RED, floats
  case 0xf8c: // ATOMS, shared memory
    return Instruction::ATOM;
  default:
    return Instruction::Other;
  }
}

/// The access width sits in bits 73..75 of loads and stores: 4 = 32, 5 = 64, 6 = 128 bits.
bool is128(std::string_view instruction) {
  return (valueAt<uint64_t>(instruction, 8) >> 9 & 7) == 6;
}

void countInstructions(std::string_view text, KernelInfo &kernel) {
  kernel.codeBytes = text.size();
  for (size_t at = 0; at + 16 <= text.size(); at += 16) {
    std::string_view word = text.substr(at, 16);
    const Instruction i = classify(valueAt<uint16_t>(word, 0) & 0xfff);
    ++kernel.count[static_cast<size_t>(i)];
    kernel.load128 += i == Instruction::LDG && is128(word);
    kernel.store128 += i == Instruction::STG && is128(word);
  }
}
} // namespace

const KernelInfo *CubinInfo::find(std::string_view name) const {
  for (const KernelInfo &kernel : kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

CubinInfo gpucc::cuda::readCubin(std::string_view data) {
  CubinInfo info;
  Bytes bytes(data);
  constexpr uint16_t machineCuda = 190;
  if (data.substr(0, 4) != "\x7f"
                           "ELF" ||
      bytes.at<uint16_t>(18) != machineCuda) {
    info.error = "not a cubin: expected an ELF file for machine 190 (CUDA)";
    return info;
  }
  const auto flags = bytes.at<uint32_t>(0x30);
  info.arch = data[8] >= 8 ? flags >> 8 & 0xff : flags & 0xff; // by ABI version
  const auto table = bytes.at<uint64_t>(0x28);
  const auto entry = bytes.at<uint16_t>(0x3a), entries = bytes.at<uint16_t>(0x3c),
             names = bytes.at<uint16_t>(0x3e);
  std::vector<Section> sections(entries);
  const auto nameTable = bytes.at<uint64_t>(table + uint64_t(names) * entry + 24);
  std::map<std::string, const Section *> byName;
  for (uint16_t i = 0; i < entries; ++i) {
    const uint64_t at = table + uint64_t(i) * entry;
    Section &s = sections[i];
    s.name = bytes.text(nameTable + bytes.at<uint32_t>(at));
    s.type = bytes.at<uint32_t>(at + 4);
    s.offset = bytes.at<uint64_t>(at + 24);
    s.size = bytes.at<uint64_t>(at + 32);
    s.link = bytes.at<uint32_t>(at + 40);
    byName[s.name] = &s;
  }
  auto content = [&](const std::string &name) -> std::string_view {
    auto it = byName.find(name);
    constexpr uint32_t noBits = 8;
    return it == byName.end() || it->second->type == noBits
               ? std::string_view()
               : bytes.range(it->second->offset, it->second->size);
  };
  // Symbol index -> name, for the attributes that concern the whole file.
  std::vector<std::string> symbols;
  if (auto it = byName.find(".symtab"); it != byName.end() && it->second->link < entries) {
    std::string_view symtab = content(".symtab");
    for (size_t at = 0; at + 24 <= symtab.size(); at += 24)
      symbols.push_back(
          bytes.text(sections[it->second->link].offset + valueAt<uint32_t>(symtab, at)));
  }
  std::map<std::string, unsigned> registers, frames;
  for (const Attribute &a : attributes(content(".nv.info"))) {
    const auto symbol = valueAt<uint32_t>(a.value, 0);
    if (a.value.size() < 8 || symbol >= symbols.size())
      continue;
    if (a.number == RegisterCount)
      registers[symbols[symbol]] = valueAt<uint32_t>(a.value, 4);
    if (a.number == FrameSize)
      frames[symbols[symbol]] = valueAt<uint32_t>(a.value, 4);
  }
  for (const Section &s : sections) {
    if (s.name.rfind(".text.", 0) != 0)
      continue;
    KernelInfo kernel;
    kernel.name = s.name.substr(6);
    kernel.registers = registers[kernel.name];
    kernel.stackBytes = frames[kernel.name];
    if (auto it = byName.find(".nv.shared." + kernel.name); it != byName.end())
      kernel.sharedBytes = static_cast<unsigned>(it->second->size);
    std::map<unsigned, unsigned> parameters;
    for (const Attribute &a : attributes(content(".nv.info." + kernel.name))) {
      if (a.number == ParameterInfo)
        parameters[valueAt<uint16_t>(a.value, 4)] = valueAt<uint32_t>(a.value, 8) >> 18;
      if (a.number == MaxThreads)
        kernel.maxThreads = valueAt<uint32_t>(a.value, 0) * valueAt<uint32_t>(a.value, 4) *
                            valueAt<uint32_t>(a.value, 8);
    }
    for (auto [index, size] : parameters)
      kernel.parameterBytes.push_back(size);
    countInstructions(bytes.range(s.offset, s.size), kernel);
    info.kernels.push_back(std::move(kernel));
  }
  return info;
}

const char *gpucc::cuda::name(Instruction instruction) {
  static const char *const names[] = {"HMMA", "HGMMA", "LDSM", "LDGSTS", "UTMALDG", "LDG",  "STG",
                                      "LDS",  "STS",   "LDL",  "STL",    "BAR",     "SHFL", "MUFU",
                                      "FFMA", "FADD",  "FMUL", "ATOM",   "other"};
  return names[static_cast<size_t>(instruction)];
}

std::string gpucc::cuda::describe(const KernelInfo &k) {
  std::string text = k.name + ": " + std::to_string(k.registers) + " registers, " +
                     std::to_string(k.sharedBytes) + " bytes shared, " +
                     (k.spills() ? std::to_string(k.stackBytes) + " bytes of stack" : "no spills");
  for (size_t i = 0; i < k.count.size(); ++i) {
    const auto instruction = static_cast<Instruction>(i);
    if (!k.count[i] || instruction == Instruction::Other)
      continue;
    text += std::string(", ") + name(instruction) + " " + std::to_string(k.count[i]);
    const unsigned wide = instruction == Instruction::LDG   ? k.load128
                          : instruction == Instruction::STG ? k.store128
                                                            : 0;
    if (wide)
      text += " (" + std::to_string(wide) + " of 128 bits)";
  }
  return text;
}
