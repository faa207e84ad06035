//===- Tables.cpp - programs of `plan` as tables of plan.fbs --------------===//
#include "Tables.h"

#include "Commands.h"
#include "dialects/Base/ModuleAttrs.h"
#include "gpucc/Support/Types.h"

using namespace mlir;
using namespace gpucc;

fb::DType gpucc::toPlan(DType type) {
  static_assert(static_cast<int>(DType::I1) == static_cast<int>(fb::DType::i1));
  return static_cast<fb::DType>(type);
}

std::unique_ptr<fb::RankValueT> gpucc::toPlan(base::RankValueAttr value, ArrayAttr axes) {
  auto t = std::make_unique<fb::RankValueT>();
  t->base = value.getBase();
  t->slot_step = value.getSlotStep();
  t->modulo = value.getModulo();
  for (auto [axis, stride] : llvm::zip(value.getAxes(), value.getStrides()))
    t->terms.emplace_back(static_cast<uint32_t>(llvm::find(axes, axis) - axes.begin()), stride);
  return t;
}

std::vector<std::unique_ptr<fb::DimSliceT>> gpucc::toPlan(ArrayAttr slices, ArrayAttr axes) {
  std::vector<std::unique_ptr<fb::DimSliceT>> result;
  for (Attribute a : slices) {
    auto slice = cast<base::SliceAttr>(a);
    auto t = std::make_unique<fb::DimSliceT>();
    t->start = toPlan(slice.getStart(), axes);
    t->size = slice.getSize();
    result.push_back(std::move(t));
  }
  return result;
}

namespace {

fb::Role roleOf(StringRef role) {
  for (fb::Role r : fb::EnumValuesRole())
    if (role == fb::EnumNameRole(r))
      return r;
  llvm_unreachable("verified by plan.tensor");
}

class ProgramWriter {
public:
  ProgramWriter(fb::PlanT &plan, const std::map<std::string, uint32_t> &kernels,
                std::map<std::string, uint32_t> &tensors)
      : plan(plan), kernels(kernels), tensors(tensors) {}

  LogicalResult write(plan::ProgramOp op, fb::ProfileT &profile) {
    auto t = std::make_unique<fb::ProgramT>();
    t->stage = static_cast<uint32_t>(op.getStage());
    fb::StageT &stage = stageOf(op);
    writeArenas(op, stage, *t);
    for (auto tensor : op.getOps<plan::TensorOp>())
      t->views.push_back(writeTensor(tensor, op, stage));
    for (auto [tensor, count] : counted) // verified to be there
      plan.tensors[tensor]->count = static_cast<int32_t>(tensors.at(count.str() + "/count"));
    for (auto constant : op.getOps<plan::RankConstantOp>()) {
      auto c = std::make_unique<fb::RankConstantT>();
      c->value = toPlan(constant.getValue(), op.getMesh());
      c->buffer = buffers.at(constant.getView().getBuffer().getValue());
      c->offset = static_cast<uint64_t>(constant.getView().getOffset());
      t->rank_constants.push_back(std::move(c));
    }
    for (auto stream : op.getOps<plan::StreamOp>()) {
      auto s = std::make_unique<fb::StreamT>();
      s->name = stream.getSymName().str();
      s->kind = stream.getKind() == "communication" ? fb::StreamKind::communication
                                                    : fb::StreamKind::compute;
      t->streams.push_back(std::move(s));
    }
    CommandWriter commands(plan, op, kernels, buffers);
    for (auto segment : op.getOps<plan::SegmentOp>()) {
      segments[segment.getSymName()] = static_cast<uint32_t>(t->segments.size());
      auto s = std::make_unique<fb::SegmentT>();
      s->name = segment.getSymName().str();
      for (Operation &command : segment.getBody().front()) {
        FailureOr<std::unique_ptr<fb::CommandT>> c = commands.write(&command);
        if (failed(c))
          return failure();
        s->commands.push_back(std::move(*c));
      }
      t->segments.push_back(std::move(s));
    }
    t->events = commands.events;
    for (auto script : op.getOps<plan::ScriptOp>())
      t->scripts.push_back(writeScript(script));
    profile.programs.push_back(std::move(t));
    return success();
  }

private:
  fb::StageT &stageOf(plan::ProgramOp op) {
    uint64_t index = op.getStage();
    while (plan.stages.size() <= index) {
      auto s = std::make_unique<fb::StageT>();
      s->name = "stage" + std::to_string(plan.stages.size());
      uint32_t ranks = 1;
      for (auto [name, size] : llvm::zip(op.getMesh(), op.getMeshShape())) {
        auto axis = std::make_unique<fb::AxisT>();
        axis->name = cast<StringAttr>(name).str();
        axis->size = static_cast<uint32_t>(size);
        ranks *= axis->size;
        s->axes.push_back(std::move(axis));
      }
      s->first_rank = static_cast<uint32_t>(plan.stages.size()) * ranks;
      plan.ranks = s->first_rank + ranks;
      plan.stages.push_back(std::move(s));
    }
    return *plan.stages[index];
  }

  void writeArenas(plan::ProgramOp op, fb::StageT &stage, fb::ProgramT &t) {
    for (auto [i, arena] : llvm::enumerate(op.getOps<plan::ArenaOp>())) {
      arenaIndex[arena.getSymName()] = static_cast<uint32_t>(i);
      if (stage.arenas.size() <= i) {
        auto a = std::make_unique<fb::ArenaT>();
        a->name = arena.getSymName().str();
        a->persistent = arena.getPersistent();
        stage.arenas.push_back(std::move(a));
      }
      // Profiles share arenas: the largest counts.
      stage.arenas[i]->size = std::max(stage.arenas[i]->size, arena.getBytes());
      t.peak_bytes += arena.getBytes();
    }
    for (auto buffer : op.getOps<plan::BufferOp>()) {
      buffers[buffer.getSymName()] = static_cast<uint32_t>(t.buffers.size());
      auto b = std::make_unique<fb::BufferT>();
      b->arena = arenaIndex.at(buffer.getArena());
      b->offset = buffer.getOffset();
      b->size = buffer.getBytes();
      b->slots = static_cast<uint32_t>(buffer.getSlots());
      b->slot_stride = buffer.getSlotStride();
      b->bindable = buffer.getBindable();
      t.buffers.push_back(std::move(b));
    }
  }

  std::unique_ptr<fb::TensorViewT> writeTensor(plan::TensorOp op, plan::ProgramOp program,
                                               fb::StageT &) {
    auto type = cast<RankedTensorType>(op.getType());
    auto [it, isNew] =
        tensors.try_emplace(op.getName().str() + "/" + op.getRole().str(), plan.tensors.size());
    if (isNew) {
      auto t = std::make_unique<fb::TensorT>();
      t->name = op.getName().str();
      t->role = roleOf(op.getRole());
      t->dtype = toPlan(*toDType(type.getElementType()));
      for (auto [d, size] : llvm::enumerate(type.getShape())) {
        auto dim = std::make_unique<fb::DimT>();
        dim->size = size;
        auto names = op.getDims();
        StringRef symbol = names && d < names->size() ? cast<StringAttr>((*names)[d]).getValue() : "";
        auto profile = program.getProfile();
        // A batch that several micro-batches share is larger than its symbol: its size is fixed.
        if (!symbol.empty() && profile &&
            llvm::any_of(llvm::zip(profile->getSymbols(), profile->getValues()), [&](auto bound) {
              return std::get<0>(bound) == symbol && std::get<1>(bound) == size;
            })) {
          dim->size = -1;
          dim->symbol = symbol.str();
        }
        t->dims.push_back(std::move(dim));
      }
      if (auto source = op.getSourceName())
        t->source_name = source->str();
      if (auto shape = op.getSourceShape())
        t->source_shape = shape->vec();
      if (auto start = op.getSourceBase())
        t->source_base = start->vec();
      // Of module attributes that differentiation sets: see docs/conventions.md, 6.
      auto number = [&](StringRef key) {
        auto attr = program->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(key);
        return attr ? attr.getInt() : 0;
      };
      if (t->role == fb::Role::label) {
        t->classes = number(base::labelClassesAttr);
        t->ignored = number(base::ignoredLabelAttr);
      }
      auto limits = program->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(base::inputLimitsAttr);
      if (auto limit = limits ? limits.getAs<IntegerAttr>(t->name) : IntegerAttr())
        t->limit = limit.getInt();
      plan.tensors.push_back(std::move(t));
    }
    // Of its count, the number is filled in when all tensors have theirs.
    if (isNew && op.getCount()) {
      plan.tensors[it->second]->varying_dim = static_cast<int32_t>(*op.getVaryingDim());
      counted[it->second] = *op.getCount();
    }
    auto v = std::make_unique<fb::TensorViewT>();
    v->tensor = it->second;
    v->buffer = buffers.at(op.getView().getBuffer().getValue());
    v->offset = static_cast<uint64_t>(op.getView().getOffset());
    v->global_shape = type.getShape().vec();
    v->local_shape = cast<RankedTensorType>(op.getLocal()).getShape().vec();
    v->slots = static_cast<uint32_t>(op.getSlots());
    v->slices = toPlan(op.getSlices(), program.getMesh());
    if (auto partial = op.getPartialAxes())
      for (Attribute axis : *partial) {
        auto at = llvm::find(program.getMesh(), axis);
        if (at == program.getMesh().end()) // the axis that counts stages
          v->partial_stages = true;
        else
          v->partial_axes.push_back(static_cast<uint32_t>(at - program.getMesh().begin()));
      }
    return v;
  }

  std::unique_ptr<fb::ScriptT> writeScript(plan::ScriptOp op) {
    auto s = std::make_unique<fb::ScriptT>();
    s->name = op.getName().str();
    for (auto [segment, slot] : llvm::zip(op.getSegments(), op.getSlots()))
      s->steps.push_back(fb::Step(segments.at(cast<FlatSymbolRefAttr>(segment).getValue()),
                                  static_cast<uint32_t>(slot)));
    return s;
  }

  fb::PlanT &plan;
  const std::map<std::string, uint32_t> &kernels;
  std::map<std::string, uint32_t> &tensors;
  llvm::StringMap<uint32_t> arenaIndex, buffers, segments;
  std::map<uint32_t, StringRef> counted; ///< outputs whose size varies, the names of their counts
};

} // namespace

LogicalResult gpucc::fillPrograms(ModuleOp module, fb::PlanT &plan,
                                  const std::map<std::string, uint32_t> &kernels) {
  std::map<std::string, uint32_t> tensors;
  for (auto op : module.getOps<plan::ProgramOp>()) {
    std::string name = "default";
    if (auto profile = op.getProfile())
      name = profile->getName().str();
    auto it = llvm::find_if(plan.profiles, [&](auto &p) { return p->name == name; });
    if (it == plan.profiles.end()) {
      auto p = std::make_unique<fb::ProfileT>();
      p->name = name;
      if (auto profile = op.getProfile())
        for (auto [symbol, value] : llvm::zip(profile->getSymbols(), profile->getValues())) {
          auto b = std::make_unique<fb::BindingT>();
          b->symbol = symbol.str();
          b->value = value;
          p->bindings.push_back(std::move(b));
        }
      plan.profiles.push_back(std::move(p));
      it = std::prev(plan.profiles.end());
    }
    if (failed(ProgramWriter(plan, kernels, tensors).write(op, **it)))
      return failure();
  }
  for (auto &profile : plan.profiles)
    llvm::sort(profile->programs, [](auto &a, auto &b) { return a->stage < b->stage; });
  return success();
}
