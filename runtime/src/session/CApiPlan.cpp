//===- CApiPlan.cpp - gpucc_rt_plan_* and gpucc_rt_world_*
//--------------------------------------===//
#include "plan/Profiles.h"
#include "session/CApi.h"

#include <cstring>

using namespace gpucc::rt;

static_assert(static_cast<int>(DType::i1) == GPUCC_RT_I1, "C element types follow plan.fbs");
static_assert(static_cast<int>(plan::Role::count) == GPUCC_RT_COUNT, "C roles follow plan.fbs");

static const char *text(const flatbuffers::String *string) { return string ? string->c_str() : ""; }

static Status wrap(std::shared_ptr<PlanImage> image, gpucc_rt_plan **plan) {
  auto made = std::make_unique<gpucc_rt_plan>();
  if (const auto *names = image->index().needs()->architectures())
    for (const auto *name : *names)
      made->architectures += (made->architectures.empty() ? "" : ",") + name->str();
  made->image = std::move(image);
  *plan = made.release();
  return {};
}

extern "C" {

const char *gpucc_rt_version(void) { return GPUCC_RT_VERSION; }

gpucc_rt_status *gpucc_rt_plan_open(const char *path, gpucc_rt_plan **plan) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(path);
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    std::shared_ptr<PlanImage> image;
    GPUCC_RT_TRY(PlanImage::open(path, image));
    return wrap(std::move(image), plan);
  });
}

gpucc_rt_status *gpucc_rt_plan_pack(const char *path) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(path);
    return packPlan(path);
  });
}

gpucc_rt_status *gpucc_rt_plan_from_memory(const void *bytes, uint64_t size, const char *folder,
                                           gpucc_rt_plan **plan) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(bytes);
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    std::shared_ptr<PlanImage> image;
    GPUCC_RT_TRY(PlanImage::fromBytes(bytes, size, folder ? folder : ".", image));
    return wrap(std::move(image), plan);
  });
}

void gpucc_rt_plan_free(gpucc_rt_plan *plan) { delete plan; }

void gpucc_rt_plan_get_info(const gpucc_rt_plan *plan, gpucc_rt_plan_info *info) {
  if (!plan || !info)
    return;
  const plan::Plan &index = plan->image->index();
  info->producer = text(index.producer());
  info->model = text(index.model());
  info->target = plan::EnumNameTarget(index.needs()->target());
  info->architectures = plan->architectures.c_str();
  info->partition_hash = text(index.partition_hash());
  info->explanation = text(index.explanation());
  info->ranks = index.ranks();
  info->stages = index.stages()->size();
  info->profiles = index.profiles()->size();
  info->tensors = index.tensors() ? index.tensors()->size() : 0;
  info->reproducible = index.reproducible();
  info->training = index.training();
  info->device_bytes = index.needs()->device_bytes();
}

/// Tensor number `index` of the plan.
static Status tensorAt(const gpucc_rt_plan &plan, uint32_t index, const plan::Tensor *&found) {
  const auto *tensors = plan.image->index().tensors();
  uint32_t count = tensors ? tensors->size() : 0;
  if (index >= count)
    return GPUCC_RT_FAIL(Code::invalidArgument, "tensor ", index, ", the plan has ", count);
  found = tensors->Get(index);
  return {};
}

gpucc_rt_status *gpucc_rt_plan_get_tensor(const gpucc_rt_plan *plan, uint32_t index,
                                          gpucc_rt_tensor_info *info) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(info);
    const plan::Tensor *found = nullptr;
    GPUCC_RT_TRY(tensorAt(*plan, index, found));
    const plan::Tensor &tensor = *found;
    info->name = text(tensor.name());
    info->role = static_cast<gpucc_rt_role>(tensor.role());
    info->dtype = static_cast<gpucc_rt_dtype>(tensor.dtype());
    info->rank = tensor.dims() ? tensor.dims()->size() : 0;
    info->limit = tensor.limit();
    for (uint32_t d = 0; d < info->rank; ++d) {
      info->dims[d] = tensor.dims()->Get(d)->size();
      info->symbols[d] = text(tensor.dims()->Get(d)->symbol());
    }
    return {};
  });
}

gpucc_rt_status *gpucc_rt_plan_get_piece(const gpucc_rt_plan *plan, uint32_t index,
                                         gpucc_rt_piece_info *info) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(info);
    const plan::Tensor *found = nullptr;
    GPUCC_RT_TRY(tensorAt(*plan, index, found));
    const plan::Tensor &tensor = *found;
    info->rank = tensor.source_shape() ? tensor.source_shape()->size() : 0;
    info->source = info->rank ? text(tensor.source_name()) : "";
    for (uint32_t d = 0; d < info->rank; ++d) {
      info->dims[d] = tensor.source_shape()->Get(d);
      info->base[d] = tensor.source_base()->Get(d);
    }
    return {};
  });
}

int32_t gpucc_rt_plan_varying_dim(const gpucc_rt_plan *plan, uint32_t index) {
  const auto *tensors = plan ? plan->image->index().tensors() : nullptr;
  return tensors && index < tensors->size() ? tensors->Get(index)->varying_dim() : -1;
}

gpucc_rt_status *gpucc_rt_plan_find_tensor(const gpucc_rt_plan *plan, const char *name,
                                           uint32_t *index) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    GPUCC_RT_REQUIRE_ARGUMENT(index);
    return findTensor(plan->image->index(), name, *index);
  });
}

const char *gpucc_rt_plan_profile_name(const gpucc_rt_plan *plan, uint32_t profile) {
  const auto *profiles = plan->image->index().profiles();
  return profile < profiles->size() ? text(profiles->Get(profile)->name()) : "";
}

gpucc_rt_status *gpucc_rt_plan_profile_dims(const gpucc_rt_plan *plan, uint32_t profile,
                                            uint32_t tensor, int64_t *dims) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(dims);
    const plan::Plan &index = plan->image->index();
    if (profile >= index.profiles()->size() || !index.tensors() ||
        tensor >= index.tensors()->size())
      return GPUCC_RT_FAIL(Code::invalidArgument, "profile ", profile, " or tensor ", tensor,
                           " does not exist");
    Extents shape;
    GPUCC_RT_TRY(profileShape(index, profile, tensor, shape));
    std::copy(shape.begin(), shape.end(), dims);
    return {};
  });
}

gpucc_rt_status *gpucc_rt_plan_select_profile(const gpucc_rt_plan *plan, uint32_t count,
                                              const char *const *names, const uint32_t *ranks,
                                              const int64_t *dims, uint32_t *profile) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(profile);
    if (count > 0) {
      GPUCC_RT_REQUIRE_ARGUMENT(names);
      GPUCC_RT_REQUIRE_ARGUMENT(ranks);
    }
    std::vector<NamedShape> shapes;
    for (uint32_t i = 0; i < count; ++i) {
      GPUCC_RT_REQUIRE_ARGUMENT(names[i]);
      if (ranks[i] > 0)
        GPUCC_RT_REQUIRE_ARGUMENT(dims);
      shapes.push_back({names[i], Extents(dims, dims + ranks[i])});
      dims += ranks[i];
    }
    return selectProfile(plan->image->index(), shapes, *profile);
  });
}

gpucc_rt_status *gpucc_rt_world_create(const char *kind, uint32_t ranks, double watchdog_seconds,
                                       gpucc_rt_world **world) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(kind);
    GPUCC_RT_REQUIRE_ARGUMENT(world);
    if (ranks == 0 || ranks > (1u << 16))
      return GPUCC_RT_FAIL(Code::invalidArgument, "a world of ", ranks, " ranks");
    auto made = std::make_unique<gpucc_rt_world>();
    GPUCC_RT_TRY(createWorld(kind, static_cast<int>(ranks),
                             watchdog_seconds > 0 ? watchdog_seconds : 300, made->world));
    *world = made.release();
    return {};
  });
}

void gpucc_rt_world_free(gpucc_rt_world *world) { delete world; }
}
