//===- ExplainLayouts.cpp - the answer for a person and as JSON -----------===//
#include "gpucc/Facts/Text.h"
#include "gpucc/Planner/LayoutSearch.h"
#include <algorithm>
#include <nlohmann/json.hpp>

namespace gpucc::planner {

using namespace workload;

namespace {

constexpr double gib = 1073741824.0;

double tokensPerGpu(const Choice &c) {
  return c.cost.tokensPerSecond / static_cast<double>(c.layout.ranks());
}

nlohmann::ordered_json toJson(const Choice &c) {
  nlohmann::ordered_json out;
  out["layout"] = c.layout.line();
  out["yaml"] = c.layout.dump();
  out["step_seconds"] = c.cost.seconds;
  out["memory_bytes"] = c.cost.fullestMemory().total();
  out["mfu"] = c.cost.mfu;
  out["tokens_per_second_per_gpu"] = tokensPerGpu(c);
  if (!c.reason.empty())
    out["reason"] = c.reason;
  return out;
}

} // namespace

Price priceOf(const SearchProblem &problem, const Choice &choice) {
  Price price;
  price.step = problem.machine.pricePerHourOf(problem.numRanks()) / 3600 * choice.cost.seconds;
  price.millionTokens =
      price.step * 1e6 / static_cast<double>(choice.layout.globalBatch * problem.workload.sequence);
  return price;
}

std::string explainText(const SearchProblem &problem, const SearchResult &result) {
  if (!result.error.empty())
    return "no layout: " + result.error + "\n";
  std::string out;
  const Choice &best = result.best;
  print(out, "chosen  %s\n", best.layout.line().c_str());
  print(out, "step    %.4g s, %.5g tokens/s per GPU, MFU %.1f %%, %.1f of %.1f GiB\n",
        best.cost.seconds, tokensPerGpu(best), 100 * best.cost.mfu,
        best.cost.fullestMemory().total() / gib, best.cost.memoryLimit / gib);
  if (Price price = priceOf(problem, best); price.step > 0)
    print(out, "price   %.4g per step, %.4g per million tokens\n", price.step, price.millionTokens);
  if (result.proved)
    print(out,
          "bound   proved: no layout of the space is faster (%lld meshes, %lld opened, %lld "
          "layouts timed)\n",
          static_cast<long long>(result.meshes), static_cast<long long>(result.openedMeshes),
          static_cast<long long>(result.costed));
  else if (result.exhausted)
    print(out,
          "bound   nothing faster was found in the whole space (%lld meshes, %lld opened); long "
          "pipelines were timed in part, so some tenths of a percent are not proved\n",
          static_cast<long long>(result.meshes), static_cast<long long>(result.openedMeshes));
  else
    print(out,
          "bound   no layout is faster than %.4g s: gap %.1f %% (%lld of %lld meshes opened, "
          "budget used up%s)\n",
          result.lowerBound, 100 * result.gap, static_cast<long long>(result.openedMeshes),
          static_cast<long long>(result.meshes),
          result.nodes.empty() ? "" : " or choices of nodes not tried");
  if (!result.nodes.empty())
    out += "nodes\n";
  int width = 0;
  for (const NodesTried &n : result.nodes)
    width = std::max(width, static_cast<int>(n.devices.size()));
  for (const NodesTried &n : result.nodes)
    if (n.seconds <= 0)
      print(out, "  %-*s  %s\n", width, n.devices.c_str(), n.why.c_str());
    else
      print(out, "  %-*s  %9.4g s  %+.1f %%\n", width, n.devices.c_str(), n.seconds,
            100 * (n.seconds / best.cost.seconds - 1));
  if (!result.next.empty())
    out += "next best, by degrees\n";
  for (const Choice &c : result.next)
    print(out, "  %9.4g s %6.1f GiB  %s\n      %s\n", c.cost.seconds,
          c.cost.fullestMemory().total() / gib, c.layout.line().c_str(), c.reason.c_str());
  if (!result.popular.empty())
    out += "why not\n";
  for (const Popular &p : result.popular) {
    print(out, "  %s: %s\n", p.name.c_str(), p.verdict.c_str());
    if (p.possible)
      print(out, "      as %s\n", p.choice.layout.line().c_str());
    if (!p.change.empty())
      print(out, "      %s\n", p.change.c_str());
  }
  return out;
}

std::string explainJson(const SearchProblem &problem, const SearchResult &result) {
  nlohmann::ordered_json out;
  out["workload"] = problem.workload.name;
  out["machine"] = problem.machine.name;
  out["gpus"] = problem.numRanks();
  if (!result.error.empty()) {
    out["error"] = result.error;
    return out.dump(2) + "\n";
  }
  out["best"] = toJson(result.best);
  if (Price price = priceOf(problem, result.best); price.step > 0) {
    out["best"]["price_per_step"] = price.step;
    out["best"]["price_per_million_tokens"] = price.millionTokens;
  }
  out["lower_bound_seconds"] = result.lowerBound;
  out["gap"] = result.gap;
  out["proved"] = result.proved;
  for (const NodesTried &n : result.nodes) {
    nlohmann::ordered_json entry = {{"devices", n.devices}};
    if (n.seconds > 0)
      entry["step_seconds"] = n.seconds;
    else
      entry["why"] = n.why;
    out["nodes"].push_back(std::move(entry));
  }
  out["next"] = nlohmann::ordered_json::array();
  for (const Choice &c : result.next)
    out["next"].push_back(toJson(c));
  out["popular"] = nlohmann::ordered_json::array();
  for (const Popular &p : result.popular) {
    nlohmann::ordered_json entry;
    entry["name"] = p.name;
    entry["fits"] = p.possible;
    entry["verdict"] = p.verdict;
    entry["change"] = p.change;
    if (p.possible)
      entry["choice"] = toJson(p.choice);
    out["popular"].push_back(entry);
  }
  out["meshes"] = result.meshes;
  out["opened_meshes"] = result.openedMeshes;
  out["timed_layouts"] = result.costed;
  return out.dump(2) + "\n";
}

std::string diffLayouts(const SearchProblem &problem, const Layout &a, const Layout &b) {
  std::string out;
  auto linesOf = [](const Layout &l) {
    std::map<std::string, std::string> lines;
    std::string text = l.dump(), section;
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      std::string line = text.substr(at, end - at);
      at = end + 1;
      size_t colon = line.find(':');
      std::string key = line.substr(0, colon),
                  value = line.substr(std::min(line.size(), colon + 2));
      if (value.empty()) {
        section = key + ".";
        continue;
      }
      if (key.rfind("  ", 0) == 0)
        key = section + key.substr(2);
      lines[key] = value;
    }
    return lines;
  };
  std::map<std::string, std::string> left = linesOf(a), right = linesOf(b);
  for (const auto &[key, value] : right)
    left.insert({key, "-"});
  for (const auto &[key, value] : left) {
    auto it = right.find(key);
    std::string other = it == right.end() ? "-" : it->second;
    if (value != other)
      print(out, "%-28s %-16s -> %s\n", key.c_str(), value.c_str(), other.c_str());
  }
  if (out.empty())
    return "the layouts are equal\n";
  simulate::BlockCache cache(problem.workload, cost::Calibration::builtin());
  Choice first, second;
  for (auto [layout, choice] : {std::pair{&a, &first}, std::pair{&b, &second}}) {
    choice->layout = *layout;
    choice->cost = simulate::stepCost(cache, problem.machine, *layout);
  }
  print(out, "%-28s %-16.4g -> %.4g (%+.1f %%)\n", "step, seconds", first.cost.seconds,
        second.cost.seconds, 100 * (second.cost.seconds / first.cost.seconds - 1));
  print(out, "%-28s %-16.1f -> %.1f\n", "memory, GiB", first.cost.fullestMemory().total() / gib,
        second.cost.fullestMemory().total() / gib);
  return out;
}

} // namespace gpucc::planner
