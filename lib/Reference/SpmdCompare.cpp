//===- SpmdCompare.cpp - is the partitioned program the same? -------------===//
#include "gpucc/Reference/SpmdCompare.h"

#include "dialects/Base/Base.h"

#include <cmath>

using namespace mlir;
using namespace gpucc;

namespace {
/// An op result of the unpartitioned program: update after step, then micro-batch, ordinal, result.
using Key = std::tuple<int, int64_t, int64_t, unsigned>;

struct Expected {
  HostTensor value;
  Operation *op;
};

class Comparison {
public:
  Comparison(SpmdEvaluator &reference, SpmdEvaluator &partitioned, const SpmdTolerance &tolerance)
      : reference(reference), partitioned(partitioned), tolerance(tolerance) {}

  FailureOr<SpmdReport> run(const std::vector<NamedTensors> &microBatches);

private:
  SpmdEvaluator &reference, &partitioned;
  const SpmdTolerance &tolerance;
  SpmdReport report;
  std::map<Key, Expected> expected;
  std::map<Key, SpmdMismatch> wrong;
  std::map<int, double> largest; ///< per segment
  /// Parts of partial values, by result and first rank of the group.
  std::map<std::pair<Key, int64_t>, std::map<int64_t, HostTensor>> parts;

  void remember(const SpmdObservation &seen);
  void check(const SpmdObservation &seen);
  void compareOp(const Key &key, const Sharding &sharding, const HostTensor &block, int64_t rank);
  bool compareValues(const HostTensor &a, const HostTensor &b, double scale, SpmdMismatch &out);
  void compareNamed(StringRef kind, const std::string &name, FailureOr<HostTensor> a,
                    const HostTensor &b, double scale, int64_t microBatch);
  int64_t firstWrongRank(StringRef kind, const std::string &name, const HostTensor &whole,
                         int64_t microBatch, double scale);
  void compareResults(size_t microBatches);
};
} // namespace

static std::optional<Key> keyOf(const SpmdObservation &seen) {
  auto origin = seen.op->getAttrOfType<IntegerAttr>(dist::originAttr);
  if (!origin)
    return std::nullopt;
  auto segment = seen.function->getAttrOfType<StringAttr>(base::segmentAttr);
  bool update = segment && segment.getValue() == "update";
  return Key{update, update ? 0 : seen.microBatch, origin.getInt(), seen.result};
}

static double largestOf(const HostTensor &t) {
  double most = 0;
  for (int64_t i = 0; i < t.numElements(); ++i)
    if (double v = std::fabs(t.getFloat(i)); std::isfinite(v))
      most = std::max(most, v);
  return most;
}

void Comparison::remember(const SpmdObservation &seen) {
  auto key = keyOf(seen);
  if (!key)
    return;
  expected.insert_or_assign(*key, Expected{seen.value, seen.op});
  if (isFloat(seen.value.dtype()))
    largest[std::get<0>(*key)] = std::max(largest[std::get<0>(*key)], largestOf(seen.value));
}

/// True when the values agree; otherwise fills in the error.
bool Comparison::compareValues(const HostTensor &a, const HostTensor &b, double scale,
                               SpmdMismatch &out) {
  ++report.compared;
  if (a.shape() != b.shape()) {
    out.detail = "the shapes differ";
    out.error = HUGE_VAL;
    return false;
  }
  bool exact = !isFloat(b.dtype());
  out.allowed = exact ? 0 : tolerance.relative * std::max(largestOf(b), tolerance.floor * scale);
  int64_t at = -1;
  for (int64_t i = 0; i < a.numElements(); ++i) {
    double x = a.getFloat(i), y = b.getFloat(i);
    double error = x == y || (std::isnan(x) && std::isnan(y)) ? 0 : std::fabs(x - y);
    if (std::isnan(error))
      error = HUGE_VAL;
    if (error > out.error || (at < 0 && error > 0)) {
      out.error = error;
      at = i;
    }
  }
  if (out.allowed > 0)
    report.worst = std::max(report.worst, out.error / out.allowed);
  if (out.error <= out.allowed)
    return true;
  out.detail = "element " + std::to_string(at) + " is " + std::to_string(a.getFloat(at)) +
               ", it should be " + std::to_string(b.getFloat(at));
  return false;
}

static std::string describe(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  Location loc = op->getLoc();
  if (auto fused = dyn_cast<FusedLoc>(loc); fused && !fused.getLocations().empty())
    loc = fused.getLocations().front();
  if (auto named = dyn_cast<NameLoc>(loc))
    return "'" + named.getName().str() + "' (" + name + ")";
  return name;
}

void Comparison::compareOp(const Key &key, const Sharding &sharding, const HostTensor &block,
                           int64_t rank) {
  const Expected &want = expected.find(key)->second;
  Sharding whole = sharding;
  whole.partial.clear();
  HostTensor part = cutBlock(partitioned.getMesh(), whole, want.value, rank);
  SpmdMismatch mismatch{"op",
                        describe(want.op),
                        rank,
                        std::get<0>(key) ? -1 : std::get<1>(key),
                        0,
                        0,
                        "",
                        describe(want.op),
                        want.op->getLoc()};
  if (!compareValues(block, part, largest[std::get<0>(key)], mismatch))
    if (auto at = wrong.find(key); at == wrong.end() || at->second.rank > rank)
      wrong.insert_or_assign(key, mismatch);
}

void Comparison::check(const SpmdObservation &seen) {
  auto key = keyOf(seen);
  auto sharding = dist::getSharding(seen.op->getResult(seen.result));
  if (!key || !sharding || !expected.count(*key))
    return;
  if (sharding->partial.empty())
    return compareOp(*key, *sharding, seen.value, seen.rank);
  const Mesh &mesh = partitioned.getMesh();
  std::vector<int64_t> group = mesh.group(seen.rank, sharding->partial);
  auto &collected = parts[{*key, group.front()}];
  collected[seen.rank] = seen.value;
  if (collected.size() < group.size())
    return;
  // Put the parts together as if the group were a mesh of its own.
  Sharding only = Sharding::replicated(seen.value.shape().size());
  only.partial = {"part"};
  only.partialKind = sharding->partialKind;
  std::string error;
  auto sum = gatherBlocks(
      Mesh{{{"part", static_cast<int64_t>(group.size())}}}, only, seen.value.shape(),
      seen.value.dtype(), [&](int64_t i) { return &collected[group[i]]; }, error);
  compareOp(*key, *sharding, *sum, group.front());
}

void Comparison::compareNamed(StringRef kind, const std::string &name, FailureOr<HostTensor> a,
                              const HostTensor &b, double scale, int64_t microBatch) {
  SpmdMismatch mismatch{
      kind.str(), name, -1, microBatch, 0, 0, "", "", UnknownLoc::get(reference.getContext())};
  if (failed(a)) {
    mismatch.detail = "its blocks cannot be put together (see the error before)";
    mismatch.error = HUGE_VAL;
  } else if (compareValues(*a, b, scale, mismatch)) {
    return;
  }
  if (Operation *op = reference.producerOf(kind, name)) {
    mismatch.op = describe(op);
    mismatch.location = op->getLoc();
  }
  mismatch.rank = firstWrongRank(kind, name, b, microBatch, scale);
  report.mismatches.push_back(mismatch);
}

int64_t Comparison::firstWrongRank(StringRef kind, const std::string &name, const HostTensor &whole,
                                   int64_t microBatch, double scale) {
  Sharding sharding = partitioned.shardingOf(kind, name);
  double allowed = tolerance.relative * std::max(largestOf(whole), tolerance.floor * scale);
  for (int64_t rank = 0; rank < partitioned.numRanks(); ++rank) {
    const HostTensor *block = partitioned.blockOf(kind, name, microBatch, rank);
    if (!block)
      continue;
    if (!sharding.partial.empty())
      return rank;
    HostTensor right = cutBlock(partitioned.getMesh(), sharding, whole, rank);
    if (right.shape() != block->shape())
      return rank;
    for (int64_t i = 0; i < right.numElements(); ++i)
      if (!(std::fabs(block->getFloat(i) - right.getFloat(i)) <= allowed))
        return rank;
  }
  return -1;
}

/// Outputs, then gradients, then state.
void Comparison::compareResults(size_t microBatches) {
  for (const std::string &name : reference.outputNames())
    for (int64_t m = -1; m < static_cast<int64_t>(microBatches); ++m)
      if (reference.hasOutput(name, m))
        compareNamed("output", name, partitioned.getOutput(name, m), *reference.getOutput(name, m),
                     0, m);
  double most = 0;
  for (const std::string &name : reference.stateNames())
    if (reference.hasGradient(name))
      most = std::max(most, largestOf(*reference.getGradient(name)));
  for (const std::string &name : reference.stateNames())
    if (reference.hasGradient(name))
      compareNamed("gradient", name, partitioned.getGradient(name), *reference.getGradient(name),
                   most, -1);
  for (const std::string &name : reference.stateNames())
    compareNamed("state", name, partitioned.getState(name), *reference.getState(name), most, -1);
}

FailureOr<SpmdReport> Comparison::run(const std::vector<NamedTensors> &microBatches) {
  reference.observe = [&](const SpmdObservation &seen) { remember(seen); };
  partitioned.observe = [&](const SpmdObservation &seen) { check(seen); };
  bool failedRun =
      failed(reference.runStep(microBatches)) || failed(partitioned.runStep(microBatches));
  reference.observe = partitioned.observe = nullptr;
  if (failedRun)
    return failure();
  for (auto &[key, mismatch] : wrong)
    report.mismatches.push_back(mismatch);
  compareResults(microBatches.size());
  return report;
}

std::string SpmdReport::dump() const {
  std::string out = std::to_string(compared) + " values compared, " +
                    std::to_string(mismatches.size()) + " wrong\n";
  for (const SpmdMismatch &m : mismatches) {
    out += "  " + m.kind + " " + m.name;
    if (m.rank >= 0)
      out += ", rank " + std::to_string(m.rank);
    if (m.microBatch >= 0)
      out += ", micro-batch " + std::to_string(m.microBatch);
    if (m.kind != "op" && !m.op.empty())
      out += ", made by " + m.op;
    out += ": error " + std::to_string(m.error) + ", allowed " + std::to_string(m.allowed) + "; " +
           m.detail + "\n";
  }
  return out;
}

FailureOr<SpmdReport> gpucc::compareStep(SpmdEvaluator &reference, SpmdEvaluator &partitioned,
                                         const std::vector<NamedTensors> &microBatches,
                                         const SpmdTolerance &tolerance) {
  return Comparison(reference, partitioned, tolerance).run(microBatches);
}
