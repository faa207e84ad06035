//===- SchedToPlan.cpp - addresses, streams and events --------------------===//
//
// Layout of a program's memory:
//
//   state    | s0 | s1 | ...            persistent
//   weights  | w0 | c1 | r2 | ...       persistent, written at prepare
//   io       | in0 (slots) | out0 ...   the caller's buffers may take their places
//   scratch  | saved (slots) ... | segment scratch, shared by all segments |
//
//===----------------------------------------------------------------------===//
#include "gpucc/Conversion/SchedToPlan/Passes.h"

#include "Streams.h"
#include "dialects/Sched/Sched.h"
#include "gpucc/Solvers/Offsets.h"

using namespace mlir;
using namespace gpucc;

namespace gpucc {
#define GEN_PASS_DEF_SCHEDTOPLAN
#include "lib/Conversion/SchedToPlan/Passes.h.inc"
} // namespace gpucc

namespace {

/// Bytes that a buffer takes: an empty one takes a place of its own too.
constexpr int64_t page = 4096, leastMapped = 64 << 10;

int64_t align(int64_t bytes) {
  return std::max<int64_t>(1, (bytes + plan::alignment - 1) / plan::alignment) * plan::alignment;
}

/// Where a buffer lies.
struct Address {
  StringRef arena;
  int64_t offset = 0, stride = 0;
};

/// State and weights of a stage are shared by the programs of all profiles: what is the same has
/// the same address in each.
struct SharedMemory {
  struct Place {
    int64_t offset, bytes;
    Location loc; ///< of the buffer in the first program that has it
  };
  struct Arena {
    DenseMap<Attribute, Place> places; ///< by what the buffer holds
    int64_t end = 0;
  };
  std::map<std::string, Arena> arenas;
};

struct SegmentPlan {
  sched::SegmentOp segment;
  SmallVector<base::CommandOpInterface> commands;
  std::vector<Placement> placements;
};

/// Converts one program.
class Converter {
public:
  Converter(sched::ProgramOp program, SharedMemory &shared, int64_t stepBudget, bool overlap)
      : program(program), shared(shared), stepBudget(stepBudget), overlap(overlap),
        builder(program) {}

  LogicalResult run() {
    for (auto b : program.getOps<sched::BufferOp>())
      buffers[b.getSymName()] = b;
    for (auto s : program.getOps<sched::SegmentOp>())
      segments.push_back(planSegment(s));
    if (failed(placeShared("state", sched::BufferKind::State)) ||
        failed(placeShared("weights", sched::BufferKind::Weight)))
      return failure();
    placeInOrder("io", sched::BufferKind::Io);
    placeInOrder("scratch", sched::BufferKind::Saved);
    if (failed(placeScratch()))
      return failure();
    emit();
    program.erase();
    return success();
  }

  int64_t events = 0, scratchBytes = 0, lowerBound = 0;

private:
  SegmentPlan planSegment(sched::SegmentOp segment) {
    SegmentPlan p{segment, {}, {}};
    for (Operation &op : segment.getBody().front())
      p.commands.push_back(cast<base::CommandOpInterface>(op));
    p.placements = placeCommands(
        p.commands, [](Operation *op) { return isa<sched::CollectiveOp>(op); }, overlap);
    return p;
  }

  /// What each state and weight buffer holds: a tensor by name and role, or what is written at
  /// prepare. A buffer of which nothing is said is one of its own.
  DenseMap<StringRef, Attribute> contents() {
    DenseMap<StringRef, Attribute> result;
    auto none = builder.getUnitAttr();
    for (auto t : program.getOps<sched::TensorOp>())
      result[t.getView().getBuffer().getValue()] =
          builder.getArrayAttr({t.getNameAttr(), t.getRoleAttr()});
    for (auto c : program.getOps<sched::RankConstantOp>())
      result[c.getView().getBuffer().getValue()] = c.getValueAttr();
    for (auto i : program.getOps<sched::InitializeOp>())
      result.try_emplace(i.getView().getBuffer().getValue(),
                         builder.getArrayAttr({i.getValueAttr() ? Attribute(i.getValueAttr()) : none,
                                               i.getKeyAttr() ? Attribute(i.getKeyAttr()) : none,
                                               i.getSlices(), i.getTypeAttr()}));
    return result;
  }

  LogicalResult placeShared(StringRef name, sched::BufferKind kind) {
    DenseMap<StringRef, Attribute> content = contents();
    SharedMemory::Arena &arena = shared.arenas[name.str()];
    for (auto b : program.getOps<sched::BufferOp>()) {
      if (b.getKind() != kind)
        continue;
      auto known = content.find(b.getSymName());
      Attribute key = known == content.end()
                          ? builder.getArrayAttr({program.getSymNameAttr(), b.getSymNameAttr()})
                          : known->second;
      auto bytes = static_cast<int64_t>(b.getBytes());
      // Large weights start a page, so that a driver can map them from the plan's file.
      bool maps = kind == sched::BufferKind::Weight && bytes >= leastMapped;
      int64_t start = maps ? static_cast<int64_t>(llvm::alignTo(arena.end, page)) : arena.end;
      auto [it, isNew] =
          arena.places.try_emplace(key, SharedMemory::Place{start, bytes, b.getLoc()});
      if (!isNew && it->second.bytes != bytes) {
        InFlightDiagnostic error = b.emitOpError()
                                   << "holds " << key << " in " << bytes << " bytes";
        error.attachNote(it->second.loc)
            << "the stage's other profile has it in " << it->second.bytes
            << " bytes; profiles share state and weights, which have one size";
        return error;
      }
      if (isNew)
        arena.end = start + align(bytes);
      addresses[b.getSymName()] = {name, it->second.offset, 0};
    }
    arenas[name.str()] = arena.end;
    return success();
  }

  void placeInOrder(StringRef arena, sched::BufferKind kind) {
    int64_t &end = arenas[arena.str()];
    for (auto b : program.getOps<sched::BufferOp>()) {
      if (b.getKind() != kind)
        continue;
      int64_t stride = align(b.getBytes());
      addresses[b.getSymName()] = {arena, end, stride};
      end += stride * static_cast<int64_t>(b.getSlots());
    }
  }

  /// Lifetimes in list positions; what an asynchronous collective touches lives until it is joined.
  LogicalResult placeScratch() {
    int64_t base = arenas["scratch"], end = base;
    for (SegmentPlan &s : segments) {
      solvers::OffsetProblem problem;
      std::map<StringRef, size_t> index;
      std::vector<StringRef> names;
      for (auto [i, command] : llvm::enumerate(s.commands))
        for (const base::Access &access : command.getAccesses()) {
          StringRef name = access.view.getBuffer().getValue();
          sched::BufferOp buffer = buffers.lookup(name);
          if (!buffer)
            return command->emitOpError()
                   << "touches buffer @" << name << ", which the program does not declare";
          if (buffer.getKind() != sched::BufferKind::Scratch)
            continue;
          auto at = static_cast<int64_t>(i);
          auto [it, isNew] = index.try_emplace(name, names.size());
          if (isNew) {
            names.push_back(name);
            problem.buffers.push_back(
                {align(buffer.getBytes()), at, at + 1, plan::alignment});
          }
          int64_t &upper = problem.buffers[it->second].upper;
          upper = std::max(upper, s.placements[i].asynchronous ? s.placements[i].joined + 1 : at + 1);
        }
      solvers::OffsetOptions options;
      options.stepBudget = stepBudget;
      solvers::OffsetSolution solution = solvers::solveOffsets(problem, options);
      for (auto [name, offset] : llvm::zip(names, solution.offsets)) {
        if (addresses.count(name))
          return s.segment.emitOpError() << "and another segment use scratch buffer @" << name
                                         << "; scratch lives inside one segment: make it saved";
        addresses[name] = {"scratch", base + offset, 0};
      }
      end = std::max(end, base + solution.arena);
      lowerBound = std::max(lowerBound, base + solution.lowerBound);
    }
    arenas["scratch"] = scratchBytes = end;
    return success();
  }

  void emit() {
    auto target = plan::ProgramOp::create(builder, program.getLoc(), program.getSymNameAttr(),
                                          program.getStageAttr(), program.getMeshAttr(),
                                          program.getMeshShapeAttr(), program.getProfileAttr());
    builder.setInsertionPointToStart(builder.createBlock(&target.getBody()));
    Location loc = program.getLoc();
    for (StringRef name : {"state", "weights", "io", "scratch"})
      plan::ArenaOp::create(builder, loc, name, static_cast<uint64_t>(arenas[name.str()]),
                            name == "state" || name == "weights");
    for (auto b : program.getOps<sched::BufferOp>()) {
      auto it = addresses.find(b.getSymName());
      if (it == addresses.end())
        continue; // never touched
      plan::BufferOp::create(builder, b.getLoc(), b.getSymName(), it->second.arena,
                             static_cast<uint64_t>(it->second.offset), b.getBytes(), b.getSlots(),
                             b.getSlots() > 1 ? static_cast<uint64_t>(it->second.stride) : 0,
                             b.getKind() == sched::BufferKind::Io && b.getSlots() == 1);
    }
    bool anyAsync = llvm::any_of(segments, [](SegmentPlan &s) {
      return llvm::any_of(s.placements, [](const Placement &p) { return p.asynchronous; });
    });
    plan::StreamOp::create(builder, loc, "compute", builder.getStringAttr("compute"));
    if (anyAsync)
      plan::StreamOp::create(builder, loc, "communication", builder.getStringAttr("communication"));
    for (Operation &op : program.getBody().front())
      if (isa<sched::TensorOp, sched::InitializeOp, sched::RankConstantOp>(op))
        convert(&op, {});
    for (SegmentPlan &s : segments)
      emitSegment(s);
    for (auto s : program.getOps<sched::ScriptOp>())
      plan::ScriptOp::create(builder, s.getLoc(), s.getNameAttr(), s.getSegmentsAttr(),
                             s.getSlotsAttr());
  }

  void emitSegment(SegmentPlan &s) {
    OpBuilder::InsertionGuard guard(builder);
    auto segment = plan::SegmentOp::create(builder, s.segment.getLoc(), s.segment.getSymName());
    builder.setInsertionPointToStart(builder.createBlock(&segment.getBody()));
    auto n = static_cast<int64_t>(s.commands.size());
    std::map<int64_t, SmallVector<int64_t>> joins; // command index -> events to wait for before it
    int64_t lastFork = -1;                         // compute commands before it were waited for
    for (int64_t i = 0; i <= n; ++i) {
      auto waits = joins.find(i);
      if (waits != joins.end())
        for (int64_t event : waits->second)
          plan::EventWaitOp::create(builder, s.segment.getLoc(), event, 0);
      if (i == n)
        break;
      Operation *op = s.commands[i];
      if (!s.placements[i].asynchronous) {
        convert(op, 0);
        continue;
      }
      bool computeSince = false;
      for (int64_t j = lastFork + 1; j < i; ++j)
        computeSince |= !s.placements[j].asynchronous;
      if (computeSince || lastFork < 0) {
        plan::EventRecordOp::create(builder, op->getLoc(), events, 0);
        plan::EventWaitOp::create(builder, op->getLoc(), events++, 1);
        lastFork = i;
      }
      convert(op, 1);
      plan::EventRecordOp::create(builder, op->getLoc(), events, 1);
      joins[s.placements[i].joined].push_back(events++);
    }
  }

  /// The op of the same name in `plan`.
  void convert(Operation *op, std::optional<int64_t> stream) {
    OperationState state(op->getLoc(), ("plan." + op->getName().stripDialect()).str());
    state.addAttributes(op->getAttrs());
    for (NamedAttribute a : op->getPropertiesAsAttribute()
                                ? cast<DictionaryAttr>(op->getPropertiesAsAttribute())
                                : builder.getDictionaryAttr({}))
      if (!state.attributes.get(a.getName()))
        state.attributes.push_back(a);
    if (stream)
      state.addAttribute("stream", builder.getI64IntegerAttr(*stream));
    builder.create(state);
  }

  sched::ProgramOp program;
  SharedMemory &shared;
  int64_t stepBudget;
  bool overlap;
  OpBuilder builder;
  llvm::StringMap<sched::BufferOp> buffers;
  std::map<StringRef, Address> addresses;
  std::map<std::string, int64_t> arenas;
  std::vector<SegmentPlan> segments;
};

struct SchedToPlanPass : gpucc::impl::SchedToPlanBase<SchedToPlanPass> {
  using SchedToPlanBase::SchedToPlanBase;
  void runOnOperation() override {
    std::map<int64_t, SharedMemory> shared; // by stage
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<sched::ProgramOp>())) {
      Converter converter(program, shared[program.getStage()], stepBudget, overlap);
      if (failed(converter.run()))
        return signalPassFailure();
      numEvents += converter.events;
      scratchBytes += converter.scratchBytes;
      lowerBoundBytes += converter.lowerBound;
    }
  }
};

} // namespace
