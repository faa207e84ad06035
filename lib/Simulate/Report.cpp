//===- Report.cpp - a simulated step for a person and as JSON -------------===//
//
// Example (shortened):
//
//     layout   tp8 pp16 dp128 interleaved x8 mb1 zero1 recompute=none
//     step     5.861 s   16.8 M tokens   175 tokens/s per GPU
//     MFU      44.6 % (attention masked 42.9 %)   HFU 44.6 %
//     pipeline rank 15 (7 layers, logits) limits the step: 5.62 s of work, 5.48 s on the mean rank;
//              waiting 4.1 % of the step there, 6.5 % on the mean rank
//     where the time of the busiest pipeline rank (15) goes
//       matrix products      3.634 s  62.0 %
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Collectives.h"
#include "gpucc/Facts/Text.h"
#include "gpucc/Simulate/Simulate.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace gpucc::simulate {

using namespace workload;

namespace {

constexpr double gib = 1073741824.0;

struct Slice {
  const char *key, *what;
  double seconds;
};

std::vector<Slice> slices(const Simulation &s) {
  const StepCost &c = s.cost;
  const Parts &p = c.parts;
  double alone = s.seconds / s.slowdown; // without stragglers
  return {{"matmul", "matrix products", p.matmul},
          {"attention", "attention cores", p.attention},
          {"pointwise", "norms, activations, loss", p.pointwise},
          {"recompute", "forward work repeated", p.recompute},
          {"host", "host launches", p.host},
          {"tensor", "tensor-parallel traffic", p.tensor},
          {"context", "context-parallel traffic", p.context},
          {"expert", "expert traffic", p.expert},
          {"gather", "parameters gathered (ZeRO-3)", c.gatherSeconds},
          {"offload", "offload and overlap of pairs", c.offloadSeconds},
          {"bubble", "pipeline bubble and sends", c.bubbleSeconds},
          {"gradient", "gradient traffic not hidden", c.gradientExposed},
          {"update", "optimizer update", c.updateSeconds},
          {"contention", "traffic behind other traffic", std::max(0.0, alone - c.seconds)}};
}

struct Holding {
  const char *key, *what;
  double bytes;
};

std::vector<Holding> holdings(const cost::RankMemory &m) {
  return {{"parameters", "parameters", m.parameters},
          {"gradients", "gradients", m.gradients},
          {"optimizer", "optimizer state", m.optimizer},
          {"activations", "activations kept", m.activations},
          {"workspace", "workspace", m.workspace},
          {"logits", "logits", m.logits},
          {"communication", "communication buffers", m.communication},
          {"allocator", "lost by the allocator", m.allocator},
          {"context", "CUDA context", m.context}};
}

/// What a pipeline rank holds: "5 layers, logits".
std::string holds(const StepCost &c, int rank) {
  int64_t layers = 0;
  bool first = false, last = false;
  for (size_t k = 0; k < c.chunks.size(); ++k)
    if (c.chunks[k].rank == rank) {
      layers += c.chunks[k].layers;
      first |= k == 0;
      last |= c.chunks[k].logitBytes > 0;
    }
  return std::to_string(layers) + (layers == 1 ? " layer" : " layers") +
         (first ? ", embedding" : "") + (last ? ", logits" : "");
}

double meanWork(const StepCost &c) {
  double sum = 0;
  for (double work : c.workSeconds)
    sum += work;
  return sum / static_cast<double>(c.workSeconds.size());
}

void limitText(std::string &out, const StepCost &c) {
  print(out, "pipeline rank %d (%s) limits the step: %.4g s of work, %.4g s on the mean rank;\n",
        c.busiest, holds(c, c.busiest).c_str(), c.workSeconds[static_cast<size_t>(c.busiest)],
        meanWork(c));
  print(out, "         waiting %.1f %% of the step there, %.1f %% on the mean rank\n",
        100 * c.bubbleSeconds / c.seconds, 100 * c.bubbleShare);
}

} // namespace

std::string reportText(const cost::Machine &machine, const Workload &w, const Layout &l,
                       const Simulation &s) {
  const StepCost &c = s.cost;
  std::string out;
  double tokens = static_cast<double>(l.globalBatch * w.sequence),
         ranks = static_cast<double>(s.ranks);
  print(out, "workload %s, %lld layers, sequence %lld; machine %s, %lld GPUs\n", w.name.c_str(),
        static_cast<long long>(w.layers), static_cast<long long>(w.sequence), machine.name.c_str(),
        static_cast<long long>(s.ranks));
  print(out, "layout   %s, global batch %lld, %lld micro-batches, %s\n", l.line().c_str(),
        static_cast<long long>(l.globalBatch), static_cast<long long>(l.microBatches()),
        name(l.recipe.precision));
  bool few = tokens < 1e5; // 8e-06 M tokens says nothing
  print(out, "step     %.4g s   %.*g%s tokens   %.5g tokens/s per GPU\n", s.seconds, few ? 6 : 4,
        few ? tokens : tokens / 1e6, few ? "" : " M", tokens / s.seconds / ranks);
  double ratio = c.seconds / s.seconds;
  print(out, "MFU      %.1f %% (masked attention %.1f %%)   HFU %.1f %%   of the dense %s peak\n",
        100 * c.mfu * ratio, 100 * c.mfuCausal * ratio, 100 * c.hfu * ratio,
        name(l.recipe.precision));
  if (c.workSeconds.size() > 1)
    limitText(out, c);
  print(out, "where the time of the busiest pipeline rank (%d) goes\n", c.busiest);
  for (const Slice &slice : slices(s))
    if (std::fabs(slice.seconds) > 5e-4 * c.seconds)
      print(out, "  %-32s %10.4g s %5.1f %%\n", slice.what, slice.seconds,
            100 * slice.seconds * s.slowdown / s.seconds);
  print(out, "memory   %.1f of %.1f GiB on the fullest pipeline rank (%d): %s\n",
        c.fullestMemory().total() / gib, c.memoryLimit / gib, c.fullest,
        c.fits ? "fits" : "DOES NOT FIT");
  for (const Holding &h : holdings(c.fullestMemory()))
    if (h.bytes > 0)
      print(out, "  %-32s %10.2f GiB\n", h.what, h.bytes / gib);
  if (s.slowdown != 1)
    print(out, "stragglers make the step %.1f %% longer\n", 100 * (s.slowdown - 1));
  if (s.checkpointEvery > 0)
    print(out, "failures: checkpoint every %.0f s, %.1f %% of the time trains\n", s.checkpointEvery,
          100 * s.goodput);
  if (double hour = machine.pricePerHourOf(s.ranks); hour > 0)
    print(out, "price    %.2f per hour, %.4g per step, %.4g per million tokens\n", hour,
          hour / 3600 * s.seconds / s.goodput, hour / 3600 * s.seconds / tokens * 1e6 / s.goodput);
  print(out, "simulated %lld of %lld ranks (the others are alike), %lld events\n",
        static_cast<long long>(s.simulated), static_cast<long long>(s.ranks),
        static_cast<long long>(s.events));
  return out;
}

std::string reportJson(const cost::Machine &machine, const Workload &w, const Layout &l,
                       const Simulation &s) {
  using nlohmann::ordered_json;
  const StepCost &c = s.cost;
  ordered_json out;
  double tokens = static_cast<double>(l.globalBatch * w.sequence), ratio = c.seconds / s.seconds;
  out["workload"] = w.name;
  out["machine"] = machine.name;
  out["layout"] = l.line();
  out["gpus"] = s.ranks;
  out["step_seconds"] = s.seconds;
  out["tokens_per_second_per_gpu"] = tokens / s.seconds / static_cast<double>(s.ranks);
  out["mfu"] = c.mfu * ratio;
  out["mfu_masked_attention"] = c.mfuCausal * ratio;
  out["hfu"] = c.hfu * ratio;
  out["bubble_share"] = c.bubbleShare;
  out["busiest_rank"] = c.busiest;
  out["busiest_rank_holds"] = holds(c, c.busiest);
  out["busiest_bubble_share"] = c.bubbleSeconds / c.seconds;
  for (const Slice &slice : slices(s))
    out["seconds"][slice.key] = slice.seconds;
  out["fits"] = c.fits;
  out["memory_limit_bytes"] = c.memoryLimit;
  for (size_t r = 0; r < c.memory.size(); ++r) {
    ordered_json rank;
    rank["total"] = c.memory[r].total();
    for (const Holding &h : holdings(c.memory[r]))
      rank[h.key] = h.bytes;
    rank["work_seconds"] = c.workSeconds[r];
    rank["compute_seconds"] = r < s.computeSeconds.size() ? s.computeSeconds[r] : 0;
    out["pipeline_ranks"].push_back(rank);
  }
  out["straggler_slowdown"] = s.slowdown;
  out["goodput"] = s.goodput;
  if (double hour = machine.pricePerHourOf(s.ranks); hour > 0) {
    out["price_per_hour"] = hour;
    out["price_per_step"] = hour / 3600 * s.seconds / s.goodput;
    out["price_per_million_tokens"] = hour / 3600 * s.seconds / tokens * 1e6 / s.goodput;
  }
  out["simulated_ranks"] = s.simulated;
  out["events"] = s.events;
  return out.dump(2) + "\n";
}

std::string traceJson(const Simulation &s) {
  using nlohmann::ordered_json;
  ordered_json events = ordered_json::array();
  std::map<int64_t, bool> named;
  for (const TraceEvent &e : s.trace) {
    if (e.end <= e.start)
      continue;
    if (!named[e.rank]) {
      named[e.rank] = true;
      events.push_back({{"ph", "M"},
                        {"name", "process_name"},
                        {"pid", e.rank},
                        {"args", {{"name", "rank " + std::to_string(e.rank) + " and alike"}}}});
    }
    events.push_back({{"ph", "X"},
                      {"name", e.name},
                      {"cat", e.stream},
                      {"pid", e.rank},
                      {"tid", e.stream},
                      {"ts", e.start * 1e6},
                      {"dur", (e.end - e.start) * 1e6}});
  }
  int64_t perRank =
      s.activations.empty() ? 1 : s.ranks / static_cast<int64_t>(s.activations.size());
  for (size_t r = 0; r < s.activations.size(); ++r)
    for (auto [time, bytes] : s.activations[r])
      events.push_back({{"ph", "C"},
                        {"name", "activations"},
                        {"pid", static_cast<int64_t>(r) * perRank},
                        {"ts", time * 1e6},
                        {"args", {{"GiB", bytes / gib}}}});
  ordered_json out;
  out["displayTimeUnit"] = "ms";
  out["traceEvents"] = std::move(events);
  return out.dump() + "\n";
}

namespace {

/// Where the steady classes end and how they are painted, from the bottom.
struct Layer {
  const char *what, *colour;
  double bytes;
};

std::vector<Layer> steady(const cost::RankMemory &m) {
  return {{"context and buffers", "#b8b8b8", m.context + m.communication},
          {"parameters", "#7aa6d8", m.parameters},
          {"gradients", "#8fcf9a", m.gradients},
          {"optimizer state", "#c9a7dd", m.optimizer},
          {"workspace, logits, allocator", "#f3d37a", m.workspace + m.logits + m.allocator}};
}

void memoryPanel(std::string &out, const Simulation &s, size_t rank, double y, double height,
                 double most) {
  const double left = 150, wide = 1000;
  auto at = [&](double bytes) { return y + height - height * bytes / most; };
  double floor = 0;
  for (const Layer &layer : steady(s.cost.memory[rank])) {
    print(out, "<rect x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\" fill=\"%s\"/>\n", left,
          at(floor + layer.bytes), wide, height * layer.bytes / most, layer.colour);
    floor += layer.bytes;
  }
  std::string path;
  double total = std::max(1e-12, s.timing.total), before = 0;
  print(path, "M%.2f %.2f", left, at(floor));
  for (auto [time, bytes] : s.activations[rank]) {
    double x = left + wide * time / total;
    print(path, "L%.2f %.2fL%.2f %.2f", x, at(floor + before), x, at(floor + bytes));
    before = bytes;
  }
  print(path, "L%.2f %.2fL%.2f %.2fZ", left + wide, at(floor + before), left + wide, at(floor));
  out += "<path d=\"" + path + "\" fill=\"#ee9b6b\"/>\n";
  print(out,
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.2f\" y2=\"%.2f\" stroke=\"#c00\" "
        "stroke-dasharray=\"5 4\"/>\n",
        left, left + wide, at(s.cost.memoryLimit), at(s.cost.memoryLimit));
  print(out,
        "<text x=\"10\" y=\"%.1f\" font-size=\"12\">stage rank %zu</text>\n<text x=\"10\" "
        "y=\"%.1f\" font-size=\"11\">peak %.1f GiB</text>\n",
        y + height / 2, rank, y + height / 2 + 15, s.cost.memory[rank].total() / gib);
}

} // namespace

std::string memorySvg(const Simulation &s, const std::string &title) {
  const double height = 92, gap = 12, top = 62;
  // Long pipelines: the first, the last and some between.
  std::vector<size_t> ranks;
  size_t p = s.cost.memory.size();
  for (size_t k = 0; k < std::min<size_t>(8, p); ++k)
    ranks.push_back(p <= 8 ? k : k * (p - 1) / 7);
  double most = s.cost.memoryLimit;
  for (const cost::RankMemory &m : s.cost.memory)
    most = std::max(most, m.total());
  most *= 1.04;
  double all = top + static_cast<double>(ranks.size()) * (height + gap) + 10;
  std::string out;
  print(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1170 %.0f\" width=\"1170\" "
        "height=\"%.0f\" font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"white\"/>\n<text x=\"10\" y=\"20\" font-size=\"15\">",
        all, all);
  for (char c : title)
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  out += "</text>\n";
  double x = 150;
  std::vector<Layer> legend = steady(s.cost.memory.front());
  legend.push_back({"activations", "#ee9b6b", 0});
  for (const Layer &layer : legend) {
    print(out,
          "<rect x=\"%.0f\" y=\"34\" width=\"13\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" "
          "y=\"44\" font-size=\"12\">%s</text>\n",
          x, layer.colour, x + 18, layer.what);
    x += 30 + 7.2 * static_cast<double>(std::string(layer.what).size());
  }
  print(out, "<text x=\"%.0f\" y=\"44\" font-size=\"12\" fill=\"#c00\">- - device memory</text>\n",
        x);
  for (size_t k = 0; k < ranks.size(); ++k)
    memoryPanel(out, s, ranks[k], top + static_cast<double>(k) * (height + gap), height, most);
  return out + "</svg>\n";
}

} // namespace gpucc::simulate
