//===- PlanLoaderTest.cpp - Damaged and malformed plans are errors, never crashes
//---------------===//
#include "TestPlan.h"
#include "plan/PlanImage.h"
#include "session/Session.h"

#include <cstring>
#include <fstream>
#include <functional>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
Status load(const std::vector<char> &bytes) {
  std::shared_ptr<PlanImage> plan;
  return PlanImage::fromBytes(bytes.data(), bytes.size(), ".", plan);
}

/// The index of a plan file, and room to change it.
std::vector<char> indexOf(const std::vector<char> &file, PlanHeader &header) {
  std::memcpy(&header, file.data(), sizeof(header));
  return {file.begin() + sizeof(header), file.begin() + sizeof(header) + header.indexSize};
}

TEST(PlanFile, HashIsXxh64) {
  // The specification's vectors for seed 0.
  EXPECT_EQ(xxh64("", 0), 0xEF46DB3751D8E999ull);
  EXPECT_EQ(xxh64("a", 1), 0xD24EC4F1A98C6E5Bull);
  EXPECT_EQ(xxh64("abc", 3), 0x44BC2CF5AD770999ull);
  const char *text = "Nobody inspects the spammish repetition";
  EXPECT_EQ(xxh64(text, std::strlen(text)), 0xFBCEA83C8A378BF1ull);
}

TEST(PlanFile, SameContentSameBytes) { EXPECT_EQ(sgdPlanDp2().file(), sgdPlanDp2().file()); }

TEST(PlanLoader, AcceptsTheTestPlans) {
  EXPECT_OK(load(axpbPlan().file()));
  EXPECT_OK(load(sgdPlan().file()));
  EXPECT_OK(load(sgdPlanDp2().file()));
}

TEST(PlanLoader, TruncatedFilesAreErrors) {
  std::vector<char> file = sgdPlanDp2().file();
  for (size_t length = 0; length < file.size(); length += length < 8192 ? 1 : 61) {
    std::vector<char> part(file.begin(), file.begin() + static_cast<long>(length));
    ASSERT_TRUE(load(part)) << length;
  }
}

TEST(PlanLoader, TruncatedIndexesAreErrors) {
  PlanHeader header;
  std::vector<char> index = indexOf(sgdPlanDp2().file(), header);
  for (size_t length = 0; length < index.size(); ++length) {
    std::vector<char> part(index.begin(), index.begin() + static_cast<long>(length));
    (void)verifyIndex(part.data(), part.size(), 1 << 20); // whatever it says, it does not crash
  }
}

TEST(PlanLoader, EveryBitFlipIsAnErrorOrAUsablePlan) {
  std::vector<char> file = sgdPlan().file();
  PlanHeader header;
  size_t size = indexOf(file, header).size();
  size_t accepted = 0;
  for (size_t bit = 0; bit < size * 8; ++bit) {
    std::vector<char> damaged = file;
    damaged[sizeof(header) + bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_TRUE(load(damaged)) << "the hash of the index does not see bit " << bit;
    header.indexHash = xxh64(damaged.data() + sizeof(header), size);
    std::memcpy(damaged.data(), &header, sizeof(header));
    std::shared_ptr<PlanImage> plan;
    if (PlanImage::fromBytes(damaged.data(), damaged.size(), ".", plan))
      continue;
    ++accepted; // the flip made another plan: it can be prepared and run without harm
    std::unique_ptr<Session> session;
    SessionOptions options;
    options.driver = "null";
    if (!Session::prepare(plan, options, session))
      (void)session->run();
  }
  EXPECT_GT(accepted, 0u);
}

TEST(PlanLoader, HeaderErrorsTeach) {
  std::vector<char> file = axpbPlan().file();
  auto changed = [&](size_t at, char value) {
    std::vector<char> copy = file;
    copy[at] = value;
    return copy;
  };
  EXPECT_ERROR(load(changed(0, 'X')), "does not begin with 'GPUCCPLN'");
  EXPECT_ERROR(load(changed(8, 9)), "plan format 9.1, this runtime reads format 1.x; recompile");
  EXPECT_ERROR(load(changed(16, 5)), "needs a runtime of format 1.5 or later");
  EXPECT_ERROR(load({}), "0 bytes");
  std::vector<char> longer = file;
  longer.push_back(0);
  EXPECT_ERROR(load(longer), "cut off or overwritten");
}

TEST(PlanLoader, DamagedCodeIsNotRun) {
  std::vector<char> file = axpbPlan().file();
  PlanHeader header;
  indexOf(file, header);
  file[header.blobOffset + 5000] ^= 1;
  std::shared_ptr<PlanImage> plan;
  ASSERT_OK(PlanImage::fromBytes(file.data(), file.size(), ".", plan));
  std::unique_ptr<Session> session;
  EXPECT_ERROR(Session::prepare(plan, {}, session), "does not have its hash");
}

struct BadPlan {
  const char *name;
  std::function<void(TestPlan &)> damage;
  const char *message;
};

TEST(PlanLoader, MeaninglessFieldsAreErrorsWithTheirPlace) {
  auto &&main = [](TestPlan &p) -> SegmentT & { return *p.program().segments[0]; };
  const BadPlan cases[] = {
      {"ranks", [](TestPlan &p) { p.plan.ranks = 4; }, "the stages have 2 ranks, the plan 4"},
      {"buffer id", [](TestPlan &p) { p.program().views[0]->buffer = 99; }, "views[0]: buffer 99"},
      {"buffer beyond arena", [](TestPlan &p) { p.program().buffers[0]->offset = 4090; },
       "16 bytes at 4090 leave the arena 'state' of 4096"},
      {"offset that wraps", [](TestPlan &p) { p.program().buffers[0]->offset = ~0ull - 4; },
       "leave the arena"},
      {"view beyond buffer", [](TestPlan &p) { p.program().views[0]->offset = 1; },
       "16 bytes at 1 leave the buffer of 16"},
      {"slots", [](TestPlan &p) { p.program().buffers[0]->slots = 0; }, "0 slots"},
      {"local shape", [](TestPlan &p) { p.program().views[2]->local_shape[0] = 2; },
       "leave the buffer"},
      {"axis", [](TestPlan &p) { p.program().views[2]->slices[0]->start->terms[0] = Term(7, 1); },
       "axis 7, the stage has 1"},
      {"stream", [&](TestPlan &p) { main(p).commands[0]->stream = 9; },
       "commands[0]: 'gradient': stream 9, the program has 2"},
      {"event", [](TestPlan &p) { p.program().events = 1; }, "event 1, the program has 1"},
      {"copy", [&](TestPlan &p) { main(p).commands[0]->body.AsCopy()->bytes = 17; },
       "leave the view of 16"},
      {"collective count",
       [&](TestPlan &p) { main(p).commands[3]->body.AsCollective()->count = 5; },
       "20 bytes needed, the view has 16"},
      {"huge count",
       [&](TestPlan &p) { main(p).commands[3]->body.AsCollective()->count = ~0ull / 4; }, "count"},
      {"kernel", [&](TestPlan &p) { main(p).commands[5]->body.AsLaunch()->kernel = 40; },
       "kernel 40"},
      {"arguments", [&](TestPlan &p) { main(p).commands[5]->body.AsLaunch()->arguments.clear(); },
       "0 arguments, kernel 'increment' has 1"},
      {"kernel alignment", [](TestPlan &p) { p.plan.kernels[0]->arguments[0]->alignment = 512; },
       "not aligned to the 512 bytes"},
      {"script", [](TestPlan &p) { p.script({{3, 0}}); }, "step (3, 0)"},
      {"script without steps", [](TestPlan &p) { p.program().scripts[0]->steps.clear(); },
       "scripts[0]: no steps"},
      {"tensor twice", [](TestPlan &p) { p.plan.tensors[1]->name = "w"; }, "second tensor 'w'"},
      {"weight", [](TestPlan &p) { p.plan.weights[0]->offset = 4090; },
       "weights[0]: 'w': 16 bytes at 4090 leave the arena of 4096"},
      {"weight source", [](TestPlan &p) { p.plan.weights[0]->file_offset = 8; },
       "16 source bytes at 8 leave the 16 available"},
      {"escaping file",
       [](TestPlan &p) {
         p.plan.files.push_back(std::make_unique<ExternalFileT>());
         p.plan.files[0]->path = "data/../../secret";
       },
       "leaves the plan's folder"},
      {"communicator", [](TestPlan &p) { p.plan.communicators[0]->axes = {1}; },
       "communicators[0]: axis 1"},
      {"tap", [](TestPlan &p) { p.program().views.back()->tap->last = 50; },
       "tap: commands 0 to 50"},
      {"derived", [](TestPlan &p) { p.plan.tensors[0]->derived_from = 2; }, "derived_from"},
  };
  for (const BadPlan &bad : cases) {
    SCOPED_TRACE(bad.name);
    TestPlan p = sgdPlanDp2();
    p.file(); // fills in the script
    bad.damage(p);
    Status status = load(p.file());
    EXPECT_TRUE(status);
    if (status && std::string(bad.message) != "derived_from")
      EXPECT_NE(status.message().find(bad.message), std::string::npos) << status.message();
  }
}

TEST(PlanLoader, WhatTheMachineLacksIsNamed) {
  auto prepare = [](const std::function<void(NeedsT &)> &change) {
    TestPlan p = axpbPlan();
    change(*p.plan.needs);
    std::vector<char> bytes = p.file();
    std::shared_ptr<PlanImage> plan;
    std::unique_ptr<Session> session;
    Status status = PlanImage::fromBytes(bytes.data(), bytes.size(), ".", plan);
    SessionOptions options;
    options.driver = "host";
    return status ? std::move(status) : Session::prepare(plan, options, session);
  };
  EXPECT_OK(prepare([](NeedsT &needs) { needs.architectures = {"x86-64-v9", "x86-64"}; }));
  EXPECT_ERROR(prepare([](NeedsT &needs) { needs.architectures = {"x86-64-v9"}; }),
               "needs CPU level 'x86-64-v9', this runtime knows");
  EXPECT_ERROR(prepare([](NeedsT &needs) { needs.target = Target::cuda; }),
               "the plan is for target cuda, the host driver runs host plans");
  EXPECT_ERROR(prepare([](NeedsT &needs) { needs.device_bytes = uint64_t(1) << 50; }),
               "needs 1073741824 MiB per rank, this machine has");
}

TEST(PlanLoader, ExternalWeightsAreCheckedBySize) {
  std::string folder = ::testing::TempDir();
  TestPlan p = sgdPlan();
  auto file = std::make_unique<ExternalFileT>();
  file->path = "external-weights.bin";
  file->size = 24;
  p.plan.files.push_back(std::move(file));
  p.plan.weights[0]->blob = -1;
  p.plan.weights[0]->file = 0;
  p.plan.weights[0]->file_offset = 8;
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> plan;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), folder, plan));
  auto write = [&](const std::vector<float> &values) {
    std::ofstream(folder + "/external-weights.bin", std::ios::binary)
        .write(reinterpret_cast<const char *>(values.data()),
               static_cast<long>(values.size() * sizeof(float)));
  };
  std::unique_ptr<Session> session;
  write({0, 0, 1, 2, 3});
  EXPECT_ERROR(Session::prepare(plan, {}, session), "have 20 bytes, the plan was compiled with 24");
  write({0, 0, 1, 2, 3, 5});
  SessionOptions options;
  options.verifyWeights = true;
  EXPECT_ERROR(Session::prepare(plan, options, session),
               "not those that the plan was compiled with");
  ASSERT_OK(Session::prepare(plan, {}, session));
  float w[4];
  ASSERT_OK(session->read("w", w, sizeof(w)));
  EXPECT_EQ(w[3], 5.f);
}
} // namespace
