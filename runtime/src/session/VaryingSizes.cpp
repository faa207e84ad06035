//===- VaryingSizes.cpp - Outputs whose size a step computes
//------------------------------------===//
//
// Such an output lies in a buffer of its bound; a tensor of role count says how many entries of the
// dimension that varies are real. A caller sees the real shape and dense rows:
//
//   nz [2, <= 6], count 4:   3 entries of padding per row in the buffer     a a a a . .
//                                                                           b b b b . .
//   shape -> [2, 4]          read -> a a a a b b b b
//
//===--------------------------------------------------------------------------------------------===//
#include "session/Session.h"

#include <cstring>

using namespace gpucc::rt;

/// How many entries of the dimension that varies the last step has made.
Status Session::countOf(const LocalView &view, int64_t &count) {
  const std::string name = view.tensor->name()->str();
  int64_t bound = view.global[static_cast<size_t>(view.tensor->varying_dim())];
  if (!computes()) {
    count = bound; // a driver that computes nothing knows no size
    return {};
  }
  if (!stepped)
    return GPUCC_RT_FAIL(Code::invalidArgument, "the size of '", name,
                         "' is computed by a step, and none was run under this profile; run one "
                         "first");
  const auto *counter = plan->index().tensors()->Get(static_cast<uint32_t>(view.tensor->count()));
  LocalView counterView;
  GPUCC_RT_TRY(find(counter->name()->str(), counterView));
  GPUCC_RT_TRY(readPart(counterView, reinterpret_cast<char *>(&count), /*add=*/false));
  if (count < 0 || count > bound)
    return GPUCC_RT_FAIL(Code::invalidPlan, "'", name, "' has ", count, " entries along dimension ",
                         view.tensor->varying_dim(), ", allowed are 0 to ", bound,
                         ": the plan is damaged; compile the model again");
  return {};
}

Status Session::shape(const std::string &name, Extents &dims) {
  GPUCC_RT_TRY(checkUsable());
  LocalView view;
  GPUCC_RT_TRY(find(name, view));
  dims = view.global;
  if (view.tensor->varying_dim() < 0)
    return {};
  GPUCC_RT_TRY(wait());
  return countOf(view, dims[static_cast<size_t>(view.tensor->varying_dim())]);
}

/// The real entries, without the padding between rows.
Status Session::readVarying(const LocalView &view, void *data, uint64_t bytes) {
  auto varying = static_cast<size_t>(view.tensor->varying_dim());
  Extents real = view.global;
  GPUCC_RT_TRY(countOf(view, real[varying]));
  plan::DType dtype = view.tensor->dtype();
  uint64_t needed = dtypeBytes(dtype, static_cast<uint64_t>(elementCount(real)));
  if (bytes != needed)
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", view.tensor->name()->c_str(), "' is ",
                         dtypeName(dtype), " ", toString(real), " after this step, ", needed,
                         " bytes; given were ", bytes, ": ask for its shape before reading");
  if (needed == 0)
    return {};
  std::vector<char> padded(view.globalBytes);
  GPUCC_RT_TRY(readPart(view, padded.data(), /*add=*/false));
  uint64_t rows = 1, row = dtypeBytes(dtype, 1);
  for (size_t d = 0; d < real.size(); ++d)
    (d < varying ? rows : row) *= static_cast<uint64_t>(d == varying ? 1 : real[d]);
  uint64_t from = row * static_cast<uint64_t>(view.global[varying]);
  uint64_t to = row * static_cast<uint64_t>(real[varying]);
  for (uint64_t r = 0; r < rows; ++r)
    std::memcpy(static_cast<char *>(data) + r * to, padded.data() + r * from, to);
  return {};
}
