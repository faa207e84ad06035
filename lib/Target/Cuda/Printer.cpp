//===- Printer.cpp - functions, control and memory ------------------------===//
#include "lib/Target/Cuda/Printer.h"

#include "gpucc/Conversion/KernelToThreads/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::cuda;
using namespace gpucc::kernel;

std::string cuda::toIdentifier(StringRef name) {
  std::string s;
  for (char c : name)
    s += llvm::isAlnum(c) || c == '_' ? c : '_';
  if (s.empty() || llvm::isDigit(s[0]))
    s = "k" + s;
  return s;
}

LogicalResult cuda::printCuda(func::FuncOp function, llvm::raw_ostream &os) {
  return Printer(os).print(function);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//
/// Views that some operation writes to.
static llvm::DenseSet<Value> writtenViews(func::FuncOp function) {
  llvm::DenseSet<Value> written;
  function.walk([&](Operation *op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(store.getMemRef());
    else if (auto store = dyn_cast<vector::StoreOp>(op))
      written.insert(store.getBase());
  });
  return written;
}

/// The model's name of a view with an underscore behind it, which no word of C++, no macro and no name that the printer
/// or a skeleton makes has; numbered when another view of the kernel has it.
static std::string viewIdentifier(func::FuncOp function, BlockArgument arg, llvm::StringSet<> &used) {
  auto viewName = function.getArgAttrOfType<StringAttr>(arg.getArgNumber(), viewNameAttr);
  std::string stem = viewName ? toIdentifier(viewName.getValue()) : "view";
  std::string name = stem + "_";
  for (int n = 2; !used.insert(name).second; ++n)
    name = stem + "_" + std::to_string(n) + "_";
  return name;
}

LogicalResult Printer::print(func::FuncOp function) {
  wideIndex = function->hasAttr(threads::wideIndexAttr);
  auto block = function->getAttrOfType<DenseI64ArrayAttr>(threads::blockAttr);
  if (!block)
    return function.emitError("the CUDA printer takes what gpucc-kernel-to-threads made");
  auto calls = function.getBody().getOps<SkeletonCallOp>();
  bool isSkeleton = !calls.empty();
  os << "#include \"" << (isSkeleton ? (*calls.begin()).getHeader() : "gk.cuh") << "\"\n";
  for (SkeletonCallOp call : calls)
    os << call.getPreamble();
  os << "extern \"C\" __global__ void __launch_bounds__(" << block[0] << (isSkeleton ? ", 1" : "")
     << ") " << toIdentifier(function.getName()) << "(";
  llvm::DenseSet<Value> written = writtenViews(function);
  llvm::StringSet<> used;
  llvm::interleaveComma(function.getArguments(), os, [&](BlockArgument arg) {
    names[arg] = viewIdentifier(function, arg, used);
    os << (written.contains(arg) ? "" : "const ")
       << type(cast<MemRefType>(arg.getType()).getElementType()) << " *" << names[arg];
  });
  os << ") {\n";
  for (Operation &op : function.getBody().front())
    if (failed(printOp(&op)))
      return failure();
  os << "}\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Names and memory
//===----------------------------------------------------------------------===//
std::string Printer::name(Value v) {
  if (auto constant = v.getDefiningOp<arith::ConstantOp>()) {
    std::string s = literal(cast<TypedAttr>(constant.getValue()));
    return s[0] == '-' ? "(" + s + ")" : s;
  }
  std::string &s = names[v];
  if (s.empty())
    s = fresh("v");
  return s;
}

void Printer::define(Operation *op, const std::string &expression) {
  line() << type(op->getResult(0).getType()) << " " << name(op->getResult(0)) << " = " << expression
         << ";\n";
}

std::string Printer::element(Value memory, ValueRange indices) {
  return name(memory) + "[" + name(indices[0]) + "]";
}
std::string Printer::pointer(Value memory, ValueRange indices) {
  std::string at = name(indices[0]);
  return at == "0" ? name(memory) : name(memory) + " + " + at;
}
std::string Printer::vectorType(VectorType t) {
  return type(t.getElementType()) + ", " + std::to_string(t.getNumElements());
}

void Printer::printAlloca(memref::AllocaOp op) {
  MemRefType t = op.getType();
  int64_t count = t.getNumElements(), bytes = count * t.getElementTypeBitWidth() / 8;
  bool isShared = t.getMemorySpace() != nullptr;
  names[op] = fresh(isShared ? "s" : "t");
  std::string elements = "[" + std::to_string(count) + "]";
  if (isShared)
    line() << "GK_SHARED(" << type(t.getElementType()) << ", " << names[op] << ", " << elements
           << ");\n";
  else
    line() << "alignas(" << (bytes % 32 == 0 ? 32 : 16) << ") " << type(t.getElementType()) << " "
           << names[op] << elements << ";\n";
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//
LogicalResult Printer::printBlock(Block &block) {
  ++depth;
  for (Operation &op : block)
    if (failed(printOp(&op)))
      return failure();
  --depth;
  return success();
}

void Printer::assign(ValueRange yielded, ArrayRef<std::string> targets) {
  ++depth;
  SmallVector<std::string> sources;
  for (Value v : yielded)
    sources.push_back(name(v));
  // A source that is another target's variable is read before it changes.
  for (auto [i, source] : llvm::enumerate(sources))
    if (sources.size() > 1 && llvm::is_contained(targets, source)) {
      std::string copy = fresh("v");
      line() << type(yielded[i].getType()) << " " << copy << " = " << source << ";\n";
      sources[i] = copy;
    }
  for (auto [source, target] : llvm::zip(sources, targets))
    if (source != target)
      line() << target << " = " << source << ";\n";
  --depth;
}

LogicalResult Printer::printFor(scf::ForOp op) {
  SmallVector<std::string> variables;
  for (auto [init, arg, result] :
       llvm::zip(op.getInitArgs(), op.getRegionIterArgs(), op.getResults())) {
    std::string variable = fresh("v");
    line() << type(init.getType()) << " " << variable << " = " << name(init) << ";\n";
    names[arg] = variable;
    names[result] = variable;
    variables.push_back(variable);
  }
  auto unroll = op->getAttrOfType<BoolAttr>(threads::unrollAttr);
  if (unroll)
    line() << (unroll.getValue() ? "GK_UNROLL\n" : "#pragma unroll 1\n");
  std::string i = names[op.getInductionVar()] = fresh("i");
  line() << "for (" << type(op.getInductionVar().getType()) << " " << i << " = "
         << name(op.getLowerBound()) << "; " << i << " < " << name(op.getUpperBound()) << "; " << i
         << " += " << name(op.getStep()) << ") {\n";
  if (failed(printBlock(*op.getBody())))
    return failure();
  assign(op.getBody()->getTerminator()->getOperands(), variables);
  line() << "}\n";
  return success();
}

LogicalResult Printer::printIf(scf::IfOp op) {
  SmallVector<std::string> variables;
  for (Value result : op.getResults()) {
    std::string variable = names[result] = fresh("v");
    line() << type(result.getType()) << " " << variable << ";\n";
    variables.push_back(variable);
  }
  line() << "if (" << name(op.getCondition()) << ") {\n";
  if (failed(printBlock(*op.thenBlock())))
    return failure();
  assign(op.thenBlock()->getTerminator()->getOperands(), variables);
  if (Block *other = op.elseBlock()) {
    line() << "} else {\n";
    if (failed(printBlock(*other)))
      return failure();
    assign(other->getTerminator()->getOperands(), variables);
  }
  line() << "}\n";
  return success();
}

LogicalResult Printer::printSkeleton(SkeletonCallOp op) {
  auto filled = [&](Attribute text) {
    std::string s;
    StringRef rest = cast<StringAttr>(text).getValue();
    while (!rest.empty()) {
      auto [before, after] = rest.split('$');
      s += before;
      if (before.size() == rest.size())
        break;
      unsigned number = 0;
      after.consumeInteger(10, number);
      s += name(op.getViews()[number]);
      rest = after;
    }
    return s;
  };
  SmallVector<std::string> arguments;
  for (Attribute operand : op.getOperands()) {
    std::string variable = fresh("a");
    line() << "const auto " << variable << " = " << filled(operand) << ";\n";
    arguments.push_back(variable);
  }
  Block &epilogue = op.getEpilogue().front();
  BlockArgument acc = epilogue.getArgument(0);
  line() << op.getCallee() << "<" << op.getTemplateArguments() << ">(";
  for (const std::string &argument : arguments)
    os << argument << ", ";
  os << "[&](";
  names[acc] = "acc";
  if (auto array = dyn_cast<MemRefType>(acc.getType()))
    os << type(array.getElementType()) << " (&acc)[" << array.getNumElements() << "]";
  else
    os << type(acc.getType()) << " acc";
  unsigned next = 1;
  for (Attribute parameter : op.getParameters()) {
    StringRef n = cast<StringAttr>(parameter).getValue();
    os << (n == "b" ? ", gk_i64" : ", int");
    if (n.empty())
      continue; // the epilogue has no such index
    os << " " << n;
    names[epilogue.getArgument(next++)] = n.str();
  }
  os << ") {\n";
  if (failed(printBlock(epilogue)))
    return failure();
  line() << "}";
  for (Attribute argument : op.getTrailing())
    os << ", " << cast<StringAttr>(argument).getValue();
  os << ");\n";
  return success();
}

//===----------------------------------------------------------------------===//
// The closed list
//===----------------------------------------------------------------------===//
LogicalResult Printer::printOp(Operation *op) {
  if (isa<arith::ConstantOp, func::ReturnOp, scf::YieldOp, kernel::YieldOp>(op))
    return success();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return printIf(choice);
  if (auto call = dyn_cast<SkeletonCallOp>(op))
    return printSkeleton(call);
  bool isKnown = true;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](gpu::ThreadIdOp) { define(op, "threadIdx.x"); })
      .Case([&](gpu::BlockIdOp) { define(op, "blockIdx.x"); })
      .Case([&](gpu::BarrierOp) { line() << "gk_barrier();\n"; })
      .Case([&](memref::AllocaOp alloca) { printAlloca(alloca); })
      .Case([&](memref::LoadOp load) { define(op, element(load.getMemRef(), load.getIndices())); })
      .Case([&](memref::StoreOp store) {
        line() << element(store.getMemRef(), store.getIndices()) << " = " << name(store.getValue())
               << ";\n";
      })
      .Case([&](vector::LoadOp load) {
        define(op, "gk_load<" + vectorType(load.getVectorType()) + ">(" +
                       pointer(load.getBase(), load.getIndices()) + ")");
      })
      .Case([&](vector::StoreOp store) {
        line() << (store.getNontemporal() ? "gk_store_stream(" : "gk_store(")
               << pointer(store.getBase(), store.getIndices()) << ", "
               << name(store.getValueToStore()) << ");\n";
      })
      .Case([&](GroupReduceOp reduce) {
        define(op, "gk_reduce<gk_" + stringifyLoopResultKind(reduce.getKind()).str() + ", " +
                       std::to_string(reduce.getThreads()) + ", " +
                       std::to_string(reduce.getPacked()) + ">(" + name(reduce.getValue()) + ")");
      })
      .Case([&](GroupReduceToOp reduce) {
        line() << "gk_reduce_to<gk_" << stringifyLoopResultKind(reduce.getKind()) << ", "
               << reduce.getThreads() << ", " << reduce.getColumns() << ", " << reduce.getParts()
               << ">(" << name(reduce.getValue()) << ", " << name(reduce.getOut()) << ");\n";
      })
      .Default([&](Operation *) { isKnown = printScalar(op); });
  if (isKnown)
    return success();
  InFlightDiagnostic diag = op->emitError("the CUDA printer does not know '")
                            << op->getName() << "' on " << op->getOperandTypes();
  diag.attachNote()
      << "gpucc-expand-math expands functions; gpucc-kernel-to-threads makes the rest";
  return diag;
}
