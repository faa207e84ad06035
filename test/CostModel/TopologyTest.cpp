// Importers on samples in each format's documented shape, warnings, and the ring of a DGX-1-like
// mesh, whose best order is known: NVLink pairs of two links form one cycle of all eight GPUs.
#include "gpucc/CostModel/Topology.h"
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace gpucc::cost;

namespace {

std::string sample(const std::string &name) {
  std::ifstream file(std::string(GPUCC_TEST_FOLDER) + "/topologies/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Topology read(const std::string &name) {
  TopologyOrError parsed = parseTopology(sample(name), name);
  EXPECT_TRUE(std::holds_alternative<Topology>(parsed)) << std::get<std::string>(parsed);
  return std::get<Topology>(parsed);
}

bool warns(const Topology &t, const std::string &words) {
  for (const std::string &w : topologyWarnings(t))
    if (w.find(words) != std::string::npos)
      return true;
  return false;
}

TEST(Topology, MatrixOfACubeMesh) {
  Topology t = read("cube-mesh.txt");
  ASSERT_EQ(t.gpus.size(), 8u);
  ASSERT_EQ(t.nics.size(), 2u);
  EXPECT_EQ(t.gpuPaths[0][3], (Path{PathKind::NvLink, 2}));
  EXPECT_EQ(t.gpuPaths[0][7].kind, PathKind::Sys);
  EXPECT_EQ(t.nicPaths[2][0].kind, PathKind::Phb);
  EXPECT_EQ(t.gpus[5].numa, 1);
  EXPECT_TRUE(warns(t, "uneven NVLink: pairs have from 1 to 2"));
  EXPECT_TRUE(warns(t, "12 of 28 pairs"));
}

TEST(Topology, RingOfTheCubeMeshUsesDoubleLinksOnly) {
  RingAndTree r = ringAndTree(read("cube-mesh.txt"));
  EXPECT_EQ(std::set<int>(r.ring.begin(), r.ring.end()).size(), 8u);
  EXPECT_DOUBLE_EQ(r.slowest, 2 * 25e9);
  // The one such cycle, from GPU 0: 0-3-2-1-5-6-7-4 or its reverse.
  std::vector<int> cycle = {0, 3, 2, 1, 5, 6, 7, 4}, reverse = {0, 4, 7, 6, 5, 1, 2, 3};
  EXPECT_TRUE(r.ring == cycle || r.ring == reverse);
}

TEST(Topology, CardsOnOneSideOnly) {
  Topology t = read("nvswitch-one-sided-cards.txt"); // the header carries colour codes
  EXPECT_EQ(t.nics[3].model, "mlx5_3");
  EXPECT_EQ(t.gpuPaths[1][6], (Path{PathKind::NvLink, 18}));
  EXPECT_TRUE(warns(t, "GPU4, GPU5, GPU6 and GPU7: the nearest network card is on the other NUMA"));
  EXPECT_EQ(topologyWarnings(t).size(), 1u);
  EXPECT_DOUBLE_EQ(ringAndTree(t).slowest, 18 * 25e9);
}

TEST(Topology, NcclTopology) {
  Topology t = read("nccl-bridged-pairs.xml");
  ASSERT_EQ(t.gpus.size(), 4u);
  EXPECT_EQ(t.gpuPaths[0][1], (Path{PathKind::NvLink, 12}));
  EXPECT_EQ(t.gpuPaths[0][2].kind, PathKind::Sys);
  EXPECT_EQ(t.nicPaths[0][0].kind, PathKind::Pix);
  EXPECT_EQ(t.nicPaths[0][1].kind, PathKind::Sys);
  EXPECT_EQ(t.gpus[3].width, 8);
  EXPECT_EQ(t.gpus[3].generation, 4);
  EXPECT_DOUBLE_EQ(t.nics[0].gigabits, 200);
  EXPECT_TRUE(warns(t, "GPU3: PCIe x8 instead of x16"));
  EXPECT_TRUE(warns(t, "no NVLink between GPU0-GPU2"));
}

TEST(Topology, NcclGraphs) {
  Topology t = read("nccl-graph.xml");
  ASSERT_EQ(t.given.size(), 2u);
  EXPECT_EQ(t.given[0].pattern, "ring");
  EXPECT_EQ(t.given[0].orders[0], (std::vector<int>{0, 3, 2, 1}));
  EXPECT_EQ(t.given[1].pattern, "balanced tree");
  EXPECT_DOUBLE_EQ(t.given[0].intraGBs, 20);
}

TEST(Topology, SmiLog) {
  Topology t = read("smi-two-rtx.xml");
  ASSERT_EQ(t.gpus.size(), 2u);
  EXPECT_EQ(t.gpus[0].model, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(t.gpus[1].width, 8);
  EXPECT_DOUBLE_EQ(t.gpus[0].memoryBytes, 24564 * 1048576.0);
  EXPECT_TRUE(warns(t, "GPU1: PCIe x8"));
  EXPECT_TRUE(warns(t, "GPU1: PCIe generation 3"));
  EXPECT_TRUE(warns(t, "no peer access"));
  EXPECT_TRUE(warns(t, "mixed clocks: from 2610 to 3105"));
  // GPU0's link rests at generation 1 but was negotiated for 4: no warning.
  EXPECT_FALSE(warns(t, "GPU0"));
  Machine m = std::get<Machine>(machineOfTopology(t));
  EXPECT_EQ(m.devicesPerNode, 2);
  EXPECT_EQ(m.device.kind, "rtx4090-24gb");
}

TEST(Topology, Lstopo) {
  Topology t = read("lstopo-two-packages.xml");
  ASSERT_EQ(t.gpus.size(), 4u);
  EXPECT_EQ(t.gpuPaths[0][1].kind, PathKind::Pix);
  EXPECT_EQ(t.gpuPaths[1][2].kind, PathKind::Sys);
  EXPECT_EQ(t.gpus[2].numa, 1);
  EXPECT_EQ(t.nics[0].name, "mlx5_0");
  EXPECT_TRUE(warns(t, "GPU3: PCIe generation 3"));
  EXPECT_TRUE(warns(t, "GPU2 and GPU3: the nearest network card"));
}

TEST(Topology, MachineReadsBack) {
  Machine m = std::get<Machine>(machineOfTopology(read("lstopo-two-packages.xml")));
  EXPECT_EQ(m.device.kind, "a100-sxm4-80gb");
  EXPECT_EQ(m.numa, 2);
  EXPECT_EQ(m.intra.kind, "pcie");
  MachineOrError again = parseMachine(m.dump(), "dump");
  ASSERT_TRUE(std::holds_alternative<Machine>(again)) << std::get<std::string>(again);
  EXPECT_EQ(std::get<Machine>(again).dump(), m.dump());
}

TEST(Topology, MistakesNameTheLine) {
  auto error = [](const std::string &text) {
    TopologyOrError parsed = parseTopology(text, "t");
    return std::holds_alternative<std::string>(parsed) ? std::get<std::string>(parsed) : "accepted";
  };
  EXPECT_EQ(error("").find("t:1: found nothing"), 0u);
  EXPECT_EQ(error("<html></html>").find("t:1: found the root <html>"), 0u);
  EXPECT_EQ(error("<system>\n<cpu>\n</system>").find("t:3: found XML that does not parse"), 0u);
  EXPECT_EQ(
      error("\tGPU0\tGPU1\nGPU0\t X\tNV2\nGPU1\tBAD\t X\n").find("t:3: GPU1 to GPU0: found 'BAD'"),
      0u);
  EXPECT_EQ(error("\tGPU0\tGPU1\nGPU0\t X\nGPU1\tNV2\t X\n").find("t:2: found 1 cells"), 0u);
  EXPECT_EQ(error("\tGPU0\tGPU1\nGPU0\tX\tNV2\nGPU1\tNV4\tX\n").find("t:1: found different paths"),
            0u);
  EXPECT_EQ(error("\tGPU0\tGPU1\nGPU0\tX\tNV2\n").find("t:1: found no row of GPU1"), 0u);
  EXPECT_EQ(error("<system>\n<cpu numaid=\"x\"/></system>").find("t:2: cpu.numaid: found 'x'"), 0u);
  EXPECT_EQ(error("<nvidia_smi_log>\n<gpu/></nvidia_smi_log>").find("t:2: gpu.product_name"), 0u);
  EXPECT_EQ(error("<topology>\n</topology>").find("t:1: found no GPU"), 0u);
}

/// Cut anywhere, or with a byte changed, every sample gives a topology or a message, never a crash.
TEST(Topology, BrokenSamplesNeverCrash) {
  int broken = 0, refused = 0;
  for (const char *name :
       {"cube-mesh.txt", "nvswitch-one-sided-cards.txt", "nccl-bridged-pairs.xml", "nccl-graph.xml",
        "smi-two-rtx.xml", "lstopo-two-packages.xml"}) {
    std::string text = sample(name);
    ASSERT_FALSE(text.empty());
    for (size_t i = 0; i < 60; ++i) {
      std::string cut = text.substr(0, text.size() * i / 60), changed = text;
      changed[text.size() * i / 60] = static_cast<char>("<>\"0zX\n\xff"[i % 8]);
      for (const std::string &t : {cut, changed}) {
        TopologyOrError parsed = parseTopology(t, name);
        ++broken;
        if (std::string *wrong = std::get_if<std::string>(&parsed)) {
          ++refused;
          EXPECT_NE(wrong->find(std::string(name) + ":"), std::string::npos) << *wrong;
          EXPECT_NE(wrong->find("allowed"), std::string::npos) << *wrong;
        } else {
          const Topology &ok = std::get<Topology>(parsed);
          topologyWarnings(ok);
          EXPECT_FALSE(topologyTable(ok).empty());
          EXPECT_NE(topologySvg(ok).find("</svg>"), std::string::npos);
        }
      }
    }
  }
  EXPECT_EQ(broken, 720);
  EXPECT_GT(refused, 200);
}

} // namespace
