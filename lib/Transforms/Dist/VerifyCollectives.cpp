//===- VerifyCollectives.cpp - the ranks' queues fit together -------------===//
//
// Writes down, for every rank, what it communicates in one optimizer step in
// the order of its stage's script, and replays all queues (CollectiveReplay.h).
//
//===----------------------------------------------------------------------===//
#include "dialects/Base/Base.h"
#include "dialects/Dist/DistScripts.h"
#include "gpucc/Transforms/Dist/CollectiveReplay.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_VERIFYCOLLECTIVES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
class Queues {
public:
  Queues(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  std::vector<std::vector<CommunicationEvent>> collect() {
    std::vector<std::vector<CommunicationEvent>> queues;
    for (int64_t rank = 0; rank < mesh.numRanks(); ++rank) {
      auto &queue = queues.emplace_back();
      for (func::FuncOp function : script(mesh.coordinate(rank, dist::stageAxis.str())))
        function.walk([&](Operation *op) { add(op, rank, queue); });
    }
    return queues;
  }

  std::vector<Operation *> sources;

private:
  ModuleOp module;
  const Mesh &mesh;

  /// Functions of a stage in the order it runs them; without a script each once.
  SmallVector<func::FuncOp> script(int64_t stage) {
    SmallVector<func::FuncOp> out;
    if (auto scripts = module->getAttrOfType<ArrayAttr>(dist::scriptsAttr)) {
      for (Attribute step : cast<ArrayAttr>(scripts[stage]))
        out.push_back(
            module.lookupSymbol<func::FuncOp>(cast<dist::ActionAttr>(step).getFunction()));
      return out;
    }
    for (func::FuncOp function : module.getOps<func::FuncOp>()) {
      auto own = function->getAttrOfType<IntegerAttr>(dist::stageAttr);
      if (!own || own.getInt() == stage)
        out.push_back(function);
    }
    return out;
  }

  static std::string text(Type type) {
    std::string out;
    llvm::raw_string_ostream(out) << type;
    return out;
  }

  void add(Operation *op, int64_t rank, std::vector<CommunicationEvent> &queue) {
    CommunicationEvent event;
    event.source = static_cast<int>(sources.size());
    if (auto send = dyn_cast<dist::SendOp>(op)) {
      event.kind = CommunicationEvent::Send;
      event.peer = peer(rank, send.getStage());
      event.channel = send.getChannel();
      event.signature = text(send.getX().getType());
    } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
      event.kind = CommunicationEvent::Receive;
      event.peer = peer(rank, recv.getStage());
      event.channel = recv.getChannel();
      event.signature = text(recv.getType());
    } else if (auto collective = dyn_cast<dist::CollectiveOpInterface>(op)) {
      event.group = mesh.group(rank, collective.getAxisNames());
      event.signature = signature(op, event.group);
    } else {
      return;
    }
    sources.push_back(op);
    queue.push_back(std::move(event));
  }

  int64_t peer(int64_t rank, int64_t stage) const {
    return mesh.group(rank, {dist::stageAxis.str()})[stage];
  }

  std::string signature(Operation *op, std::vector<int64_t> &group) const {
    std::string out =
        op->getName().getStringRef().str() + " of " + text(op->getOperand(0).getType());
    auto reduce = dyn_cast<dist::AllReduceOp>(op);
    if (!reduce)
      return out;
    out += (" (" + dist::stringifyCombiner(reduce.getCombiner()) + ")").str();
    if (reduce.getChannel())
      out += " on channel " + std::to_string(*reduce.getChannel());
    if (reduce.getStages())
      std::erase_if(group, [&](int64_t member) {
        return !llvm::is_contained(*reduce.getStages(),
                                   mesh.coordinate(member, dist::stageAxis.str()));
      });
    return out;
  }
};

struct VerifyCollectives : gpucc::impl::VerifyCollectivesBase<VerifyCollectives> {
  void runOnOperation() override {
    dist::MeshOp meshOp = dist::getMesh(getOperation());
    if (!meshOp)
      return markAllAnalysesPreserved();
    if (failed(dist::verifyScripts(getOperation())))
      return signalPassFailure();
    Mesh mesh = meshOp.getMesh().toMesh();
    Queues queues(getOperation(), mesh);
    auto collected = queues.collect();
    for (const auto &queue : collected)
      numEvents += static_cast<int64_t>(queue.size());
    ReplayFault fault = replayCollectives(collected);
    if (fault.kind == ReplayFault::None)
      return markAllAnalysesPreserved();
    auto opOf = [&](std::pair<int64_t, size_t> at) {
      return queues.sources[collected[at.first][at.second].source];
    };
    InFlightDiagnostic error = opOf(fault.involved.front())->emitError(fault.what);
    for (auto at : fault.involved) {
      const CommunicationEvent &event = collected[at.first][at.second];
      error.attachNote(opOf(at)->getLoc())
          << "rank " << at.first << " stands at its " << at.second + 1 << ". communication, "
          << opOf(at)->getName() << " of " << event.signature << ", in "
          << opOf(at)->getParentOfType<func::FuncOp>().getName();
    }
    error.attachNote()
        << "all members of a group must reach its collectives in the same order; the "
           "stages' functions or scripts were changed apart from each other";
    signalPassFailure();
  }
};
} // namespace
