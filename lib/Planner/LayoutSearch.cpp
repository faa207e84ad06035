//===- LayoutSearch.cpp - best first over meshes --------------------------===//
#include "gpucc/Planner/LayoutSearch.h"
#include "LayoutSpace.h"
#include "PopularLayouts.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace gpucc::planner {

using namespace workload;
using simulate::BlockCache;
using simulate::StepCost;

namespace {

/// Actions of the whole pipeline: what timing its schedule costs.
int64_t actions(const Layout &l) {
  int64_t chunks = solvers::chunksPerRank(l.schedule, static_cast<int>(l.virtualStages));
  return l.pp * chunks * l.microBatches() * 2;
}
constexpr int64_t smallPipeline = 8192; ///< actions up to which nothing is approximated

/// Chunk costs of one mesh: many variants share them.
class ChunkCache {
public:
  ChunkCache(BlockCache &cache, const cost::Machine &machine) : cache(cache), machine(machine) {}
  const std::vector<simulate::ChunkCost> &get(const Layout &l) {
    Key key = {{static_cast<int64_t>(l.schedule), l.virtualStages,
                static_cast<int64_t>(l.recompute), l.recomputeLayers,
                static_cast<int64_t>(l.offloadActivations * 1024)},
               l.stageLayers};
    auto it = known.find(key);
    if (it == known.end())
      it = known.emplace(key, simulate::chunkCosts(cache, machine, l)).first;
    return it->second;
  }

private:
  using Key = std::pair<std::array<int64_t, 5>, std::vector<int64_t>>;
  BlockCache &cache;
  const cost::Machine &machine;
  std::map<Key, std::vector<simulate::ChunkCost>> known;
};

class Search {
public:
  Search(const SearchProblem &problem, const SearchOptions &options)
      : problem(problem), options(options), cache(problem.workload, cost::Calibration::builtin()) {}

  SearchResult run() {
    collect();
    if (open.empty()) {
      result.error = nothingPossible();
      return std::move(result);
    }
    // A good answer first: it lets most of the others be skipped.
    guess();
    for (size_t mesh : guessed)
      openMesh(open[mesh]);
    // Bounds know nothing of bubbles: a third of the work goes to what promises most.
    for (const Guess &guess : promising) {
      if (guess.seconds >= 1.05 * worstToKeep() || result.work >= budget() / 3)
        break;
      openMesh(open[guess.mesh]);
    }
    for (Open &mesh : open) {
      if (mesh.bound >= worstToKeep() || result.work >= budget())
        break;
      openMesh(mesh);
      firstUnopened = static_cast<size_t>(&mesh - open.data()) + 1;
    }
    finish();
    return std::move(result);
  }

private:
  struct Open {
    Layout mesh;
    double bound;
    bool opened = false;
  };

  void collect() {
    for (Layout &mesh : meshes(problem)) {
      Layout ideal = mesh;
      ideal.recompute = Recompute::None;
      ideal.zeroStage = 0;
      ideal.offloadActivations = ideal.offloadOptimizer = 0;
      if (!problem.pinned.count("schedule") && mesh.pp > 1) // that may hide expert traffic
        ideal.schedule = solvers::ScheduleKind::Interleaved;
      if (ideal.schedule == solvers::ScheduleKind::Interleaved) // pinned ones begin with one chunk
        ideal.virtualStages = std::max<int64_t>(2, ideal.virtualStages);
      open.push_back({mesh, meshBound(ideal), false});
    }
    result.meshes = static_cast<int64_t>(open.size());
    std::vector<size_t> order(open.size());
    for (size_t k = 0; k < order.size(); ++k)
      order[k] = k;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(open[a].bound, a) < std::pair(open[b].bound, b);
    });
    std::vector<Open> sorted;
    for (size_t k : order)
      sorted.push_back(std::move(open[k]));
    open = std::move(sorted);
  }

  /// A short search that has found nothing yet goes on as long as a usual one.
  int64_t budget() const {
    return answers.empty() ? std::max(options.budget, SearchOptions().budget) : options.budget;
  }

  struct Guess {
    double seconds;
    size_t mesh;
    Layout layout;
  };
  /// A layout that fills the memory promises most and may keep less of it: the best of smaller sizes
  /// are looked at as well, so that more memory does not hide them from a short search.
  struct Level {
    double bytes;
    size_t count; ///< guesses to take
    std::vector<Guess> guesses;
  };

  /// The device's memory and the seven largest sizes below it (down to a quarter) of a ladder that
  /// is the same for all devices.
  std::vector<Level> memoryLevels() const {
    double least = 1e300;
    for (const cost::NodeGroup &group : problem.machine.groups())
      least = std::min(least, group.device.memoryBytes);
    const double rung = std::pow(2, 0.25);
    double size = 1073741824.0;
    while (size * rung <= 0.97 * problem.memoryShare * least)
      size *= rung;
    std::vector<Level> levels = {{1e300, 8, {}}};
    for (int below = 0; below < 7; ++below, size /= rung)
      levels.push_back({size, 4, {}});
    return levels;
  }

  /// Times the layouts that promise the shortest step, each a mesh's usual variant (ZeRO-1, the
  /// least recomputation), and notes their meshes.
  void guess() {
    std::vector<Level> levels = memoryLevels();
    // The tail of the bounds is of no use: look at an even sample when there are very many.
    size_t step = std::max<size_t>(1, open.size() / 3000);
    for (size_t k = 0; k < open.size(); k += step)
      guessMesh(k, levels);
    std::set<size_t> seen;
    for (Level &level : levels) {
      std::sort(level.guesses.begin(), level.guesses.end(), [](const Guess &a, const Guess &b) {
        return std::pair(a.seconds, a.mesh) < std::pair(b.seconds, b.mesh);
      });
      if (&level == &levels.front())
        promising = level.guesses;
      level.guesses.resize(std::min(level.guesses.size(), level.count));
      for (const Guess &guess : level.guesses) {
        guessed.push_back(guess.mesh);
        if (!seen.insert(guess.mesh).second)
          continue;
        ChunkCache chunks(cache, problem.machine);
        keep({guess.layout, timed(guess.layout, chunks), ""});
      }
    }
  }

  /// Adds the mesh's usual variant to the levels, with the least recomputation that each asks for.
  void guessMesh(size_t index, std::vector<Level> &levels) {
    ChunkCache chunks(cache, problem.machine);
    Layout l = open[index].mesh;
    for (int stage : {1, 0, 2, 3}) {
      if (!problem.pinned.count("zero"))
        l.zeroStage = l.dp * l.cp > 1 ? stage : 0;
      if (accepted(l))
        break;
    }
    l = stageChoices(cache, problem, l).front();
    if (!accepted(l))
      return;
    size_t level = 0; // those before it have their guess
    for (const std::vector<Layout> &chain : chainsOf(l))
      for (const Layout *choice : {&chain.front(), &chain[chain.size() / 2], &chain.back()}) {
        if (level == levels.size())
          return;
        StepCost memory = memoryOf(*choice, chunks);
        noteTightest(*choice, memory);
        if (!fits(memory) || memory.fullestMemory().total() > levels[level].bytes)
          continue;
        double seconds = guessOf(*choice, chunks);
        for (; level < levels.size() && memory.fullestMemory().total() <= levels[level].bytes;
             ++level)
          levels[level].guesses.push_back({seconds, index, *choice});
      }
  }

  /// Seconds that a layout promises: its bound and half of 1F1B's bubble, because the better
  /// schedules are not tried here.
  double guessOf(const Layout &l, ChunkCache &chunks) {
    const std::vector<simulate::ChunkCost> &costs = chunks.get(l);
    double bubble =
        l.pp > 1 ? 0.5 * static_cast<double>(l.pp - 1) * costs[costs.size() / 2].parts.total() : 0;
    return simulate::stepBound(cache, problem.machine, l, &costs) + bubble;
  }

  /// Compute without recomputation, spread evenly over the pipeline; nothing waits for anything.
  double meshBound(const Layout &mesh) {
    std::map<BlockKind, int64_t> count;
    for (BlockKind kind : blocksOf(problem.workload))
      ++count[kind];
    double all = 0, fastest = 1e300, overlap = cache.calibration("overlap");
    for (int r = 0; r < (problem.machine.mixed() ? mesh.pp : 1); ++r) {
      all = 0;
      cost::Machine own = simulate::machineOfRank(problem.machine, mesh, r);
      for (auto [kind, n] : count) {
        const simulate::BlockCost &b = cache.get(own, mesh, kind);
        simulate::Parts parts = b.forward;
        parts += b.backwardInput;
        parts += b.backwardWeight;
        // An overlapped pair of DualPipe may hide expert traffic.
        all += static_cast<double>(n) * (parts.total() - overlap * parts.expert);
      }
      fastest = std::min(fastest, all);
    }
    return fastest * static_cast<double>(mesh.microBatches()) / static_cast<double>(mesh.pp);
  }

  /// Time of the last mesh in the list of answers; infinite while it is not full.
  double worstToKeep() const {
    if (static_cast<int>(answers.size()) < options.keep)
      return 1e300;
    double best = answers.front().cost.seconds,
           last = answers[static_cast<size_t>(options.keep) - 1].cost.seconds;
    // Alternatives more than a quarter slower interest nobody: do not work to order them.
    return std::min(last, 1.25 * best);
  }

  bool fits(const StepCost &cost) const {
    return cost.fullestMemory().total() <= problem.memoryShare * cost.memoryLimit;
  }

  StepCost memoryOf(const Layout &l, ChunkCache &chunks) {
    simulate::StepOptions only;
    only.memoryOnly = true;
    only.closedFormMemory = actions(l) > smallPipeline;
    only.chunks = &chunks.get(l);
    ++result.bounded;
    result.work += 300 + (only.closedFormMemory ? 0 : actions(l) / 4);
    return simulate::stepCost(cache, problem.machine, l, only);
  }

  double boundOf(const Layout &l, ChunkCache &chunks) {
    ++result.bounded;
    result.work += 300;
    return simulate::stepBound(cache, problem.machine, l, &chunks.get(l));
  }

  bool accepted(const Layout &l) const {
    return !problem.accept || problem.accept(problem.workload, l);
  }

  /// The chains of recomputation, of what is accepted.
  std::vector<std::vector<Layout>> chainsOf(const Layout &variant) const {
    std::vector<std::vector<Layout>> result;
    for (std::vector<Layout> &chain : recomputations(problem, variant)) {
      std::erase_if(chain, [&](const Layout &l) { return !accepted(l); });
      if (!chain.empty())
        result.push_back(std::move(chain));
    }
    return result;
  }

  void openMesh(Open &mesh) {
    if (mesh.opened)
      return;
    mesh.opened = true;
    ++result.openedMeshes;
    Choice best;
    best.cost.seconds = 1e300;
    ChunkCache chunks(cache, problem.machine);
    for (const Layout &variant : variants(problem, mesh.mesh)) {
      if (!accepted(variant))
        continue;
      for (const Layout &choice : stageChoices(cache, problem, variant)) {
        double limit = std::min(best.cost.seconds, worstToKeep());
        if (boundOf(choice, chunks) < limit)
          tryVariant(choice, limit, chunks, best);
      }
    }
    if (best.cost.seconds < 1e300)
      keep(std::move(best));
  }

  /// The least recomputation of each chain that fits, by bisection, then its time.
  void tryVariant(const Layout &variant, double limit, ChunkCache &chunks, Choice &best) {
    for (const std::vector<Layout> &chain : chainsOf(variant)) {
      size_t low = 0, high = chain.size() - 1;
      StepCost memory = memoryOf(chain[high], chunks);
      noteTightest(chain[high], memory);
      if (!fits(memory))
        continue;
      while (low < high) {
        size_t middle = (low + high) / 2;
        if (fits(memoryOf(chain[middle], chunks)))
          high = middle;
        else
          low = middle + 1;
      }
      const Layout &layout = chain[high];
      bool repeats = layout.recompute != Recompute::None;
      if (repeats && boundOf(layout, chunks) >= std::min(limit, best.cost.seconds))
        continue;
      StepCost cost = timed(layout, chunks);
      if (cost.seconds < best.cost.seconds)
        best = {layout, std::move(cost), ""};
      if (!repeats)
        return; // nothing of the other chain is faster
    }
  }

  /// Long pipelines are timed with two micro-batches per rank and continued in a line.
  StepCost timed(const Layout &layout, ChunkCache &chunks) {
    simulate::StepOptions how;
    bool isLong = actions(layout) > smallPipeline;
    approximated |= isLong;
    how.mostMicroBatches = isLong ? 2 * layout.pp : 0;
    how.closedFormMemory = isLong;
    how.chunks = &chunks.get(layout);
    ++result.costed;
    result.work +=
        isLong ? actions(layout) / layout.microBatches() * 5 * layout.pp : actions(layout);
    return simulate::stepCost(cache, problem.machine, layout, how);
  }

  void noteTightest(const Layout &l, const StepCost &memory) {
    double bytes = memory.fullestMemory().total();
    if (tightest.memory.empty() || bytes < tightest.fullestMemory().total()) {
      tightest = memory;
      tightestLayout = l;
    }
  }

  /// `b` is `a` with data parallelism turned into context parallelism and as much larger
  /// micro-batches: each rank has the same tokens (memory within a per cent) and more traffic.
  /// Nobody needs it beside `a`.
  static bool replaces(const Choice &a, const Choice &b) {
    const Layout &x = a.layout, &y = b.layout;
    int64_t factor = y.cp / x.cp;
    return factor > 1 && x.cp * factor == y.cp && y.dp * factor == x.dp &&
           x.microBatch * factor == y.microBatch && x.tp == y.tp && x.pp == y.pp &&
           x.ep == y.ep && x.expertTp == y.expertTp && a.cost.seconds <= b.cost.seconds &&
           a.cost.fullestMemory().total() <= 1.01 * b.cost.fullestMemory().total();
  }

  void keep(Choice choice) {
    bool better = answers.empty() || choice.cost.seconds < answers.front().cost.seconds;
    if (better && options.onBetter)
      options.onBetter(choice);
    // One answer per set of degrees: those that differ in micro-batch only are merged.
    auto same = [&](const Choice &other) {
      const Layout &a = other.layout, &b = choice.layout;
      return a.tp == b.tp && a.cp == b.cp && a.ep == b.ep && a.expertTp == b.expertTp &&
             a.pp == b.pp && a.dp == b.dp;
    };
    auto it = std::find_if(answers.begin(), answers.end(), same);
    if (it != answers.end()) {
      if (it->cost.seconds <= choice.cost.seconds)
        return;
      answers.erase(it);
    }
    if (std::any_of(answers.begin(), answers.end(),
                    [&](const Choice &other) { return replaces(other, choice); }))
      return;
    std::erase_if(answers, [&](const Choice &other) { return replaces(choice, other); });
    auto at = std::upper_bound(
        answers.begin(), answers.end(), choice,
        [](const Choice &a, const Choice &b) { return a.cost.seconds < b.cost.seconds; });
    answers.insert(at, std::move(choice));
    if (static_cast<int>(answers.size()) > 2 * options.keep) // some may yet be replaced
      answers.pop_back();
  }

  void finish() {
    if (answers.empty()) {
      result.error = nothingFits();
      result.tooLarge = !tightest.memory.empty();
      return;
    }
    // Long pipelines were continued in a line: the answers themselves are timed in full.
    // Those whose activations the closed forms took too low are dropped.
    if (static_cast<int>(answers.size()) > options.keep)
      answers.resize(static_cast<size_t>(options.keep));
    std::vector<Choice> exact;
    for (Choice &choice : answers) {
      choice.cost = simulate::stepCost(cache, problem.machine, choice.layout);
      if (fits(choice.cost)) {
        auto at = std::upper_bound(
            exact.begin(), exact.end(), choice,
            [](const Choice &a, const Choice &b) { return a.cost.seconds < b.cost.seconds; });
        exact.insert(at, std::move(choice));
      } else {
        dropped = std::min(dropped, choice.cost.seconds);
      }
    }
    answers = std::move(exact);
    if (answers.empty()) {
      result.error = nothingFits();
      result.tooLarge = true;
      return;
    }
    result.best = answers.front();
    double unopened = 1e300;
    for (size_t k = firstUnopened; k < open.size(); ++k)
      if (!open[k].opened)
        unopened = std::min(unopened, open[k].bound);
    // Its mesh may hold another layout that fits: the bound may not claim more.
    unopened = std::min(unopened, dropped);
    result.lowerBound = std::min(result.best.cost.seconds, unopened);
    result.gap = result.best.cost.seconds / result.lowerBound - 1;
    result.exhausted = unopened >= result.best.cost.seconds;
    result.proved = result.exhausted && !approximated;
    for (size_t k = 1; k < answers.size(); ++k) {
      answers[k].reason = compareChoices(answers[k], result.best, problem);
      result.next.push_back(std::move(answers[k]));
    }
    orderNearTies(result.next);
    if (options.explain)
      judgePopular(problem, cache, result);
  }

  std::string nothingPossible() const {
    Layout l = problem.base;
    std::string rule = explainLayout(problem.workload, l, problem.numRanks());
    return "no layout of " + std::to_string(problem.numRanks()) +
           " GPUs is possible with global batch " + std::to_string(problem.base.globalBatch) +
           (rule.empty() ? "" : " and these pins: " + rule);
  }

  std::string nothingFits() const {
    if (tightest.memory.empty()) // `accept` took none
      return "the stack runs none of the layouts with these pins (schedule, zero, recompute, "
             "offload or stage-layers that it does not have); lift one of them or give --stack any";
    char text[400];
    const double gib = 1073741824.0;
    std::snprintf(text, sizeof text,
                  "nothing fits: the leanest layout (%s) needs %.1f GiB of %.1f GiB; use more GPUs "
                  "or a smaller sequence, or lift pins",
                  tightestLayout.line().c_str(),
                  tightest.memory.empty() ? 0 : tightest.fullestMemory().total() / gib,
                  tightest.memoryLimit * problem.memoryShare / gib);
    return text;
  }

  const SearchProblem &problem;
  const SearchOptions &options;
  BlockCache cache;
  SearchResult result;
  std::vector<Open> open;
  size_t firstUnopened = 0;
  bool approximated = false; ///< a long pipeline was timed in part
  double dropped = 1e300;    ///< seconds of the best answer that did not fit after all
  std::vector<size_t> guessed; ///< meshes
  std::vector<Guess> promising; ///< all guesses for the whole memory, best first
  std::vector<Choice> answers; ///< best first
  StepCost tightest;
  Layout tightestLayout;
};

} // namespace

SearchResult searchLayouts(const SearchProblem &problem, const SearchOptions &options) {
  return Search(problem, options).run();
}

} // namespace gpucc::planner
