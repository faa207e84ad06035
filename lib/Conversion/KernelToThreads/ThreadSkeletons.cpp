//===- ThreadSkeletons.cpp - instances of the device skeletons ------------===//
//
// A skeleton owns its mapping to blocks and threads; here its operands are described, a tile is
// chosen, and its epilogue is lowered for `columns` neighbouring results at a time.
//
//   kernel.contract %x, %w extents [1, 64, 128, 784] ...
//   → kernel.skeleton_call "gk_gemm_simt"<"64, 128, 784, 64, 64, 16, 4, 4, 4">
//       (["gk_direct<float, 0, 784, 1>{$0}", "gk_direct<float, 0, 1, 128>{$1}"]) ...
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "gpucc/Target/Cuda/Skeletons.h"
#include "lib/Conversion/KernelToThreads/SkeletonText.h"
#include "lib/Conversion/KernelToThreads/Threads.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::threads;
using namespace gpucc::kernel;

namespace {

/// What a skeleton call is made of.
struct Call {
  std::string header, callee, arguments, preamble;
  SmallVector<std::string> operands, parameters, trailing;
  SmallVector<Value> views;
  int64_t columns = 1; ///< per call of the epilogue
  int64_t grid[3] = {1, 1, 1};
  int64_t block = 128;
};

ArrayAttr strings(OpBuilder &b, ArrayRef<std::string> texts) {
  SmallVector<StringRef> refs(texts.begin(), texts.end());
  return b.getStrArrayAttr(refs);
}

/// The epilogue, `call.columns` results at a time along its last index.
void lowerEpilogue(ThreadKernel &k, Region &from, Region &to, const Call &call) {
  Block &old = from.front();
  Type accumulator = old.getArgument(0).getType();
  if (call.columns > 1)
    accumulator = MemRefType::get({call.columns}, accumulator);
  SmallVector<Type> types{accumulator};
  types.append(old.getNumArguments() - 1, k.b.getIndexType());
  SmallVector<Location> locs(types.size(), k.loc);
  OpBuilder::InsertionGuard guard(k.b);
  OpBuilder::InsertPoint outerEntry = k.entry;
  Block *block = k.b.createBlock(&to, to.end(), types, locs);
  YieldOp::create(k.b, k.loc);
  k.b.setInsertionPointToStart(block);
  k.openEntry();
  ChunkEmitter body(k, call.columns, block->getArguments().back());
  if (call.columns > 1)
    body.bindArray(old.getArgument(0), block->getArgument(0));
  else
    body.bind(old.getArgument(0), block->getArgument(0));
  for (unsigned i = 1; i + 1 < old.getNumArguments(); ++i)
    body.bind(old.getArgument(i), block->getArgument(i));
  body.bind(old.getArguments().back(), body.dim0());
  body.emit(old, [](Value) {});
  k.entry = outerEntry;
}

void buildCall(ThreadKernel &k, const Call &call, Region &epilogue, func::FuncOp func) {
  OpBuilder &b = k.b;
  SmallVector<Value> flat;
  for (Value view : call.views)
    flat.push_back(k.views.lookup(view));
  auto op = SkeletonCallOp::create(b, k.loc, b.getStringAttr(call.header),
                                   b.getStringAttr(call.callee), b.getStringAttr(call.arguments),
                                   b.getStringAttr(call.preamble), strings(b, call.operands),
                                   strings(b, call.parameters), strings(b, call.trailing), flat);
  lowerEpilogue(k, epilogue, op.getEpilogue(), call);
  func->setAttr(gridAttr, b.getDenseI64ArrayAttr(call.grid));
  func->setAttr(blockAttr, b.getDenseI64ArrayAttr({call.block, 1, 1}));
}

/// The narrowest element that the epilogue stores, in bytes: its stores want whole vectors.
int64_t resultBytes(Region &epilogue) {
  int64_t bytes = 4;
  epilogue.walk([&](StoreOp store) {
    Type t = storageType(store.getValue().getType());
    bytes = std::min<int64_t>(bytes, t.getIntOrFloatBitWidth() / 8);
  });
  return bytes;
}

std::string list(ArrayRef<int64_t> values) {
  std::string s;
  for (int64_t v : values)
    s += (s.empty() ? "" : ", ") + std::to_string(v);
  return s;
}

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//
LogicalResult emitContract(ThreadKernel &k, ContractOp op, func::FuncOp func) {
  ArrayRef<int64_t> e = op.getExtents();
  Type element = cast<MemRefType>(op.getLhs().getType()).getElementType();
  cuda::GemmProblem problem;
  problem.tensorCores = !element.isF32() || op.getMath() == MathMode::Tf32;
  problem.elementBytes = element.getIntOrFloatBitWidth() / 8;
  problem.batch = e[0], problem.m = e[1], problem.n = e[2], problem.k = e[3];
  cuda::GemmTile tile = cuda::chooseGemmTile(problem);
  Call call;
  call.header = problem.tensorCores ? "gemm_mma.cuh" : "gemm_simt.cuh";
  call.callee = problem.tensorCores ? "gk_gemm_mma" : "gk_gemm_simt";
  call.columns = cuda::chooseEpilogueWidth(tile, e[2], resultBytes(op.getEpilogue()));
  call.arguments = (problem.tensorCores ? deviceType(element) + ", " : std::string()) +
                   list(e.drop_front()) + ", " + tile.text() + ", " + std::to_string(call.columns);
  MatrixOperand lhs{op.getLhs(),
                    op.getLhsMap(),
                    /*row=*/1,
                    /*depth=*/2,
                    e[1],
                    e[3],
                    k.alignment.lookup(op.getLhs())};
  MatrixOperand rhs{op.getRhs(),
                    op.getRhsMap(),
                    /*row=*/2,
                    /*depth=*/1,
                    e[2],
                    e[3],
                    k.alignment.lookup(op.getRhs())};
  std::string name = func.getName().str();
  call.operands = {matrixOperandText(lhs, "$0", name + "_lhs", call.preamble),
                   matrixOperandText(rhs, "$1", name + "_rhs", call.preamble)};
  call.parameters = {"b", "i", "j"};
  call.views = {op.getLhs(), op.getRhs()};
  llvm::copy(tile.grid(problem), call.grid);
  call.block = tile.threads();
  buildCall(k, call, op.getEpilogue(), func);
  return success();
}

//===----------------------------------------------------------------------===//
// convolution
//===----------------------------------------------------------------------===//
LogicalResult emitConvolution(ThreadKernel &k, ConvolutionOp op, func::FuncOp func) {
  SmallVector<int64_t> in = op.getInputShape(), w = op.getFilterShape(), out = op.getOutputShape();
  // One spatial dimension is two with the first of extent 1.
  bool flat = in.size() == 3;
  SmallVector<int64_t> strides(op.getStrides()), dilations(op.getDilations());
  SmallVector<int64_t> pads(op.getPadsLow());
  if (flat) {
    for (SmallVector<int64_t> *shape : {&in, &w, &out})
      shape->insert(shape->begin() + 2, 1);
    strides.insert(strides.begin(), 1);
    dilations.insert(dilations.begin(), 1);
    pads.insert(pads.begin(), 0);
  }
  int64_t groups = op.getGroups(), inGroup = w[1], outGroup = out[1] / groups;
  std::string shape =
      "gk_conv_shape<" +
      list({in[0], in[1], in[2], in[3], out[1], w[2], w[3], out[2], out[3], strides[0], strides[1],
            dilations[0], dilations[1], pads[0], pads[1], groups}) +
      ">";
  cuda::GemmProblem problem;
  problem.batch = groups;
  Call call;
  call.header = "conv.cuh";
  int64_t row = 1; // extent of the result's last index
  switch (op.getKind()) {
  case ConvolutionKind::Forward:
    call.callee = "gk_conv_forward";
    problem.m = outGroup, problem.n = in[0] * out[2] * out[3], row = out[3];
    break;
  case ConvolutionKind::InputGrad:
    call.callee = "gk_conv_backward_data";
    problem.m = inGroup, problem.n = in[0] * in[2] * in[3], row = in[3];
    break;
  case ConvolutionKind::FilterGrad:
    call.callee = "gk_conv_backward_weights";
    problem.m = outGroup, problem.n = inGroup * w[2] * w[3];
    break;
  }
  cuda::GemmTile tile = cuda::chooseGemmTile(problem);
  call.columns = cuda::chooseEpilogueWidth(tile, row, 4);
  call.arguments = shape + ", " + tile.text() + ", " + std::to_string(call.columns);
  call.operands = {imageOperandText(op.getLhs(), "$0", flat),
                   imageOperandText(op.getRhs(), "$1", flat)};
  call.parameters = {"in", "ic", "iy", "ix"}; // no digits: the printer's own names have them
  if (flat)
    call.parameters = {"in", "ic", "", "ix"};
  call.views = {op.getLhs(), op.getRhs()};
  llvm::copy(tile.grid(problem), call.grid);
  call.block = tile.threads();
  buildCall(k, call, op.getEpilogue(), func);
  return success();
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//
LogicalResult emitAttention(ThreadKernel &k, AttentionOp op, func::FuncOp func) {
  ArrayRef<int64_t> e = op.getExtents(); // B, H, K, S, T, D, E
  Type element = cast<MemRefType>(op.getQ().getType()).getElementType();
  bool mma = !element.isF32();
  int64_t queries = mma ? 64 : 32;
  Call call;
  call.header = mma ? "attention_mma.cuh" : "attention_simt.cuh";
  call.callee = mma ? "gk_attention_mma" : "gk_attention_simt";
  for (int64_t v : {8, 4, 2})
    if (call.columns == 1 && e[5] % v == 0 && v * resultBytes(op.getEpilogue()) <= 16 &&
        (mma || v <= 4))
      call.columns = v;
  call.arguments = (mma ? deviceType(element) + ", " : std::string()) + "gk_attention_shape<" +
                   list({e[1], e[2], e[3], e[4], e[5]}) + ", " +
                   (op.getCausal() ? "true, " + std::to_string(e[4] - e[3]) : "false") + ">, " +
                   std::to_string(call.columns);
  call.operands = {headsOperandText(op.getQ(), op.getQMap(), "$0", k.alignment.lookup(op.getQ())),
                   headsOperandText(op.getK(), op.getKMap(), "$1", k.alignment.lookup(op.getK())),
                   headsOperandText(op.getV(), op.getVMap(), "$2", k.alignment.lookup(op.getV())),
                   floatText(op.getScale().convertToDouble())};
  call.views = {op.getQ(), op.getK(), op.getV()};
  if (op.getBias()) {
    call.operands.push_back(scoreText(op.getBias(), *op.getBiasMap(), "$3"));
    call.views.push_back(op.getBias());
  } else {
    call.operands.push_back("gk_plain_score{}");
  }
  call.trailing = {"gk_no_statistics{}"};
  call.parameters = {"b", "h", "i", "d"};
  call.grid[0] = llvm::divideCeil(e[3], queries);
  call.grid[1] = e[1];
  call.grid[2] = e[0];
  call.block = 128;
  buildCall(k, call, op.getEpilogue(), func);
  return success();
}

} // namespace

LogicalResult threads::emitSkeleton(ThreadKernel &k, Operation *skeleton, func::FuncOp func) {
  if (auto contract = dyn_cast<ContractOp>(skeleton))
    return emitContract(k, contract, func);
  if (auto convolution = dyn_cast<ConvolutionOp>(skeleton))
    return emitConvolution(k, convolution, func);
  return emitAttention(k, cast<AttentionOp>(skeleton), func);
}

bool threads::hasDeviceSkeleton(Operation *op) {
  auto elementOf = [](Value view) { return cast<MemRefType>(view.getType()).getElementType(); };
  auto isFloat = [](Type t) { return t.isF32() || t.isF16() || t.isBF16(); };
  if (auto contract = dyn_cast<ContractOp>(op))
    return isFloat(elementOf(contract.getLhs()));
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return isFloat(elementOf(convolution.getLhs())) && convolution.getResultShape().size() <= 4;
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    ArrayRef<int64_t> e = attention.getExtents();
    Type element = elementOf(attention.getQ());
    // One head size; rows that see nothing are the plain loops' business.
    return isFloat(element) && e[5] == e[6] && e[5] <= (element.isF32() ? 160 : 128) &&
           !(attention.getCausal() && e[4] < e[3]);
  }
  return true;
}
