//===- SlicesTest.cpp - Parts of tensors, rank values, element types, profiles, weights
//---------===//
#include "plan/Slices.h"
#include "TestPlan.h"
#include "core/DType.h"
#include "plan/Profiles.h"
#include "session/Session.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

namespace {
TEST(DTypeConversion, HalfRoundsToNearestEven) {
  EXPECT_EQ(floatToF16(1.0f), 0x3C00);
  EXPECT_EQ(floatToF16(65504.0f), 0x7BFF);
  EXPECT_EQ(floatToF16(65520.0f), 0x7C00); // half-way to 65536: infinity
  EXPECT_EQ(floatToF16(65519.9f), 0x7BFF);
  EXPECT_EQ(floatToF16(1.0f + 0x1p-11f), 0x3C00);     // tie, to even
  EXPECT_EQ(floatToF16(1.0f + 3 * 0x1p-11f), 0x3C02); // tie, to even
  EXPECT_EQ(floatToF16(0x1p-24f), 0x0001);            // smallest subnormal
  EXPECT_EQ(floatToF16(0x1p-25f), 0x0000);            // tie, to even
  EXPECT_EQ(floatToF16(-0.0f), 0x8000);
  EXPECT_TRUE(std::isnan(f16ToFloat(floatToF16(std::nanf("")))));
  for (uint32_t bits = 0; bits < 0x10000; ++bits) // all values survive the way to f32 and back
    if (!std::isnan(f16ToFloat(static_cast<uint16_t>(bits))))
      ASSERT_EQ(floatToF16(f16ToFloat(static_cast<uint16_t>(bits))), bits);
}

TEST(DTypeConversion, BrainRoundsToNearestEven) {
  EXPECT_EQ(floatToBf16(1.0f), 0x3F80);
  EXPECT_EQ(floatToBf16(1.0f + 0x1p-8f), 0x3F80);     // tie, to even
  EXPECT_EQ(floatToBf16(1.0f + 3 * 0x1p-8f), 0x3F82); // tie, to even
  EXPECT_EQ(floatToBf16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(bf16ToFloat(floatToBf16(std::nanf("")))));
}

TEST(DTypeConversion, IntegersSaturateAndBooleansNormalize) {
  double values[4] = {1e30, -1e30, std::nan(""), -2.7};
  int64_t integers[4];
  castElements(DType::f64, values, DType::i64, integers, 4);
  EXPECT_EQ(integers[0], INT64_MAX);
  EXPECT_EQ(integers[1], INT64_MIN);
  EXPECT_EQ(integers[2], 0);
  EXPECT_EQ(integers[3], -2);
  int32_t numbers[3] = {0, 7, -1};
  uint8_t bools[3];
  castElements(DType::i32, numbers, DType::i1, bools, 3);
  EXPECT_EQ(bools[0] * 100 + bools[1] * 10 + bools[2], 11);
}

RankContext rankOf(std::vector<uint32_t> coordinates) {
  RankContext rank;
  rank.coordinates = std::move(coordinates);
  return rank;
}

TEST(Boxes, UnevenShardsArePaddedWithZeros) {
  // 7 rows of 2 over 2 ranks, 4 rows each: rank 1 has rows 4..6 and one row of padding.
  Box box = {{7, 2}, {4, 0}, {3, 2}, {4, 2}};
  std::vector<int32_t> global(14), local(8, -1), back(14, -1);
  std::iota(global.begin(), global.end(), 0);
  scatterBox(DType::i32, box, reinterpret_cast<char *>(global.data()),
             reinterpret_cast<char *>(local.data()), {2, 1}, 32);
  EXPECT_EQ(local, (std::vector<int32_t>{8, 9, 10, 11, 12, 13, 0, 0}));
  gatherBox(DType::i32, box, reinterpret_cast<char *>(local.data()), {2, 1},
            reinterpret_cast<char *>(back.data()), false);
  EXPECT_EQ(back, (std::vector<int32_t>{-1, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13}));
}

TEST(Boxes, StridedColumnsAndSums) {
  // Columns 1..2 of [2, 3], stored column by column.
  Box box = {{2, 3}, {0, 1}, {2, 2}, {2, 2}};
  float global[6] = {0, 1, 2, 3, 4, 5}, local[4] = {}, sum[6] = {10, 10, 10, 10, 10, 10};
  scatterBox(DType::f32, box, reinterpret_cast<char *>(global), reinterpret_cast<char *>(local),
             {1, 2}, 16);
  EXPECT_EQ(std::vector<float>(local, local + 4), (std::vector<float>{1, 4, 2, 5}));
  gatherBox(DType::f32, box, reinterpret_cast<char *>(local), {1, 2}, reinterpret_cast<char *>(sum),
            true);
  EXPECT_EQ(std::vector<float>(sum, sum + 6), (std::vector<float>{10, 11, 12, 10, 14, 15}));
}

TEST(RankValues, FollowCoordinatesSlotsAndModulo) {
  flatbuffers::FlatBufferBuilder builder;
  auto make = [&](const RankValueT &v) {
    builder.Clear();
    builder.Finish(RankValue::Pack(builder, &v));
    return flatbuffers::GetRoot<RankValue>(builder.GetBufferPointer());
  };
  EXPECT_EQ(rankOf({1, 1}).evaluate(make(*value(10, {Term(1, 100)}, 1)), 2), 112);
  EXPECT_EQ(rankOf({3}).evaluate(make(*value(1, {Term(0, 1)}, 0, 4)), 0), 0);  // the next in a ring
  EXPECT_EQ(rankOf({0}).evaluate(make(*value(-1, {Term(0, 1)}, 0, 4)), 0), 3); // the one before
}

TEST(Ranks, CoordinatesAndCommunicators) {
  // Stage 0: one rank; stage 1: dp=2 x tp=3, ranks 1..6.
  TestPlan p;
  p.addStage("second");
  for (auto [name, size] : {std::pair("dp", 2u), std::pair("tp", 3u)}) {
    auto axis = std::make_unique<AxisT>();
    axis->name = name;
    axis->size = size;
    p.plan.stages[1]->axes.push_back(std::move(axis));
  }
  p.plan.ranks = 7;
  for (auto [kind, axes] : {std::pair(CommunicatorKind::axes, std::vector<uint32_t>{0}),
                            std::pair(CommunicatorKind::axes, std::vector<uint32_t>{1}),
                            std::pair(CommunicatorKind::stage_pair, std::vector<uint32_t>{})}) {
    auto c = std::make_unique<CommunicatorT>();
    c->name = "c";
    c->kind = kind;
    c->stage = kind == CommunicatorKind::axes ? 1 : 0;
    c->to_stage = kind == CommunicatorKind::axes ? -1 : 1;
    c->axes = axes;
    p.plan.communicators.push_back(std::move(c));
  }
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
  RankContext rank = RankContext::of(image->index(), 6); // the last: dp=1, tp=2
  EXPECT_EQ(rank.stage, 1u);
  EXPECT_EQ(rank.coordinates, (std::vector<uint32_t>{1, 2}));
  CommunicatorSpec spec;
  ASSERT_TRUE(communicatorOf(image->index(), 0, rank, spec));
  EXPECT_EQ(spec.members, (std::vector<int>{3, 6})); // same tp
  EXPECT_EQ(spec.index, 1);
  ASSERT_TRUE(communicatorOf(image->index(), 1, rank, spec));
  EXPECT_EQ(spec.members, (std::vector<int>{4, 5, 6})); // same dp
  ASSERT_TRUE(communicatorOf(image->index(), 2, rank, spec));
  EXPECT_EQ(spec.members, (std::vector<int>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(communicatorOf(image->index(), 0, RankContext::of(image->index(), 0), spec));
}

TEST(Profiles, AreSelectedByShapes) {
  TestPlan p = axpbPlan();
  p.plan.tensors[0]->dims[0]->size = -1;
  p.plan.tensors[0]->dims[0]->symbol = "batch";
  auto bind = [&](ProfileT &profile, int64_t batch) {
    profile.name = "batch=" + std::to_string(batch);
    auto binding = std::make_unique<BindingT>();
    binding->symbol = "batch";
    binding->value = batch;
    profile.bindings.push_back(std::move(binding));
  };
  std::vector<char> once = p.file();
  auto second = std::make_unique<ProfileT>();
  std::unique_ptr<PlanT> copy(GetPlan(once.data() + sizeof(PlanHeader))->UnPack());
  second->programs = std::move(copy->profiles[0]->programs);
  bind(*p.plan.profiles[0], 16);
  bind(*second, 8);
  for (auto &program : second->programs)
    for (auto &view : program->views)
      if (view->tensor == 0) {
        view->global_shape = view->local_shape = {8};
        for (auto &slice : view->slices)
          slice->size = 8;
      }
  p.plan.profiles.push_back(std::move(second));
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
  uint32_t profile = 9;
  ASSERT_OK(selectProfile(image->index(), {{"x", {8}}}, profile));
  EXPECT_EQ(profile, 1u);
  EXPECT_ERROR(selectProfile(image->index(), {{"x", {7}}}, profile),
               "no profile of the plan fits x [7]; the plan was compiled for\n  batch=16: x "
               "[16]\n  batch=8: x [8]");
}

TEST(Weights, AreSlicedPermutedAndCast) {
  // Columns [coord*2, +2) of a 2x4 matrix, transposed, as f64.
  TestPlan p({{"tp", 2}});
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  p.constant("W", data, sizeof(data), DType::f32, {2, 4}, 0, 256);
  WeightT &weight = *p.plan.weights[0];
  for (int d = 0; d < 2; ++d) {
    weight.slices.push_back(std::make_unique<DimSliceT>());
    weight.slices[d]->start = d == 0 ? value(0) : value(0, {Term(0, 2)});
    weight.slices[d]->size = 2;
  }
  weight.permutation = {1, 0};
  weight.dtype = DType::f64;
  uint32_t b = p.buffer(0, 256, 32);
  TensorViewT &view = p.tensor("W^T", Role::output, DType::f64, {4, 2}, b);
  TestPlan::slice(view, 0, value(0, {Term(0, 2)}), 2);
  std::vector<char> bytes = p.file();
  std::shared_ptr<PlanImage> image;
  ASSERT_OK(PlanImage::fromBytes(bytes.data(), bytes.size(), ".", image));
  std::shared_ptr<World> world = createThreadsWorld(2, 10);
  std::vector<std::unique_ptr<Session>> sessions(2);
  for (uint32_t r = 0; r < 2; ++r) {
    SessionOptions options;
    options.rank = r;
    options.world = world;
    options.verifyWeights = true;
    ASSERT_OK(Session::prepare(image, options, sessions[r]));
  }
  double whole[8];
  ASSERT_OK(gather({sessions[0].get(), sessions[1].get()}, "W^T", whole, sizeof(whole)));
  EXPECT_EQ(std::vector<double>(whole, whole + 8), (std::vector<double>{0, 4, 1, 5, 2, 6, 3, 7}));
}
} // namespace
