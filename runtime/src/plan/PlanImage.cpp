//===- PlanImage.cpp - Opening plan files
//-------------------------------------------------------===//
#include "plan/PlanImage.h"

#include <cstdlib>
#include <cstring>

using namespace gpucc::rt;

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

Status PlanImage::open(const std::string &path, std::shared_ptr<PlanImage> &plan) {
  std::shared_ptr<PlanImage> image(new PlanImage());
  GPUCC_RT_TRY(image->file.open(path, "plan"));
  image->data = image->file.data();
  image->size = image->file.size();
  image->planName = path;
  image->planFolder = folderOf(path);
  GPUCC_RT_TRY(image->load().prefixed(path));
  plan = std::move(image);
  return {};
}

Status PlanImage::fromBytes(const void *bytes, uint64_t size, const std::string &folder,
                            std::shared_ptr<PlanImage> &plan) {
  std::shared_ptr<PlanImage> image(new PlanImage());
  image->size = size;
  image->planName = "<memory>";
  image->planFolder = folder.empty() ? "." : folder;
  if (size > 0) {
    // Aligned like a mapping: the index holds 8-byte fields, blobs hold vectors.
    uint64_t rounded = (size + planBlobAlignment - 1) / planBlobAlignment * planBlobAlignment;
    image->copy = static_cast<char *>(std::aligned_alloc(planBlobAlignment, rounded));
    if (!image->copy)
      return GPUCC_RT_FAIL(Code::outOfMemory, "no memory for a plan of ", size, " bytes");
    std::memcpy(image->copy, bytes, size);
    image->data = image->copy;
  }
  GPUCC_RT_TRY(image->load().prefixed(image->planName));
  plan = std::move(image);
  return {};
}

PlanImage::~PlanImage() { std::free(copy); }

Status PlanImage::load() {
  PlanHeader header;
  if (size < sizeof(header))
    return GPUCC_RT_FAIL(
        Code::invalidPlan, "not a gpucc plan: ", size, " bytes, the header alone has ",
        sizeof(header),
        "; the file is empty or was cut off: copy it again or compile the model again");
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.magic, planMagic, sizeof(planMagic)) != 0)
    return GPUCC_RT_FAIL(Code::invalidPlan, "not a gpucc plan: it does not begin with 'GPUCCPLN'; "
                                            "give a file that gpucc compile wrote");
  if (header.major != planMajorVersion)
    return GPUCC_RT_FAIL(Code::invalidPlan, "plan format ", header.major, ".", header.minor,
                         ", this runtime reads format ", planMajorVersion,
                         ".x; recompile the model with the matching gpucc");
  if (header.minimumMinor > planMinorVersion)
    return GPUCC_RT_FAIL(Code::invalidPlan, "the plan needs a runtime of format ", header.major,
                         ".", header.minimumMinor, " or later, this one is ", planMajorVersion, ".",
                         planMinorVersion, "; update the runtime or recompile the model");
  if (header.fileSize != size)
    return GPUCC_RT_FAIL(
        Code::invalidPlan, "the plan has ", size, " bytes, its header says ", header.fileSize,
        "; the file was cut off or overwritten: copy it again or compile the model again");
  if (header.indexOffset != sizeof(header) || header.indexSize > size - sizeof(header) ||
      header.blobOffset % planBlobAlignment != 0 || header.blobOffset > size ||
      header.blobOffset < sizeof(header) + header.indexSize)
    return GPUCC_RT_FAIL(Code::invalidPlan, "damaged header: index at ", header.indexOffset, " of ",
                         header.indexSize, " bytes and blobs at ", header.blobOffset,
                         " do not fit into ", size,
                         " bytes; copy the file again or compile the model again");
  const char *index = data + header.indexOffset;
  if (xxh64(index, header.indexSize) != header.indexHash)
    return GPUCC_RT_FAIL(Code::invalidPlan,
                         "the plan is damaged: its index does not have the hash in the header; "
                         "copy the file again or compile the model again");
  GPUCC_RT_TRY(verifyIndex(index, header.indexSize, size - header.blobOffset));
  root = plan::GetPlan(index);
  blobSection = header.blobOffset;
  return {};
}

const char *PlanImage::blobData(uint32_t id) const {
  return data + blobSection + root->blobs()->Get(id)->offset();
}

bool PlanImage::locate(const char *bytes, int &descriptor, uint64_t &offset) const {
  if (copy || bytes < data || bytes >= data + size)
    return false;
  descriptor = file.descriptor();
  offset = static_cast<uint64_t>(bytes - data);
  return true;
}

Status PlanImage::checkBlob(uint32_t id) const {
  const plan::Blob &blob = *root->blobs()->Get(id);
  if (xxh64(blobData(id), blob.size()) == blob.hash())
    return {};
  return GPUCC_RT_FAIL(Code::invalidPlan, planName, ": blob ", id, " (",
                       plan::EnumNameBlobKind(blob.kind()), ", ", blob.size(),
                       " bytes) does not have its hash; the file is damaged: copy it again or "
                       "compile the model again");
}
