//===- LocateTest.cpp - who writes an element of a split tensor -----------===//
#include "tools/gpucc/Locate.h"

#include "plan_generated.h"

#include "gtest/gtest.h"

using namespace gpucc;
namespace fb = gpucc::rt::plan;

namespace {

/// Columns [first, first + 2) of the saved 4 x 6 tensor "w", in a buffer of its own.
void addPiece(fb::PlanT &plan, const std::string &name, int64_t first, const std::string &command) {
  auto piece = std::make_unique<fb::TensorT>();
  piece->name = name;
  piece->source_name = "w";
  piece->source_shape = {4, 6};
  piece->source_base = {0, first};
  for (int64_t size : {4, 2}) {
    piece->dims.push_back(std::make_unique<fb::DimT>());
    piece->dims.back()->size = size;
  }
  fb::ProgramT &program = *plan.profiles[0]->programs[0];
  auto view = std::make_unique<fb::TensorViewT>();
  view->tensor = static_cast<uint32_t>(plan.tensors.size());
  view->buffer = view->tensor;
  fb::FillT fill;
  fill.destination = std::make_unique<fb::View>(view->buffer, 0, 32);
  auto made = std::make_unique<fb::CommandT>();
  made->name = command;
  made->body.Set(std::move(fill));
  program.segments[0]->commands.push_back(std::move(made));
  program.views.push_back(std::move(view));
  plan.tensors.push_back(std::move(piece));
}

/// "w" in three pieces of two columns, each filled by a command of its own.
flatbuffers::FlatBufferBuilder splitInThree() {
  fb::PlanT plan;
  plan.producer = "test";
  plan.needs = std::make_unique<fb::NeedsT>();
  plan.profiles.push_back(std::make_unique<fb::ProfileT>());
  plan.profiles[0]->name = "main";
  plan.profiles[0]->programs.push_back(std::make_unique<fb::ProgramT>());
  auto segment = std::make_unique<fb::SegmentT>();
  segment->name = "update";
  plan.profiles[0]->programs[0]->segments.push_back(std::move(segment));
  addPiece(plan, "w@q", 0, "query");
  addPiece(plan, "w@k", 2, "key");
  addPiece(plan, "w@v", 4, "value");
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Plan::Pack(builder, &plan));
  return builder;
}

std::string writer(const std::string &tensor, std::vector<int64_t> element) {
  flatbuffers::FlatBufferBuilder bytes = splitInThree();
  return tool::writerOf(*flatbuffers::GetRoot<fb::Plan>(bytes.GetBufferPointer()), tensor, element);
}

TEST(Locate, TheWriterOfTheElementsPiece) {
  EXPECT_EQ(writer("w", {3, 0}), "by 'query' (Fill), in update of stage 0");
  EXPECT_EQ(writer("w", {0, 1}), "by 'query' (Fill), in update of stage 0");
  EXPECT_EQ(writer("w", {0, 2}), "by 'key' (Fill), in update of stage 0");
  EXPECT_EQ(writer("w", {3, 5}), "by 'value' (Fill), in update of stage 0");
}

TEST(Locate, APieceByItsOwnName) {
  EXPECT_EQ(writer("w@v", {0, 0}), "by 'value' (Fill), in update of stage 0");
  EXPECT_EQ(writer("nobody", {0, 0}), "");
}

} // namespace
