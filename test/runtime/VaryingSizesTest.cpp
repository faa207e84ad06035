//===- VaryingSizesTest.cpp - Outputs whose size a step computes
//--------------------------------------===//
#include "TestPlan.h"
#include "gpucc_rt/gpucc_rt.h"
#include "plan/PlanImage.h"
#include "session/Session.h"

#include <cstring>
#include <functional>
#include <numeric>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
std::unique_ptr<Session> open(TestPlan p, const char *driver) {
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  std::unique_ptr<Session> session;
  SessionOptions options;
  options.driver = driver;
  Status status = PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image);
  if (!status)
    status = Session::prepare(image, options, session);
  EXPECT_FALSE(status) << status.message();
  return session;
}

std::unique_ptr<Session> run(int64_t n) {
  std::unique_ptr<Session> session = open(varyingPlan(), "host");
  std::vector<float> x(12);
  std::iota(x.begin(), x.end(), 0.f);
  EXPECT_OK(session->write("x", x.data(), 48));
  EXPECT_OK(session->write("n", &n, 8));
  EXPECT_OK(session->run());
  return session;
}

TEST(VaryingSizes, RowsAreReadDense) {
  for (int64_t n : {0, 1, 4, 6}) {
    SCOPED_TRACE(n);
    std::unique_ptr<Session> session = run(n);
    Extents dims;
    ASSERT_OK(session->shape("y", dims));
    EXPECT_EQ(dims, (Extents{2, n}));
    std::vector<float> y(static_cast<size_t>(2 * n)), expected;
    ASSERT_OK(session->read("y", y.data(), y.size() * sizeof(float)));
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t column = 0; column < n; ++column)
        expected.push_back(static_cast<float>(6 * row + column));
    EXPECT_EQ(y, expected);
  }
}

TEST(VaryingSizes, GatherReadsTheSame) {
  std::unique_ptr<Session> session = run(2);
  std::vector<float> y(4);
  ASSERT_OK(gather({session.get()}, "y", y.data(), 16));
  EXPECT_EQ(y, (std::vector<float>{0, 1, 6, 7}));
}

TEST(VaryingSizes, OtherTensorsHaveTheirShapes) {
  std::unique_ptr<Session> session = run(2);
  Extents dims;
  ASSERT_OK(session->shape("x", dims));
  EXPECT_EQ(dims, (Extents{2, 6}));
  EXPECT_ERROR(session->shape("z", dims), "'z'");
}

TEST(VaryingSizes, TheSizeIsKnownAfterAStep) {
  std::unique_ptr<Session> session = open(varyingPlan(), "host");
  Extents dims;
  float y[12];
  EXPECT_ERROR(session->shape("y", dims), "is computed by a step, and none was run");
  EXPECT_ERROR(session->read("y", y, sizeof(y)), "is computed by a step, and none was run");
  ASSERT_OK(session->run());
  ASSERT_OK(session->shape("y", dims));
  ASSERT_OK(session->useProfile(0));
  EXPECT_ERROR(session->shape("y", dims), "none was run under this profile");
}

TEST(VaryingSizes, OtherSizesThanTheRealOneAreErrors) {
  std::unique_ptr<Session> session = run(4);
  float y[12];
  EXPECT_ERROR(session->read("y", y, 48),
               "'y' is f32 [2, 4] after this step, 32 bytes; given were 48");
  EXPECT_ERROR(session->read("y", y, 28), "32 bytes; given were 28");
}

TEST(VaryingSizes, CountsOutsideTheBoundAreErrors) {
  for (int64_t n : {int64_t(-1), int64_t(7), INT64_MIN, INT64_MAX}) {
    SCOPED_TRACE(n);
    std::unique_ptr<Session> session = run(n);
    Extents dims;
    float y[12];
    EXPECT_ERROR(session->shape("y", dims), "allowed are 0 to 6: the plan is damaged");
    EXPECT_ERROR(session->read("y", y, sizeof(y)), "allowed are 0 to 6: the plan is damaged");
  }
}

TEST(VaryingSizes, ADriverWithoutNumbersReportsTheBound) {
  std::unique_ptr<Session> session = open(varyingPlan(), "null");
  Extents dims;
  ASSERT_OK(session->shape("y", dims));
  EXPECT_EQ(dims, (Extents{2, 6}));
}

TEST(VaryingSizes, TheCApi) {
  std::vector<char> bytes = varyingPlan().file();
  gpucc_rt_plan *plan = nullptr;
  ASSERT_FALSE(gpucc_rt_plan_from_memory(bytes.data(), bytes.size(), nullptr, &plan));
  EXPECT_EQ(gpucc_rt_plan_varying_dim(plan, 2), 1);
  EXPECT_EQ(gpucc_rt_plan_varying_dim(plan, 0), -1);
  EXPECT_EQ(gpucc_rt_plan_varying_dim(plan, 99), -1);
  gpucc_rt_session *session = nullptr;
  ASSERT_FALSE(gpucc_rt_session_prepare(plan, nullptr, &session));
  int64_t n = 3, dims[GPUCC_RT_MAX_RANK] = {};
  ASSERT_FALSE(gpucc_rt_session_write(session, "n", &n, 8));
  ASSERT_FALSE(gpucc_rt_session_run(session));
  ASSERT_FALSE(gpucc_rt_session_shape(session, "y", dims));
  EXPECT_EQ(dims[0], 2);
  EXPECT_EQ(dims[1], 3);
  for (gpucc_rt_status *wrong :
       {gpucc_rt_session_shape(nullptr, "y", dims), gpucc_rt_session_shape(session, nullptr, dims),
        gpucc_rt_session_shape(session, "y", nullptr)}) {
    EXPECT_EQ(gpucc_rt_status_code(wrong), GPUCC_RT_INVALID_ARGUMENT);
    gpucc_rt_status_free(wrong);
  }
  gpucc_rt_session_free(session);
  gpucc_rt_plan_free(plan);
}

TEST(VaryingSizes, PlansThatMeanNothingAreErrors) {
  struct Bad {
    const char *name;
    std::function<void(TestPlan &)> damage;
    const char *message;
  };
  const Bad cases[] = {
      {"dimension", [](TestPlan &p) { p.plan.tensors[2]->varying_dim = 2; },
       "varying_dim 2, it has 2 dimensions"},
      {"negative dimension", [](TestPlan &p) { p.plan.tensors[2]->varying_dim = -7; },
       "varying_dim -7"},
      {"count without dimension", [](TestPlan &p) { p.plan.tensors[2]->varying_dim = -1; },
       "varying_dim -1"},
      {"dimension without count", [](TestPlan &p) { p.plan.tensors[2]->count = -1; },
       "count -1 is no tensor that counts"},
      {"count beyond", [](TestPlan &p) { p.plan.tensors[2]->count = 4; },
       "count 4 is no tensor that counts"},
      {"count of another role", [](TestPlan &p) { p.plan.tensors[2]->count = 1; },
       "count 1 is no tensor that counts"},
      {"count's type", [](TestPlan &p) { p.plan.tensors[3]->dtype = DType::i32; },
       "a count is no i64 scalar"},
      {"role", [](TestPlan &p) { p.plan.tensors[2]->role = Role::input; }, "only outputs"},
      {"nibbles", [](TestPlan &p) { p.plan.tensors[2]->dtype = DType::i4; }, "only outputs"},
      {"not counted here", [](TestPlan &p) { p.program().views.pop_back(); },
       "the program does not count the entries of 'y'"},
      {"slices",
       [](TestPlan &p) {
         TestPlan::slice(*p.program().views[2], 0, value(0), 2);
         TestPlan::slice(*p.program().views[2], 1, value(0), 6);
       },
       "in pieces"},
      {"count in slots",
       [](TestPlan &p) {
         p.program().buffers[3]->slots = 2;
         p.program().buffers[3]->slot_stride = 256;
         p.program().views[3]->slots = 2;
       },
       "in pieces"},
  };
  for (const Bad &bad : cases) {
    SCOPED_TRACE(bad.name);
    TestPlan p = varyingPlan();
    bad.damage(p);
    std::vector<char> bytes = p.file();
    std::shared_ptr<PlanImage> plan;
    EXPECT_ERROR(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", plan), bad.message);
  }
}

TEST(VaryingSizes, EveryBitFlipIsAnErrorOrAUsablePlan) {
  std::vector<char> file = varyingPlan().file();
  PlanHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  size_t accepted = 0, readable = 0;
  for (size_t bit = 0; bit < header.indexSize * 8; ++bit) {
    std::vector<char> damaged = file;
    damaged[sizeof(header) + bit / 8] ^= static_cast<char>(1 << bit % 8);
    header.indexHash = xxh64(damaged.data() + sizeof(header), header.indexSize);
    std::memcpy(damaged.data(), &header, sizeof(header));
    std::shared_ptr<PlanImage> plan;
    std::unique_ptr<Session> session;
    SessionOptions options;
    options.driver = "host";
    if (PlanImage::fromBytes(damaged.data(), damaged.size(), ".", plan) ||
        Session::prepare(plan, options, session))
      continue;
    ++accepted;
    Extents dims;
    if (session->run() || session->shape("y", dims))
      continue;
    std::vector<char> y(4096); // no tensor of the plan is larger
    for (uint64_t bytes : {uint64_t(0), uint64_t(48), uint64_t(4096)})
      (void)session->read("y", y.data(), bytes);
    ++readable;
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(readable, 0u);
}
} // namespace
