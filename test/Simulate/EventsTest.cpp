// The event engine by hand: streams, groups, links, and events that can never start.
#include "gpucc/Simulate/Events.h"
#include <gtest/gtest.h>

using namespace gpucc::simulate;

namespace {

TEST(Events, AGroupStartsWithItsLastMember) {
  EventGraph g;
  int a = g.add(0, 3), b = g.add(1, 5);
  int r0 = g.add(0, 1, {a}, 0), r1 = g.add(1, 1, {b}, 0);
  int after = g.add(0, 2);
  ASSERT_EQ(g.run(), "");
  EXPECT_DOUBLE_EQ(g.start(r0), 5);
  EXPECT_DOUBLE_EQ(g.end(r1), 6);
  EXPECT_DOUBLE_EQ(g.start(after), 6); // the stream was held by the collective
  EXPECT_DOUBLE_EQ(g.total(), 8);
}

TEST(Events, ALinkCarriesOneAtATime) {
  EventGraph g;
  int a = g.add(0, 4, {}, -1, 0), b = g.add(1, 4, {}, -1, 0), c = g.add(2, 4, {}, -1, 1);
  ASSERT_EQ(g.run(), "");
  EXPECT_DOUBLE_EQ(g.end(a), 4);
  EXPECT_DOUBLE_EQ(g.end(b), 8);
  EXPECT_DOUBLE_EQ(g.end(c), 4);
}

TEST(Events, AStreamKeepsItsOrder) {
  EventGraph g;
  int slow = g.add(0, 10);
  int first = g.add(1, 1, {slow}), second = g.add(1, 1);
  ASSERT_EQ(g.run(), "");
  EXPECT_DOUBLE_EQ(g.start(first), 10);
  EXPECT_DOUBLE_EQ(g.start(second), 11);
}

TEST(Events, WhatNeverStartsIsNamed) {
  EventGraph g;
  int a = g.add(0, 1), b = g.add(1, 1, {a});
  g.waitFor(a, b);
  EXPECT_NE(g.run().find("event 0 on stream 0 never starts"), std::string::npos);
}

} // namespace
