//===- VerifyPhaseSched.cpp - what the sched phase promises ---------------===//
//
// Scratch holds nothing when a segment begins: what reads it first reads the
// bytes of another buffer's past life. Addresses are not known yet, so this is
// the place where such a mistake has a name.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/GraphToSched/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

namespace gpucc {
#define GEN_PASS_DEF_VERIFYPHASESCHED
#include "lib/Conversion/GraphToSched/Passes.h.inc"
} // namespace gpucc

namespace {

class ProgramVerifier {
public:
  explicit ProgramVerifier(ProgramOp program) : program(program) {}

  LogicalResult run() {
    for (auto buffer : program.getOps<BufferOp>())
      if (buffer.getKind() == BufferKind::Scratch)
        scratch[buffer.getSymName()] = buffer;
    for (auto segment : program.getOps<SegmentOp>())
      if (failed(checkSegment(segment)))
        return failure();
    auto scripts = program.getOps<ScriptOp>();
    if (llvm::any_of(scripts, [](ScriptOp s) { return s.getName() == "main"; }))
      return success();
    InFlightDiagnostic error = program.emitOpError()
                               << "has no script \"main\": nothing would run it";
    error.attachNote() << "gpucc-graph-to-sched writes the scripts of a program";
    return error;
  }
  int64_t checked = 0;

private:
  LogicalResult checkSegment(SegmentOp segment) {
    llvm::StringSet<> written;
    for (Operation &op : segment.getBody().front()) {
      auto command = dyn_cast<base::CommandOpInterface>(op);
      if (!command)
        return op.emitOpError() << "is no command; segments hold sched commands only";
      ++checked;
      SmallVector<base::Access> accesses = command.getAccesses();
      for (const base::Access &access : accesses)
        if (failed(checkAccess(segment, &op, access, written)))
          return failure();
      for (const base::Access &access : accesses)
        if (access.writes)
          written.insert(access.view.getBuffer().getValue());
    }
    return success();
  }

  LogicalResult checkAccess(SegmentOp segment, Operation *op, const base::Access &access,
                            const llvm::StringSet<> &written) {
    StringRef name = access.view.getBuffer().getValue();
    auto buffer = scratch.find(name);
    if (buffer == scratch.end())
      return success();
    SegmentOp home = homes.try_emplace(name, segment).first->second;
    if (home != segment) {
      InFlightDiagnostic error = op->emitOpError()
                                 << "touches scratch buffer @" << name << ", which segment @"
                                 << home.getSymName() << " uses too";
      error.attachNote(buffer->second.getLoc())
          << "scratch lives inside one segment: make it saved";
      return error;
    }
    if (!access.reads || written.contains(name))
      return success();
    InFlightDiagnostic error = op->emitOpError() << "reads scratch buffer @" << name
                                                 << " before anything in the segment writes it";
    error.attachNote(buffer->second.getLoc())
        << "scratch is empty when a segment begins; what lives "
           "longer is io, state, weight or saved";
    return error;
  }

  ProgramOp program;
  llvm::StringMap<BufferOp> scratch;
  llvm::StringMap<SegmentOp> homes;
};

struct VerifyPhaseSchedPass : gpucc::impl::VerifyPhaseSchedBase<VerifyPhaseSchedPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      function.emitOpError("is left in the sched phase").attachNote()
          << "gpucc-graph-to-sched makes a segment of every function";
      return signalPassFailure();
    }
    if (failed(base::verifyModuleSymbols<ProgramOp, LaunchOp, InitializeOp, CollectiveOp>(module)))
      return signalPassFailure();
    for (auto program : module.getOps<ProgramOp>()) {
      ProgramVerifier verifier(program);
      if (failed(verifier.run()))
        return signalPassFailure();
      numChecked += verifier.checked;
    }
  }
};

} // namespace
