//===- Profiles.h - Which profile fits these shapes
//---------------------------------------------===//
//
// A profile binds the plan's symbols: input x [batch, 784] with profiles {batch=1}, {batch=32}
// accepts [1, 784] and [32, 784]; [7, 784] is an error that lists both.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_PROFILES_H
#define GPUCC_RT_PLAN_PROFILES_H

#include "core/Status.h"
#include "plan/Slices.h"

namespace gpucc::rt {

struct NamedShape {
  std::string name;
  Extents shape;
};

/// Index of a tensor; an unknown name is an error that lists the plan's names.
Status findTensor(const plan::Plan &plan, const std::string &name, uint32_t &index);

/// Global extents under a profile; fails for a symbol without a binding.
Status profileShape(const plan::Plan &plan, uint32_t profile, uint32_t tensor, Extents &shape);

/// The first profile under which all these tensors have these shapes.
Status selectProfile(const plan::Plan &plan, const std::vector<NamedShape> &shapes,
                     uint32_t &profile);

} // namespace gpucc::rt

#endif // GPUCC_RT_PLAN_PROFILES_H
