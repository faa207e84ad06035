//===- PlanSymbolsTest.cpp - look-ups go through the given tables ---------===//
//
// A program has thousands of commands and buffers. A verifier that walks it for
// each of them takes time that grows with the square; the tables that it is
// given do not. Here the tables know less than the program: only a verifier that
// asks them notices.
//
//===----------------------------------------------------------------------===//
#include "dialects/Plan/Plan.h"
#include "dialects/Sched/Sched.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace gpucc;

namespace {

const char *planText = R"(
plan.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  plan.arena @a 256
  plan.buffer @t in @a at 0 64
  plan.stream @compute "compute"
  plan.segment @s { plan.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "z"} }
  plan.script "main" [@s] [0]
})";

const char *schedText = R"(
sched.program @p attributes {stage = 0 : i64, mesh = [], mesh_shape = array<i64>} {
  sched.buffer @t scratch 64
  sched.segment @s { sched.fill <@t, 0, 64> {pattern = 0 : i64, pattern_size = 4 : i64, name = "z"} }
  sched.script "main" [@s] [0]
})";

/// What the first op of kind `User` says when its program's table lacks @name; "" when nothing.
template <typename User> std::string complaint(const char *text, StringRef name) {
  MLIRContext context;
  context.loadDialect<base::BaseDialect, sched::SchedDialect, plan::PlanDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "not parsed";
  Operation *program = &module->getBody()->front();
  SymbolTableCollection tables;
  SymbolTable &table = tables.getSymbolTable(program);
  if (!name.empty())
    table.remove(table.lookup(name));
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    message += d.str();
    return success();
  });
  WalkResult result = program->walk([&](User user) {
    return failed(user.verifySymbolUses(tables)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  EXPECT_EQ(result.wasInterrupted(), !message.empty());
  return message;
}

TEST(PlanSymbols, AllFound) {
  EXPECT_EQ(complaint<plan::FillOp>(planText, ""), "");
  EXPECT_EQ(complaint<plan::BufferOp>(planText, ""), "");
  EXPECT_EQ(complaint<plan::ScriptOp>(planText, ""), "");
  EXPECT_EQ(complaint<sched::FillOp>(schedText, ""), "");
}

TEST(PlanSymbols, ViewsAreLookedUpInTheTable) {
  EXPECT_NE(complaint<plan::FillOp>(planText, "t").find("(V1) touches @t"), std::string::npos);
  EXPECT_NE(complaint<sched::FillOp>(schedText, "t").find("(V1) touches @t"), std::string::npos);
}

TEST(PlanSymbols, ArenasAreLookedUpInTheTable) {
  EXPECT_NE(complaint<plan::BufferOp>(planText, "a").find("(C1) lies in arena @a"),
            std::string::npos);
}

TEST(PlanSymbols, SegmentsAreLookedUpInTheTable) {
  EXPECT_NE(complaint<plan::ScriptOp>(planText, "s").find("(C2) runs @s"), std::string::npos);
  EXPECT_NE(complaint<sched::ScriptOp>(schedText, "s").find("(C2) runs @s"), std::string::npos);
}

} // namespace
