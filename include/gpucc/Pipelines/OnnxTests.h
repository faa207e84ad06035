//===- OnnxTests.h - the official ONNX node tests ---------------*- C++ -*-===//
//
// Each folder holds model.onnx and test_data_set_<k>/{input,output}_<i>.pb. The
// model is imported, executed by whatever the caller gives (the Reference
// evaluator, the host target, ...), and compared: rtol 1e-3, atol 1e-7, 2^-6
// for bf16, 5e-4 for Fourier transforms (whose expected zeros are rounding noise), integers exactly;
// shapes and types must be equal.
//
// Some tests take as an input what gpucc needs while compiling (a Reshape's
// shape). Such inputs, and only those that conversion asked for, are bound to
// the values of the data set.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PIPELINES_ONNXTESTS_H
#define GPUCC_PIPELINES_ONNXTESTS_H

#include "gpucc/Facts/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpucc {

enum class TestVerdict { Pass, Fail, Unsupported };

struct OnnxTestResult {
  std::string name;
  TestVerdict verdict = TestVerdict::Fail;
  std::string detail; ///< why it failed, or what is not supported
};

/// Runs `@main` of a graph module (functions with state or weights find files in `folder`) on the
/// inputs by name; outputs in order. Unsupported says that this executor cannot run such a
/// program; `error` gives the reason.
using GraphExecutor = std::function<TestVerdict(
    mlir::ModuleOp module, const std::string &folder,
    const std::map<std::string, HostTensor> &inputs, std::vector<HostTensor> &outputs,
    std::string &error)>;

/// One folder: all its data sets.
OnnxTestResult runOnnxTest(const std::string &folder, const GraphExecutor &execute,
                           double floorPart = 0);

struct OnnxTestOptions {
  std::string filter = "*"; ///< glob over folder names
  unsigned jobs = 1;
  /// Elements smaller than this part of the tensor's largest count as that large (whole models are
  /// compared so, with 0.01: errors of sums scale with the terms).
  double floorPart = 0;
  /// Called in the order of names, as results come in.
  std::function<void(const OnnxTestResult &)> report;
};

/// Every folder below `roots` that holds a model.onnx (a root may be such a folder itself).
std::vector<OnnxTestResult> runOnnxTests(const std::vector<std::string> &roots,
                                         const OnnxTestOptions &options,
                                         const GraphExecutor &execute);

/// "N passed, N failed, N unsupported"
std::string summaryLine(const std::vector<OnnxTestResult> &results);

/// The first element of `value` that differs from `expected` beyond the tolerance, as text; empty
/// when they agree.
std::string firstDifference(const HostTensor &value, const HostTensor &expected, double rtol,
                            double atol);

} // namespace gpucc

#endif // GPUCC_PIPELINES_ONNXTESTS_H
