//===- Warnings.cpp - common faults of nodes ------------------------------===//
#include "gpucc/CostModel/Topology.h"
#include <algorithm>
#include <set>
#include <sstream>

namespace gpucc::cost {

namespace {

/// "GPU0, GPU1 and GPU3"
std::string listed(const std::vector<std::string> &names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return out;
}

class Warner {
public:
  explicit Warner(const Topology &t) : t(t) {}

  std::vector<std::string> run() {
    narrow();
    cards();
    links();
    peers();
    mixed();
    return std::move(warnings);
  }

private:
  void narrow() {
    std::vector<std::string> lanes, old;
    std::string lanesAt, oldAt;
    for (const Endpoint &g : t.gpus) {
      int most = g.mostWidth > 0 ? g.mostWidth : 16;
      if (g.width > 0 && g.width < std::min(most, 16)) {
        lanes.push_back(g.name);
        lanesAt = "x" + std::to_string(g.width);
      }
      // An idle link rests at a lower generation; the highest it was negotiated for counts.
      int generation = g.mostGeneration > 0 ? g.mostGeneration : g.generation;
      if (generation > 0 && generation <= 3) {
        old.push_back(g.name);
        oldAt = std::to_string(generation);
      }
    }
    if (!lanes.empty())
      warnings.push_back(
          listed(lanes) + ": PCIe " + lanesAt +
          " instead of x16: copies from and to "
          "the host and other nodes run at a fraction; reseat the card or use a slot "
          "with 16 lanes");
    if (!old.empty())
      warnings.push_back(listed(old) + ": PCIe generation " + oldAt +
                         ", at most 12 GB/s a "
                         "direction: offload and traffic without NVLink will be slow; check slot, "
                         "riser and BIOS");
  }

  /// Every GPU wants a card on its side of the machine.
  void cards() {
    if (t.nics.empty() || t.nicPaths.empty())
      return;
    std::vector<std::string> far;
    for (size_t i = 0; i < t.gpus.size(); ++i) {
      PathKind nearest = PathKind::Unknown;
      for (const Path &p : t.nicPaths[i])
        nearest = std::min(nearest, p.kind);
      if (nearest == PathKind::Sys)
        far.push_back(t.gpus[i].name);
    }
    if (!far.empty())
      warnings.push_back(listed(far) +
                         ": the nearest network card is on the other NUMA node (SYS): "
                         "traffic to other nodes crosses the CPUs' link; move or add a card");
  }

  void links() {
    std::set<int> counts;
    std::vector<std::string> without;
    for (size_t i = 0; i < t.gpuPaths.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        const Path &p = t.gpuPaths[i][j];
        if (p.kind == PathKind::NvLink)
          counts.insert(p.links);
        else
          without.push_back(t.gpus[j].name + "-" + t.gpus[i].name);
      }
    if (counts.size() > 1)
      warnings.push_back("uneven NVLink: pairs have from " + std::to_string(*counts.begin()) +
                         " to " + std::to_string(*counts.rbegin()) +
                         " links; a ring is as fast as its slowest pair, so the order of GPUs "
                         "matters (see ring)");
    if (!counts.empty() && !without.empty()) {
      size_t all = without.size();
      if (all > 4)
        without.resize(4);
      warnings.push_back("no NVLink between " + listed(without) +
                         (all > 4 ? " (" + std::to_string(all) + " pairs in all)" : "") +
                         ", while others have it: keep tensor-parallel groups on linked GPUs");
    }
  }

  void peers() {
    bool consumer = false;
    for (const Endpoint &g : t.gpus)
      consumer |= g.model.find("GeForce") != std::string::npos &&
                  (g.model.find("RTX 40") != std::string::npos ||
                   g.model.find("RTX 50") != std::string::npos);
    if (consumer && t.gpus.size() > 1)
      warnings.push_back("no peer access: this GeForce generation copies between GPUs through host "
                         "memory; prefer pipeline or data parallelism to tensor parallelism");
    size_t far = 0, pairs = 0;
    for (size_t i = 0; i < t.gpuPaths.size(); ++i)
      for (size_t j = 0; j < i; ++j, ++pairs)
        far += t.gpuPaths[i][j].kind == PathKind::Sys;
    if (far > 0)
      warnings.push_back(
          std::to_string(far) + " of " + std::to_string(pairs) +
          " pairs of GPUs meet only across the CPUs (SYS): often no peer access, and "
          "at most about 10 GB/s; keep groups inside one NUMA node");
  }

  void mixed() {
    std::set<std::string> models;
    std::set<int> clocks;
    std::set<long long> memories;
    for (const Endpoint &g : t.gpus) {
      if (!g.model.empty())
        models.insert(g.model);
      if (g.clockMhz > 0)
        clocks.insert(g.clockMhz);
      if (g.memoryBytes > 0)
        memories.insert(static_cast<long long>(g.memoryBytes));
    }
    if (models.size() > 1)
      warnings.push_back(
          "mixed models: " + listed(std::vector<std::string>(models.begin(), models.end())) +
          "; equal shares run at the slowest one's pace");
    else if (clocks.size() > 1)
      warnings.push_back("mixed clocks: from " + std::to_string(*clocks.begin()) + " to " +
                         std::to_string(*clocks.rbegin()) +
                         " MHz; every step waits for the slowest GPU; set them alike (nvidia-smi "
                         "-ac)");
    if (models.size() <= 1 && memories.size() > 1)
      warnings.push_back("mixed memory sizes: a plan fits by the smallest");
  }

  const Topology &t;
  std::vector<std::string> warnings;
};

} // namespace

std::vector<std::string> topologyWarnings(const Topology &topology) {
  return Warner(topology).run();
}

} // namespace gpucc::cost
