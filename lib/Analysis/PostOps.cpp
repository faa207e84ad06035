//===- PostOps.cpp - pointwise work that a library does on its result -----===//
#include "gpucc/Analysis/PostOps.h"

#include "dialects/Graph/Graph.h"
#include "gpucc/Analysis/IndexTransfer.h"
#include "gpucc/Analysis/MatmulForm.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpucc;

/// Dimension of the result that the library calls channels; none where it is no dimension.
static std::optional<int64_t> channelsOf(Operation *library) {
  int64_t rank = shapeOf(library->getResult(0)).size();
  if (auto conv = dyn_cast<graph::ConvolutionOp>(library))
    return conv.getChannelsLast() ? rank - 1 : 1;
  auto contract = cast<graph::ContractOp>(library);
  std::optional<MatmulForm> form = matmulForm(contract);
  if (!form || contract.getRhsFree().empty() || shapeOf(contract.getResult()).back() != form->n)
    return std::nullopt;
  return rank - 1;
}

/// The number that all elements of a float constant are.
static std::optional<double> splatOf(Value v) {
  auto constant = v.getDefiningOp<graph::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

/// A post-op without a second operand.
static PostOp plain(StringRef kind, double alpha = 0, double beta = 0) {
  return {kind, alpha, beta, Value(), false};
}

/// Zeros as bounds have a sign: max(-0, 0) is 0, as of relu; the others no library does, nor bounds that are NaN. A
/// linear step without a shift keeps the sign of zero, so that a shift by +0, which does not, is no such step.
static std::optional<PostOp> scalarPostOp(graph::BinaryKind kind, double value) {
  constexpr double all = std::numeric_limits<float>::infinity();
  bool bounds = kind == graph::BinaryKind::Max || kind == graph::BinaryKind::Min;
  if ((bounds && std::isnan(value)) ||
      (kind == graph::BinaryKind::Add && value == 0 && !std::signbit(value)))
    return std::nullopt;
  if (bounds && value == 0) {
    if (kind == graph::BinaryKind::Max && !std::signbit(value))
      return plain("relu");
    return std::nullopt;
  }
  switch (kind) {
  case graph::BinaryKind::Add:
    return plain("linear", 1, value);
  case graph::BinaryKind::Mul:
    return plain("linear", value, 0);
  case graph::BinaryKind::Max:
    return plain("clip", value, all);
  case graph::BinaryKind::Min:
    return plain("clip", -all, value);
  default:
    return std::nullopt;
  }
}

static std::optional<PostOp> binaryPostOp(graph::BinaryOp op, Value chain, Operation *library) {
  Value other = op.getLhs() == chain ? op.getRhs() : op.getLhs();
  if (other == chain)
    return std::nullopt;
  if (std::optional<double> value = splatOf(other))
    return scalarPostOp(op.getKind(), *value);
  bool adds = op.getKind() == graph::BinaryKind::Add;
  if (!adds && op.getKind() != graph::BinaryKind::Mul)
    return std::nullopt;
  StringRef kind = adds ? "add_operand" : "multiply_operand";
  auto broadcast = other.getDefiningOp<graph::BroadcastOp>();
  std::optional<int64_t> channels = channelsOf(library);
  // What moves elements is fused with its reader better than stored for the library.
  if (!broadcast && other.getDefiningOp() && !isa<graph::ReshapeOp>(other.getDefiningOp()) &&
      roleOf(other.getDefiningOp()) == OpRole::Movement)
    return std::nullopt;
  if (!broadcast)
    return PostOp{kind, 0, 0, other, false};
  if (!channels || broadcast.getDims() != ArrayRef<int64_t>{*channels} ||
      shapeOf(broadcast.getX()).front() != shapeOf(other)[*channels])
    return std::nullopt;
  if (adds && chain == library->getResult(0))
    kind = "bias";
  return PostOp{kind, 0, 0, broadcast.getX(), true};
}

std::optional<PostOp> gpucc::asPostOp(Operation *op, Value chain, Operation *library) {
  if (op->getNumResults() != 1 || op->getResult(0).getType() != library->getResult(0).getType() ||
      !getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return std::nullopt;
  if (auto gelu = dyn_cast<graph::GeluOp>(op))
    return plain(gelu.getForm() == graph::GeluKind::Erf ? "gelu_erf" : "gelu_tanh");
  if (isa<graph::SiluOp>(op))
    return plain("silu");
  if (auto binary = dyn_cast<graph::BinaryOp>(op))
    return binaryPostOp(binary, chain, library);
  auto unary = dyn_cast<graph::UnaryOp>(op);
  if (!unary)
    return std::nullopt;
  switch (unary.getKind()) {
  case graph::UnaryKind::Relu:
    return plain("relu");
  case graph::UnaryKind::Tanh:
    return plain("tanh");
  case graph::UnaryKind::Logistic:
    return plain("sigmoid");
  default:
    return std::nullopt;
  }
}

Operation *gpucc::libraryOpOf(Operation *cluster) {
  for (Operation &op : cast<graph::ClusterOp>(cluster).getBody().front())
    if (isa<graph::ContractOp, graph::ConvolutionOp>(op))
      return &op;
  return nullptr;
}
