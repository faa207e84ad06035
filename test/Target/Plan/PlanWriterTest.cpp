//===- PlanWriterTest.cpp - what verified becomes a file or an error ------===//
//
// IR that somebody wrote by hand passes the verifiers op by op and may still not
// fit together: the writer says what is wrong and where, and writes nothing.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Target/Plan/PlanWriter.h"

#include "dialects/Graph/Graph.h"
#include "dialects/Kernel/Kernel.h"
#include "dialects/Plan/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <unistd.h>

using namespace mlir;
using namespace gpucc;

namespace {
struct Outcome {
  bool parsed = false, written = false, fileExists = false;
  std::string message;
};

Outcome writeText(const std::string &text, const KernelCode &code = {}) {
  Outcome outcome;
  MLIRContext context;
  context.loadDialect<base::BaseDialect, graph::GraphDialect, kernel::KernelDialect,
                      plan::PlanDialect, arith::ArithDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    outcome.message += d.str() + "\n";
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return outcome;
  outcome.parsed = true;
  SmallString<128> path;
  llvm::sys::path::system_temp_directory(true, path);
  llvm::sys::path::append(path, "gpucc-plan-writer-" + std::to_string(getpid()) + ".plan");
  llvm::sys::fs::remove(path);
  PlanOptions options;
  options.producer = "test";
  outcome.written = succeeded(writePlan(*module, code, options, path));
  outcome.fileExists = llvm::sys::fs::exists(path);
  llvm::sys::fs::remove(path);
  return outcome;
}

/// A program of one stage around `body`, with an arena, a buffer @t of 64 bytes and a stream.
std::string
program(const std::string &body,
        const std::string &attributes = "stage = 0 : i64, mesh = [], mesh_shape = array<i64>") {
  return "plan.program @p attributes {" + attributes + R"(} {
    plan.arena @a 512
    plan.buffer @t in @a at 0 64
    plan.stream @compute "compute"
)" + body +
         "}\n";
}

const char *kernelText = R"(
kernel.func @neg(%x: memref<16xf32>, %y: memref<16xf32>) {
  kernel.program () in () {
    kernel.loop (%c) in (16) {
      %0 = kernel.load %x[%c] : memref<16xf32>
      kernel.store %0, %y[%c] : memref<16xf32>
    }
  }
}
)";

void expectRefused(const std::string &text, const std::string &why) {
  Outcome outcome = writeText(text);
  ASSERT_TRUE(outcome.parsed) << outcome.message;
  EXPECT_FALSE(outcome.written);
  EXPECT_FALSE(outcome.fileExists);
  EXPECT_NE(outcome.message.find(why), std::string::npos) << outcome.message;
}
} // namespace

TEST(PlanWriter, WritesWhatFitsTogether) {
  Outcome outcome = writeText(program(R"(
    plan.tensor "y" "output" <@t, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []}
    plan.segment @main { plan.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "f"} }
    plan.script "main" [@main] [0]
)"));
  EXPECT_TRUE(outcome.written) << outcome.message;
  EXPECT_TRUE(outcome.fileExists);
}

TEST(PlanWriter, KernelsExistAndHaveCode) {
  std::string launch = program(R"(
    plan.segment @main { plan.launch @neg [#base.view<@t, 0, 64>, #base.view<@t, 0, 64>] "rw" {name = "n"} }
)");
  expectRefused(launch, "(C3) runs kernel @neg, which the module does not have");
  expectRefused(kernelText + launch, "runs kernel @neg, which has no code");
}

TEST(PlanWriter, WeightsAreInTheTable) {
  expectRefused(program("plan.initialize \"w\" <@t, 0, 64> {key = @w, slices = [], type = "
                        "tensor<16xf32>}"),
                "(C4) begins with weight @w, which is no graph.weight_data of the module");
}

TEST(PlanWriter, StagesHaveNoGaps) {
  expectRefused(program("", "stage = 1000000000 : i64, mesh = [], mesh_shape = array<i64>"),
                "(C4) is stage 1000000000, and there is no stage 0");
}

TEST(PlanWriter, PeersExist) {
  expectRefused(program(R"(
    plan.segment @main { plan.collective "send" {axes = [], reduce = "sum", type = f32, count = 16 : i64,
      input = #base.view<@t, 0, 64>, peer_stage = 4 : i64, name = "s"} }
)"),
                "(C7) is between stage 0 and stage 4");
}

TEST(PlanWriter, StreamsAreOrderedByEvents) {
  expectRefused(program(R"(
    plan.stream @communication "communication"
    plan.segment @main {
      plan.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "f"}
      plan.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "g", stream = 1 : i64}
      plan.event_record 0 on 1
      plan.event_wait 0 on 0
    }
)"),
                "touches bytes [0, 64) of arena @a beside a command of stream 0, and no event "
                "orders the two");
}

// What a program names inside itself is checked when it is read: the writer never sees it.
TEST(PlanWriter, UnknownNamesDoNotParse) {
  for (
      const char *body :
      {R"(plan.segment @main { plan.fill <@u, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "f"} })",
       R"(plan.script "main" [@nothing] [0])",
       R"(plan.tensor "y" "output" <@u, 0, 64> {type = tensor<16xf32>, local = tensor<16xf32>, slices = []})",
       R"(plan.rank_constant <0, ["tp"], [1], 0, 0> <@t, 0, 8>)",
       R"(plan.initialize "w" <@t, 32, 64> {value = dense<1.0> : tensor<16xf32>, slices = [], type = tensor<16xf32>})"}) {
    Outcome outcome = writeText(program(body));
    EXPECT_FALSE(outcome.parsed) << body;
    EXPECT_FALSE(outcome.message.empty()) << body;
  }
}
