// Schedules: bubble and memory against the closed forms of GPipe and 1F1B, faults in tables found.
#include "gpucc/Solvers/Schedules.h"
#include <gtest/gtest.h>

using namespace gpucc::solvers;

namespace {

TEST(Schedules, OneFOneBByHand) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::OneFOneB, 2, 3);
  EXPECT_EQ(schedule.dump(), "F0 F1 B0 F2 B1 B2 U\nF0 B0 F1 B1 F2 B2 U\n");
}

TEST(Schedules, TimeAndMemoryEqualTheClosedForms) {
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
        std::vector<int> inFlight = microBatchesInFlight(schedule);
        for (int i = 0; i < p; ++i)
          EXPECT_EQ(inFlight[i], kind == ScheduleKind::GPipe ? m : std::min(m, p - i));
      }
}

TEST(Schedules, SendTimeIsAddedAtEveryBoundary) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::GPipe, 3, 1);
  ScheduleTiming timing = timeSchedule(schedule, {1, 1, 1}, {1, 1, 1}, 0.5);
  EXPECT_DOUBLE_EQ(timing.total, 6 + 4 * 0.5);
}

TEST(Schedules, FaultsAreNamed) {
  PipelineSchedule schedule = makeSchedule(ScheduleKind::OneFOneB, 2, 2);
  std::swap(schedule.stages[1][0], schedule.stages[1][1]);
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

TEST(Schedules, NamesRoundTrip) {
  for (ScheduleKind kind : {ScheduleKind::GPipe, ScheduleKind::OneFOneB})
    EXPECT_EQ(parseScheduleKind(name(kind)), kind);
  EXPECT_FALSE(parseScheduleKind("zigzag").has_value());
}

} // namespace
