//===- Weights.cpp - Constants and initial state
//------------------------------------------------===//
#include "plan/Weights.h"

#include "core/MappedFile.h"
#include "plan/Slices.h"

#include <map>

using namespace gpucc::rt;

namespace {
/// External files, each mapped once.
class Sources {
public:
  explicit Sources(const PlanImage &plan) : plan(plan) {}

  Status bytes(const plan::Weight &weight, uint64_t size, const char *&data) {
    if (weight.blob() >= 0) {
      data = plan.blobData(weight.blob()) + weight.file_offset();
      return {};
    }
    std::unique_ptr<MappedFile> &file = files[weight.file()];
    const plan::ExternalFile &entry = *plan.index().files()->Get(weight.file());
    if (!file) {
      auto opened = std::make_unique<MappedFile>();
      GPUCC_RT_TRY(opened->open(plan.folder() + "/" + entry.path()->str(), "weights"));
      if (opened->size() != entry.size())
        return GPUCC_RT_FAIL(Code::invalidPlan, "weights '", entry.path()->c_str(), "' have ",
                             opened->size(), " bytes, the plan was compiled with ", entry.size(),
                             "; restore that file or recompile");
      file = std::move(opened);
    }
    data = file->data() + weight.file_offset();
    return {};
  }

private:
  const PlanImage &plan;
  std::map<int32_t, std::unique_ptr<MappedFile>> files;
};

/// The result's extents: those of the slices, in the order of the permutation.
Extents permuted(const Extents &values, const flatbuffers::Vector<uint32_t> *permutation) {
  if (!permutation || permutation->size() == 0)
    return values;
  Extents result;
  for (uint32_t from : *permutation)
    result.push_back(values[from]);
  return result;
}
} // namespace

static Status loadWeight(const PlanImage &plan, const RankContext &rank, bool verify,
                         const plan::Weight &weight, Sources &sources, const WeightSink &sink) {
  Extents shape = toExtents(weight.source_shape());
  uint64_t sourceBytes = dtypeBytes(weight.source_dtype(), elementCount(shape));
  const char *source = nullptr;
  GPUCC_RT_TRY(sources.bytes(weight, sourceBytes, source));
  if (verify && weight.blob() >= 0)
    GPUCC_RT_TRY(plan.checkBlob(static_cast<uint32_t>(weight.blob())));
  if (verify && weight.hash() != 0 && xxh64(source, sourceBytes) != weight.hash())
    return GPUCC_RT_FAIL(Code::invalidPlan, "its bytes are not those that the plan was compiled "
                                            "with; restore the file or recompile");
  Box box;
  GPUCC_RT_TRY(resolveBox(weight.slices(), shape, rank, 0, box));
  uint64_t count = elementCount(box.local);
  if (count == 0)
    return {};
  bool moves = box.local != shape || box.valid != box.local ||
               (weight.permutation() && weight.permutation()->size() > 0);
  std::vector<char> part, cast;
  const char *data = source;
  if (moves) {
    part.resize(dtypeBytes(weight.source_dtype(), count));
    // Strides of the result, seen from the source's dimensions.
    Extents resultStrides = rowMajorStrides(permuted(box.local, weight.permutation()));
    Extents strides = resultStrides;
    for (size_t d = 0; weight.permutation() && d < weight.permutation()->size(); ++d)
      strides[weight.permutation()->Get(d)] = resultStrides[d];
    scatterBox(weight.source_dtype(), box, source, part.data(), strides, part.size());
    data = part.data();
  }
  if (weight.source_dtype() != weight.dtype()) {
    cast.resize(dtypeBytes(weight.dtype(), count));
    castElements(weight.source_dtype(), data, weight.dtype(), cast.data(), count);
    data = cast.data();
  }
  return sink(weight.arena(), weight.offset(), data, dtypeBytes(weight.dtype(), count));
}

Status gpucc::rt::loadWeights(const PlanImage &plan, const RankContext &rank, bool verify,
                              const WeightSink &sink) {
  Sources sources(plan);
  if (!plan.index().weights())
    return {};
  for (const plan::Weight *weight : *plan.index().weights()) {
    if (weight->stage() != rank.stage || (weight->blob() < 0 && weight->file() < 0))
      continue;
    GPUCC_RT_TRY(loadWeight(plan, rank, verify, *weight, sources, sink)
                     .prefixed("weight '" + weight->name()->str() + "'"));
  }
  return {};
}
