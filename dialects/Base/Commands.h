//===- Commands.h - what a rank does ----------------------------*- C++ -*-===//
// See Commands.td. The verifiers that sched and plan share stand here, as templates over the op.
#ifndef GPUCC_BASE_COMMANDS_H
#define GPUCC_BASE_COMMANDS_H

#include "dialects/Base/Base.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"

namespace gpucc::base {

/// Greatest number of a stage's ranks: a rank's number is a u32 in plan files.
inline constexpr int64_t maxRanks = int64_t(1) << 31;

/// One view that a command touches.
struct Access {
  ViewAttr view;
  bool reads = false, writes = false;
};

/// Operands that a library call of this kind takes, 0 for an unknown kind.
unsigned numLibraryOperands(llvm::StringRef kind);

/// offset + (rows - 1) * pitch + bytes, where `rows` pieces of `bytes` bytes end that lie `pitch`
/// apart; none when a number is below what it can be or the end is no i64.
std::optional<int64_t> endOf(int64_t offset, int64_t rows, int64_t pitch, int64_t bytes);

/// Accesses from parallel lists of views and letters; library operands are read but for the last.
llvm::SmallVector<Access> launchAccesses(mlir::ArrayAttr views, llvm::StringRef letters);
llvm::SmallVector<Access> libraryAccesses(mlir::ArrayAttr operands, mlir::DictionaryAttr config);

// The numbered constraints of Commands.td. Of the op alone:
llvm::LogicalResult verifyLaunch(mlir::Operation *op, mlir::ArrayAttr views, llvm::StringRef access,
                                 std::optional<mlir::ArrayAttr> scalars);
llvm::LogicalResult verifyLibraryCall(mlir::Operation *op, llvm::StringRef kind,
                                      mlir::ArrayAttr operands, mlir::DictionaryAttr config);
llvm::LogicalResult verifyCopy(mlir::Operation *op, ViewAttr source, ViewAttr destination,
                               int64_t bytes, int64_t rows, int64_t sourcePitch,
                               int64_t destinationPitch);
llvm::LogicalResult verifyFill(mlir::Operation *op, ViewAttr destination, int64_t patternSize);

/// The attributes of a collective.
struct CollectiveFacts {
  llvm::StringRef kind, reduce;
  mlir::ArrayAttr axes;
  mlir::Type type;
  int64_t count;
  std::optional<ViewAttr> input, output;
  std::optional<RankValueAttr> peer, source;
  bool hasPeerStage;
};
llvm::LogicalResult verifyCollective(mlir::Operation *op, const CollectiveFacts &facts);

/// The attributes of an entry of the tensor table.
struct TensorFacts {
  llvm::StringRef role;
  mlir::Type type, local;
  ViewAttr view;
  mlir::ArrayAttr slices;
  int64_t slots;
  std::optional<mlir::ArrayAttr> dims, partialAxes;
  std::optional<llvm::StringRef> sourceName;
  std::optional<llvm::ArrayRef<int64_t>> sourceShape, sourceBase;
  std::optional<int64_t> varyingDim;
  std::optional<llvm::StringRef> count;
};
llvm::LogicalResult verifyTensor(mlir::Operation *op, const TensorFacts &facts);
llvm::LogicalResult verifyInitialize(mlir::Operation *op, bool hasValue, bool hasKey,
                                     mlir::Type type, ViewAttr view, mlir::ArrayAttr slices);
llvm::LogicalResult verifyScript(mlir::Operation *op, mlir::ArrayAttr segments,
                                 llvm::ArrayRef<int64_t> slots);
llvm::LogicalResult verifyProgram(mlir::Operation *op, mlir::ArrayAttr mesh,
                                  llvm::ArrayRef<int64_t> shape, int64_t stage);

// And with the program around it (CommandSymbols.cpp).
struct ProgramFacts {
  mlir::Operation *program = nullptr;
  /// The tables that the verification of the program has made already: a look-up through them does
  /// not walk the program.
  mlir::SymbolTableCollection *symbols = nullptr;
  mlir::ArrayAttr mesh;
  llvm::ArrayRef<int64_t> shape;
  /// Bytes of one slot when the op declares a buffer.
  std::optional<int64_t> (*bytesOf)(mlir::Operation *) = nullptr;
};
/// (V1), (V2)
llvm::LogicalResult verifyViews(mlir::Operation *op, llvm::ArrayRef<ViewAttr> views,
                                const ProgramFacts &facts);
/// (V3)
llvm::LogicalResult verifyRankValue(mlir::Operation *op, RankValueAttr value,
                                    const ProgramFacts &facts);
llvm::LogicalResult verifySlices(mlir::Operation *op, mlir::ArrayAttr slices,
                                 const ProgramFacts &facts);
/// A command's views and the rank values of a launch.
llvm::LogicalResult verifyCommandUses(mlir::Operation *op, llvm::ArrayRef<Access> accesses,
                                      std::optional<mlir::ArrayAttr> scalars,
                                      const ProgramFacts &facts);
llvm::LogicalResult verifyCollectiveUses(mlir::Operation *op, const CollectiveFacts &collective,
                                         const ProgramFacts &facts);
llvm::LogicalResult verifyTensorUses(mlir::Operation *op, const TensorFacts &tensor,
                                     const ProgramFacts &facts);
llvm::LogicalResult verifyScriptUses(mlir::Operation *op, mlir::ArrayAttr segments,
                                     const ProgramFacts &facts, llvm::StringRef segmentOp);

// And with the module around the program (ModuleSymbols.cpp).
/// The kernel exists and has one view per view of the launch, of its size.
llvm::LogicalResult verifyKernel(mlir::Operation *op, mlir::FlatSymbolRefAttr kernel,
                                 mlir::ArrayAttr views, const mlir::SymbolTable &module);
/// The key is an entry of the weight table, of the element type that plans can read.
llvm::LogicalResult verifyWeight(mlir::Operation *op, mlir::FlatSymbolRefAttr key,
                                 const mlir::SymbolTable &module);
/// A program as far as others of the module must agree with it.
struct ProgramShape {
  mlir::Operation *program;
  int64_t stage;
  mlir::ArrayAttr mesh;
  llvm::ArrayRef<int64_t> shape;
};
/// Stages count up from 0, their programs have equal meshes of one number of ranks.
llvm::LogicalResult verifyStages(llvm::ArrayRef<ProgramShape> programs);

/// Checks of one dialect's programs that are the same in both: kernels, weights, stages.
template <typename ProgramOp, typename LaunchOp, typename InitializeOp, typename CollectiveOp>
llvm::LogicalResult verifyModuleSymbols(mlir::ModuleOp module) {
  llvm::SmallVector<ProgramShape> programs;
  int64_t stages = 0;
  for (auto program : module.getOps<ProgramOp>()) {
    auto stage = static_cast<int64_t>(program.getStage());
    stages = std::max(stages, stage + 1);
    programs.push_back({program, stage, program.getMesh(), program.getMeshShape()});
  }
  if (failed(verifyStages(programs)))
    return llvm::failure();
  mlir::SymbolTable symbols(module);
  mlir::WalkResult outcome = module.walk([&](mlir::Operation *op) {
    bool fine = true;
    if (auto launch = mlir::dyn_cast<LaunchOp>(op))
      fine = succeeded(verifyKernel(op, launch.getKernelAttr(), launch.getViews(), symbols));
    else if (auto initialize = mlir::dyn_cast<InitializeOp>(op);
             initialize && initialize.getKeyAttr())
      fine = succeeded(verifyWeight(op, initialize.getKeyAttr(), symbols));
    else if (auto collective = mlir::dyn_cast<CollectiveOp>(op);
             collective && collective.getPeerStage()) {
      auto peer = static_cast<int64_t>(*collective.getPeerStage());
      auto own = static_cast<int64_t>(op->template getParentOfType<ProgramOp>().getStage());
      fine = peer >= 0 && peer < stages && peer != own;
      if (!fine)
        op->emitOpError() << "(C7) is between stage " << own << " and stage " << peer
                          << "; the module has stages 0 to " << stages - 1
                          << ", and a stage keeps its own values";
    }
    return fine ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
  });
  return llvm::success(!outcome.wasInterrupted());
}

} // namespace gpucc::base

#include "dialects/Base/CommandsInterfaces.h.inc"

/// Defines the members of one dialect's command ops by the functions above.
#define GPUCC_DEFINE_COMMANDS                                                                      \
  template <typename Op>                                                                           \
  static base::ProgramFacts programOf(Op op, SymbolTableCollection &symbols) {                     \
    auto program = op->template getParentOfType<ProgramOp>();                                      \
    base::ProgramFacts facts;                                                                      \
    facts.program = program;                                                                       \
    facts.symbols = &symbols;                                                                      \
    facts.mesh = program.getMesh();                                                                \
    facts.shape = program.getMeshShape();                                                          \
    facts.bytesOf = [](Operation *o) -> std::optional<int64_t> {                                   \
      auto buffer = dyn_cast<BufferOp>(o);                                                         \
      return buffer ? std::optional<int64_t>(buffer.getBytes()) : std::nullopt;                    \
    };                                                                                             \
    return facts;                                                                                  \
  }                                                                                                \
  /* A command outside a program has no symbols to look up. */                                     \
  template <typename Op>                                                                           \
  static LogicalResult verifyUses(Op op, SymbolTableCollection &symbols,                           \
                                  std::optional<ArrayAttr> scalars = std::nullopt) {               \
    if (!op->template getParentOfType<ProgramOp>())                                                \
      return op.emitOpError() << "stands outside a program";                                       \
    return base::verifyCommandUses(op, op.getAccesses(), scalars, programOf(op, symbols));         \
  }                                                                                                \
  static base::CollectiveFacts factsOf(CollectiveOp op) {                                          \
    return {op.getKind(),                                                                          \
            op.getReduce(),                                                                        \
            op.getAxes(),                                                                          \
            op.getType(),                                                                          \
            static_cast<int64_t>(op.getCount()),                                                   \
            op.getInput(),                                                                         \
            op.getOutput(),                                                                        \
            op.getPeer(),                                                                          \
            op.getSource(),                                                                        \
            op.getPeerStage().has_value()};                                                        \
  }                                                                                                \
  static base::TensorFacts factsOf(TensorOp op) {                                                  \
    return {op.getRole(),        op.getType(),        op.getLocal(),                               \
            op.getView(),        op.getSlices(),      static_cast<int64_t>(op.getSlots()),         \
            op.getDims(),        op.getPartialAxes(), op.getSourceName(),                          \
            op.getSourceShape(), op.getSourceBase(),  op.getVaryingDim(),                          \
            op.getCount()};                                                                        \
  }                                                                                                \
  SmallVector<base::Access> LaunchOp::getAccesses() {                                              \
    return base::launchAccesses(getViews(), getAccess());                                          \
  }                                                                                                \
  LogicalResult LaunchOp::verify() {                                                               \
    return base::verifyLaunch(*this, getViews(), getAccess(), getScalars());                       \
  }                                                                                                \
  LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {                       \
    return verifyUses(*this, symbols, getScalars());                                               \
  }                                                                                                \
  SmallVector<base::Access> LibraryCallOp::getAccesses() {                                         \
    return base::libraryAccesses(getArgs(), getConfig());                                          \
  }                                                                                                \
  LogicalResult LibraryCallOp::verify() {                                                          \
    return base::verifyLibraryCall(*this, getKind(), getArgs(), getConfig());                      \
  }                                                                                                \
  LogicalResult LibraryCallOp::verifySymbolUses(SymbolTableCollection &symbols) {                  \
    return verifyUses(*this, symbols);                                                             \
  }                                                                                                \
  SmallVector<base::Access> CopyOp::getAccesses() {                                                \
    return {{getSource(), true, false}, {getDestination(), false, true}};                          \
  }                                                                                                \
  LogicalResult CopyOp::verify() {                                                                 \
    return base::verifyCopy(*this, getSource(), getDestination(), getBytes(), getRows(),           \
                            getSourcePitch(), getDestinationPitch());                              \
  }                                                                                                \
  LogicalResult CopyOp::verifySymbolUses(SymbolTableCollection &symbols) {                         \
    return verifyUses(*this, symbols);                                                             \
  }                                                                                                \
  SmallVector<base::Access> FillOp::getAccesses() { return {{getDestination(), false, true}}; }    \
  LogicalResult FillOp::verify() {                                                                 \
    return base::verifyFill(*this, getDestination(), getPatternSize());                            \
  }                                                                                                \
  LogicalResult FillOp::verifySymbolUses(SymbolTableCollection &symbols) {                         \
    return verifyUses(*this, symbols);                                                             \
  }                                                                                                \
  SmallVector<base::Access> CollectiveOp::getAccesses() {                                          \
    SmallVector<base::Access> result;                                                              \
    if (getInput())                                                                                \
      result.push_back({*getInput(), true, false});                                                \
    if (getOutput())                                                                               \
      result.push_back({*getOutput(), false, true});                                               \
    return result;                                                                                 \
  }                                                                                                \
  LogicalResult CollectiveOp::verify() { return base::verifyCollective(*this, factsOf(*this)); }   \
  LogicalResult CollectiveOp::verifySymbolUses(SymbolTableCollection &symbols) {                   \
    if (failed(verifyUses(*this, symbols)))                                                        \
      return failure();                                                                            \
    return base::verifyCollectiveUses(*this, factsOf(*this), programOf(*this, symbols));           \
  }                                                                                                \
  LogicalResult TensorOp::verify() { return base::verifyTensor(*this, factsOf(*this)); }           \
  LogicalResult TensorOp::verifySymbolUses(SymbolTableCollection &symbols) {                       \
    if (!(*this)->getParentOfType<ProgramOp>())                                                    \
      return emitOpError() << "stands outside a program";                                          \
    return base::verifyTensorUses(*this, factsOf(*this), programOf(*this, symbols));               \
  }                                                                                                \
  LogicalResult InitializeOp::verify() {                                                           \
    return base::verifyInitialize(*this, getValue().has_value(), getKey().has_value(), getType(),  \
                                  getView(), getSlices());                                         \
  }                                                                                                \
  LogicalResult InitializeOp::verifySymbolUses(SymbolTableCollection &symbols) {                   \
    if (!(*this)->getParentOfType<ProgramOp>())                                                    \
      return emitOpError() << "stands outside a program";                                          \
    if (failed(base::verifyViews(*this, {getView()}, programOf(*this, symbols))))                  \
      return failure();                                                                            \
    return base::verifySlices(*this, getSlices(), programOf(*this, symbols));                      \
  }                                                                                                \
  LogicalResult RankConstantOp::verify() {                                                         \
    if (getView().getBytes() == 8)                                                                 \
      return success();                                                                            \
    return emitOpError() << "(C1) writes an i64 into " << getView().getBytes()                     \
                         << " bytes; give it a view of 8";                                         \
  }                                                                                                \
  LogicalResult RankConstantOp::verifySymbolUses(SymbolTableCollection &symbols) {                 \
    if (!(*this)->getParentOfType<ProgramOp>())                                                    \
      return emitOpError() << "stands outside a program";                                          \
    if (failed(base::verifyViews(*this, {getView()}, programOf(*this, symbols))))                  \
      return failure();                                                                            \
    return base::verifyRankValue(*this, getValue(), programOf(*this, symbols));                    \
  }                                                                                                \
  LogicalResult ScriptOp::verify() {                                                               \
    return base::verifyScript(*this, getSegments(), getSlots());                                   \
  }                                                                                                \
  LogicalResult ScriptOp::verifySymbolUses(SymbolTableCollection &symbols) {                       \
    if (!(*this)->getParentOfType<ProgramOp>())                                                    \
      return emitOpError() << "stands outside a program";                                          \
    return base::verifyScriptUses(*this, getSegments(), programOf(*this, symbols),                 \
                                  SegmentOp::getOperationName());                                  \
  }                                                                                                \
  LogicalResult ProgramOp::verify() {                                                              \
    return base::verifyProgram(*this, getMesh(), getMeshShape(),                                   \
                               static_cast<int64_t>(getStage()));                                  \
  }

#endif // GPUCC_BASE_COMMANDS_H
