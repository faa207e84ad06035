//===- FrontendToGraph.h - what a model means -------------------*- C++ -*-===//
//
// Turns the `frontend.graph` of a module into one `func.func` per profile
// (docs/conventions.md §1-2): symbols bound, shapes static, shape arithmetic
// evaluated, every node replaced by graph ops. Which node becomes what stands
// in tables, one per family (lib/Conversion/FrontendToGraph/Rules).
//
//   ConversionOptions options;
//   options.profiles = {{"p0", {{"batch", 4}}}};
//   Conversion c = convertFrontendToGraph(module, options);
//   c.status      Ok, BadInput (exit 2) or Unsupported (exit 3)
//   c.missing     every node that has no conversion, with the reason
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_CONVERSION_FRONTENDTOGRAPH_FRONTENDTOGRAPH_H
#define GPUCC_CONVERSION_FRONTENDTOGRAPH_FRONTENDTOGRAPH_H

#include "dialects/Frontend/Status.h"
#include "gpucc/Facts/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace gpucc {

/// Sizes of the model's symbolic dimensions.
struct ProfileBinding {
  std::string name;
  std::map<std::string, int64_t> sizes;
};

/// "batch=1,seq=16" (one profile) or several, separated by ';'. False and `error` when malformed.
bool parseProfiles(llvm::StringRef text, std::vector<ProfileBinding> &profiles, std::string &error);

struct ConversionOptions {
  /// Empty: every symbol is 1, with a warning when there is one.
  std::vector<ProfileBinding> profiles;
  /// Float initializers become state arguments; BatchNorm and Dropout train.
  bool train = false;
  /// Where the module's files lie; small weights that steer conversion are read from there.
  std::string folder;
  /// Inputs that are replaced by a constant (a Reshape's shape that the model takes as an input).
  std::map<std::string, HostTensor> constantInputs;
  /// Shapes of inputs, where the model gives none.
  std::map<std::string, std::vector<int64_t>> inputShapes;
};

struct Conversion {
  frontend::Status status = frontend::Status::Ok;
  std::vector<frontend::MissingOp> missing;
  /// Inputs whose values conversion asked for and did not have (shapes, axes).
  std::vector<std::string> neededInputs;
};

/// Errors go to the diagnostic handlers; on failure the module is left with what was built.
Conversion convertFrontendToGraph(mlir::ModuleOp module, const ConversionOptions &options);

/// An operator and the opset versions that have a conversion.
struct SupportedOp {
  std::string kind; ///< "Add", "com.microsoft.Gelu"
  int64_t since = 0, until = 0;
};
/// In alphabetical order.
std::vector<SupportedOp> supportedOps();

/// Registers --gpucc-frontend-to-graph.
void registerConversionFrontendToGraphPasses();

} // namespace gpucc

#endif // GPUCC_CONVERSION_FRONTENDTOGRAPH_FRONTENDTOGRAPH_H
