// Any bytes as a plan index, or as a whole file: a status, never a crash. A corpus:
// write-test-plans FOLDER.
#include "plan/PlanImage.h"

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace gpucc::rt;
  // The index alone (hashes would stop the fuzzer at the header); FlatBuffers needs aligned bytes.
  size_t rounded = (size + 63) / 64 * 64 + 64;
  void *aligned = std::aligned_alloc(64, rounded);
  std::memcpy(aligned, data, size);
  (void)verifyIndex(aligned, size, uint64_t(1) << 20);
  if (size >= sizeof(PlanHeader) && std::memcmp(data, planMagic, sizeof(planMagic)) == 0) {
    // A seed that is a plan file: its index.
    (void)verifyIndex(static_cast<char *>(aligned) + sizeof(PlanHeader), size - sizeof(PlanHeader),
                      uint64_t(1) << 20);
  }
  std::free(aligned);
  std::shared_ptr<PlanImage> plan;
  (void)PlanImage::fromBytes(data, size, ".", plan);
  return 0;
}
