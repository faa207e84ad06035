//===- SessionTensors.cpp - Reading and writing tensors, binding, taps
//--------------------------===//
#include "session/Session.h"

#include "plan/Profiles.h"

#include <cstring>

using namespace gpucc::rt;

LocalView Session::makeView(const plan::TensorView &view) const {
  LocalView local;
  local.view = &view;
  local.tensor = plan->index().tensors()->Get(view.tensor());
  local.global = toExtents(view.global_shape());
  local.local = toExtents(view.local_shape());
  local.strides = view.local_strides() && view.local_strides()->size() > 0
                      ? toExtents(view.local_strides())
                      : rowMajorStrides(local.local);
  int64_t last = 0;
  bool empty = elementCount(local.local) == 0;
  for (size_t d = 0; d < local.local.size() && !empty; ++d)
    last += (local.local[d] - 1) * local.strides[d];
  local.localBytes = empty ? 0 : dtypeBytes(local.tensor->dtype(), last + 1);
  local.globalBytes = dtypeBytes(local.tensor->dtype(), elementCount(local.global));
  return local;
}

bool Session::has(const std::string &name) const {
  LocalView view;
  return !find(name, view);
}

Status Session::find(const std::string &name, LocalView &view) const {
  uint32_t tensor = 0;
  GPUCC_RT_TRY(findTensor(plan->index(), name, tensor));
  if (current().program->views())
    for (const plan::TensorView *candidate : *current().program->views())
      if (candidate->tensor() == tensor) {
        view = makeView(*candidate);
        return {};
      }
  return GPUCC_RT_FAIL(Code::invalidArgument, "no part of '", name, "' is on rank ", rank.rank,
                       " (stage '", plan->index().stages()->Get(rank.stage)->name()->c_str(), "')");
}

char *Session::slotAddress(const LocalView &view, uint32_t slot) const {
  return current().addresses.buffer(view.view->buffer(), slot) + view.view->offset();
}

static Status checkBytes(const LocalView &view, uint64_t bytes) {
  if (bytes == view.globalBytes)
    return {};
  return GPUCC_RT_FAIL(Code::invalidArgument, "'", view.tensor->name()->c_str(), "' is ",
                       dtypeName(view.tensor->dtype()), " ", toString(view.global), ", ",
                       view.globalBytes, " bytes; given were ", bytes);
}

/// A label beyond the classes would train toward none of them, silently.
static Status checkLabels(const LocalView &view, const void *data) {
  const plan::Tensor &tensor = *view.tensor;
  if (tensor.classes() <= 0 || tensor.dtype() != plan::DType::i64)
    return {};
  for (int64_t i = 0, count = elementCount(view.global); i < count; ++i) {
    int64_t label;
    std::memcpy(&label, static_cast<const char *>(data) + i * sizeof(label), sizeof(label));
    if ((label < 0 || label >= tensor.classes()) && label != tensor.ignored())
      return GPUCC_RT_FAIL(
          Code::invalidArgument, "'", tensor.name()->c_str(), "': element ", i, " is ", label,
          "; the model has ", tensor.classes(), " classes, so 0 to ", tensor.classes() - 1, " and ",
          tensor.ignored(),
          " (ignored) are allowed; correct the labels, or compile with --ignore-index");
  }
  return {};
}

Status Session::write(const std::string &name, const void *data, uint64_t bytes) {
  GPUCC_RT_TRY(checkUsable());
  LocalView view;
  GPUCC_RT_TRY(find(name, view));
  GPUCC_RT_TRY(checkBytes(view, bytes));
  GPUCC_RT_TRY(checkLabels(view, data));
  GPUCC_RT_TRY(wait());
  return writePart(view, static_cast<const char *>(data));
}

Status Session::writePart(const LocalView &view, const char *global) {
  std::vector<char> staging;
  for (uint32_t slot = 0; slot < view.view->slots(); ++slot) {
    Box box;
    GPUCC_RT_TRY(resolveBox(view.view->slices(), view.global, rank, slot, box));
    char *address = slotAddress(view, slot);
    char *direct = driver->hostAddress(address);
    if (!direct)
      staging.resize(view.localBytes);
    char *target = direct ? direct : staging.data();
    scatterBox(view.tensor->dtype(), box, global, target, view.strides, view.localBytes);
    if (!direct)
      GPUCC_RT_TRY(driver->upload(address, target, view.localBytes));
  }
  return {};
}

Status Session::read(const std::string &name, void *data, uint64_t bytes) {
  GPUCC_RT_TRY(checkUsable());
  LocalView view;
  GPUCC_RT_TRY(find(name, view));
  GPUCC_RT_TRY(wait());
  if (view.tensor->varying_dim() >= 0)
    return readVarying(view, data, bytes);
  GPUCC_RT_TRY(checkBytes(view, bytes));
  return readPart(view, static_cast<char *>(data), /*add=*/false);
}

Status Session::readPart(const LocalView &view, char *global, bool add) {
  Tap *tap = nullptr;
  if (view.view->tap() && view.tensor->role() == plan::Role::tap) {
    auto found = taps.find(view.view->tensor());
    if (found == taps.end())
      return GPUCC_RT_FAIL(Code::invalidArgument, "'", view.tensor->name()->c_str(),
                           "' is an intermediate value; enable its tap before the step");
    tap = found->second.get();
  }
  std::vector<char> staging;
  for (uint32_t slot = 0; slot < view.view->slots(); ++slot) {
    Box box;
    GPUCC_RT_TRY(resolveBox(view.view->slices(), view.global, rank, slot, box));
    const char *source = nullptr;
    if (tap) {
      source = tap->slots[slot].data();
    } else {
      char *address = slotAddress(view, slot);
      source = driver->hostAddress(address);
      if (!source) {
        staging.resize(view.localBytes);
        GPUCC_RT_TRY(driver->download(staging.data(), address, view.localBytes));
        source = staging.data();
      }
    }
    gatherBox(view.tensor->dtype(), box, source, view.strides, global, add);
  }
  return {};
}

Status Session::bind(const std::string &name, void *pointer, uint64_t bytes) {
  GPUCC_RT_TRY(checkUsable());
  LocalView view;
  GPUCC_RT_TRY(find(name, view));
  const plan::Buffer &buffer = *current().program->buffers()->Get(view.view->buffer());
  if (!buffer.bindable())
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", name,
                         "' shares its memory with other values; copy with write and read");
  if (pointer && (bytes < buffer.size() || reinterpret_cast<uintptr_t>(pointer) % 256 != 0))
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", name, "' needs ", buffer.size(),
                         " bytes at a multiple of 256; given were ", bytes, " bytes at ", pointer);
  if (pointer && !driver->canBind(pointer))
    return GPUCC_RT_FAIL(Code::invalidArgument, "driver ", driver->name(),
                         " cannot reach the memory bound for '", name, "'");
  GPUCC_RT_TRY(wait());
  current().addresses.bound[view.view->buffer()] = static_cast<char *>(pointer);
  ++bindingVersion;
  return {};
}

Status Session::address(const std::string &name, void **pointer, uint64_t *bytes) {
  LocalView view;
  GPUCC_RT_TRY(find(name, view));
  *pointer = slotAddress(view, 0);
  *bytes = view.localBytes;
  return {};
}

Status Session::enableTaps(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    uint32_t tensor = 0;
    GPUCC_RT_TRY(findTensor(plan->index(), name, tensor));
    if (plan->index().tensors()->Get(tensor)->role() != plan::Role::tap)
      return GPUCC_RT_FAIL(Code::invalidArgument, "'", name,
                           "' is no intermediate value; it can be read without a tap");
  }
  GPUCC_RT_TRY(wait());
  tapNames = names;
  rebuildTaps();
  return {};
}

/// Storage and requests for the taps that this rank has under the profile in use.
void Session::rebuildTaps() {
  taps.clear();
  tapRequests.clear();
  for (const std::string &name : tapNames) {
    LocalView view;
    if (find(name, view))
      continue; // another stage's
    auto tap = std::make_unique<Tap>();
    tap->slots.assign(view.view->slots(), std::vector<char>(view.localBytes));
    const plan::TapPoint &point = *view.view->tap();
    tap->request = {point.segment(),     point.first(),   view.view->buffer(),
                    view.view->offset(), view.localBytes, &tap->slots};
    tapRequests.push_back(tap->request);
    taps[view.view->tensor()] = std::move(tap);
  }
}
