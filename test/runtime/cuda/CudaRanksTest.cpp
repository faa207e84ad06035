//===- CudaRanksTest.cpp - Ranks on emulated devices, connected by the emulated NCCL -===//
#include "Environment.h"
#include "TestPlan.h"
#include "session/Session.h"

#include <thread>
#include <tuple>

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
  std::vector<std::unique_ptr<Session>> open(TestPlan &p, size_t ranks, double watchdog = 30,
                                             bool noGraphs = false) {
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
      options.noGraphs = noGraphs;
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
/// Two stages and two micro-batches: stage 0 sends 4 floats of x, stage 1 answers with 2 x + 1. The
/// directions have communicators of their own; sends are on stream 1, forked and joined.
TestPlan forkedSendsPlan() {
  TestPlan p;
  p.addStage("second");
  auto pair = [&](const char *name, uint32_t from, int to) {
    auto communicator = std::make_unique<CommunicatorT>();
    communicator->name = name;
    communicator->kind = CommunicatorKind::stage_pair;
    communicator->stage = from;
    communicator->to_stage = to;
    p.plan.communicators.push_back(std::move(communicator));
  };
  pair("forward", 0, 1);
  pair("backward", 1, 0);
  auto event = [](auto body, uint32_t id) {
    body.event = id;
    return body;
  };
  auto sendOn1 = [&](uint32_t communicator, uint32_t buffer) {
    p.program().events = 2;
    p.command(event(EventRecordT(), 0), "ready");
    p.command(event(EventWaitT(), 0), "ready", 1);
    CollectiveT send;
    send.kind = CollectiveKind::send;
    send.communicator = communicator;
    send.dtype = DType::f32;
    send.count = 4;
    send.input = p.whole(buffer);
    send.peer = value(1);
    p.command(std::move(send), "send", 1);
    p.command(event(EventRecordT(), 1), "sent", 1);
    p.command(event(EventWaitT(), 1), "sent");
  };
  auto receive = [&](uint32_t communicator, uint32_t buffer) {
    CollectiveT receive;
    receive.kind = CollectiveKind::recv;
    receive.communicator = communicator;
    receive.dtype = DType::f32;
    receive.count = 4;
    receive.output = p.whole(buffer);
    receive.peer = value(0);
    p.command(std::move(receive), "recv");
  };
  for (uint32_t stage : {0u, 1u}) {
    p.useStage(stage);
    uint32_t in = p.buffer(1, 0, 16, 2, 256), out = p.buffer(1, 1024, 16, 2, 256);
    if (stage == 0) {
      for (auto [name, role, buffer] :
           {std::tuple{"x", Role::input, in}, {"y", Role::output, out}}) {
        TensorViewT &view = p.tensor(name, role, DType::f32, {2, 4}, buffer);
        view.slots = 2;
        TestPlan::slice(view, 0, value(0, {}, 1), 1);
      }
      sendOn1(0, in);
      p.segment("backward");
      receive(1, out);
    } else {
      receive(0, in);
      p.launch("axpb", 1, p.view(in), p.view(out), p.scalar(2.0), p.scalar(1.0));
      p.segment("backward");
      sendOn1(1, out);
    }
    p.script({{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  }
  return p;
}
} // namespace

TEST_F(CudaRanks, PipelineOfTwoStages) {
  TestPlan p = forkedSendsPlan();
  auto sessions = open(p, 2, /*watchdog=*/5);
  for (int seed = 0; seed < 5; ++seed) {
    fakeCuda().set("seed", seed);
    each(2, [&](size_t r) {
      float x[8], y[8];
      for (int i = 0; i < 8; ++i)
        x[i] = static_cast<float>(i + seed);
      if (r == 0)
        ASSERT_OK(sessions[r]->write("x", x, sizeof(x)));
      ASSERT_OK(sessions[r]->run());
      if (r == 0)
        ASSERT_OK(sessions[r]->read("y", y, sizeof(y)));
      for (int i = 0; r == 0 && i < 8; ++i)
        EXPECT_EQ(y[i], 2.f * x[i] + 1.f);
    });
  }
}

/// The order of 1F1B, in which stage 0 sends its second micro-batch before it receives the first
/// answer, and stage 1 answers before it receives the second: sends must not wait for receives.
TEST_F(CudaRanks, SendsDoNotWaitForTheirReceives) {
  for (bool noGraphs : {false, true}) {
    TestPlan p = forkedSendsPlan();
    p.useStage(1);
    p.script({{0, 0}, {1, 0}, {0, 1}, {1, 1}});
    auto sessions = open(p, 2, /*watchdog=*/5, noGraphs);
    for (int seed = 0; seed < 5; ++seed) {
      fakeCuda().set("seed", seed);
      each(2, [&](size_t r) {
        float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
        if (r == 0)
          ASSERT_OK(sessions[r]->write("x", x, sizeof(x)));
        ASSERT_OK(sessions[r]->run());
        if (r == 0)
          ASSERT_OK(sessions[r]->read("y", y, sizeof(y)));
        for (int i = 0; r == 0 && i < 8; ++i)
          EXPECT_EQ(y[i], 2.f * x[i] + 1.f);
      });
    }
  }
}

/// The suite's own pipeline: both stages send before they receive.
TEST_F(CudaRanks, BothStagesSendFirst) {
  TestPlan p = pipelinePlan();
  auto sessions = open(p, 2, /*watchdog=*/5);
  each(2, [&](size_t r) {
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, z[8] = {};
    if (r == 0)
      ASSERT_OK(sessions[r]->write("x", x, sizeof(x)));
    ASSERT_OK(sessions[r]->run());
    if (r == 0)
      ASSERT_OK(sessions[r]->read("z", z, sizeof(z)));
    for (int i = 0; r == 0 && i < 8; ++i)
      EXPECT_EQ(z[i], 3.f * (2.f * x[i] + 1.f));
  });
}

/// Scripts whose sends come in another order or are of another size have no place in common.
TEST_F(CudaRanks, SendsOfScriptsHaveTheirOwnPlaces) {
  // Stage 0 sends a, b, c (4 floats each) and d (128); script "other" sends d, then b.
  TestPlan p;
  p.addStage("second");
  auto pair = std::make_unique<CommunicatorT>();
  pair->name = "forward";
  pair->kind = CommunicatorKind::stage_pair;
  pair->to_stage = 1;
  p.plan.communicators.push_back(std::move(pair));
  const char *names[] = {"a", "b", "c", "d"};
  for (uint32_t stage : {0u, 1u}) {
    p.useStage(stage);
    for (uint32_t i = 0; i < 4; ++i) {
      const int64_t count = i == 3 ? 128 : 4;
      uint32_t buffer = p.buffer(1, 512 * i, static_cast<uint64_t>(count) * 4);
      std::string name = std::string(names[i]) + (stage ? ".received" : "");
      p.tensor(name, stage ? Role::output : Role::input, DType::f32, {count}, buffer);
      if (i)
        p.segment(names[i]);
      CollectiveT call;
      call.kind = stage ? CollectiveKind::recv : CollectiveKind::send;
      call.dtype = DType::f32;
      call.count = static_cast<uint64_t>(count);
      (stage ? call.output : call.input) = p.whole(buffer);
      call.peer = value(stage ? 0 : 1);
      p.command(std::move(call), names[i]);
    }
    p.script({{0, 0}, {1, 0}, {2, 0}});
    auto other = std::make_unique<ScriptT>();
    other->name = "other";
    other->steps = {Step(3, 0), Step(1, 0)};
    p.program().scripts.push_back(std::move(other));
  }
  for (bool noGraphs : {false, true}) {
    auto sessions = open(p, 2, /*watchdog=*/5, noGraphs);
    for (int seed = 0; seed < 10; ++seed) {
      fakeCuda().set("seed", seed);
      each(2, [&](size_t r) {
        for (int i = 0; r == 0 && i < 3; ++i) {
          const std::vector<float> sent(4, static_cast<float>(10 * seed + i));
          ASSERT_OK(sessions[0]->write(names[i], sent.data(), 16));
        }
        ASSERT_OK(sessions[r]->run());
        for (int i = 0; r == 1 && i < 3; ++i) {
          float received[4] = {};
          ASSERT_OK(sessions[1]->read(std::string(names[i]) + ".received", received, 16));
          EXPECT_EQ(received[0], static_cast<float>(10 * seed + i)) << names[i];
        }
      });
    }
    EXPECT_STREQ(fakeCuda().report(), "");
  }
}

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

/// Rank 1 has no device and never connects; rank 0 waits for it in NCCL.
TEST_F(CudaRanks, ARankThatCannotPrepareFailsTheOthers) {
  TestPlan p = sgdPlanDp2();
  p.useSimtKernels();
  bytes = p.file();
  std::shared_ptr<World> world;
  ASSERT_OK(createWorld("nccl", 2, /*watchdog=*/20, world));
  std::vector<Status> results(2);
  each(2, [&](size_t r) {
    std::shared_ptr<PlanImage> image;
    EXPECT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
    SessionOptions options;
    options.driver = "cuda";
    options.rank = static_cast<uint32_t>(r);
    options.device = r == 0 ? 0 : 99;
    options.world = world;
    std::unique_ptr<Session> session;
    results[r] = Session::prepare(image, options, session);
  });
  EXPECT_ERROR(std::move(results[1]), "device 99");
  EXPECT_ERROR(std::move(results[0]), "rank 1 failed: ");
}

TEST_F(CudaRanks, TheWatchdogAlsoWaitsForConnections) {
  std::shared_ptr<World> world;
  ASSERT_OK(createWorld("nccl", 2, /*watchdog=*/0.3, world));
  std::unique_ptr<gpucc::rt::Communicator> communicator;
  EXPECT_ERROR(world->connect(0, {0, "dp", {0, 1}, 0}, communicator),
               "communicator 'dp', rank 0: does not finish within 0.3 s");
}

/// A plan with tp=2 and pp=2, then one with dp=4: communicator 0 has other members.
TEST_F(CudaRanks, PlansWithOtherGroupsShareAWorld) {
  std::shared_ptr<World> world;
  ASSERT_OK(createWorld("nccl", 4, /*watchdog=*/5, world));
  each(4, [&](size_t rank) {
    const int r = static_cast<int>(rank), first = r / 2 * 2;
    std::unique_ptr<gpucc::rt::Communicator> pair, all;
    ASSERT_OK(world->connect(r, {0, "tp", {first, first + 1}, r - first}, pair));
    ASSERT_OK(world->connect(r, {0, "dp", {0, 1, 2, 3}, r}, all));
  });
}
