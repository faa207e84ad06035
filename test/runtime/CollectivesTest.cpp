//===- CollectivesTest.cpp - The threads world
//--------------------------------------------------===//
#include "TestPlan.h"
#include "comm/Communicator.h"
#include "comm/Reduce.h"
#include "gpucc_rt/RankGroup.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <thread>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
using Kind = plan::CollectiveKind;
namespace rt = gpucc::rt;

/// Runs `job(communicator, rank)` on n ranks that share one communicator.
std::vector<Status> onRanks(int n,
                            const std::function<Status(rt::Communicator &, World &, int)> &job,
                            double watchdog = 10) {
  std::shared_ptr<World> world = createThreadsWorld(n, watchdog);
  std::vector<int> members(n);
  std::iota(members.begin(), members.end(), 0);
  std::vector<Status> results(n);
  std::vector<std::thread> threads;
  for (int r = 0; r < n; ++r)
    threads.emplace_back([&, r] {
      std::unique_ptr<rt::Communicator> communicator;
      results[r] = world->connect(r, {0, "all", members, r}, communicator);
      if (!results[r])
        results[r] = job(*communicator, *world, r);
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

Status complete(rt::Communicator &communicator, World &world, int rank, CollectiveCall call) {
  std::unique_ptr<Request> request;
  GPUCC_RT_TRY(communicator.start(call, nullptr, request));
  for (bool done = request == nullptr; !done;) {
    GPUCC_RT_TRY(request->test(done));
    bool timedOut = false;
    if (!done)
      GPUCC_RT_TRY(world.waitForProgress(rank, timedOut));
    if (timedOut)
      return GPUCC_RT_FAIL(Code::communication, request->describe());
  }
  return {};
}

TEST(Threads, EveryCollective) {
  constexpr int n = 3, count = 5;
  auto results = onRanks(n, [&](rt::Communicator &c, World &w, int me) -> Status {
    auto call = [&](Kind kind, const std::vector<float> &in, std::vector<float> &out,
                    int64_t peer = -1, int64_t source = -1) {
      return complete(c, w, me,
                      {kind, plan::ReduceKind::sum, DType::f32, count, in.data(), out.data(), peer,
                       source, "test"});
    };
    std::vector<float> mine(count), all(n * count), out(count), wide(n * count);
    for (int i = 0; i < count; ++i)
      mine[i] = static_cast<float>(me * 100 + i);
    for (int i = 0; i < n * count; ++i)
      all[i] = static_cast<float>(me * 1000 + i);
    GPUCC_RT_TRY(call(Kind::all_reduce, mine, out));
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(out[i], 300 + 3 * i);
    std::vector<float> inPlace = mine;
    GPUCC_RT_TRY(call(Kind::all_reduce, inPlace, inPlace));
    EXPECT_EQ(inPlace, out);
    GPUCC_RT_TRY(call(Kind::all_gather, mine, wide));
    for (int i = 0; i < n * count; ++i)
      EXPECT_EQ(wide[i], i / count * 100 + i % count);
    GPUCC_RT_TRY(call(Kind::reduce_scatter, all, out));
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(out[i], 3000 + 3 * (me * count + i));
    GPUCC_RT_TRY(call(Kind::all_to_all, all, wide));
    for (int i = 0; i < n * count; ++i)
      EXPECT_EQ(wide[i], i / count * 1000 + me * count + i % count);
    GPUCC_RT_TRY(call(Kind::broadcast, mine, out, 2));
    EXPECT_EQ(out[1], 201);
    GPUCC_RT_TRY(call(Kind::permute, mine, out, (me + 1) % n, (me + n - 1) % n));
    EXPECT_EQ(out[0], (me + n - 1) % n * 100);
    return {};
  });
  for (Status &status : results)
    EXPECT_FALSE(status) << status.message();
}

TEST(Threads, SendsDoNotBlock) {
  // Both send first: with a rendezvous this would hang.
  auto results = onRanks(2, [&](rt::Communicator &c, World &w, int me) -> Status {
    int32_t out[2] = {me, me + 10}, in = -1;
    for (int i = 0; i < 2; ++i)
      GPUCC_RT_TRY(complete(
          c, w, me,
          {Kind::send, plan::ReduceKind::sum, DType::i32, 1, &out[i], nullptr, 1 - me, -1, "s"}));
    for (int i = 0; i < 2; ++i) {
      GPUCC_RT_TRY(complete(
          c, w, me,
          {Kind::recv, plan::ReduceKind::sum, DType::i32, 1, nullptr, &in, 1 - me, -1, "r"}));
      EXPECT_EQ(in, 1 - me + 10 * i);
    }
    return {};
  });
  for (Status &status : results)
    EXPECT_FALSE(status) << status.message();
}

/// A plan with tp=2 and pp=2, then one with dp=4, then the first again: communicator 0 has other
/// members each time.
TEST(Threads, PlansWithOtherGroupsShareAWorld) {
  std::shared_ptr<World> world = createThreadsWorld(4, 10);
  std::vector<std::thread> threads;
  for (int r = 0; r < 4; ++r)
    threads.emplace_back([&, r] {
      for (bool pairs : {true, false, true}) {
        int first = pairs ? r / 2 * 2 : 0;
        std::vector<int> members(pairs ? 2 : 4);
        std::iota(members.begin(), members.end(), first);
        std::unique_ptr<rt::Communicator> communicator;
        ASSERT_OK(world->connect(r, {0, "all", members, r - first}, communicator));
        float x = static_cast<float>(1 << r), sum = 0;
        ASSERT_OK(complete(
            *communicator, *world, r,
            {Kind::all_reduce, plan::ReduceKind::sum, DType::f32, 1, &x, &sum, -1, -1, "sum"}));
        EXPECT_EQ(sum, pairs ? static_cast<float>(3 << first) : 15.f);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// A rank whose prepare fails never connects; whoever comes later must not wait for it.
TEST(Threads, AnAbortedWorldConnectsNobody) {
  std::shared_ptr<World> world = createThreadsWorld(2, 10);
  world->abort(1, "no such device");
  std::unique_ptr<rt::Communicator> communicator;
  for (int r : {0, 1})
    EXPECT_ERROR(world->connect(r, {0, "all", {0, 1}, r}, communicator),
                 "rank 1 failed: no such device");
}

TEST(Threads, WatchdogNamesOperationAndMissingRanks) {
  auto results = onRanks(
      3,
      [&](rt::Communicator &c, World &w, int me) -> Status {
        float x = 0;
        if (me == 1)
          return {}; // never comes
        return complete(
            c, w, me,
            {Kind::all_reduce, plan::ReduceKind::sum, DType::f32, 1, &x, &x, -1, -1, "fc1.grad"});
      },
      0.2);
  ASSERT_TRUE(results[0]);
  EXPECT_EQ(results[0].message(), "all_reduce 'fc1.grad' on communicator 'all' waits for rank 1");
}

TEST(Threads, DifferentOperationsAreErrors) {
  auto results = onRanks(2, [&](rt::Communicator &c, World &w, int me) -> Status {
    float x[2] = {};
    Status status = complete(c, w, me,
                             {Kind::all_reduce, plan::ReduceKind::sum, DType::f32,
                              static_cast<uint64_t>(1 + me), x, x, -1, -1, me ? "b" : "a"});
    if (status)
      w.abort(me, status.message());
    return status;
  });
  ASSERT_TRUE(results[0]);
  ASSERT_TRUE(results[1]);
  std::string both = results[0].message() + results[1].message();
  EXPECT_NE(both.find("ranks disagree on communicator 'all', operation 0"), std::string::npos);
  EXPECT_NE(both.find("failed: "), std::string::npos);
}

TEST(Reduce, MemberOrderAndSingleRounding) {
  // In f32, (1e8 + 1) - 1e8 depends on the order; member order gives 0 here and 1 with the last two
  // swapped.
  float a = 1e8f, b = 1, c = -1e8f, out;
  auto sum = [&](std::vector<float *> values) {
    std::vector<const char *> inputs;
    for (float *v : values)
      inputs.push_back(reinterpret_cast<const char *>(v));
    reduceArrays(DType::f32, plan::ReduceKind::sum, inputs, {reinterpret_cast<char *>(&out)}, 0, 1);
    return out;
  };
  EXPECT_EQ(sum({&a, &b, &c}), 0.f);
  EXPECT_EQ(sum({&a, &c, &b}), 1.f);
  // bf16: 256 + 1 + 1 rounds once, to 258; rounding after each addition would stay at 256.
  uint16_t x = floatToBf16(256), y = floatToBf16(1), result;
  reduceArrays(
      DType::bf16, plan::ReduceKind::sum,
      {reinterpret_cast<char *>(&x), reinterpret_cast<char *>(&y), reinterpret_cast<char *>(&y)},
      {reinterpret_cast<char *>(&result)}, 0, 1);
  EXPECT_EQ(bf16ToFloat(result), 258.f);
  int32_t p = 5, q = -7, m;
  reduceArrays(DType::i32, plan::ReduceKind::max,
               {reinterpret_cast<char *>(&p), reinterpret_cast<char *>(&q)},
               {reinterpret_cast<char *>(&m)}, 0, 1);
  EXPECT_EQ(m, 5);
}

TEST(RankGroup, TwoRanksTrainLikeOne) {
  float x[8] = {1, 2, 3, 4, 10, 20, 30, 40};
  std::vector<std::vector<float>> weights;
  for (bool two : {false, true}) {
    TestPlan p = two ? sgdPlanDp2() : sgdPlan();
    std::vector<char> bytes = p.file();
    gpucc_rt::Plan plan;
    gpucc_rt::RankGroup group;
    gpucc_rt::Status status = gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan);
    ASSERT_FALSE(status) << status.message();
    status = group.open(plan, {});
    ASSERT_FALSE(status) << status.message();
    ASSERT_FALSE(group.enableTaps({"w.gradient"}));
    for (int step = 0; step < 3; ++step) {
      ASSERT_FALSE(group.write("x", x, sizeof(x)));
      status = group.run();
      ASSERT_FALSE(status) << status.message();
    }
    std::vector<float> w(4), g(4);
    ASSERT_FALSE(group.read("w", w.data(), 16));
    weights.push_back(w);
    ASSERT_FALSE(group.read("w.gradient", g.data(), 16)); // dp2: a partial sum, added up
    EXPECT_EQ(g, (std::vector<float>{11, 22, 33, 44}));
  }
  EXPECT_EQ(weights[0], weights[1]);
  EXPECT_NEAR(weights[0][0], 1 - 3 * 0.1 * 11, 1e-5);
}

TEST(RankGroup, StagesExchangeMicroBatches) {
  TestPlan p = pipelinePlan();
  std::vector<char> bytes = p.file();
  gpucc_rt::Plan plan;
  gpucc_rt::RankGroup group;
  gpucc_rt::Status status = gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan);
  ASSERT_FALSE(status) << status.message();
  status = group.open(plan, {});
  ASSERT_FALSE(status) << status.message();
  float x[8], y[8], z[8];
  for (int i = 0; i < 8; ++i)
    x[i] = static_cast<float>(i);
  for (int step = 0; step < 3; ++step) {
    ASSERT_FALSE(group.write("x", x, sizeof(x)));
    status = group.run();
    ASSERT_FALSE(status) << status.message();
  }
  ASSERT_FALSE(group.read("y", y, sizeof(y)));
  ASSERT_FALSE(group.read("z", z, sizeof(z)));
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(y[i], 2 * x[i] + 1);
    EXPECT_EQ(z[i], 3 * (2 * x[i] + 1));
  }
}

/// The error of the rank that failed, not that of the others, which fail because of it.
TEST(RankGroup, AFailedPrepareIsTheGroupsError) {
  TestPlan p = pipelinePlan();
  const float four[4] = {1, 2, 3, 4};
  p.useStage(1);
  p.constant("weights", four, sizeof(four), DType::f32, {4}, 0, 0);
  std::vector<char> bytes = p.file();
  const auto at = std::search(bytes.begin(), bytes.end(), reinterpret_cast<const char *>(four),
                              reinterpret_cast<const char *>(four + 4));
  ASSERT_NE(at, bytes.end());
  *at ^= 1;
  gpucc_rt::Plan plan;
  gpucc_rt::RankGroup group;
  ASSERT_FALSE(gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan));
  gpucc_rt::GroupOptions options;
  options.verifyWeights = true;
  gpucc_rt::Status status = group.open(plan, options);
  ASSERT_TRUE(status);
  EXPECT_NE(status.code(), GPUCC_RT_COMMUNICATION_ERROR) << status.message();
  EXPECT_NE(status.message().find("weights"), std::string::npos) << status.message();
}

TEST(RankGroup, AHungStepIsAnErrorOnEveryRank) {
  TestPlan p = pipelinePlan();
  p.file();                                                      // fills in the scripts
  p.plan.profiles[0]->programs[1]->scripts[0]->steps.pop_back(); // stage 1 forgets a micro-batch
  std::vector<char> bytes = p.file();
  gpucc_rt::Plan plan;
  gpucc_rt::RankGroup group;
  ASSERT_FALSE(gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan));
  gpucc_rt::GroupOptions options;
  options.watchdogSeconds = 0.3;
  ASSERT_FALSE(group.open(plan, options));
  gpucc_rt::Status status = group.run();
  ASSERT_TRUE(status);
  EXPECT_EQ(status.code(), GPUCC_RT_COMMUNICATION_ERROR);
  EXPECT_NE(status.message().find("recv 'recv' on communicator 'backward' waits for rank 1"),
            std::string::npos)
      << status.message();
  status = group.run();
  ASSERT_TRUE(status);
  EXPECT_NE(status.message().find("failed"), std::string::npos);
}
} // namespace
