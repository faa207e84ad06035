//===- OnnxTests.cpp - the official ONNX node tests -----------------------===//
#include "gpucc/Pipelines/OnnxTests.h"

#include "dialects/Base/Base.h"
#include "dialects/Frontend/Frontend.h"
#include "gpucc/Import/OnnxData.h"
#include "gpucc/Pipelines/LoadModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Path.h"

#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

using namespace gpucc;
using namespace llvm;

static bool exists(const std::string &path) { return sys::fs::exists(path); }

/// input_0.pb, input_1.pb, ... of a data set. False when one cannot be read.
static bool readSeries(const std::string &set, StringRef stem, std::vector<HostTensor> &tensors,
                       std::string &error) {
  for (unsigned i = 0;; ++i) {
    std::string path = set + "/" + stem.str() + "_" + std::to_string(i) + ".pb";
    if (!exists(path))
      return true;
    HostTensor tensor;
    if (!readTensorFile(path, tensor, error)) {
      error = stem.str() + " " + std::to_string(i) + " " + error;
      return false;
    }
    tensors.push_back(tensor);
  }
}

/// Collects the errors of a context, so that they end in the report rather than on the screen.
namespace {
struct ErrorText {
  explicit ErrorText(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &d) {
          if (d.getSeverity() == mlir::DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "; ") + d.str();
          return mlir::success();
        }) {}
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

namespace {
/// What the comparison needs to know of a model.
struct ModelFacts {
  std::vector<std::string> inputs;
  bool fourier = false; ///< expected values hold rounding noise of a transform
};
} // namespace

static ModelFacts factsOf(mlir::MLIRContext &context, const std::string &model) {
  ModelFacts facts;
  OnnxModel imported = importOnnx(&context, model, {});
  if (imported.status == frontend::Status::Ok)
    for (auto graph : imported.module->getOps<frontend::GraphOp>())
      for (mlir::Attribute name : graph.getInputs())
        facts.inputs.push_back(cast<mlir::StringAttr>(name).getValue().str());
  if (imported.status == frontend::Status::Ok)
    imported.module->walk([&](frontend::NodeOp node) {
      facts.fourier |= node.getKind() == "onnx.DFT" || node.getKind() == "onnx.STFT";
    });
  return facts;
}

/// Imports with the shapes of the data; inputs that conversion asks for are bound to their values.
static LoadedModel load(mlir::MLIRContext &context, const std::string &model,
                        const std::map<std::string, HostTensor> &inputs) {
  ConversionOptions options;
  for (const auto &[name, tensor] : inputs)
    options.inputShapes[name] = tensor.shape();
  for (unsigned round = 0;; ++round) {
    LoadedModel loaded = loadModel(&context, model, {}, options);
    bool more = false;
    for (const std::string &name : loaded.neededInputs)
      if (auto it = inputs.find(name); it != inputs.end())
        more |= options.constantInputs.emplace(name, it->second).second;
    if (loaded.status == frontend::Status::Ok || !more || round > 8)
      return loaded;
  }
}

static std::string missingText(const LoadedModel &model) {
  std::string text;
  for (const frontend::MissingOp &m : model.missing)
    text += (text.empty() ? "" : "; ") + m.kind + ": " + m.reason;
  return text;
}

static std::string shapeText(const HostTensor &t) {
  std::string text(name(t.dtype()));
  text += "[";
  for (size_t i = 0; i < t.shape().size(); ++i)
    text += (i ? "," : "") + std::to_string(t.shape()[i]);
  return text + "]";
}

std::string gpucc::firstDifference(const HostTensor &value, const HostTensor &expected, double rtol,
                                   double atol) {
  if (value.dtype() != expected.dtype() || value.shape() != expected.shape())
    return "is " + shapeText(value) + ", expected " + shapeText(expected);
  for (int64_t i = 0; i < value.numElements(); ++i) {
    bool same;
    if (isFloat(value.dtype())) {
      double a = value.getFloat(i), b = expected.getFloat(i);
      same = a == b || (std::isnan(a) && std::isnan(b)) ||
             std::fabs(a - b) <= atol + rtol * std::fabs(b);
    } else {
      same = value.getInt(i) == expected.getInt(i);
    }
    if (!same)
      return "differs at element " + std::to_string(i) + ": " + std::to_string(value.getFloat(i)) +
             ", expected " + std::to_string(expected.getFloat(i));
  }
  return "";
}

/// One data set; `result` keeps the first thing that is not a pass.
static void runSet(const std::string &folder, const std::string &set, const GraphExecutor &execute,
                   double floorPart, OnnxTestResult &result) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ErrorText errors(context);
  auto end = [&](TestVerdict verdict, const std::string &detail) {
    result.verdict = verdict;
    result.detail = detail;
  };
  std::vector<HostTensor> inputs, expected, outputs;
  std::string error;
  if (!readSeries(set, "input", inputs, error) || !readSeries(set, "output", expected, error))
    return end(TestVerdict::Unsupported, error);
  std::string model = folder + "/model.onnx";
  ModelFacts facts = factsOf(context, model);
  const std::vector<std::string> &names = facts.inputs;
  std::map<std::string, HostTensor> byName;
  for (size_t i = 0; i < std::min(names.size(), inputs.size()); ++i)
    byName[names[i]] = inputs[i];
  LoadedModel loaded = load(context, model, byName);
  if (loaded.status == frontend::Status::Unsupported)
    return end(TestVerdict::Unsupported, missingText(loaded));
  if (loaded.status != frontend::Status::Ok)
    return end(TestVerdict::Fail, "import: " + errors.text);
  TestVerdict ran = execute(*loaded.module, loaded.folder, byName, outputs, error);
  if (ran != TestVerdict::Pass)
    return end(ran, error + (errors.text.empty() ? "" : ": " + errors.text));
  if (outputs.size() != expected.size())
    return end(TestVerdict::Fail, std::to_string(outputs.size()) + " outputs, expected " +
                                      std::to_string(expected.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    double rtol = expected[i].dtype() == DType::BF16 ? 1.0 / 64 : 1e-3;
    double largest = 0;
    for (int64_t e = 0; floorPart > 0 && e < expected[i].numElements(); ++e)
      if (double v = std::fabs(expected[i].getFloat(e)); std::isfinite(v))
        largest = std::max(largest, v);
    std::string difference =
        firstDifference(outputs[i], expected[i], rtol,
                        std::max(facts.fourier ? 5e-4 : 1e-7, rtol * floorPart * largest));
    if (!difference.empty())
      return end(TestVerdict::Fail, "output " + std::to_string(i) + " " + difference);
  }
  result.verdict = TestVerdict::Pass;
}

OnnxTestResult gpucc::runOnnxTest(const std::string &folder, const GraphExecutor &execute,
                                  double floorPart) {
  OnnxTestResult result{sys::path::filename(folder).str(), TestVerdict::Fail, "no data sets"};
  for (unsigned k = 0;; ++k) {
    std::string set = folder + "/test_data_set_" + std::to_string(k);
    if (!exists(set))
      return result;
    runSet(folder, set, execute, floorPart, result);
    if (result.verdict != TestVerdict::Pass)
      return result;
    result.detail.clear();
  }
}

static std::vector<std::string> findTests(const std::vector<std::string> &roots,
                                          const std::string &filter) {
  std::vector<std::string> folders;
  auto glob = GlobPattern::create(filter);
  auto consider = [&](StringRef path) {
    if (glob && glob->match(sys::path::filename(path)) && exists((path + "/model.onnx").str()))
      folders.push_back(path.str());
  };
  for (const std::string &root : roots) {
    consider(root);
    std::error_code failed;
    for (sys::fs::directory_iterator it(root, failed), last; it != last && !failed;
         it.increment(failed))
      consider(it->path());
  }
  if (!glob)
    consumeError(glob.takeError());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<OnnxTestResult> gpucc::runOnnxTests(const std::vector<std::string> &roots,
                                                const OnnxTestOptions &options,
                                                const GraphExecutor &execute) {
  std::vector<std::string> folders = findTests(roots, options.filter);
  std::vector<OnnxTestResult> results(folders.size());
  std::vector<char> done(folders.size(), 0);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  size_t reported = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < folders.size();) {
      OnnxTestResult result = runOnnxTest(folders[i], execute, options.floorPart);
      std::lock_guard<std::mutex> lock(mutex);
      results[i] = std::move(result);
      done[i] = 1;
      for (; reported < results.size() && done[reported]; ++reported)
        if (options.report)
          options.report(results[reported]);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned j = 1; j < options.jobs; ++j)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

std::string gpucc::summaryLine(const std::vector<OnnxTestResult> &results) {
  size_t count[3] = {};
  for (const OnnxTestResult &result : results)
    ++count[static_cast<int>(result.verdict)];
  return std::to_string(count[0]) + " passed, " + std::to_string(count[1]) + " failed, " +
         std::to_string(count[2]) + " unsupported";
}
