//===- CudaRanksTest.cpp - Ranks on emulated devices, connected by the emulated NCCL -===//
#include "Environment.h"
#include "TestPlan.h"
#include "session/Session.h"

#include <thread>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
/// One session per rank, each on a thread and a device of its own.
class CudaRanks : public ::testing::Test {
protected:
  void SetUp() override {
    fakeCuda().set("reset", 0);
    fakeCuda().set("seed", 0);
  }
  void TearDown() override { fakeCuda().set("reset", 0); }

  template <class Body> void each(size_t ranks, Body body) {
    std::vector<std::thread> threads;
    for (size_t r = 0; r < ranks; ++r)
      threads.emplace_back([=] { body(r); });
    for (std::thread &t : threads)
      t.join();
  }
  std::vector<std::unique_ptr<Session>> open(TestPlan &p, size_t ranks, double watchdog = 30) {
    p.useSimtKernels();
    bytes = p.file();
    std::shared_ptr<World> world;
    Status status = createWorld("nccl", static_cast<int>(ranks), watchdog, world);
    EXPECT_FALSE(status) << status.message();
    std::vector<std::unique_ptr<Session>> sessions(ranks);
    each(ranks, [&](size_t r) {
      std::shared_ptr<PlanImage> image;
      EXPECT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
      SessionOptions options;
      options.driver = "cuda";
      options.rank = static_cast<uint32_t>(r);
      options.device = static_cast<uint32_t>(r);
      options.world = world;
      EXPECT_OK(Session::prepare(image, options, sessions[r]));
    });
    return sessions;
  }
  std::vector<char> bytes;
};

/// Each kind of collective once, on f32 values rank * 100 + i; n ranks on one axis.
TestPlan collectivesPlan(uint32_t n) {
  TestPlan p({{"dp", n}});
  auto communicator = std::make_unique<CommunicatorT>();
  communicator->name = "dp";
  communicator->axes = {0};
  p.plan.communicators.push_back(std::move(communicator));
  const char *names[] = {"sum", "gathered", "scattered", "exchanged", "first", "shifted"};
  const CollectiveKind kinds[] = {CollectiveKind::all_reduce,     CollectiveKind::all_gather,
                                  CollectiveKind::reduce_scatter, CollectiveKind::all_to_all,
                                  CollectiveKind::broadcast,      CollectiveKind::permute};
  uint32_t x = p.buffer(1, 0, 4 * n * 4);
  TensorViewT &view = p.tensor("x", Role::input, DType::f32, {n, 4 * n}, x);
  TestPlan::slice(view, 0, value(0, {Term(0, 1)}), 1);
  for (uint32_t k = 0; k < 6; ++k) {
    const uint64_t count = k == 1 ? 4 * n : k == 2 ? 4 : 4 * n;
    uint32_t out = p.buffer(1, 256 * (k + 1), count * 4);
    TensorViewT &o = p.tensor(names[k], Role::output, DType::f32, {n, int64_t(count)}, out);
    TestPlan::slice(o, 0, value(0, {Term(0, 1)}), 1);
    CommandT &command = p.collective(kinds[k], 0, k == 0 || k >= 4 ? 4 * n : 4, x, out);
    CollectiveT &c = *command.body.AsCollective();
    if (k == 1) // the first four elements of each
      c.input = std::make_unique<View>(x, 0, 16);
    if (k == 4)
      c.peer = value(1);
    if (k == 5) {
      c.peer = value(1, {Term(0, 1)}, 0, n);
      c.source = value(n - 1, {Term(0, 1)}, 0, n);
    }
  }
  return p;
}
} // namespace

TEST_F(CudaRanks, EveryCollectiveCapturedAndReplayed) {
  constexpr size_t n = 3;
  TestPlan p = collectivesPlan(n);
  auto sessions = open(p, n);
  for (int replay = 0; replay < 4; ++replay) {
    fakeCuda().set("seed", replay);
    each(n, [&](size_t r) {
      Session &session = *sessions[r];
      auto at = [&](size_t rank, size_t i) {
        return float(rank * 100 + i + 1000 * size_t(replay));
      };
      // Arrays are global; a rank writes and reads its own row of them.
      std::vector<float> x(n * 4 * n);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = at(i / (4 * n), i % (4 * n));
      auto read = [&](const char *name, size_t count) {
        std::vector<float> values(n * count);
        EXPECT_OK(session.read(name, values.data(), values.size() * 4));
        return std::vector<float>(values.begin() + long(r * count),
                                  values.begin() + long((r + 1) * count));
      };
      ASSERT_OK(session.write("x", x.data(), x.size() * 4));
      ASSERT_OK(session.run());
      std::vector<float> sum = read("sum", 4 * n), gathered = read("gathered", 4 * n),
                         scattered = read("scattered", 4), exchanged = read("exchanged", 4 * n),
                         first = read("first", 4 * n), shifted = read("shifted", 4 * n);
      for (size_t i = 0; i < 4 * n; ++i) {
        EXPECT_EQ(sum[i], at(0, i) + at(1, i) + at(2, i));
        EXPECT_EQ(gathered[i], at(i / 4, i % 4));
        EXPECT_EQ(exchanged[i], at(i / 4, r * 4 + i % 4));
        EXPECT_EQ(first[i], at(1, i));
        EXPECT_EQ(shifted[i], at((r + n - 1) % n, i));
      }
      for (size_t i = 0; i < 4; ++i)
        EXPECT_EQ(scattered[i], at(0, r * 4 + i) + at(1, r * 4 + i) + at(2, r * 4 + i));
    });
  }
  EXPECT_EQ(fakeCuda().get("cuGraphLaunch"), long(4 * n)) << "one per rank and replay";
}

TEST_F(CudaRanks, DataParallelStepOverlapsTheAllReduce) {
  TestPlan p = sgdPlanDp2();
  auto sessions = open(p, 2);
  for (int seed = 1; seed <= 10; ++seed) {
    fakeCuda().set("seed", seed);
    each(2, [&](size_t r) {
      const float x[8] = {1, 2, 3, 4, 10, 20, 30, 40};
      ASSERT_OK(sessions[r]->write("x", x, sizeof(x)));
      ASSERT_OK(sessions[r]->run());
      float w[4];
      ASSERT_OK(sessions[r]->read("w", w, sizeof(w)));
      for (int j = 0; j < 4; ++j)
        EXPECT_NEAR(w[j], float(j + 1) - 0.1f * float(seed) * 11.f * float(j + 1), 1e-3f);
    });
  }
}

TEST_F(CudaRanks, AFailedRankFailsTheOthers) {
  TestPlan p = sgdPlanDp2();
  auto sessions = open(p, 2, /*watchdog=*/1);
  // Rank 1 never runs; rank 0 must not hang.
  EXPECT_ERROR(sessions[0]->run(), "a collective does not finish");
  EXPECT_ERROR(sessions[1]->run(), "rank 0 failed");
}
