//===- ConformanceTest.cpp - What every driver does with every kind of command
//------------------===//
#include "TestPlan.h"
#include "session/Session.h"

#include <numeric>
#include <thread>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

// test/runtime/cuda compiles this file again for the cuda driver.
#ifndef CONFORMANCE_DRIVERS
#define CONFORMANCE_DRIVERS "host", "null"
#endif

namespace {
/// Runs on every driver of this machine; values are compared where the driver computes.
class Conformance : public ::testing::TestWithParam<const char *> {
protected:
  std::unique_ptr<Session> open(TestPlan &p, uint32_t rank = 0,
                                std::shared_ptr<World> world = nullptr) {
    if (std::string(GetParam()) == "cuda")
      p.useSimtKernels();
    std::vector<char> bytes = p.file();
    std::shared_ptr<PlanImage> image;
    Status status = PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image);
    std::unique_ptr<Session> session;
    SessionOptions options;
    options.driver = GetParam();
    options.rank = rank;
    options.world = world;
    options.threads = 2;
    if (!status)
      status = Session::prepare(image, options, session);
    EXPECT_FALSE(status) << status.message();
    return session;
  }

  template <typename T> std::vector<T> read(Session &session, const char *name, size_t count) {
    std::vector<T> result(count);
    EXPECT_OK(session.read(name, result.data(), count * sizeof(T)));
    return result;
  }
};

TEST_P(Conformance, LaunchReadsAndWritesTensors) {
  TestPlan p = axpbPlan();
  auto session = open(p);
  std::vector<float> x(16);
  std::iota(x.begin(), x.end(), 0.f);
  ASSERT_OK(session->write("x", x.data(), 64));
  ASSERT_OK(session->run());
  std::vector<float> y = read<float>(*session, "y", 16);
  for (int i = 0; i < 16 && session->computes(); ++i)
    EXPECT_EQ(y[i], 2.f * i + 1.f);
}

TEST_P(Conformance, ExecuteIsOrderedBeforeReads) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  for (int i = 0; i < 5; ++i)
    ASSERT_OK(session->execute());
  ASSERT_OK(session->wait());
  if (session->computes())
    EXPECT_EQ(read<int64_t>(*session, "step", 1)[0], 5);
}

TEST_P(Conformance, BoundPointersTakeThePlaceOfBuffers) {
  TestPlan p = axpbPlan();
  auto session = open(p);
  if (std::string(GetParam()) == "cuda")
    GTEST_SKIP() << "host pointers are no device memory";
  alignas(256) float x[16], y[16] = {};
  std::fill(x, x + 16, 3.f);
  ASSERT_OK(session->bind("x", x, sizeof(x)));
  ASSERT_OK(session->bind("y", y, sizeof(y)));
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(y[15], 7.f);
  EXPECT_ERROR(session->bind("x", x, 8), "needs 64 bytes");
  ASSERT_OK(session->bind("y", nullptr, 0));
}

TEST_P(Conformance, CopyRowsAndFillPatterns) {
  TestPlan p;
  uint32_t a = p.buffer(1, 0, 64), b = p.buffer(1, 256, 64);
  p.tensor("a", Role::input, DType::i32, {16}, a);
  p.tensor("b", Role::output, DType::i32, {16}, b);
  FillT fill;
  fill.destination = p.whole(b);
  fill.pattern = 0xFFFFFFFF;
  p.command(std::move(fill), "fill");
  CopyT copy; // two rows of 2 ints out of rows of 8 into rows of 4
  copy.source = p.whole(a);
  copy.destination = p.whole(b);
  copy.bytes = 8;
  copy.rows = 2;
  copy.source_pitch = 32;
  copy.destination_pitch = 16;
  p.command(std::move(copy), "copy");
  auto session = open(p);
  std::vector<int32_t> data(16);
  std::iota(data.begin(), data.end(), 0);
  ASSERT_OK(session->write("a", data.data(), 64));
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<int32_t>(*session, "b", 16),
              (std::vector<int32_t>{0, 1, -1, -1, 8, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
}

TEST_P(Conformance, CopiesOfNothingEnd) {
  TestPlan p;
  uint32_t a = p.buffer(1, 0, 64), b = p.buffer(1, 256, 64);
  p.tensor("a", Role::input, DType::i32, {16}, a);
  p.tensor("b", Role::output, DType::i32, {16}, b);
  CopyT copy;
  copy.source = p.whole(a);
  copy.destination = p.whole(b);
  copy.rows = uint64_t(1) << 63;
  p.command(std::move(copy), "copy");
  auto session = open(p);
  ASSERT_OK(session->run());
}

TEST_P(Conformance, SlotsRingAndSlotValues) {
  // Each slot stores 100 + 7 * slot into its place; four slots of the script in a ring of four.
  TestPlan p;
  uint32_t out = p.buffer(1, 0, 8, 4, 256);
  TensorViewT &view = p.tensor("out", Role::output, DType::i64, {4}, out);
  view.slots = 4;
  TestPlan::slice(view, 0, value(0, {}, 1), 1);
  p.launch("store_i64", 1, p.view(out), p.scalar(value(100, {}, 7)));
  p.script({{0, 0}, {0, 1}, {0, 2}, {0, 3}});
  auto session = open(p);
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<int64_t>(*session, "out", 4), (std::vector<int64_t>{100, 107, 114, 121}));
}

TEST_P(Conformance, RankConstantsAreWrittenPerSlot) {
  TestPlan p;
  uint32_t c = p.buffer(0, 0, 16, 2, 256);
  TensorViewT &view = p.tensor("c", Role::output, DType::i64, {2, 2}, c);
  view.slots = 2;
  TestPlan::slice(view, 0, value(0, {}, 1), 1);
  auto constant = std::make_unique<RankConstantT>();
  constant->value = value(5, {}, 10);
  constant->buffer = c;
  constant->offset = 8;
  p.program().rank_constants.push_back(std::move(constant));
  auto session = open(p);
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<int64_t>(*session, "c", 4), (std::vector<int64_t>{0, 5, 0, 15}));
}

TEST_P(Conformance, TapsKeepIntermediateValues) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  EXPECT_ERROR(session->enableTaps({"w"}), "no intermediate value");
  float x[8] = {1, 2, 3, 4, 10, 20, 30, 40}, g[4];
  ASSERT_OK(session->write("x", x, sizeof(x)));
  EXPECT_ERROR(session->read("w.gradient", g, sizeof(g)), "enable its tap");
  ASSERT_OK(session->enableTaps({"w.gradient"}));
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<float>(*session, "w.gradient", 4), (std::vector<float>{11, 22, 33, 44}));
  else
    (void)session->read("w.gradient", g, sizeof(g));
}

TEST_P(Conformance, TracesEveryCommand) {
  TestPlan p = sgdPlan();
  auto session = open(p);
  session->setTrace(true);
  ASSERT_OK(session->run());
  EXPECT_EQ(session->traceLog().all().size(), 4u);
}

TEST_P(Conformance, WrongSizesAndNamesAreErrors) {
  TestPlan p = axpbPlan();
  auto session = open(p);
  float x[4];
  EXPECT_ERROR(session->write("x", x, 16), "64 bytes; given were 16");
  EXPECT_ERROR(session->write("z", x, 16), "it has x, y");
  EXPECT_ERROR(session->useProfile(3), "profile 3");
}

TEST_P(Conformance, ScriptsAreChosenByName) {
  TestPlan p;
  uint32_t s = p.buffer(0, 0, 8);
  p.tensor("s", Role::counter, DType::i64, {}, s);
  p.launch("increment", 1, p.view(s));
  p.script({{0, 0}});
  auto thrice = std::make_unique<ScriptT>();
  thrice->name = "thrice";
  for (int i = 0; i < 3; ++i)
    thrice->steps.emplace_back(0, 0);
  p.program().scripts.push_back(std::move(thrice));
  auto session = open(p);
  ASSERT_OK(session->run());
  ASSERT_OK(session->useScript("thrice"));
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<int64_t>(*session, "s", 1)[0], 4);
  EXPECT_ERROR(session->useScript("twice"),
               "there is no script 'twice'; the plan has main, thrice");
}

TEST_P(Conformance, PlansDoNotShareCode) {
  // Both images have the same symbols, and the loader knows a library by its path: the sessions
  // live side by side.
  std::vector<std::unique_ptr<Session>> sessions;
  for (bool other : {false, true, false}) {
    TestPlan p;
    p.otherKernels = other;
    uint32_t x = p.buffer(1, 0, 16), y = p.buffer(1, 256, 16);
    p.tensor("x", Role::input, DType::f32, {4}, x);
    p.tensor("y", Role::output, DType::f32, {4}, y);
    p.launch("axpb", 1, p.view(x), p.view(y), p.scalar(1.0), p.scalar(0.0));
    sessions.push_back(open(p));
    Session *session = sessions.back().get();
    ASSERT_OK(session->run());
    if (session->computes())
      EXPECT_EQ(read<float>(*session, "y", 4)[0], other ? 100.f : 0.f);
  }
}

TEST_P(Conformance, ProfilesShareStateAndHaveTheirPrograms) {
  // Profile "add" adds v to the state, profile "twice" does so twice.
  TestPlan p;
  uint32_t s = p.buffer(0, 0, 4), v = p.buffer(1, 0, 4);
  p.tensor("s", Role::parameter, DType::f32, {}, s);
  p.tensor("v", Role::input, DType::f32, {}, v);
  p.program().buffers[v]->bindable = true;
  p.launch("accumulate", 1, p.view(v), p.view(s));
  std::vector<char> once = p.file();
  std::unique_ptr<PlanT> copy(GetPlan(once.data() + sizeof(PlanHeader))->UnPack());
  auto second = std::move(copy->profiles[0]);
  second->name = "twice";
  second->programs[0]->scripts[0]->steps.emplace_back(0, 0);
  p.plan.profiles.push_back(std::move(second));
  auto session = open(p);
  float one = 1;
  for (uint32_t profile : {0u, 1u, 0u}) {
    ASSERT_OK(session->useProfile(profile));
    ASSERT_OK(session->write("v", &one, 4));
    ASSERT_OK(session->run());
  }
  if (session->computes())
    EXPECT_EQ(read<float>(*session, "s", 1)[0], 4.f);
  if (std::string(GetParam()) == "cuda")
    return; // host pointers are no device memory
  // A binding is of the profile in use (0), which the other would silently not look at.
  alignas(256) float bound = 5;
  ASSERT_OK(session->bind("v", &bound, 4));
  EXPECT_ERROR(session->useProfile(1), "unbind it");
  ASSERT_OK(session->useProfile(0));
  ASSERT_OK(session->run());
  if (session->computes())
    EXPECT_EQ(read<float>(*session, "s", 1)[0], 9.f);
  ASSERT_OK(session->bind("v", nullptr, 0));
  ASSERT_OK(session->useProfile(1));
}

INSTANTIATE_TEST_SUITE_P(Drivers, Conformance, ::testing::Values(CONFORMANCE_DRIVERS),
                         [](const auto &info) { return std::string(info.param); });
} // namespace
