//===- Compile.h - from a model file to a plan file -------------*- C++ -*-===//
//
// The whole way in one object, without MLIR in the interface:
//
//   Compilation c(options, {.progress = print});
//   if (int code = c.runTo(Phase::Plan)) return code;   // errors are on stderr
//   if (int code = c.writePlan("mlp.plan")) return code;
//
// Exit codes: 0 fine, 2 bad input, 3 unsupported model.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PIPELINES_COMPILE_H
#define GPUCC_PIPELINES_COMPILE_H

#include "gpucc/Facts/HostTensor.h"
#include "gpucc/Pipelines/Options.h"

#include <functional>
#include <memory>

namespace mlir {
class ModuleOp;
}

namespace gpucc {

struct CompileHooks {
  /// A line about what is being done; may be empty.
  std::function<void(const std::string &)> progress;
  /// Errors only: the warnings were given when the same model was compiled before.
  bool quiet = false;
};

/// What the compiler knows of one kernel, for `show --kernels` and tests.
struct KernelReport {
  std::string name, source; ///< CUDA text; empty on the host
  int64_t launches = 0;     ///< times the plan launches it
  struct Variant {
    std::string arch;
    uint32_t registers = 0, spillBytes = 0, sharedBytes = 0;
    uint32_t matrixInstructions = 0; ///< HMMA, HGMMA, ...
  };
  std::vector<Variant> variants;
};

class Compilation {
public:
  Compilation(CompileOptions options, CompileHooks hooks = {});
  ~Compilation();

  /// Imports the model and runs every phase up to `phase`.
  int runTo(Phase phase);
  /// Imports the model and writes it down in graph ops, before any pass has seen it: what `evaluate` of it gives is the
  /// authority for everything behind. No phase follows.
  int convert();
  /// The module as text, large constants elided.
  std::string print() const;
  /// Compiles kernels and writes the plan; after runTo(Phase::Plan).
  int writePlan(const std::string &path);
  const std::vector<KernelReport> &kernels() const;

  /// The module of the phase reached.
  mlir::ModuleOp module() const;
  /// The model's folder (weights are relative to it).
  const std::string &folder() const;
  /// With a machine, ranks and pins are those of the chosen layout (after runTo).
  const CompileOptions &options() const;
  /// The layout that the search chose and how much it looked at, one line; "" without a machine.
  const std::string &layout() const;

  /// Evaluates @main (or `function`) with the reference evaluator; arguments by name. Results by
  /// name. Only after convert() or at Phase::Graph to Phase::Fuse.
  int evaluate(const std::map<std::string, HostTensor> &arguments,
               std::map<std::string, HostTensor> &results, const std::string &function = "main");

  /// At Phase::Graph, with one profile: the ops of @main, constants and weights aside.
  size_t countOps() const;
  /// Ends @main after its first `count` ops; it then returns what the rest would have read. Describes the last op kept.
  std::string cutAfter(size_t count);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Registers `--gpucc-phase-<name>` for gpucc-opt, with default options.
void registerPhasePipelines();

/// For a module that is at Phase::Graph already (the ONNX node tests): the rest of the way. The
/// exit code, with the first error's text.
int compileGraphModule(mlir::ModuleOp module, const CompileOptions &options,
                       const std::string &folder, const std::string &path, std::string &error);

} // namespace gpucc

#endif // GPUCC_PIPELINES_COMPILE_H
