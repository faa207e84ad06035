//===- VerifyPlanCollectives.cpp - the ranks' commands fit together -------===//
//
// The last look before a plan is written. Ranks of all stages under one profile:
//
//   stage 0 (dp = 2): ranks 0, 1     stage 1: ranks 2, 3
//   rank 1 of the world is member 1 of stage 0; its partner in stage 1 is rank 3
//
// A rank's queue is what its script runs, in that order: a collective meets the
// members of its group with kind, reduction, type and count; messages of a pair
// of stages arrive in the order they were sent, whatever value they carry: the
// receiver must want that one (by its channel, or by its name where none is given).
//
//===----------------------------------------------------------------------===//
#include "dialects/Plan/Plan.h"
#include "gpucc/Facts/Sharding.h"
#include "gpucc/Transforms/Dist/CollectiveReplay.h"
#include "gpucc/Transforms/Dist/Passes.h"

namespace gpucc {
using namespace mlir;
#define GEN_PASS_DEF_VERIFYPLANCOLLECTIVES
#include "lib/Transforms/Dist/Passes.h.inc"
} // namespace gpucc

using namespace mlir;
using namespace gpucc;

namespace {
class PlanQueues {
public:
  /// `programs`: one per stage, in order.
  explicit PlanQueues(ArrayRef<plan::ProgramOp> programs) {
    for (plan::ProgramOp program : programs) {
      Mesh mesh;
      for (auto [axis, size] : llvm::zip(program.getMesh(), program.getMeshShape()))
        mesh.axes.push_back({cast<StringAttr>(axis).str(), size});
      int64_t members = mesh.numRanks(), first = static_cast<int64_t>(queues.size());
      SmallVector<plan::SegmentOp> segments = script(program);
      for (int64_t member = 0; member < members; ++member) {
        auto &queue = queues.emplace_back();
        for (plan::SegmentOp segment : segments)
          for (Operation &op : segment.getBody().front())
            if (auto collective = dyn_cast<plan::CollectiveOp>(op))
              queue.push_back(event(collective, mesh, first, member));
      }
    }
  }

  std::vector<std::vector<CommunicationEvent>> queues;
  std::vector<plan::CollectiveOp> sources;

private:
  static SmallVector<plan::SegmentOp> script(plan::ProgramOp program) {
    SmallVector<plan::SegmentOp> segments;
    SymbolTable symbols(program);
    for (auto main : program.getOps<plan::ScriptOp>())
      if (main.getName() == "main")
        for (Attribute name : main.getSegments())
          segments.push_back(
              symbols.lookup<plan::SegmentOp>(cast<FlatSymbolRefAttr>(name).getValue()));
    return segments;
  }

  CommunicationEvent event(plan::CollectiveOp op, const Mesh &mesh, int64_t first, int64_t member) {
    CommunicationEvent event;
    event.source = static_cast<int>(sources.size());
    sources.push_back(op);
    llvm::raw_string_ostream text(event.signature);
    if (auto stage = op.getPeerStage()) {
      event.kind = op.getKind() == "send" ? CommunicationEvent::Send : CommunicationEvent::Receive;
      event.peer = static_cast<int64_t>(*stage) * mesh.numRanks() + member;
      event.channel = 0; // one queue per pair of ranks
    } else {
      text << op.getKind() << " (" << op.getReduce() << ") of ";
      std::vector<std::string> axes;
      for (Attribute axis : op.getAxes())
        axes.push_back(cast<StringAttr>(axis).str());
      for (int64_t other : mesh.group(member, axes))
        event.group.push_back(first + other);
    }
    text << op.getCount() << " " << op.getType();
    if (std::optional<uint64_t> channel = op.getChannel())
      text << " on channel " << *channel;
    else if (op.getPeerStage())
      text << " '" << op.getName() << "'";
    return event;
  }
};

struct VerifyPlanCollectives : gpucc::impl::VerifyPlanCollectivesBase<VerifyPlanCollectives> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    // Programs of one profile run together; a program without a profile belongs to that of none.
    llvm::MapVector<Attribute, SmallVector<plan::ProgramOp>> profiles;
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      profiles[program.getProfileAttr()].push_back(program);
    for (auto &[profile, programs] : profiles) {
      llvm::sort(programs,
                 [](plan::ProgramOp a, plan::ProgramOp b) { return a.getStage() < b.getStage(); });
      if (failed(check(programs)))
        return signalPassFailure();
    }
  }

  LogicalResult check(ArrayRef<plan::ProgramOp> programs) {
    PlanQueues plan(programs);
    for (const auto &queue : plan.queues)
      numEvents += static_cast<int64_t>(queue.size());
    ReplayFault fault = replayCollectives(plan.queues);
    if (fault.kind == ReplayFault::None)
      return success();
    auto opOf = [&](std::pair<int64_t, size_t> at) {
      return plan.sources[plan.queues[at.first][at.second].source];
    };
    InFlightDiagnostic error = opOf(fault.involved.front())->emitError(fault.what);
    for (auto at : fault.involved) {
      plan::CollectiveOp op = opOf(at);
      error.attachNote(op.getLoc())
          << "rank " << at.first << " stands at its " << at.second + 1 << ". communication, "
          << op.getKind() << " '" << op.getName() << "' of "
          << plan.queues[at.first][at.second].signature << ", in segment @"
          << op->getParentOfType<plan::SegmentOp>().getSymName() << " of @"
          << op->getParentOfType<plan::ProgramOp>().getSymName();
    }
    error.attachNote()
        << "all members of a group must reach its collectives in the same order, and what "
           "is sent must be received; segments or scripts were changed apart from each other";
    return error;
  }
};
} // namespace
