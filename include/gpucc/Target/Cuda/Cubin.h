//===- Cubin.h - What a compiled kernel needs and which instructions it has -*- C++ -*-===//
//
// Reads NVIDIA's device code: an ELF file whose `.nv.info` sections list resources and whose
// `.text.k` sections hold 16-byte instructions, the opcode in the low 12 bits. Used to budget
// kernels without a device. Example (a tensor-core GEMM for sm_90a):
//
//   cuda::CubinInfo info = cuda::readCubin(bytes);
//   const cuda::KernelInfo &k = info.kernels[0];
//   k.registers == 128; k.localStores == 0 (no spills); k.count[HMMA] == 64; k.count[LDGSTS] > 0
//
// Opcode numbers are those of sm_75 to sm_120, found by disassembling (docs of the vendor do not
// list them); an opcode that is not known counts as Other.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TARGET_CUDA_CUBIN_H
#define GPUCC_TARGET_CUDA_CUBIN_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpucc::cuda {

enum class Instruction {
  HMMA,   ///< mma.sync on f16, bf16, tf32
  HGMMA,  ///< wgmma
  LDSM,   ///< ldmatrix
  LDGSTS, ///< cp.async
  UTMALDG,
  LDG,
  STG,
  LDS,
  STS,
  LDL, ///< local memory: a spill or an indexed local array
  STL,
  BAR,
  SHFL,
  MUFU,
  FFMA,
  FADD,
  FMUL,
  ATOM,
  Other,
  Count
};
const char *name(Instruction instruction);

struct KernelInfo {
  std::string name;
  unsigned registers = 0;
  unsigned stackBytes = 0;  ///< frame: spills and local arrays
  unsigned sharedBytes = 0; ///< static
  unsigned maxThreads = 0;  ///< of __launch_bounds__, 0 = none
  std::vector<unsigned> parameterBytes;
  size_t codeBytes = 0;
  std::array<unsigned, static_cast<size_t>(Instruction::Count)> count{};
  unsigned load128 = 0, store128 = 0; ///< global accesses of 16 bytes per thread (LDG.128, STG.128)

  unsigned operator[](Instruction i) const { return count[static_cast<size_t>(i)]; }
  /// Local memory traffic or a frame: what budgets forbid.
  bool spills() const {
    return stackBytes || (*this)[Instruction::LDL] || (*this)[Instruction::STL];
  }
};

struct CubinInfo {
  std::string error; ///< not empty: the bytes are no cubin
  unsigned arch = 0; ///< 80, 90, 100
  std::vector<KernelInfo> kernels;

  const KernelInfo *find(std::string_view name) const;
};

CubinInfo readCubin(std::string_view bytes);

/// One line per kernel: "softmax: 26 registers, 1024 bytes shared, no spills, LDG 1 (1 of 128
/// bits), …".
std::string describe(const KernelInfo &kernel);

} // namespace gpucc::cuda

#endif
