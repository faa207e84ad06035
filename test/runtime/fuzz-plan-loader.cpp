// Any bytes as a plan index, or as a whole file: loaded, and where they are a plan, prepared and
// run. A status, never a crash. A corpus: test/fuzz/plan_corpus.py.
//
// Hashes would stop a fuzzer at the header, so the bytes are also taken as an index, for which
// header, hash and a section of zeros as blobs are made. Such plans run on the null driver, which
// checks and walks every command but has neither memory nor code: what a plan's machine code does
// is not for a loader to judge.
#include "gpucc_rt/PlanFile.h"
#include "plan/PlanImage.h"
#include "session/Session.h"

#include <cstdlib>
#include <cstring>

using namespace gpucc::rt;

/// More than the blobs of any seed.
static constexpr size_t blobBytes = 96 * planBlobAlignment;

static std::vector<char> fileOf(const uint8_t *index, size_t size) {
  static const std::vector<char> zeros(blobBytes);
  std::vector<char> file;
  file.reserve(size + blobBytes + 2 * planBlobAlignment);
  PlanFileWriter writer;
  writer.addBlob(zeros.data(), zeros.size());
  writer.write(index, size, [&](const void *data, size_t bytes) {
    const char *begin = static_cast<const char *>(data);
    file.insert(file.end(), begin, begin + bytes);
    return true;
  });
  return file;
}

static void run(const std::shared_ptr<PlanImage> &plan) {
  SessionOptions options;
  options.driver = "null";
  for (uint32_t profile = 0; profile < plan->index().profiles()->size() && profile < 4; ++profile) {
    options.profile = profile;
    std::unique_ptr<Session> session;
    if (Status status = Session::prepare(plan, options, session))
      continue;
    for (int i = 0; i < 2; ++i)
      if (session->execute() || session->wait())
        break;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::shared_ptr<PlanImage> plan;
  (void)PlanImage::fromBytes(data, size, ".", plan);
  if (plan)
    run(plan);
  if (size >= sizeof(PlanHeader) && std::memcmp(data, planMagic, sizeof(planMagic)) == 0) {
    data += sizeof(PlanHeader); // a seed that is a plan file: its index
    size -= sizeof(PlanHeader);
  }
  std::vector<char> file = fileOf(data, size);
  std::shared_ptr<PlanImage> made;
  (void)PlanImage::fromBytes(file.data(), file.size(), ".", made);
  if (made)
    run(made);
  return 0;
}
