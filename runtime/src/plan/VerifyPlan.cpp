//===- VerifyPlan.cpp - The tables of a plan
//----------------------------------------------------===//
#include "plan/Verify.h"

#include "gpucc_rt/PlanFile.h"
#include "plan/PlanImage.h"
#include "plan/RankContext.h"

#include <set>

using namespace gpucc::rt;
using namespace gpucc::rt::verify;

Status verify::countElements(const flatbuffers::Vector<int64_t> *shape, uint64_t &count) {
  count = 1;
  GPUCC_RT_TRY(aligned(shape));
  GPUCC_RT_REQUIRE(length(shape) <= maxDims, length(shape), " dimensions, at most ", maxDims);
  for (uint32_t d = 0; d < length(shape); ++d) {
    int64_t extent = shape->Get(d);
    GPUCC_RT_REQUIRE(extent >= 0, "dimension ", d, " has extent ", extent);
    bool overflow = __builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count);
    GPUCC_RT_REQUIRE(!overflow && count <= maxBytes, "the shape has too many elements");
  }
  return {};
}

Status verify::spannedBytes(DType type, const flatbuffers::Vector<int64_t> *shape,
                            const flatbuffers::Vector<int64_t> *strides, uint64_t &bytes) {
  uint64_t count = 0;
  GPUCC_RT_TRY(countElements(shape, count));
  GPUCC_RT_TRY(aligned(strides));
  if (length(strides) > 0)
    GPUCC_RT_REQUIRE(length(strides) == length(shape), length(strides), " strides for ",
                     length(shape), " dimensions");
  if (length(strides) == 0 || count == 0) {
    bytes = dtypeBytes(type, count);
    return {};
  }
  GPUCC_RT_REQUIRE(dtypeBits(type) >= 8, "strides on ", dtypeName(type), " elements");
  uint64_t last = 0;
  for (uint32_t d = 0; d < length(shape); ++d) {
    int64_t stride = strides->Get(d);
    GPUCC_RT_REQUIRE(stride >= 0 && static_cast<uint64_t>(stride) <= maxBytes, "stride ", d, " is ",
                     stride);
    uint64_t reach = 0;
    bool overflow = __builtin_mul_overflow(static_cast<uint64_t>(stride),
                                           static_cast<uint64_t>(shape->Get(d) - 1), &reach);
    last += reach;
    GPUCC_RT_REQUIRE(!overflow && reach <= maxBytes && last <= maxBytes, "stride ", d,
                     " reaches too far");
  }
  bytes = dtypeBytes(type, last + 1);
  return {};
}

Status verify::rankValue(const plan::RankValue *value, const plan::Stage &stage) {
  if (!value)
    return {};
  GPUCC_RT_REQUIRE(value->modulo() >= 0, "modulo ", value->modulo(), ", it must be >= 0");
  GPUCC_RT_TRY(aligned(value->terms()));
  if (value->terms())
    for (const plan::Term *term : *value->terms())
      GPUCC_RT_REQUIRE(term->axis() < length(stage.axes()), "axis ", term->axis(),
                       ", the stage has ", length(stage.axes()));
  return {};
}

Status verify::slices(const flatbuffers::Vector<flatbuffers::Offset<plan::DimSlice>> *slices,
                      uint32_t dims, const plan::Stage &stage) {
  if (length(slices) == 0)
    return {};
  GPUCC_RT_REQUIRE(slices->size() == dims, slices->size(), " slices for ", dims, " dimensions");
  return forEach(slices, "slices", [&](const plan::DimSlice &slice, uint32_t) -> Status {
    GPUCC_RT_REQUIRE(slice.size() >= 0 && static_cast<uint64_t>(slice.size()) <= maxBytes, "size ",
                     slice.size());
    return rankValue(slice.start(), stage);
  });
}

static Status checkStages(const plan::Plan &plan) {
  GPUCC_RT_REQUIRE(length(plan.stages()) > 0, "no stages, a plan has at least one");
  uint64_t next = 0;
  GPUCC_RT_TRY(forEach(plan.stages(), "stages", [&](const plan::Stage &stage, uint32_t) -> Status {
    GPUCC_RT_REQUIRE(stage.first_rank() == next, "first rank ", stage.first_rank(),
                     ", the stages before end at ", next);
    GPUCC_RT_REQUIRE(length(stage.axes()) <= maxDims, "more than ", maxDims, " axes");
    uint64_t ranks = 1;
    GPUCC_RT_TRY(forEach(stage.axes(), "axes", [&](const plan::Axis &axis, uint32_t) -> Status {
      ranks *= axis.size();
      GPUCC_RT_REQUIRE(axis.size() > 0 && ranks <= plan.ranks(), "size ", axis.size(),
                       " gives more ranks than the plan's ", plan.ranks());
      return {};
    }));
    next += ranks;
    return forEach(stage.arenas(), "arenas", [](const plan::Arena &arena, uint32_t) -> Status {
      GPUCC_RT_REQUIRE(arena.size() <= maxBytes, "size ", arena.size());
      GPUCC_RT_REQUIRE(inRange(arena.space(), plan::Space::MAX), "unknown space");
      uint32_t a = arena.alignment();
      GPUCC_RT_REQUIRE(a >= 1 && a <= planBlobAlignment && (a & (a - 1)) == 0, "alignment ", a,
                       ", it is a power of two up to ", planBlobAlignment);
      return {};
    });
  }));
  GPUCC_RT_REQUIRE(next == plan.ranks(), "the stages have ", next, " ranks, the plan ",
                   plan.ranks());
  return {};
}

static Status checkCommunicators(const plan::Plan &plan) {
  return forEach(
      plan.communicators(), "communicators",
      [&](const plan::Communicator &entry, uint32_t) -> Status {
        GPUCC_RT_REQUIRE(inRange(entry.kind(), plan::CommunicatorKind::MAX), "unknown kind");
        GPUCC_RT_REQUIRE(entry.stage() < plan.stages()->size(), "stage ", entry.stage());
        const plan::Stage &stage = *plan.stages()->Get(entry.stage());
        for (uint32_t i = 0; i < length(entry.axes()); ++i) {
          uint32_t axis = entry.axes()->Get(i);
          GPUCC_RT_REQUIRE(axis < length(stage.axes()), "axis ", axis, ", the stage has ",
                           length(stage.axes()));
          GPUCC_RT_REQUIRE(i == 0 || entry.axes()->Get(i - 1) < axis, "axes are not ascending");
        }
        if (entry.kind() == plan::CommunicatorKind::stage_pair)
          GPUCC_RT_REQUIRE(entry.to_stage() >= 0 &&
                               static_cast<uint32_t>(entry.to_stage()) < plan.stages()->size() &&
                               static_cast<uint32_t>(entry.to_stage()) != entry.stage(),
                           "to_stage ", entry.to_stage());
        return {};
      });
}

static bool isState(plan::Role role) {
  return role >= plan::Role::parameter && role <= plan::Role::counter;
}

/// An output whose size varies names the dimension and the tensor that counts its entries.
static Status checkVarying(const plan::Plan &plan, const plan::Tensor &t) {
  if (t.role() == plan::Role::count)
    GPUCC_RT_REQUIRE(t.dtype() == plan::DType::i64 && length(t.dims()) == 0,
                     "a count is no i64 scalar");
  if (t.varying_dim() == -1 && t.count() == -1)
    return {};
  GPUCC_RT_REQUIRE(t.role() == plan::Role::output && dtypeBits(t.dtype()) >= 8,
                   "only outputs of whole bytes have a size that varies");
  GPUCC_RT_REQUIRE(plan.ranks() == 1, "a size that varies in a plan of ", plan.ranks(), " ranks");
  GPUCC_RT_REQUIRE(t.varying_dim() >= 0 &&
                       static_cast<uint32_t>(t.varying_dim()) < length(t.dims()),
                   "varying_dim ", t.varying_dim(), ", it has ", length(t.dims()), " dimensions");
  GPUCC_RT_REQUIRE(t.count() >= 0 && static_cast<uint32_t>(t.count()) < plan.tensors()->size() &&
                       plan.tensors()->Get(static_cast<uint32_t>(t.count()))->role() ==
                           plan::Role::count,
                   "count ", t.count(), " is no tensor that counts");
  return {};
}

static Status checkTensors(const plan::Plan &plan) {
  std::set<std::string> names;
  return forEach(plan.tensors(), "tensors", [&](const plan::Tensor &t, uint32_t) -> Status {
    GPUCC_RT_REQUIRE(names.insert(t.name()->str()).second, "second tensor '", t.name()->str(), "'");
    GPUCC_RT_REQUIRE(inRange(t.role(), plan::Role::MAX), "unknown role");
    GPUCC_RT_REQUIRE(inRange(t.dtype(), plan::DType::MAX), "unknown element type");
    GPUCC_RT_REQUIRE(length(t.dims()) <= maxDims, length(t.dims()), " dimensions, at most ",
                     maxDims);
    GPUCC_RT_TRY(forEach(t.dims(), "dims", [](const plan::Dim &dim, uint32_t) -> Status {
      GPUCC_RT_REQUIRE(dim.size() >= 0 || (dim.size() == -1 && dim.symbol()),
                       "neither a size nor a symbol");
      return {};
    }));
    GPUCC_RT_TRY(checkVarying(plan, t));
    GPUCC_RT_TRY(aligned(t.source_base()));
    if (length(t.source_shape()) > 0) {
      uint64_t count = 0;
      GPUCC_RT_TRY(countElements(t.source_shape(), count));
      GPUCC_RT_REQUIRE(length(t.source_base()) == length(t.source_shape()) &&
                           length(t.dims()) == length(t.source_shape()),
                       "source_shape, source_base and dims differ in rank");
      for (uint32_t d = 0; d < length(t.dims()); ++d) {
        int64_t base = t.source_base()->Get(d), extent = t.source_shape()->Get(d);
        int64_t size = t.dims()->Get(d)->size();
        GPUCC_RT_REQUIRE(base >= 0 && size >= 0 && size <= extent && base <= extent - size,
                         "dimension ", d, " leaves the source tensor");
      }
    }
    if (int32_t from = t.derived_from(); from != -1) {
      GPUCC_RT_REQUIRE(from >= 0 && static_cast<uint32_t>(from) < plan.tensors()->size(),
                       "derived_from ", from);
      const plan::Tensor &origin = *plan.tensors()->Get(from);
      GPUCC_RT_REQUIRE(isState(t.role()) && isState(origin.role()) && origin.derived_from() == -1 &&
                           canCast(origin.dtype(), t.dtype()),
                       "cannot be derived from '", origin.name()->str(), "'");
    }
    return {};
  });
}

static Status checkBlobs(const plan::Plan &plan, uint64_t blobBytes) {
  uint64_t last = 0;
  return forEach(plan.blobs(), "blobs", [&](const plan::Blob &blob, uint32_t i) -> Status {
    GPUCC_RT_REQUIRE(inRange(blob.kind(), plan::BlobKind::MAX), "unknown kind");
    GPUCC_RT_REQUIRE(i == 0 || blob.hash() >= last, "blobs are not sorted by hash");
    last = blob.hash();
    GPUCC_RT_REQUIRE(blob.offset() % planBlobAlignment == 0, "offset ", blob.offset(),
                     " is no multiple of ", planBlobAlignment);
    GPUCC_RT_REQUIRE(blob.size() <= blobBytes && blob.offset() <= blobBytes - blob.size(),
                     blob.size(), " bytes at ", blob.offset(), " leave the blob section of ",
                     blobBytes);
    return {};
  });
}

static Status checkFiles(const plan::Plan &plan) {
  return forEach(plan.files(), "files", [](const plan::ExternalFile &file, uint32_t) -> Status {
    std::string path = file.path()->str();
    GPUCC_RT_REQUIRE(!path.empty() && path[0] != '/' && path.find('\0') == std::string::npos,
                     "path '", path, "' is not relative");
    for (size_t begin = 0; begin <= path.size();) {
      size_t end = std::min(path.find('/', begin), path.size());
      GPUCC_RT_REQUIRE(path.compare(begin, end - begin, "..") != 0, "path '", path,
                       "' leaves the plan's folder");
      begin = end + 1;
    }
    return {};
  });
}

static Status checkWeightSource(const plan::Plan &plan, const plan::Weight &w, uint64_t bytes) {
  uint64_t available = maxBytes;
  if (w.blob() != -1) {
    GPUCC_RT_REQUIRE(w.file() == -1, "both a blob and a file");
    GPUCC_RT_REQUIRE(w.blob() >= 0 && static_cast<uint32_t>(w.blob()) < length(plan.blobs()),
                     "blob ", w.blob());
    const plan::Blob &blob = *plan.blobs()->Get(w.blob());
    GPUCC_RT_REQUIRE(blob.kind() == plan::BlobKind::constant, "its blob holds no constant");
    available = blob.size();
  } else if (w.file() != -1) {
    GPUCC_RT_REQUIRE(w.file() >= 0 && static_cast<uint32_t>(w.file()) < length(plan.files()),
                     "file ", w.file());
    available = plan.files()->Get(w.file())->size();
  }
  GPUCC_RT_REQUIRE(bytes <= available && w.file_offset() <= available - bytes, bytes,
                   " source bytes at ", w.file_offset(), " leave the ", available, " available");
  return {};
}

static Status checkWeight(const plan::Plan &plan, const plan::Weight &w) {
  GPUCC_RT_REQUIRE(w.stage() < plan.stages()->size(), "stage ", w.stage());
  const plan::Stage &stage = *plan.stages()->Get(w.stage());
  GPUCC_RT_REQUIRE(inRange(w.dtype(), plan::DType::MAX) &&
                       inRange(w.source_dtype(), plan::DType::MAX) &&
                       canCast(w.source_dtype(), w.dtype()),
                   "cannot cast the source's element type");
  uint64_t count = 0;
  GPUCC_RT_TRY(countElements(w.source_shape(), count));
  GPUCC_RT_TRY(checkWeightSource(plan, w, dtypeBytes(w.source_dtype(), count)));
  uint32_t dims = length(w.source_shape());
  GPUCC_RT_TRY(slices(w.slices(), dims, stage));
  if (length(w.slices()) > 0) {
    count = 1;
    for (const plan::DimSlice *slice : *w.slices()) {
      bool overflow = __builtin_mul_overflow(count, static_cast<uint64_t>(slice->size()), &count);
      GPUCC_RT_REQUIRE(!overflow && count <= maxBytes, "the slice has too many elements");
    }
  }
  bool moves = length(w.slices()) > 0 || length(w.permutation()) > 0;
  GPUCC_RT_REQUIRE(dtypeBits(w.source_dtype()) >= 8 || !moves,
                   "4-bit weights cannot be sliced or permuted");
  if (length(w.permutation()) > 0) {
    std::set<uint32_t> seen(w.permutation()->begin(), w.permutation()->end());
    GPUCC_RT_REQUIRE(w.permutation()->size() == dims && seen.size() == dims &&
                         *seen.rbegin() == dims - 1,
                     "permutation is none of ", dims, " dimensions");
  }
  GPUCC_RT_REQUIRE(w.arena() < length(stage.arenas()), "arena ", w.arena());
  uint64_t bytes = dtypeBytes(w.dtype(), count), size = stage.arenas()->Get(w.arena())->size();
  GPUCC_RT_REQUIRE(bytes <= size && w.offset() <= size - bytes, bytes, " bytes at ", w.offset(),
                   " leave the arena of ", size);
  GPUCC_RT_REQUIRE(stage.arenas()->Get(w.arena())->persistent(), "its arena is not persistent");
  return {};
}

static Status checkKernels(const plan::Plan &plan) {
  return forEach(plan.kernels(), "kernels", [&](const plan::Kernel &kernel, uint32_t) -> Status {
    bool scalars = false;
    GPUCC_RT_TRY(forEach(kernel.arguments(), "arguments",
                         [&](const plan::KernelArgument &argument, uint32_t) -> Status {
                           GPUCC_RT_REQUIRE(argument.scalar() || !scalars, "a view after a scalar");
                           scalars |= argument.scalar();
                           GPUCC_RT_REQUIRE(inRange(argument.dtype(), plan::DType::MAX) &&
                                                inRange(argument.access(), plan::Access::MAX),
                                            "unknown element type or access");
                           uint32_t a = argument.alignment();
                           GPUCC_RT_REQUIRE(a >= 1 && (a & (a - 1)) == 0, "alignment ", a,
                                            " is no power of two");
                           return {};
                         }));
    return forEach(
        kernel.variants(), "variants", [&](const plan::KernelVariant &variant, uint32_t) -> Status {
          GPUCC_RT_REQUIRE(variant.blob() < length(plan.blobs()), "blob ", variant.blob());
          GPUCC_RT_REQUIRE(plan.blobs()->Get(variant.blob())->kind() <= plan::BlobKind::simt_image,
                           "its blob holds no code");
          GPUCC_RT_REQUIRE(variant.programs() >= 0 && variant.grain() >= 1, "programs ",
                           variant.programs(), ", grain ", variant.grain());
          return {};
        });
  });
}

static Status checkProfiles(const plan::Plan &plan) {
  GPUCC_RT_REQUIRE(length(plan.profiles()) > 0, "no profiles, a plan has at least one");
  return forEach(
      plan.profiles(), "profiles", [&](const plan::Profile &profile, uint32_t) -> Status {
        GPUCC_RT_REQUIRE(length(profile.programs()) == plan.stages()->size(),
                         length(profile.programs()), " programs for ", plan.stages()->size(),
                         " stages");
        return forEach(profile.programs(), "programs",
                       [&](const plan::Program &program, uint32_t i) -> Status {
                         GPUCC_RT_REQUIRE(program.stage() == i, "is for stage ", program.stage());
                         return verify::program(plan, program);
                       });
      });
}

Status gpucc::rt::verifyIndex(const void *bytes, uint64_t size, uint64_t blobBytes) {
  GPUCC_RT_REQUIRE(size >= 16 && size < FLATBUFFERS_MAX_BUFFER_SIZE, "an index of ", size,
                   " bytes");
  // A table has at least 4 bytes; more of them than that means that they are shared to keep the
  // verifier busy.
  flatbuffers::Verifier verifier(static_cast<const uint8_t *>(bytes), size, /*max_depth=*/32,
                                 /*max_tables=*/static_cast<flatbuffers::uoffset_t>(size / 4));
  GPUCC_RT_REQUIRE(plan::VerifyPlanBuffer(verifier),
                   "the index is damaged: an offset leaves it or a required field is missing");
  const plan::Plan &plan = *plan::GetPlan(bytes);
  GPUCC_RT_REQUIRE(plan.ranks() >= 1 && plan.ranks() <= (1u << 20), plan.ranks(), " ranks");
  GPUCC_RT_REQUIRE(inRange(plan.needs()->target(), plan::Target::MAX), "unknown target");
  GPUCC_RT_TRY(checkStages(plan));
  GPUCC_RT_TRY(checkCommunicators(plan));
  GPUCC_RT_TRY(checkTensors(plan));
  GPUCC_RT_TRY(checkBlobs(plan, blobBytes));
  GPUCC_RT_TRY(checkFiles(plan));
  GPUCC_RT_TRY(forEach(plan.weights(), "weights", [&](const plan::Weight &w, uint32_t) -> Status {
    return checkWeight(plan, w).prefixed("'" + w.name()->str() + "'");
  }));
  GPUCC_RT_TRY(checkKernels(plan));
  return checkProfiles(plan);
}
