//===- Check.h - parts of gpucc check ---------------------------*- C++ -*-===//
#ifndef GPUCC_TOOLS_GPUCC_CHECK_H
#define GPUCC_TOOLS_GPUCC_CHECK_H

#include "Compare.h"
#include "CompileOptions.h"

#include <optional>

namespace gpucc::tool {

struct CheckArguments {
  std::shared_ptr<CompileFlags> flags;
  std::string referenceModel, inputs = "random:0", expect, driver, filter = "*", json;
  std::vector<std::string> onnxTests;
  /// Greatest allowed error; where it is not given, 1e-3 for outputs of a model and 1e-4 for a
  /// training step (whose errors are relative to whole tensors, see CheckTraining.cpp).
  std::optional<double> tolerance;
};

/// Prints one line per tensor and, at the end, the verdict; writes JSON when asked.
class CheckReport {
public:
  explicit CheckReport(std::string json) : json(std::move(json)) {}
  void add(const std::string &name, const Difference &difference, double tolerance,
           const std::vector<int64_t> &shape, const std::string &note = "");
  /// 0 when every tensor was within its tolerance, else 1; 2 when the JSON cannot be written.
  int finish();

private:
  struct Row {
    std::string name, note;
    Difference difference;
    double tolerance;
    std::vector<int64_t> shape;
  };
  std::string json;
  std::vector<Row> rows;
};

/// Names the op at which a compiled model begins to differ from the reference evaluator, under the
/// same inputs. An exit code when that search itself fails.
int findFirstWrong(CheckArguments &arguments, const std::vector<gpucc_rt::Array> &inputs);

int checkOnnxTests(CheckArguments &arguments);
int checkTraining(CheckArguments &arguments);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_CHECK_H
