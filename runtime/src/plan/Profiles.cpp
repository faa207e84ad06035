//===- Profiles.cpp - Which profile fits these shapes
//-------------------------------------------===//
#include "plan/Profiles.h"

using namespace gpucc::rt;

Status gpucc::rt::findTensor(const plan::Plan &plan, const std::string &name, uint32_t &index) {
  uint32_t count = plan.tensors() ? plan.tensors()->size() : 0;
  for (index = 0; index < count; ++index)
    if (plan.tensors()->Get(index)->name()->string_view() == name)
      return {};
  std::string known;
  uint32_t listed = 0;
  for (uint32_t i = 0; i < count && listed < 12; ++i) {
    plan::Role role = plan.tensors()->Get(i)->role();
    if (role == plan::Role::tap || role == plan::Role::moment || role == plan::Role::count)
      continue;
    known += (listed++ ? ", " : "") + plan.tensors()->Get(i)->name()->str();
  }
  return GPUCC_RT_FAIL(Code::invalidArgument, "the plan has no tensor '", name, "'; it has ", known,
                       listed == 12 ? ", ..." : "", ": correct the name or leave it out");
}

/// The view of a tensor under a profile, on whichever stage has one.
static const plan::TensorView *viewOf(const plan::Profile &profile, uint32_t tensor) {
  if (profile.programs())
    for (const plan::Program *program : *profile.programs())
      if (program->views())
        for (const plan::TensorView *view : *program->views())
          if (view->tensor() == tensor && !view->flat())
            return view;
  return nullptr;
}

Status gpucc::rt::profileShape(const plan::Plan &plan, uint32_t profile, uint32_t tensor,
                               Extents &shape) {
  const plan::Profile &bindings = *plan.profiles()->Get(profile);
  const plan::Tensor &entry = *plan.tensors()->Get(tensor);
  shape.clear();
  if (!entry.dims())
    return {};
  bool data = entry.role() == plan::Role::input || entry.role() == plan::Role::label ||
              entry.role() == plan::Role::output;
  if (const plan::TensorView *view = data ? viewOf(bindings, tensor) : nullptr) {
    // Outputs may depend on symbols through arithmetic ([past + seq]) that no symbol names.
    shape = toExtents(view->global_shape());
    return {};
  }
  for (const plan::Dim *dim : *entry.dims()) {
    int64_t size = dim->size();
    if (size < 0 && bindings.bindings())
      for (const plan::Binding *binding : *bindings.bindings())
        if (binding->symbol()->string_view() == dim->symbol()->string_view())
          size = binding->value();
    if (size < 0)
      return GPUCC_RT_FAIL(Code::invalidPlan, "profile '", bindings.name()->c_str(),
                           "' does not bind '", dim->symbol()->c_str(), "' of tensor '",
                           entry.name()->c_str(), "'");
    shape.push_back(size);
  }
  return {};
}

static std::string describeProfiles(const plan::Plan &plan, const std::vector<NamedShape> &shapes) {
  std::string text;
  for (uint32_t p = 0; p < plan.profiles()->size(); ++p) {
    text += concat("\n  ", plan.profiles()->Get(p)->name()->c_str(), ":");
    for (const NamedShape &given : shapes) {
      uint32_t tensor = 0;
      Extents shape;
      if (!findTensor(plan, given.name, tensor) && !profileShape(plan, p, tensor, shape))
        text += concat(" ", given.name, " ", toString(shape));
    }
  }
  return text;
}

Status gpucc::rt::selectProfile(const plan::Plan &plan, const std::vector<NamedShape> &shapes,
                                uint32_t &profile) {
  for (profile = 0; profile < plan.profiles()->size(); ++profile) {
    bool fits = true;
    for (const NamedShape &given : shapes) {
      uint32_t tensor = 0;
      Extents shape;
      GPUCC_RT_TRY(findTensor(plan, given.name, tensor));
      GPUCC_RT_TRY(profileShape(plan, profile, tensor, shape));
      fits &= shape == given.shape;
    }
    if (fits)
      return {};
  }
  std::string found;
  for (const NamedShape &given : shapes)
    found += concat(found.empty() ? "" : ", ", given.name, " ", toString(given.shape));
  return GPUCC_RT_FAIL(Code::invalidArgument, "no profile of the plan fits ", found,
                       "; the plan was compiled for", describeProfiles(plan, shapes),
                       "\nchange the inputs, or recompile with these shapes");
}
