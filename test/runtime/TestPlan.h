//===- TestPlan.h - Hand-built plans for tests
//--------------------------------------------------===//
//
// Plans are put together with the object API of plan.fbs and a few shorthands:
//
//   TestPlan p;                       // one stage of one rank; arenas 0 "state", 1 "scratch"
//   uint32_t x = p.buffer(1, 0, 64);  // 64 bytes at 0 of the scratch arena
//   p.tensor("x", Role::input, DType::f32, {16}, x);
//   p.launch("axpb", 4, p.view(x), p.view(y), p.scalar(2.0), p.scalar(1.0));
//   p.file()                          // the bytes of the plan file
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_TEST_RUNTIME_TESTPLAN_H
#define GPUCC_TEST_RUNTIME_TESTPLAN_H

#include "core/Status.h"
#include "gpucc_rt/PlanFile.h"
#include "plan_generated.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace gpucc::rt::test {

using namespace gpucc::rt::plan;
using Shape = std::vector<int64_t>;

/// base + sum(coordinate * stride) + slot * slotStep
std::unique_ptr<RankValueT> value(int64_t base, std::vector<Term> terms = {}, int64_t slotStep = 0,
                                  int64_t modulo = 0);

class TestPlan {
public:
  /// `axes`: of the only stage; further stages by addStage.
  explicit TestPlan(std::vector<std::pair<std::string, uint32_t>> axes = {});

  uint32_t addStage(const std::string &name, uint64_t scratch = 4096);
  /// Which stage the shorthands below are about.
  void useStage(uint32_t stage) { current = stage; }
  ProgramT &program(uint32_t profile = 0) { return *plan.profiles[profile]->programs[current]; }

  uint32_t buffer(uint32_t arena, uint64_t offset, uint64_t size, uint32_t slots = 1,
                  uint64_t stride = 0);
  /// A tensor with a view of all of it; adjust the returned view for parts.
  TensorViewT &tensor(const std::string &name, Role role, DType dtype, Shape shape,
                      uint32_t buffer);
  static void slice(TensorViewT &view, size_t dim, std::unique_ptr<RankValueT> start, int64_t size);

  std::unique_ptr<ArgumentT> view(uint32_t buffer) const;
  static std::unique_ptr<ArgumentT> scalar(double bits);
  static std::unique_ptr<ArgumentT> scalar(std::unique_ptr<RankValueT> value);

  template <typename... Arguments>
  CommandT &launch(const std::string &symbol, int64_t programs, Arguments... arguments) {
    std::vector<std::unique_ptr<ArgumentT>> all;
    (all.push_back(std::move(arguments)), ...);
    return launchAll(symbol, programs, std::move(all));
  }
  template <typename Body>
  CommandT &command(Body body, const std::string &name, uint32_t stream = 0) {
    auto made = std::make_unique<CommandT>();
    made->body.Set(std::move(body));
    made->name = name;
    made->stream = stream;
    SegmentT &segment = *program().segments.back();
    segment.commands.push_back(std::move(made));
    return *segment.commands.back();
  }
  std::unique_ptr<View> whole(uint32_t buffer) const;
  std::unique_ptr<OperandT> operand(uint32_t buffer, Shape dims, DType dtype = DType::f32,
                                    Shape strides = {}) const;
  CommandT &collective(CollectiveKind kind, uint32_t communicator, uint64_t count, uint32_t input,
                       uint32_t output, uint32_t stream = 0);
  void constant(const std::string &name, const void *data, uint64_t bytes, DType dtype, Shape shape,
                uint32_t arena, uint64_t offset);
  uint32_t addBlob(std::vector<char> bytes, BlobKind kind, const std::string &arch = "",
                   const std::string &library = "");
  void segment(const std::string &name);
  /// Replaces the script "main" (default: each segment once, slot 0).
  void script(std::vector<std::pair<uint32_t, uint32_t>> steps);

  /// Makes it a plan for the emulated CUDA device: kernels from the simt image `path`, by default
  /// that of test/runtime/cuda.
  void useSimtKernels(const char *path = nullptr);

  /// The plan file; blobs are laid out and hashed here. May be called again after changes.
  std::vector<char> file();

  PlanT plan;
  /// Launches take their code from a second build of kernels.c, whose axpb adds 100 more.
  bool otherKernels = false;

private:
  CommandT &launchAll(const std::string &symbol, int64_t programs,
                      std::vector<std::unique_ptr<ArgumentT>> arguments);
  std::vector<std::vector<char>> blobs;
  uint32_t current = 0;
  int kernelBlob = -1;
};

/// Fails the test with the status' message.
#define EXPECT_OK(EXPRESSION)                                                                      \
  do {                                                                                             \
    ::gpucc::rt::Status okStatus = (EXPRESSION);                                                   \
    EXPECT_FALSE(okStatus) << okStatus.message();                                                  \
  } while (false)
#define ASSERT_OK(EXPRESSION)                                                                      \
  do {                                                                                             \
    ::gpucc::rt::Status okStatus = (EXPRESSION);                                                   \
    ASSERT_FALSE(okStatus) << okStatus.message();                                                  \
  } while (false)
/// The call fails and the message contains the text.
#define EXPECT_ERROR(EXPRESSION, TEXT)                                                             \
  do {                                                                                             \
    ::gpucc::rt::Status errorStatus = (EXPRESSION);                                                \
    ASSERT_TRUE(errorStatus) << "an error with '" << TEXT << "' expected";                         \
    EXPECT_NE(errorStatus.message().find(TEXT), std::string::npos) << errorStatus.message();       \
  } while (false)

/// y[16] = 2 x[16] + 1, four programs.
TestPlan axpbPlan();
/// Training: w[4] (initial 1, 2, 3, 4) -= 0.1 * column sums of x[2, 4]; metrics loss, lr; counter
/// step.
TestPlan sgdPlan();
/// The same on dp=2 ranks: each has one row of x, the gradients are all-reduced on a communication
/// stream.
TestPlan sgdPlanDp2();

/// Two stages, two micro-batches: stage 0 sends 2x+1 of each to stage 1, stage 1 sends 3y back as a
/// gradient would go. Both send before they receive. Input x [8] and output z [8] on stage 0: z = 3
/// (2x + 1); y [8] on stage 1.
TestPlan pipelinePlan();

/// y [2, up to 6] = x, of which the first `n` columns count; both copied from inputs. Tensors x, n, y,
/// y.count.
TestPlan varyingPlan();

} // namespace gpucc::rt::test

#endif // GPUCC_TEST_RUNTIME_TESTPLAN_H
