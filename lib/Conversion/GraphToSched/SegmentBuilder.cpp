//===- SegmentBuilder.cpp - one function becomes one segment --------------===//
#include "SegmentBuilder.h"

#include "dialects/Kernel/Kernel.h"

#include <cstring>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::sched;

std::string sched::sourceName(Operation *op) {
  std::string name;
  op->getLoc()->walk([&](Location loc) {
    auto named = dyn_cast<NameLoc>(loc);
    if (!named)
      return WalkResult::advance();
    name = named.getName().str();
    return WalkResult::interrupt();
  });
  return name.empty() ? op->getName().getStringRef().str() : name;
}

namespace {

class Segment {
public:
  Segment(ProgramBuilder &program, func::FuncOp function, SegmentStatistics &statistics)
      : program(program), function(function), statistics(statistics),
        builder(function.getContext()) {}

  LogicalResult build(StringRef name) {
    numberOps();
    if (failed(placeArguments()) || failed(placeResults()))
      return failure();
    OpBuilder &top = program.atEnd();
    auto segment = SegmentOp::create(top, function.getLoc(), name);
    builder.setInsertionPointToStart(builder.createBlock(&segment.getBody()));
    for (Operation &op : function.getBody().front().without_terminator())
      if (failed(emit(&op)))
        return failure();
    return copyResults();
  }

private:
  Block &body() { return function.getBody().front(); }

  /// The value whose bytes `value` shares.
  static Value rootOf(Value value) {
    while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
      value = reshape.getX();
    return value;
  }

  /// Positions of ops and, per root, of its last reader.
  void numberOps() {
    int64_t position = 0;
    for (Operation &op : body()) {
      positions[&op] = position;
      if (!isa<graph::ReshapeOp>(op))
        for (Value operand : op.getOperands())
          lastRead[rootOf(operand)] = position;
      ++position;
    }
  }

  LogicalResult placeArguments() {
    for (BlockArgument argument : body().getArguments()) {
      FailureOr<Storage> storage = program.argument(function, argument.getArgNumber());
      if (failed(storage))
        return failure();
      places[argument] = *storage;
    }
    return success();
  }

  /// Step 2 of the head of SegmentBuilder.h.
  LogicalResult placeResults() {
    Operation *ret = body().getTerminator();
    for (auto [i, value] : llvm::enumerate(ret->getOperands())) {
      FailureOr<Storage> target = program.result(function, i);
      if (failed(target))
        return failure();
      Value root = rootOf(value);
      auto place = places.find(root);
      if (place != places.end() && place->second.buffer == target->buffer)
        continue; // an unchanged state
      Operation *writer = root.getDefiningOp();
      if (splatOf(root)) {
        fills.push_back({root, *target});
        continue;
      }
      bool writes = writer && !isPrepared(writer);
      if (writes && place == places.end() && mayOverwrite(function, i, writer, root))
        places[root] = *target;
      else
        copies.push_back({value, *target});
    }
    return success();
  }

  /// True when `writer` may put result `index` straight where it belongs.
  bool mayOverwrite(func::FuncOp f, unsigned index, Operation *writer, Value root) {
    auto alias = f.getResultAttrOfType<IntegerAttr>(index, base::aliasAttr);
    if (!alias)
      return true;
    Value old = body().getArgument(alias.getInt());
    auto read = lastRead.find(old);
    if (read == lastRead.end() || read->second < positions[writer])
      return true;
    return read->second == positions[writer] &&
           llvm::is_contained(inPlaceOperands(writer, root), old);
  }

  /// Operands (roots) whose bytes the op may overwrite with `result`, by what it says.
  static SmallVector<Value> inPlaceOperands(Operation *op, Value result) {
    SmallVector<Value> operands;
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch)
      return operands;
    unsigned number = cast<OpResult>(result).getResultNumber();
    ArrayRef<int64_t> pairs = launch.getInplace();
    for (size_t p = 0; p + 1 < pairs.size(); p += 2)
      if (pairs[p + 1] == number && isOnlyView(launch, static_cast<size_t>(pairs[p])))
        operands.push_back(rootOf(launch.getInputs()[pairs[p]]));
    return operands;
  }

  /// No other input shares the bytes: the kernel's word on input i says nothing of what it reads
  /// through another shape of the same value.
  static bool isOnlyView(kernel::LaunchOp launch, size_t input) {
    Value root = rootOf(launch.getInputs()[input]);
    for (auto [i, other] : llvm::enumerate(launch.getInputs()))
      if (i != input && rootOf(other) == root)
        return false;
    return true;
  }

  /// Made at prepare: nothing runs.
  static bool isPrepared(Operation *op) {
    return isa<graph::WeightOp, graph::ConstantOp, dist::AxisIndexOp>(op);
  }

  /// The constant behind a value whose elements all have the same 1, 2, 4 or 8 bytes.
  static DenseElementsAttr splatOf(Value root) {
    auto constant = root.getDefiningOp<graph::ConstantOp>();
    auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
    if (!dense || !dense.isSplat() || dense.getNumElements() == 0)
      return {};
    return bitWidth(*toDType(dense.getElementType())) >= 8 ? dense : DenseElementsAttr();
  }

  Storage placeOf(Value value) {
    Value root = rootOf(value);
    auto it = places.find(root);
    if (it == places.end()) {
      Operation *op = root.getDefiningOp();
      if (auto weight = dyn_cast<graph::WeightOp>(op))
        it = places.insert({root, program.weight(weight)}).first;
      else if (auto constant = dyn_cast<graph::ConstantOp>(op))
        it = places.insert({root, program.constant(constant)}).first;
      else
        it = places.insert({root, program.axisIndex(cast<dist::AxisIndexOp>(op))}).first;
    }
    Storage storage = it->second;
    storage.bytes = byteSize(value.getType());
    return storage;
  }

  /// Step 3: where a result of `op` goes.
  Storage placeNew(Operation *op, Value result) {
    auto it = places.find(result);
    if (it != places.end())
      return it->second;
    int64_t bytes = byteSize(result.getType());
    for (Value dying : inPlaceOperands(op, result)) {
      if (!scratchRoots.contains(dying) || lastRead.lookup(dying) != positions[op] ||
          places.at(dying).bytes != bytes || !taken.insert(dying).second)
        continue;
      ++statistics.inPlace;
      scratchRoots.insert(result);
      Storage taking = places.at(dying); // a copy: the insertion below may move the map's entries
      return places[result] = taking;
    }
    scratchRoots.insert(result);
    return places[result] = program.scratch(bytes);
  }

  LogicalResult emit(Operation *op) {
    if (isa<graph::ReshapeOp>(op) || isPrepared(op))
      return success();
    ++statistics.commands;
    if (auto launch = dyn_cast<kernel::LaunchOp>(op))
      return emitLaunch(launch);
    if (isLibraryOp(op)) {
      SmallVector<Storage> operands;
      SmallVector<int64_t> constants;
      for (Value operand : op->getOperands()) {
        if (Operation *made = rootOf(operand).getDefiningOp(); made && isPrepared(made))
          constants.push_back(static_cast<int64_t>(operands.size()));
        operands.push_back(placeOf(operand));
      }
      return buildLibraryCall(builder, op, operands, constants, placeNew(op, op->getResult(0)));
    }
    if (isCollective(op)) {
      std::optional<Storage> operand, result;
      if (op->getNumOperands())
        operand = placeOf(op->getOperand(0));
      if (op->getNumResults())
        result = placeNew(op, op->getResult(0));
      return buildCollective(builder, op, program.getMesh(), operand, result);
    }
    return op->emitOpError() << "has no command: only kernel.launch, contract, convolutions, "
                                "reshape, weights, constants and dist collectives may be left here; "
                                "gpucc-fuse and gpucc-outline-kernels turn the rest into kernels";
  }

  LogicalResult emitLaunch(kernel::LaunchOp launch) {
    SmallVector<Attribute> views;
    std::string access;
    for (Value input : launch.getInputs()) {
      views.push_back(placeOf(input).view());
      access += 'r';
    }
    for (Value output : launch.getOutputs()) {
      views.push_back(placeNew(launch, output).view());
      access += 'w';
    }
    LaunchOp::create(builder, launch.getLoc(), launch.getKernelAttr(), builder.getArrayAttr(views),
                     builder.getStringAttr(access), ArrayAttr(),
                     builder.getStringAttr(sourceName(launch)));
    return success();
  }

  /// Results that could not be computed in place. What overwrites state goes last, from a copy when
  /// another copy still reads that state.
  LogicalResult copyResults() {
    llvm::DenseSet<Attribute> overwritten;
    for (auto &[value, target] : copies)
      overwritten.insert(target.buffer);
    for (auto &[value, target] : copies) {
      Storage source = placeOf(value);
      if (!overwritten.contains(source.buffer))
        continue;
      Storage temporary = program.scratch(source.bytes);
      copy(source, temporary);
      places[value] = temporary;
      detached.insert(value);
    }
    for (auto &[value, target] : copies) {
      Storage source = detached.contains(value) ? places.at(value) : placeOf(value);
      source.bytes = target.bytes;
      copy(source, target);
    }
    for (auto &[value, target] : fills)
      fill(splatOf(value), target);
    return success();
  }

  void fill(DenseElementsAttr splat, Storage target) {
    HostTensor one = *toHostTensor(splat.resizeSplat(RankedTensorType::get({}, splat.getElementType())));
    int64_t pattern = 0;
    std::memcpy(&pattern, one.bytes(), static_cast<size_t>(one.byteSize()));
    FillOp::create(builder, function.getLoc(), target.view(), static_cast<uint64_t>(pattern),
                   static_cast<uint64_t>(one.byteSize()), builder.getStringAttr("fill"));
  }

  void copy(Storage source, Storage target) {
    ++statistics.copies;
    CopyOp::create(builder, function.getLoc(), source.view(), target.view(),
                   static_cast<uint64_t>(target.bytes), 1, 0, 0, builder.getStringAttr("copy"));
  }

  ProgramBuilder &program;
  func::FuncOp function;
  SegmentStatistics &statistics;
  OpBuilder builder;
  DenseMap<Operation *, int64_t> positions;
  DenseMap<Value, int64_t> lastRead;
  DenseMap<Value, Storage> places;
  DenseSet<Value> scratchRoots, taken, detached;
  SmallVector<std::pair<Value, Storage>> copies, fills;
};

} // namespace

LogicalResult sched::buildSegment(ProgramBuilder &program, func::FuncOp function, StringRef name,
                                  SegmentStatistics &statistics) {
  return Segment(program, function, statistics).build(name);
}
