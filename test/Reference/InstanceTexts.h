//===- InstanceTexts.h - the text of OpInstances ----------------*- C++ -*-===//
// One entry per family of ops; see OpInstances.h.
#ifndef GPUCC_TEST_REFERENCE_INSTANCETEXTS_H
#define GPUCC_TEST_REFERENCE_INSTANCETEXTS_H

namespace gpucc::test {
extern const char *const instancesPointwise;
extern const char *const instancesLeaves;
extern const char *const instancesReduction;
extern const char *const instancesContraction;
extern const char *const instancesWindow;
extern const char *const instancesMovement;
extern const char *const instancesComposites;
inline const char *const instanceTexts[] = {
    instancesPointwise, instancesLeaves,   instancesReduction, instancesContraction,
    instancesWindow,    instancesMovement, instancesComposites};
} // namespace gpucc::test

#endif // GPUCC_TEST_REFERENCE_INSTANCETEXTS_H
