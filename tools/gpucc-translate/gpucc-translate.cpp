//===- gpucc-translate.cpp - model files to IR text -----------------------===//
//
//   gpucc-translate --to=frontend model.onnx                 the file as it is
//   gpucc-translate --profile batch=4,seq=16 model.onnx      what it means (graph)
//   gpucc-translate --train model.onnx                       weights become state
//   gpucc-translate --to=cuda kernels.mlir                   kernel.func as CUDA C++
//   gpucc-translate --list-ops                               what can be converted
//   gpucc-translate --onnx-tests DIR                         official node tests, evaluated
//
// Exit code: 0 fine, 2 broken model or usage, 3 a model with missing operators.
//
//===----------------------------------------------------------------------===//
#include "KernelText.h"
#include "gpucc/Pipelines/LoadModel.h"
#include "gpucc/Pipelines/OnnxTests.h"
#include "gpucc/Reference/Evaluator.h"
#include "gpucc/Transforms/Graph/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;
using namespace gpucc;

static cl::opt<std::string> inputFile(cl::Positional, cl::desc("model.onnx"), cl::init(""));
static cl::opt<bool> listOps("list-ops", cl::desc("Print the operators that have a conversion"));
static cl::opt<std::string> outputFile("o", cl::desc("Output file"), cl::init("-"));
static cl::opt<std::string> target("to", cl::desc("frontend, graph, or cuda"), cl::init("graph"));
static cl::opt<std::string> profile("profile", cl::desc("Sizes of symbolic dimensions: batch=1,"
                                                        "seq=16; profiles separated by ';'"));
static cl::opt<bool> train("train", cl::desc("Float weights become state arguments"));
static cl::opt<bool> followLinks("follow-links",
                                 cl::desc("External data may be links out of the model's folder"));
static cl::opt<bool> locations("locations", cl::desc("Print source locations"));

static cl::opt<bool> elide("elide",
                           cl::desc("Leave out big constants; the text cannot be read back"));
static cl::opt<bool> onnxTests("onnx-tests",
                               cl::desc("The argument is a folder of ONNX node tests"));
static cl::opt<std::string> filter("filter", cl::desc("Glob over test names"), cl::init("*"));
static cl::opt<double> floorPart(
    "floor-part", cl::init(0),
    cl::desc(
        "Elements below this part of the largest one are compared as if they were that large"));
static cl::opt<unsigned> jobs("jobs", cl::desc("Tests at a time"), cl::init(1));

static cl::opt<std::string> pipeline("passes", cl::desc("Graph passes to run after import, as in "
                                                        "gpucc-opt --pass-pipeline"));

static bool runPasses(mlir::ModuleOp module) {
  mlir::PassManager pm(module.getContext());
  return pipeline.empty() || (mlir::succeeded(mlir::parsePassPipeline(pipeline, pm)) &&
                              mlir::succeeded(pm.run(module)));
}

/// @main by the Reference evaluator.
static TestVerdict evaluate(mlir::ModuleOp module, const std::string &folder,
                            const std::map<std::string, HostTensor> &inputs,
                            std::vector<HostTensor> &outputs, std::string &error) {
  if (!runPasses(module)) {
    error = "passes failed";
    return TestVerdict::Fail;
  }
  auto function = module.lookupSymbol<mlir::func::FuncOp>("main");
  std::vector<HostTensor> arguments;
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<mlir::StringAttr>(i, base::nameAttr);
    auto it = inputs.find(name ? name.getValue().str() : "");
    if (it == inputs.end()) {
      error = "no value for argument " + std::to_string(i);
      return TestVerdict::Fail;
    }
    arguments.push_back(it->second);
  }
  FileWeights weights(folder);
  auto results = evaluateFunction(function, arguments, weights);
  if (mlir::failed(results) || mlir::failed(cutToSize(function, *results))) {
    error = "evaluation failed";
    return TestVerdict::Fail;
  }
  for (unsigned i = 0; i < results->size(); ++i) {
    auto kind = function.getResultAttrOfType<mlir::StringAttr>(i, base::kindAttr);
    if (!kind || kind.getValue() != "count")
      outputs.push_back((*results)[i]);
  }
  return TestVerdict::Pass;
}

static int runTests() {
  OnnxTestOptions options;
  options.filter = filter;
  options.jobs = jobs;
  options.floorPart = floorPart;
  options.report = [](const OnnxTestResult &result) {
    const char *words[] = {"pass        ", "FAIL        ", "unsupported "};
    outs() << words[static_cast<int>(result.verdict)] << result.name
           << (result.detail.empty() ? "" : ": ") << result.detail << "\n";
    outs().flush();
  };
  auto results = runOnnxTests({inputFile}, options, evaluate);
  outs() << summaryLine(results) << "\n";
  return llvm::any_of(results,
                      [](const OnnxTestResult &r) { return r.verdict == TestVerdict::Fail; });
}

static int write(mlir::ModuleOp module) {
  std::error_code failed;
  ToolOutputFile out(outputFile, failed, sys::fs::OF_Text);
  if (failed) {
    errs() << "cannot write '" << outputFile << "': " << failed.message() << "\n";
    return 2;
  }
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations, /*prettyForm=*/false);
  if (elide)
    flags.elideLargeElementsAttrs(64);
  module.print(out.os(), flags);
  out.os() << "\n";
  out.keep();
  return 0;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "from model files to IR\n");
  mlir::registerTransformsPasses();
  registerTransformsGraphPasses();
  if (listOps) {
    for (const SupportedOp &op : supportedOps())
      outs() << op.kind << "  " << op.since << "-" << op.until << "\n";
    return 0;
  }
  if (inputFile.empty()) {
    errs() << "no model given; usage: gpucc-translate [options] model.onnx (see --help)\n";
    return 2;
  }
  if (onnxTests)
    return runTests();
  if (target == "cuda")
    return printKernels(inputFile, outs());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, errs());
  OnnxOptions import;
  import.followLinks = followLinks;
  if (target == "frontend") {
    OnnxModel model = importOnnx(&context, inputFile, import);
    return model.status == frontend::Status::Ok ? write(*model.module)
                                                : frontend::exitCode(model.status);
  }
  if (target != "graph") {
    errs() << "--to=" << target << " is not known; allowed are frontend, graph and cuda\n";
    return 2;
  }
  ConversionOptions conversion;
  conversion.train = train;
  std::string error;
  if (!parseProfiles(profile, conversion.profiles, error)) {
    errs() << "--profile: " << error << "\n";
    return 2;
  }
  LoadedModel model = loadModel(&context, inputFile, import, std::move(conversion));
  if (model.status != frontend::Status::Ok)
    return frontend::exitCode(model.status);
  return runPasses(*model.module) ? write(*model.module) : 2;
}
