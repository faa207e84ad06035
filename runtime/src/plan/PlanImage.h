//===- PlanImage.h - A plan file in memory, checked
//---------------------------------------------===//
//
// open() maps the file and verifies header, index hash, FlatBuffers structure and the meaning of
// every field (ids, offsets, sizes: VerifyPlan.cpp, VerifyProgram.cpp). After that the index can be
// read without a check. Blobs with code are hashed when they are used, weights on demand.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_PLANIMAGE_H
#define GPUCC_RT_PLAN_PLANIMAGE_H

#include "core/MappedFile.h"
#include "core/Status.h"
#include "gpucc_rt/PlanFile.h"
#include "plan_generated.h"

#include <memory>
#include <string>

namespace gpucc::rt {

class PlanImage {
public:
  /// Maps `path`.
  static Status open(const std::string &path, std::shared_ptr<PlanImage> &plan);
  /// A copy of a plan in memory; `folder` is where external weight files are looked up.
  static Status fromBytes(const void *bytes, uint64_t size, const std::string &folder,
                          std::shared_ptr<PlanImage> &plan);
  ~PlanImage();

  const plan::Plan &index() const { return *root; }
  const std::string &name() const { return planName; } ///< path, or "<memory>"
  const std::string &folder() const { return planFolder; }

  /// Bytes of a blob (mapped, 4096-aligned in files).
  const char *blobData(uint32_t id) const;
  uint64_t blobSize(uint32_t id) const { return root->blobs()->Get(id)->size(); }
  /// Where bytes of a blob lie in the plan's file; false for a plan in memory.
  bool locate(const char *bytes, int &descriptor, uint64_t &offset) const;
  /// Compares the blob's bytes with its hash.
  Status checkBlob(uint32_t id) const;

private:
  PlanImage() = default;
  Status load();
  const char *data = nullptr;
  uint64_t size = 0;
  MappedFile file;      ///< either this
  char *copy = nullptr; ///< or a copy of the caller's bytes
  const plan::Plan *root = nullptr;
  uint64_t blobSection = 0;
  std::string planName, planFolder;
};

/// Verifies FlatBuffers structure and meaning of an index alone. `blobBytes`: size of the blob
/// section that follows. What the fuzzer calls: any bytes give a Status, never a crash.
Status verifyIndex(const void *bytes, uint64_t size, uint64_t blobBytes);

} // namespace gpucc::rt

#endif // GPUCC_RT_PLAN_PLANIMAGE_H
