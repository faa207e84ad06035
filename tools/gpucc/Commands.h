//===- Commands.h - the subcommands of gpucc --------------------*- C++ -*-===//
//
// Each subcommand is a file: it declares its options on a CLI11 app and gives
// back what to run. Exit codes of all: 0 fine, 1 comparison failed or does not
// fit in memory, 2 bad input or usage, 3 unsupported model.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_COMMANDS_H
#define GPUCC_TOOLS_GPUCC_COMMANDS_H

#include <CLI/CLI.hpp>
#include <functional>

namespace gpucc::tool {

/// Declares the options; the result runs the command after parsing.
using Command = std::function<int()>;
Command addCompile(CLI::App &app);
Command addRun(CLI::App &app);
Command addCheck(CLI::App &app);
Command addTrain(CLI::App &app);
Command addExplain(CLI::App &app);
Command addShow(CLI::App &app);
Command addSimulate(CLI::App &app);
Command addPlan(CLI::App &app);
Command addSchedule(CLI::App &app);
Command addTopo(CLI::App &app);
Command addCompletion(CLI::App &app);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_COMMANDS_H
