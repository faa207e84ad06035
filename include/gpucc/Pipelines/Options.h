//===- Options.h - what a user asks the compiler for ------------*- C++ -*-===//
//
// Plain values: the command line fills them, tests and bindings too. No MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PIPELINES_OPTIONS_H
#define GPUCC_PIPELINES_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpucc {

/// "host", "host:x86-64-v3", "cuda:sm_90a", "cuda:sm_80,sm_90a,simt".
struct TargetSpec {
  bool cuda = false;
  std::string cpuLevel;           ///< host: x86-64-v3 or x86-64-v4; empty = this machine's
  std::vector<std::string> archs; ///< cuda

  static std::optional<TargetSpec> parse(const std::string &text, std::string &error);
  std::string dump() const;
};

struct TrainSpec {
  std::string loss = "cross-entropy"; ///< cross-entropy, mse, output:NAME
  std::string optimizer = "sgd";      ///< sgd, adamw
  double learningRate = 0.01, momentum = 0, weightDecay = 0, clipNorm = 0;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  std::string schedule = "constant"; ///< constant, warmup:W, cosine:W:T[:MIN]
  int64_t accumulate = 1;            ///< batches per optimizer step
  std::vector<std::string> freeze;
  int64_t ignoreIndex = -100;

  /// "" or what is wrong with a value, what is allowed and what to do.
  std::string check() const;
};

/// "batch=8,seq=128" into sizes; none, with the reason in `error`, for another form, a size that no
/// dimension can have, or a name that comes twice.
std::optional<std::map<std::string, int64_t>> parseSizes(const std::string &text,
                                                         std::string &error);

/// Parallel layout that the user fixes: dp=2,tp=2,sp=on,pp=1,zero=1,schedule=1f1b,micro-batches=4.
struct Pins {
  std::optional<int64_t> dp, tp, pp, zero, microBatches;
  std::optional<bool> sequence;
  std::optional<std::string> schedule; ///< gpipe, 1f1b

  static std::optional<Pins> parse(const std::string &text, std::string &error);
  std::string dump() const;
};

struct CompileOptions {
  std::string model;
  std::string modelFolder; ///< where weight files lie; known once the model is loaded
  /// "p0: batch=1, seq=16" as (name, symbol → size); empty: every symbol is 1.
  std::vector<std::pair<std::string, std::map<std::string, int64_t>>> profiles;
  TargetSpec target;
  std::string precision = "f32"; ///< f32, tf32, bf16, f16, mixed-bf16
  std::optional<TrainSpec> train;
  int64_t ranks = 1; ///< 0, with a machine: all its devices
  Pins pins;
  std::string machine;      ///< built-in name or file; empty: no search
  std::string dumpProblem;  ///< file for the planning problem as JSON; empty: none
  std::string memoryBudget; ///< "", bytes ("12GiB") or ratio of the peak ("0.5")
  unsigned jobs = 2;
  std::string cacheFolder;                 ///< compiled kernels; empty = the user's cache
  std::vector<std::string> libraryFolders; ///< where else to look for NVRTC (a Python environment)
  bool externalWeights = false;
  bool followLinks = false;
  bool remarks = false;
};

/// Stops of the pipeline, in order.
enum class Phase { Frontend, Graph, Train, Dist, Fuse, Kernel, Sched, Plan };
std::optional<Phase> parsePhase(const std::string &text);
const char *name(Phase phase);

} // namespace gpucc

#endif // GPUCC_PIPELINES_OPTIONS_H
