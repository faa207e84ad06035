// Schedules: bubble and memory against the published closed forms, faults in tables found, CSV.
#include "gpucc/Solvers/Schedules.h"
#include <gtest/gtest.h>

using namespace gpucc::solvers;

namespace {

TEST(Schedules, OneFOneBByHand) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::OneFOneB, 2, 3);
  EXPECT_EQ(schedule.dump(), "F0 F1 B0 F2 B1 B2 U\nF0 B0 F1 B1 F2 B2 U\n");
}

TEST(Schedules, ZeroBubbleByHand) {
  // Qi et al., Fig. 3: the last rank runs F I and W right behind, the first keeps no W back.
  PipelineSchedule schedule = makeSchedule(ScheduleKind::ZbH1, 2, 3);
  EXPECT_EQ(schedule.dump(), "F0 F1 I0 W0 F2 I1 W1 I2 W2 U\nF0 I0 F1 I1 W0 F2 I2 W1 W2 U\n");
}

constexpr double none = -1;

/// Bubble that the tables of the sources state (anchors: sail-sg README, DualPipe README).
double published(ScheduleKind kind, int p, int v, double F, double I, double W) {
  double B = I + W;
  switch (kind) {
  case ScheduleKind::GPipe:
  case ScheduleKind::OneFOneB:
    return (p - 1) * (F + B);
  case ScheduleKind::Interleaved:
    return (p - 1) * (F + B) / v;
  case ScheduleKind::ZbH1:
    return (p - 1) * (F + I - W);
  case ScheduleKind::ZbH2:
    return (p - 1) * (F + I - 2 * W);
  case ScheduleKind::ZbV:
    return F == I && I == W ? 0 : none;
  case ScheduleKind::DualPipe: // F&B = F + B: nothing is won inside a pair
    return F == I ? (p / 2.0 - 1) * (F + B + B - 3 * W) : none;
  case ScheduleKind::DualPipeV: // PP = 2p stages of half a share on p ranks
    return F == I ? (p - 1) * (F + B + B - 3 * W) / 2 : none;
  }
  return none;
}

double publishedMemory(ScheduleKind kind, int p, int m, int v, int rank) {
  switch (kind) {
  case ScheduleKind::GPipe:
    return m;
  case ScheduleKind::OneFOneB:
    return std::min(m, p - rank);
  case ScheduleKind::Interleaved:
    return rank == 0 ? p + (p - 1.0) / v : none;
  case ScheduleKind::ZbH1:
  case ScheduleKind::ZbV:
    return p;
  case ScheduleKind::ZbH2:
    return 2 * p - 1;
  case ScheduleKind::DualPipe:
    return p + 1;
  case ScheduleKind::DualPipeV:
    return (2 * p + 1) / 2.0;
  }
  return none;
}

void compare(ScheduleKind kind, int p, int m, int v) {
  PipelineSchedule schedule = makeSchedule(kind, p, m, v);
  ASSERT_EQ(schedule.check(), "") << name(kind) << schedule.dump();
  // Chunks of a rank's share; both copies of DualPipe are whole shares.
  int chunks = chunksPerRank(kind, v), parts = kind == ScheduleKind::DualPipe ? 1 : chunks;
  const double times[][3] = {{1, 1, 1}, {1, 2, 1}, {3, 4, 2}, {2, 2, 1}};
  for (auto [F, I, W] : times) {
    std::vector<StageSeconds> stages(static_cast<size_t>(schedule.numStages()),
                                     {F / parts, I / parts, W / parts});
    ScheduleTiming timing = timeSchedule(schedule, stages);
    double bubble = published(kind, p, v, F, I, W);
    if (bubble != none) {
      EXPECT_NEAR(timing.bubble, bubble, 1e-9) << name(kind) << " p" << p << " m" << m << " v" << v;
      EXPECT_NEAR(bubbleSeconds(kind, p, v, {F, I, W}), bubble, 1e-12);
    }
  }
  std::vector<int> kept = microBatchesInFlight(schedule);
  for (int i = 0; i < p; ++i) {
    double expected = publishedMemory(kind, p, m, v, i);
    if (expected == none)
      continue;
    EXPECT_DOUBLE_EQ(static_cast<double>(kept[static_cast<size_t>(i)]) / parts, expected)
        << name(kind) << " p" << p << " m" << m << " v" << v << " rank " << i;
    EXPECT_DOUBLE_EQ(keptMicroBatches(kind, p, m, v, i), expected);
  }
}

TEST(Schedules, BubbleAndMemoryEqualTheClosedForms) {
  for (int p = 2; p <= 16; ++p)
    for (int m = 1; m <= 64; ++m) {
      compare(ScheduleKind::GPipe, p, m, 1);
      if (m >= p)
        compare(ScheduleKind::OneFOneB, p, m, 1);
      for (int v = 2; v <= 4 && m % p == 0; ++v)
        if (m >=
            2 * p) // with m = p all chunks of the group are in flight at once: m, below the form
          compare(ScheduleKind::Interleaved, p, m, v);
      if (m < 2 * p)
        continue;
      for (ScheduleKind kind : {ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV})
        compare(kind, p, m, 1);
      if (p % 2 == 0 && m % 2 == 0)
        compare(ScheduleKind::DualPipe, p, m, 1);
      compare(ScheduleKind::DualPipeV, p, m, 1);
    }
}

TEST(Schedules, InterleavedBubbleHoldsForOneGroupToo) {
  for (int p : {2, 4, 8})
    for (int v : {2, 3, 4}) {
      PipelineSchedule schedule = makeSchedule(ScheduleKind::Interleaved, p, p, v);
      std::vector<StageSeconds> stages(static_cast<size_t>(p * v), {1.0 / v, 1.0 / v, 1.0 / v});
      EXPECT_NEAR(timeSchedule(schedule, stages).bubble, (p - 1) * 3.0 / v, 1e-9);
    }
}

// A greedy list scheduler (backward first, then forward, then weights, at most p kept) gets 9 here.
TEST(Schedules, ZbH1HasSevenUnitsOfBubble) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::ZbH1, 8, 16);
  ScheduleTiming timing = timeSchedule(schedule, std::vector<StageSeconds>(8, {1, 1, 1}));
  EXPECT_DOUBLE_EQ(timing.bubble, 7);
  EXPECT_DOUBLE_EQ(timing.total - 16 * 3, 7);
}

TEST(Schedules, OneFOneBBelowPMicroBatches) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::OneFOneB, 8, 2);
  EXPECT_EQ(schedule.check(), "");
  EXPECT_EQ(microBatchesInFlight(schedule), (std::vector<int>{2, 2, 2, 2, 2, 2, 2, 1}));
}

TEST(Schedules, TimeOfOneBackwardPerStage) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB})
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 4, 8, 32}) {
        PipelineSchedule schedule = makeSchedule(kind, p, m);
        ASSERT_EQ(schedule.check(), "") << schedule.dump();
        for (auto [f, b] : {std::pair<double, double>{1, 1}, {1, 2}, {3, 5}}) {
          ScheduleTiming timing =
              timeSchedule(schedule, std::vector<double>(p, f), std::vector<double>(p, b));
          EXPECT_DOUBLE_EQ(timing.total, (m + p - 1) * (f + b)) << name(kind) << p << ' ' << m;
        }
      }
}

TEST(Schedules, SendTimeIsAddedAtEveryBoundary) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::GPipe, 3, 1);
  ScheduleTiming timing = timeSchedule(schedule, {1, 1, 1}, {1, 1, 1}, 0.5);
  EXPECT_DOUBLE_EQ(timing.total, 6 + 4 * 0.5);
  // The two stages at the bottom of a V are neighbours on one rank: two boundaries each way.
  auto v = scheduleFromCsv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n", "v.csv");
  std::vector<StageSeconds> unit(4, {1, 1, 0});
  EXPECT_DOUBLE_EQ(timeSchedule(std::get<PipelineSchedule>(v), unit, {0.5, 1}).total, 8 + 4 * 0.5);
}

TEST(Schedules, FaultsAreNamed) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::OneFOneB, 2, 2);
  std::swap(schedule.stages[1][0], schedule.stages[1][1]);
  EXPECT_NE(schedule.check().find("row 1, cell 0 (B0)"), std::string::npos) << schedule.check();
  EXPECT_NE(schedule.check().find("before its F"), std::string::npos);
  schedule = makeSchedule(ScheduleKind::OneFOneB, 2, 2);
  schedule.stages[0].erase(schedule.stages[0].begin());
  EXPECT_NE(schedule.check(), "");
  // Stage 0 wants B1 before it has sent F0: nobody can move.
  schedule = makeSchedule(ScheduleKind::GPipe, 2, 2);
  schedule.stages[0] = {{ActionKind::Forward, 1},
                        {ActionKind::Backward, 1},
                        {ActionKind::Forward, 0},
                        {ActionKind::Backward, 0},
                        {ActionKind::Update, 0}};
  EXPECT_NE(schedule.check().find("wait for each other"), std::string::npos);
}

// Any single dropped, doubled or moved cell of any kind is refused with a place.
TEST(Schedules, EveryBrokenCellIsRefused) {
  for (ScheduleKind kind : allScheduleKinds()) {
    PipelineSchedule good = makeSchedule(kind, 4, 8, 2);
    for (size_t r = 0; r < 4; ++r)
      for (size_t k = 0; k + 1 < good.stages[r].size(); ++k) {
        PipelineSchedule dropped = good, doubled = good, moved = good;
        dropped.stages[r].erase(dropped.stages[r].begin() + static_cast<std::ptrdiff_t>(k));
        EXPECT_NE(dropped.check(), "") << name(kind) << r << ' ' << k;
        doubled.stages[r].insert(doubled.stages[r].begin() + static_cast<std::ptrdiff_t>(k),
                                 doubled.stages[r][k]);
        EXPECT_NE(doubled.check().find("row " + std::to_string(r) + ", cell"), std::string::npos)
            << name(kind) << r << ' ' << k << doubled.check();
        moved.stages[(r + 1) % 4].insert(moved.stages[(r + 1) % 4].begin(), good.stages[r][k]);
        EXPECT_NE(moved.check(), "") << name(kind) << r << ' ' << k;
      }
  }
}

TEST(Schedules, CsvRoundTrips) {
  for (ScheduleKind kind : allScheduleKinds())
    for (int p : {2, 4, 8}) {
      PipelineSchedule schedule = makeSchedule(kind, p, 2 * p, 3);
      auto again = scheduleFromCsv(toCsv(schedule), "s.csv");
      ASSERT_TRUE(std::holds_alternative<PipelineSchedule>(again))
          << std::get<std::string>(again) << toCsv(schedule);
      EXPECT_EQ(std::get<PipelineSchedule>(again).dump(), schedule.dump());
      EXPECT_EQ(toCsv(std::get<PipelineSchedule>(again)), toCsv(schedule));
    }
}

// The cells are those of torch.distributed.pipelining, at the step where they run.
TEST(Schedules, CsvByHand) {
  EXPECT_EQ(toCsv(makeSchedule(ScheduleKind::OneFOneB, 2, 2)),
            "0F0,0F1,,0B0,,0B1\n,1F0,1B0,1F1,1B1\n");
}

TEST(Schedules, CsvOfTheLoweredFormIsRead) {
  auto read = scheduleFromCsv("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD\n"
                              "1RECV_F0,1F0,1I0,1W0,1SEND_B0,1RESHARD\n",
                              "s.csv");
  ASSERT_TRUE(std::holds_alternative<PipelineSchedule>(read)) << std::get<std::string>(read);
  EXPECT_EQ(std::get<PipelineSchedule>(read).dump(), "F0 B0 U\nF0 I0 W0 U\n");
}

TEST(Schedules, BrokenCsvIsRefusedWithItsCell) {
  auto problem = [](const std::string &text) {
    auto read = scheduleFromCsv(text, "s.csv");
    return std::holds_alternative<std::string>(read) ? std::get<std::string>(read) : "";
  };
  EXPECT_EQ(problem("0F0,0B0\n1F0,1X0\n"),
            "s.csv: row 1, column 1: found '1X0', allowed stage, F, B, I or W, micro-batch; write "
            "e.g. 2F0 or (0F3;7B1)OVERLAP_F_B");
  EXPECT_NE(problem("0F0,0B0\n1B0,1F0\n").find("row 1, cell 0 (B0)"), std::string::npos);
  EXPECT_NE(problem("0F0,0B0\n1F0\n").find("stage 1, micro-batch 0"), std::string::npos);
  EXPECT_NE(problem("").find("no row"), std::string::npos);
  EXPECT_NE(problem("99999F0\n").find("4096"), std::string::npos);
  EXPECT_NE(problem("(0F0;\n"), "");
}

TEST(Schedules, ImpossibleShapesNameTheNearest) {
  EXPECT_EQ(checkScheduleShape(ScheduleKind::Interleaved, 4, 6, 2),
            "micro-batches: found 6, allowed a multiple of pp = 4 with schedule interleaved; the "
            "nearest that works is micro-batches=8");
  EXPECT_NE(checkScheduleShape(ScheduleKind::DualPipe, 3, 8, 1).find("pp=4"), std::string::npos);
  EXPECT_NE(checkScheduleShape(ScheduleKind::ZbV, 4, 4, 1).find("micro-batches=8"),
            std::string::npos);
  EXPECT_NE(checkScheduleShape(ScheduleKind::OneFOneB, 4, 4, 2), "");
  EXPECT_EQ(checkScheduleShape(ScheduleKind::ZbV, 4, 8, 1), "");
}

TEST(Schedules, NamesRoundTrip) {
  for (ScheduleKind kind : allScheduleKinds())
    EXPECT_EQ(parseScheduleKind(name(kind)), kind);
  EXPECT_FALSE(parseScheduleKind("zigzag").has_value());
}

} // namespace
