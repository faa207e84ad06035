//===- ReplayTest.cpp - queues that fit, and ones that do not -------------===//
#include "gpucc/Transforms/Dist/CollectiveReplay.h"

#include "gtest/gtest.h"

using namespace gpucc;
using Event = CommunicationEvent;

static Event meet(std::vector<int64_t> group, std::string signature) {
  return {Event::Meet, std::move(group), std::move(signature), -1, -1, -1};
}
static Event send(int64_t to, int64_t channel, std::string what = "t") {
  return {Event::Send, {}, std::move(what), to, channel, -1};
}
static Event receive(int64_t from, int64_t channel, std::string what = "t") {
  return {Event::Receive, {}, std::move(what), from, channel, -1};
}

TEST(Replay, SameOrderIsFine) {
  Event a = meet({0, 1}, "A"), b = meet({0, 1}, "B");
  EXPECT_EQ(replayCollectives({{a, b}, {a, b}}).kind, ReplayFault::None);
}

TEST(Replay, SwappedCollectivesAreFound) {
  Event a = meet({0, 1}, "A"), b = meet({0, 1}, "B");
  ReplayFault fault = replayCollectives({{a, b}, {b, a}});
  EXPECT_EQ(fault.kind, ReplayFault::Different);
  EXPECT_NE(fault.what.find("A"), std::string::npos);
  EXPECT_NE(fault.what.find("B"), std::string::npos);
}

TEST(Replay, CrossedGroupsDeadlock) { // three pairs in a ring, each rank in another order
  Event a = meet({0, 1}, "A"), b = meet({1, 2}, "B"), c = meet({0, 2}, "C");
  EXPECT_EQ(replayCollectives({{a, c}, {b, a}, {c, b}}).kind, ReplayFault::Deadlock);
  EXPECT_EQ(replayCollectives({{a, c}, {a, b}, {b, c}}).kind, ReplayFault::None);
}

TEST(Replay, PipelineOf1F1B) {
  // stage 0: F0 F1 B0 B1, stage 1: F0 B0 F1 B1
  EXPECT_EQ(replayCollectives({{send(1, 0), send(1, 0), receive(1, 1), receive(1, 1)},
                               {receive(0, 0), send(0, 1), receive(0, 0), send(0, 1)}})
                .kind,
            ReplayFault::None);
}

TEST(Replay, BothReceiveFirst) {
  ReplayFault fault = replayCollectives({{receive(1, 1), send(1, 0)}, {receive(0, 0), send(0, 1)}});
  EXPECT_EQ(fault.kind, ReplayFault::Deadlock);
  EXPECT_EQ(fault.involved.size(), 2u);
}

TEST(Replay, LostAndWrongMessages) {
  EXPECT_EQ(replayCollectives({{send(1, 0)}, {}}).kind, ReplayFault::Unreceived);
  EXPECT_EQ(replayCollectives({{send(1, 0, "x")}, {receive(0, 0, "y")}}).kind,
            ReplayFault::WrongMessage);
}
