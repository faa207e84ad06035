//===- Simulate.cpp - the events of one step ------------------------------===//
//
// Streams of an actor: compute, tensor-parallel communication, sends down and up, gradients. A
// stage's compute for one micro-batch is one event followed by one for its exposed collectives (a
// group over the tensor x context ranks). The last backward pass of a rank is cut into buckets;
// a bucket's gradients are reduced beside the rest of the pass, but only the share that
// `overlap` allows: what traffic and compute take from each other is waited for at the end.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Simulate/Simulate.h"
#include "gpucc/Facts/Text.h"
#include "gpucc/Simulate/Events.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace gpucc::simulate {

using namespace workload;
using solvers::Action;
using solvers::ActionKind;

namespace {

enum Lane { Compute, Tensor, SendDown, SendUp, Gradient, lanes };
const char *const laneNames[] = {"compute", "tensor", "send", "send", "gradient"};

class StepEvents {
public:
  StepEvents(const Layout &layout, const SimulateOptions &options, Simulation &result)
      : l(layout), options(options), result(result), p(static_cast<int>(layout.pp)) {
    members = options.everyRank ? l.tp * l.cp : 1;
    chooseReplicas();
  }

  void run() {
    build();
    result.simulated = static_cast<int64_t>(replicas.size()) * p * members;
    result.events = graph.size();
    result.error = graph.run();
    result.seconds = graph.total();
    collect();
  }

private:
  // --- classes ------------------------------------------------------------------------------

  /// Replicas to simulate: all, or one without a straggler and each that has one.
  void chooseReplicas() {
    std::vector<char> slow(static_cast<size_t>(l.dp), 0);
    for (auto [rank, factor] : options.stragglers)
      if (rank >= 0 && rank < l.ranks())
        slow[static_cast<size_t>(rank / (l.tp * l.cp) % l.dp)] = 1;
    bool healthy = false;
    for (int64_t d = 0; d < l.dp; ++d) {
      if (!options.everyRank && !slow[static_cast<size_t>(d)] && healthy)
        continue;
      healthy |= !slow[static_cast<size_t>(d)];
      replicas.push_back(d);
    }
  }

  int64_t rankNumber(size_t replica, int stage, int64_t member) const {
    return (stage * l.dp + replicas[replica]) * l.tp * l.cp + member;
  }

  /// How many times slower: of one rank, or of the slowest that the actor stands for.
  double factor(size_t replica, int stage, int64_t member) const {
    double slowest = 1;
    int64_t first = rankNumber(replica, stage, member);
    int64_t count = options.everyRank ? 1 : l.tp * l.cp;
    for (auto it = options.stragglers.lower_bound(first);
         it != options.stragglers.end() && it->first < first + count; ++it)
      slowest = std::max(slowest, it->second);
    return slowest;
  }

  int actor(size_t replica, int stage, int64_t member) const {
    return static_cast<int>((static_cast<int64_t>(replica) * p + stage) * members + member);
  }
  int stream(int a, Lane lane) const { return a * lanes + lane; }
  int newGroup() { return nextGroup++; }

  // --- events -------------------------------------------------------------------------------

  /// What a micro-batch's pass over a chunk takes, split into compute and waited-for collectives.
  struct Work {
    double compute = 0, communication = 0;
  };
  Work workOf(const Action &a, int rank) const {
    int stage = result.schedule.stageOf(rank, a);
    const ChunkCost &chunk = result.cost.chunks[static_cast<size_t>(stage)];
    const solvers::StageSeconds &s = chunk.seconds;
    double all = a.kind == ActionKind::Forward          ? s.forward
                 : a.kind == ActionKind::Backward       ? s.backwardInput + s.backwardWeight
                 : a.kind == ActionKind::BackwardInput  ? s.backwardInput
                 : a.kind == ActionKind::BackwardWeight ? s.backwardWeight
                                                        : 0;
    if (a.kind == ActionKind::BackwardWeight)
      return {all, 0};
    const Parts &parts = chunk.parts;
    double waited = parts.tensor + parts.context + parts.expert;
    double share = parts.total() > 0 ? waited / (s.forward + s.backwardInput) : 0;
    double communication =
        std::min(all, share * (a.kind == ActionKind::Backward ? s.backwardInput : all));
    return {all - communication, communication};
  }

  void build() {
    m = result.schedule.microBatches;
    stages = result.schedule.numStages();
    rankOf.resize(static_cast<size_t>(stages));
    for (int r = 0; r < p; ++r)
      for (const Action &a : result.schedule.stages[static_cast<size_t>(r)])
        rankOf[static_cast<size_t>(result.schedule.stageOf(r, a))] = r;
    size_t cells = static_cast<size_t>(stages) * static_cast<size_t>(m);
    for (size_t d = 0; d < replicas.size(); ++d) {
      forwardEnd.assign(cells * static_cast<size_t>(members), -1);
      inputEnd = forwardEnd;
      pending.clear();
      for (int r = 0; r < p; ++r)
        row(d, r);
      connect(d);
    }
    gradients();
  }

  size_t cell(int stage, int microBatch, int64_t member) const {
    return (static_cast<size_t>(stage) * static_cast<size_t>(m) + static_cast<size_t>(microBatch)) *
               static_cast<size_t>(members) +
           static_cast<size_t>(member);
  }

  /// All actions of one rank of one replica, every member of its group.
  void row(size_t d, int r) {
    const std::vector<Action> &actions = result.schedule.stages[static_cast<size_t>(r)];
    std::map<int, size_t> lastOf; // of a chunk: the pass that completes its gradients
    for (size_t k = 0; k < actions.size(); ++k)
      if (actions[k].kind == ActionKind::Backward || actions[k].kind == ActionKind::BackwardWeight)
        lastOf[result.schedule.stageOf(r, actions[k])] = k;
    std::set<size_t> lastPasses;
    for (auto [stage, k] : lastOf)
      lastPasses.insert(k);
    for (size_t k = 0; k < actions.size();) {
      if (actions[k].kind == ActionKind::Update)
        break;
      size_t count = actions[k].withNext && k + 1 < actions.size() ? 2 : 1;
      unit(d, r, k, count, lastPasses.count(k) > 0 || (count > 1 && lastPasses.count(k + 1) > 0));
      k += count;
    }
  }

  void unit(size_t d, int r, size_t k, size_t count, bool lastPass) {
    const std::vector<Action> &actions = result.schedule.stages[static_cast<size_t>(r)];
    Work work;
    std::string label;
    for (size_t i = k; i < k + count; ++i) {
      Work one = workOf(actions[i], r);
      work.compute += one.compute;
      work.communication += one.communication;
      label += (i > k ? "+" : "") + std::to_string(result.schedule.stageOf(r, actions[i])) +
               static_cast<char>(actions[i].kind) + std::to_string(actions[i].microBatch);
    }
    if (count > 1) {
      work.compute *= pairShare;
      work.communication *= pairShare;
    }
    int group = members > 1 && work.communication > 0 ? newGroup() : -1;
    for (int64_t member = 0; member < members; ++member) {
      int who = actor(d, r, member);
      // A chunk's last pass is cut where a bucket of gradients is complete.
      int64_t count2 = lastPass ? buckets(r) : 1;
      double piece = work.compute * factor(d, r, member) / static_cast<double>(count2);
      std::vector<int> pieces;
      for (int64_t b = 0; b < count2; ++b) {
        pieces.push_back(graph.add(stream(who, Compute), piece));
        note(d, r, member, Compute, pieces.back(), label);
      }
      int first = pieces.front(), end = pieces.back();
      if (work.communication > 0) {
        end = graph.add(stream(who, Tensor), work.communication, {end}, group);
        note(d, r, member, Tensor, end, label);
      }
      previousEnd(who, first, end);
      for (size_t i = k; i < k + count; ++i)
        finish(r, actions[i], member, first, end);
      if (lastPass) {
        Completed &x = completed[who];
        x.replica = d, x.rank = r, x.member = member, x.end = end;
        x.pieces.insert(x.pieces.end(), pieces.begin(), pieces.end());
      }
    }
  }

  /// The next compute of an actor waits for the collectives of the one before.
  void previousEnd(int who, int first, int end) {
    if (static_cast<size_t>(who) >= lastEnd.size())
      lastEnd.resize(static_cast<size_t>(who) + 1, -1);
    if (int before = lastEnd[static_cast<size_t>(who)]; before >= 0 && before != first)
      graph.waitFor(first, before);
    lastEnd[static_cast<size_t>(who)] = end;
  }

  void finish(int r, const Action &a, int64_t member, int first, int end) {
    int stage = result.schedule.stageOf(r, a);
    size_t where = cell(stage, a.microBatch, member);
    if (a.kind == ActionKind::Forward)
      forwardEnd[where] = end;
    if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardInput)
      inputEnd[where] = end;
    pending.push_back({stage, a.microBatch, member, a.kind, first});
  }

  /// Dependencies between stages, now that every event of the replica has a number.
  void connect(size_t d) {
    for (const Pending &x : pending) {
      if (x.kind == ActionKind::BackwardWeight) {
        graph.waitFor(x.event, inputEnd[cell(x.stage, x.microBatch, x.member)]);
        continue;
      }
      bool forward = x.kind == ActionKind::Forward;
      int from = neighbour(x.stage, x.microBatch, x.member, forward);
      if (from < 0) {
        if (!forward)
          graph.waitFor(x.event, forwardEnd[cell(x.stage, x.microBatch, x.member)]);
        continue;
      }
      int ready = (forward ? forwardEnd : inputEnd)[cell(from, x.microBatch, x.member)];
      int sender = rankOf[static_cast<size_t>(from)],
          receiver = rankOf[static_cast<size_t>(x.stage)];
      if (sender == receiver) {
        graph.waitFor(x.event, ready);
        continue;
      }
      sends.push_back({d, sender, receiver, x.member, ready, x.event});
    }
    // A rank sends in the order in which its results appear in its row.
    std::sort(sends.begin(), sends.end(), [](const Send &a, const Send &b) {
      return std::pair(a.ready, a.event) < std::pair(b.ready, b.event);
    });
    for (const Send &s : sends) {
      int who = actor(s.replica, s.from, s.member);
      Lane lane = s.to > s.from ? SendDown : SendUp;
      int event = graph.add(stream(who, lane), result.cost.sendSeconds, {s.ready});
      note(s.replica, s.from, s.member, lane, event, "to stage " + std::to_string(s.to));
      graph.waitFor(s.event, event);
    }
    sends.clear();
  }

  /// The stage before (forward) or after a stage on a micro-batch's way; -1: none.
  int neighbour(int stage, int microBatch, int64_t member, bool forward) const {
    int step = forward ? -1 : 1;
    int next = stage + step;
    if (next < 0 || next >= stages || forwardEnd[cell(next, microBatch, member)] < 0)
      return -1;
    return next;
  }

  // --- gradients and update -----------------------------------------------------------------

  int64_t buckets(int rank) const {
    return result.cost.tails[static_cast<size_t>(rank)].hiddenGradients > 0
               ? std::max<int64_t>(1, options.gradientBuckets)
               : 1;
  }

  void gradients() {
    // Per pipeline rank and member the groups over the replicas: one per bucket, one for the rest.
    std::vector<std::vector<int>> groups(static_cast<size_t>(p) * static_cast<size_t>(members));
    for (const auto &[who, x] : completed) {
      std::vector<int> &mine = groups[static_cast<size_t>(x.rank) * static_cast<size_t>(members) +
                                      static_cast<size_t>(x.member)];
      for (size_t b = mine.size(); b <= x.pieces.size(); ++b)
        mine.push_back(newGroup());
      const RankTail &tail = result.cost.tails[static_cast<size_t>(x.rank)];
      if (tail.hiddenParameters > 0) { // those of the step before
        int event = graph.add(stream(who, Gradient), tail.hiddenParameters);
        note(x.replica, x.rank, x.member, Gradient, event, "parameters");
      }
      int end = x.end;
      double hidden = tail.hiddenGradients / static_cast<double>(x.pieces.size());
      for (size_t b = 0; hidden > 0 && b < x.pieces.size(); ++b) {
        end = graph.add(stream(who, Gradient), hidden, {x.pieces[b]}, mine[b]);
        note(x.replica, x.rank, x.member, Gradient, end, "bucket " + std::to_string(b));
      }
      int rest = graph.add(stream(who, Gradient), tail.exposed(), {x.end, end}, mine.back());
      note(x.replica, x.rank, x.member, Gradient, rest, "gradients");
      int update = graph.add(stream(who, Compute), tail.updateSeconds, {rest});
      note(x.replica, x.rank, x.member, Compute, update, "update");
    }
  }

  // --- results ------------------------------------------------------------------------------

  void note(size_t d, int r, int64_t member, Lane lane, int event, std::string label) {
    noted.push_back({event, rankNumber(d, r, member), r, lane, d == 0 && member == 0,
                     options.keepTrace ? std::move(label) : std::string()});
  }

  void collect() {
    result.computeSeconds.assign(static_cast<size_t>(p), 0);
    for (const Noted &x : noted) {
      if (x.first && x.lane == Compute)
        result.computeSeconds[static_cast<size_t>(x.stage)] +=
            graph.end(x.event) - graph.start(x.event);
      if (options.keepTrace)
        result.trace.push_back(
            {x.rank, laneNames[x.lane], x.label, graph.start(x.event), graph.end(x.event)});
    }
    for (double busy : result.computeSeconds)
      result.waitSeconds.push_back(result.seconds - busy);
  }

public:
  double pairShare = 1;

private:
  struct Pending {
    int stage, microBatch;
    int64_t member;
    ActionKind kind;
    int event;
  };
  struct Send {
    size_t replica;
    int from, to;
    int64_t member;
    int ready, event;
  };
  /// An actor's passes that complete gradients.
  struct Completed {
    size_t replica = 0;
    int rank = 0;
    int64_t member = 0;
    int end = -1;            ///< of the last one
    std::vector<int> pieces; ///< of their compute
  };
  struct Noted {
    int event;
    int64_t rank;
    int stage;
    Lane lane;
    bool first;
    std::string label;
  };
  const Layout &l;
  const SimulateOptions &options;
  Simulation &result;
  int p, m = 0, stages = 0;
  int64_t members = 1;
  std::vector<int64_t> replicas;
  EventGraph graph;
  int nextGroup = 0;
  std::vector<int> forwardEnd, inputEnd, lastEnd, rankOf;
  std::vector<Pending> pending;
  std::vector<Send> sends;
  std::map<int, Completed> completed; ///< by actor
  std::vector<Noted> noted;
};

/// Bytes of activations on every pipeline rank while its row runs.
std::vector<std::vector<std::pair<double, double>>> activationsOverTime(const Simulation &s) {
  std::vector<std::vector<std::pair<double, double>>> result;
  for (size_t r = 0; r < s.schedule.stages.size(); ++r) {
    double now = 0;
    std::vector<std::pair<double, double>> line = {{0, 0}};
    for (size_t k = 0; k < s.schedule.stages[r].size(); ++k) {
      const Action &a = s.schedule.stages[r][k];
      if (a.kind == ActionKind::Update)
        continue;
      int stage = s.schedule.stageOf(static_cast<int>(r), a);
      double bytes = s.cost.chunks[static_cast<size_t>(stage)].keptBytes;
      if (a.kind == ActionKind::Forward)
        line.push_back({s.timing.when[r][k].first, now += bytes});
      if (a.kind == ActionKind::Backward || a.kind == ActionKind::BackwardWeight)
        line.push_back({s.timing.when[r][k].second, now -= bytes});
    }
    result.push_back(std::move(line));
  }
  return result;
}

/// Share of time that is training when a checkpoint is written every sqrt(2 C M) seconds (Young):
/// C / interval is lost to checkpoints, half an interval and a restart to each failure. The formula
/// is for failures that are rare beside checkpoints and restarts; where the interval is no longer
/// than a checkpoint, or everything is lost, nothing trains and that is said instead.
std::string applyFailures(Simulation &s, const Failures &f) {
  if (f.deviceMtbfHours <= 0)
    return "";
  double mtbf = f.deviceMtbfHours * 3600 / static_cast<double>(s.ranks);
  s.checkpointEvery = std::sqrt(2 * f.checkpointSeconds * mtbf);
  double lost =
      f.checkpointSeconds / s.checkpointEvery + (s.checkpointEvery / 2 + f.restartSeconds) / mtbf;
  s.goodput = std::max(0.0, 1 - lost);
  if (s.checkpointEvery > f.checkpointSeconds && s.goodput > 0)
    return "";
  // Both conditions hold from a mean time on: found by doubling the given one.
  double enough = f.deviceMtbfHours;
  for (double m = mtbf, every = 0; !(every > f.checkpointSeconds) || lost >= 1; enough *= 2) {
    m *= 2;
    every = std::sqrt(2 * f.checkpointSeconds * m);
    lost = f.checkpointSeconds / every + (every / 2 + f.restartSeconds) / m;
  }
  std::string text;
  print(text,
        "--mtbf-hours: found %g, with which one of %lld GPUs fails every %.3g s, allowed failures "
        "that leave time to train: a checkpoint of %g s every %.3g s (Young) and a restart of %g s "
        "after each failure take all of it; the nearest that works is about --mtbf-hours %.3g, or "
        "shorter checkpoints and restarts",
        f.deviceMtbfHours, static_cast<long long>(s.ranks), mtbf, f.checkpointSeconds,
        s.checkpointEvery, f.restartSeconds, enough);
  return text;
}

} // namespace

Simulation simulateStep(BlockCache &cache, const cost::Machine &machine, const Layout &layout,
                        const SimulateOptions &options) {
  Simulation result;
  result.ranks = layout.ranks();
  result.error = checkLayout(cache.workload, layout);
  if (result.error.empty() && options.everyRank && result.ranks > 4096)
    result.error = "every-rank: found " + std::to_string(result.ranks) +
                   " ranks, allowed 4096; leave the option out: classes give the same times";
  if (!result.error.empty())
    return result;
  result.cost = stepCost(cache, machine, layout);
  result.schedule = solvers::makeSchedule(layout.schedule, static_cast<int>(layout.pp),
                                          static_cast<int>(layout.microBatches()),
                                          static_cast<int>(layout.virtualStages));
  std::vector<solvers::StageSeconds> seconds;
  for (const ChunkCost &chunk : result.cost.chunks)
    seconds.push_back(chunk.seconds);
  result.timing = solvers::timeSchedule(result.schedule, seconds,
                                        {result.cost.sendSeconds, result.cost.pairShare});
  result.activations = activationsOverTime(result);
  StepEvents events(layout, options, result);
  events.pairShare = result.cost.pairShare;
  events.run();
  if (!options.stragglers.empty() && result.error.empty()) {
    SimulateOptions healthy;
    healthy.gradientBuckets = options.gradientBuckets;
    result.slowdown = result.seconds / simulateStep(cache, machine, layout, healthy).seconds;
  }
  if (result.error.empty())
    result.error = applyFailures(result, options.failures);
  return result;
}

} // namespace gpucc::simulate
