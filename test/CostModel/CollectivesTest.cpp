// Collectives: measured curves on sizes the fit has not seen, switch points against NCCL's tuning
// model written out by hand, laws.
#include "gpucc/CostModel/Collectives.h"
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sstream>

using namespace gpucc::cost;

namespace {

Machine named(const std::string &name, int gpus = 0) {
  return std::get<Machine>(loadMachine(name, gpus));
}

struct Point {
  int megabytes;
  double bytes, seconds;
};

std::vector<Point> measured(int ranks) {
  std::vector<Point> points;
  const char *folder = std::getenv("GPUCC_DATA");
  std::ifstream file(std::string(folder ? folder : "") + "/vtrain/vtrain_ar_a100_" +
                     std::to_string(ranks) + ".csv");
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    while (std::getline(stream, cell, ','))
      cells.push_back(cell);
    double bytes = std::stod(cells[0]);
    points.push_back({static_cast<int>(bytes / 1048576 + 0.5), bytes, std::stod(cells[3]) * 1e-9});
  }
  return points;
}

/// The knots were fitted to the sizes that are even in MB (2 to 1024); these are the odd ones.
TEST(Collectives, OddSizesOfTheMeasuredTables) {
  Machine a100 = named("a100-80gb");
  for (int ranks : {2, 4, 8}) {
    std::vector<Point> points = measured(ranks);
    if (points.empty())
      GTEST_SKIP() << "vtrain tables: set GPUCC_DATA to the folder of public data sets";
    double sum = 0, worst = 0;
    int n = 0;
    for (const Point &p : points) {
      if (p.megabytes % 2 == 0)
        continue;
      CollectiveCost cost = collectiveCost(a100, Collective::AllReduce, p.bytes, {ranks, 1});
      EXPECT_EQ(cost.provenance, Provenance::Measured);
      double error = std::abs(cost.seconds / p.seconds - 1);
      sum += error;
      ++n;
      worst = std::max(worst, error); // at 1 MB, below the smallest even size, too
    }
    std::printf("%d ranks: n %d, MAPE %.2f %%, worst %.1f %%\n", ranks, n, 100 * sum / n,
                100 * worst);
    EXPECT_EQ(n, 512);
    EXPECT_LE(sum / n, 0.02);
    EXPECT_LE(worst, 0.10);
  }
}

/// The same machine without its curves: the closed form must not be far off either.
TEST(Collectives, ClosedFormFromSixteenMegabytes) {
  Machine a100 = named("a100-80gb");
  Calibration forms = Calibration::builtin();
  forms.curves.clear();
  for (int ranks : {2, 4, 8}) {
    std::vector<Point> points = measured(ranks);
    if (points.empty())
      GTEST_SKIP() << "vtrain tables: set GPUCC_DATA to the folder of public data sets";
    double sum = 0;
    int n = 0;
    for (const Point &p : points)
      if (p.megabytes >= 16) {
        double seconds =
            collectiveCost(a100, Collective::AllReduce, p.bytes, {ranks, 1}, forms).seconds;
        sum += std::abs(seconds / p.seconds - 1);
        ++n;
      }
    EXPECT_LE(sum / n, 0.20) << ranks;
  }
}

/// Where the choice leaves `from`, in bytes; 0: nowhere.
double leaves(const Machine &machine, int64_t ranks, Algorithm algorithm, Protocol from) {
  std::vector<SwitchPoint> points = switchPoints(machine, {ranks, 1});
  for (size_t i = 0; i + 1 < points.size(); ++i)
    if (points[i].protocol == from && points[i].algorithm == algorithm)
      return points[i + 1].bytes;
  return 0;
}

/// NCCL 2.30.7's tuning model by hand, 8 A100 on one node, ring of x = 229.5 GB/s (NVLink 300 *
/// 0.765): LL:     6.6 + 14 * 0.6 = 15.0 us, 7/8 * 2 bytes at min(87.7, x / 2) = 87.7 GB/s
/// LL128: 14.0 + 14 * 1.9 = 40.6 us, at 0.92 x = 211.1 GB/s
/// Simple: 8.4 + 14 * 3.4 = 56.0 us, at x
/// LL = LL128 where 25.6 us = 1.75 S (1/87.7 - 1/211.1) GB/s: S = 2.19 MB;
/// LL128 = Simple where 15.4 us = 1.75 S (1/211.1 - 1/229.5): S = 23.2 MB.
TEST(Collectives, SwitchPointsOfEightA100) {
  Machine a100 = named("a100-80gb");
  double low = leaves(a100, 8, Algorithm::Ring, Protocol::LL);
  double high = leaves(a100, 8, Algorithm::Ring, Protocol::LL128);
  EXPECT_GT(low, 2.19e6 / 2);
  EXPECT_LT(low, 2.19e6 * 2);
  EXPECT_GT(high, 23.2e6 / 2);
  EXPECT_LT(high, 23.2e6 * 2);
}

/// 8 H100, x = 369 GB/s, llMax 141: ring LL 15.0 us at 141; NVLS 25 us at 475 GB/s bus bandwidth:
/// equal where 10 us = 1.75 S (1/141 - 1/475): S = 1.15 MB. Beyond it NVLS stays.
TEST(Collectives, SwitchPointsOfEightH100) {
  Machine h100 = named("h100");
  double nvls = leaves(h100, 8, Algorithm::Ring, Protocol::LL);
  EXPECT_GT(nvls, 1.15e6 / 2);
  EXPECT_LT(nvls, 1.15e6 * 2);
  EXPECT_EQ(switchPoints(h100, {8, 1}).back().algorithm, Algorithm::Nvls);
}

/// 16 nodes of V100, one device each (stride 8), x = 6.25 * 0.94 GB/s. Ring LL: 6.6 + 30 * 2.7 us;
/// tree LL: 6.8 + 2 * 4 * 5.0 us: the tree serves small messages, the ring large ones.
TEST(Collectives, TreesServeSmallMessagesBetweenNodes) {
  Machine v100 = named("v100", 128);
  std::vector<SwitchPoint> points = switchPoints(v100, {16, 8});
  EXPECT_EQ(points.front().algorithm, Algorithm::Tree);
  EXPECT_EQ(points.back().algorithm, Algorithm::Ring);
  CollectiveCost small = collectiveCost(v100, Collective::AllReduce, 256, {16, 8});
  EXPECT_NEAR(small.seconds, 6.8e-6 + 8 * 5.0e-6, 1e-6);
}

TEST(Collectives, MoreBytesAreNeverFasterAndHalvesNeverSlower) {
  for (const char *name : {"a100-80gb", "h100", "v100", "l4", "gb200-nvl72"})
    for (int64_t size : {2, 4, 8, 16, 64}) {
      Machine m = named(name);
      m.nodes = 16;
      double before = 0;
      for (double bytes = 256; bytes < 1e10; bytes *= 1.7) {
        double now = collectiveCost(m, Collective::AllReduce, bytes, {size, 1}).seconds;
        // Measured curves have dents of some per cent (vTrain, 24 MB on 8 ranks).
        EXPECT_GE(now, 0.99 * before) << name << ' ' << size << ' ' << bytes;
        // Between nodes a tree serves all-reduces only, so that there a reduce-scatter of few bytes
        // may take longer, as in NCCL.
        if (size <= m.devicesPerNode)
          EXPECT_GE(now,
                    0.999 * collectiveCost(m, Collective::ReduceScatter, bytes, {size, 1}).seconds)
              << name << ' ' << size << ' ' << bytes;
        before = now;
      }
    }
}

// More ranks of one kind of place are never faster for the same bytes: inside a node, and with
// whole nodes. (From one node to two is another algorithm; measured curves have dents of some per
// cent.)
TEST(Collectives, MoreRanksAreNeverFaster) {
  for (const char *name : {"a100-80gb", "h100", "v100", "l4"})
    for (Collective kind :
         {Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter})
      for (double bytes : {1e4, 1e6, 3e7, 1e9}) {
        Machine m = named(name);
        m.nodes = 64;
        for (const std::vector<int64_t> &sizes :
             {std::vector<int64_t>{2, 4, 8}, std::vector<int64_t>{16, 32, 64, 128, 256, 512}}) {
          double before = 0;
          for (int64_t size : sizes) {
            double now = collectiveCost(m, kind, bytes, {size, 1}).seconds;
            EXPECT_GE(now, 0.97 * before) << name << ' ' << size << ' ' << bytes;
            before = std::max(before, now);
          }
        }
      }
}

TEST(Collectives, TiersSlowWhatCrossesThem) {
  Machine m = named("h100", 1024);
  double flat = collectiveCost(m, Collective::AllReduce, 1e9, {1024, 1}).seconds;
  m.tiers = {{"leaf", 32, 4, 2e-6}};
  EXPECT_GT(collectiveCost(m, Collective::AllReduce, 1e9, {1024, 1}).seconds, 2 * flat);
  EXPECT_DOUBLE_EQ(
      collectiveCost(m, Collective::AllReduce, 1e9, {256, 1}).seconds,
      collectiveCost(named("h100", 1024), Collective::AllReduce, 1e9, {256, 1}).seconds);
}

// Experts drawn from all: r (1 - (1 - 1/r)^k) places. DeepSeek-V3: 4 of 8 groups are drawn first,
// so one of 8 nodes is among them half of the time and is then missed with (3/4)^8.
TEST(Collectives, PlacesATokenVisits) {
  EXPECT_NEAR(placesVisited({8}, 8), 8 * (1 - std::pow(7.0 / 8, 8)), 1e-12);
  EXPECT_NEAR(placesVisited({1}, 8), 1, 1e-12);
  EXPECT_NEAR(placesVisited({8, 8, 4}, 8), 4 * (1 - std::pow(0.75, 8)), 1e-12);
  EXPECT_NEAR(placesVisited({8, 8, 4}, 64), 32 * (1 - std::pow(31.0 / 32, 8)), 1e-12);
  EXPECT_NEAR(placesVisited({8, 8, 4}, 1), 1, 1e-12);
  // Two and four nodes by counting all draws of four groups: node = group / (8 / nodes).
  for (int nodes : {2, 4}) {
    double sum = 0, draws = 0;
    for (int set = 0; set < 256; ++set) {
      if (__builtin_popcount(static_cast<unsigned>(set)) != 4)
        continue;
      ++draws;
      for (int node = 0; node < nodes; ++node) {
        int on = 0;
        for (int g = 0; g < 8; ++g)
          on += (set >> g & 1) && g / (8 / nodes) == node;
        sum += 1 - std::pow(1 - on / 4.0, 8);
      }
    }
    EXPECT_NEAR(placesVisited({8, 8, 4}, nodes), sum / draws, 1e-12) << nodes;
  }
}

// Few experts: a token's are different ones. Mixtral on a rank for each visits two; 3 of 12 experts,
// from 2 of 4 groups, by counting all draws.
TEST(Collectives, ATokenVisitsDifferentExperts) {
  EXPECT_NEAR(placesVisited({2, 1, 1, 8}, 8), 2, 1e-12);
  EXPECT_NEAR(placesVisited({2, 1, 1, 8}, 4), 4 * (1 - 6.0 / 8 * 5 / 7), 1e-12);
  EXPECT_NEAR(placesVisited({8, 1, 1, 8}, 4), 4, 1e-12);
  for (int places : {2, 4, 12}) {
    double sum = 0, draws = 0;
    for (int set = 0; set < 1 << 12; ++set) {
      std::set<int> groups, visited;
      for (int e = 0; e < 12; ++e)
        if (set >> e & 1) {
          groups.insert(e / 3);
          visited.insert(e / (12 / places));
        }
      // Three experts inside one group are among two chosen groups three times, in two groups once.
      double times = __builtin_popcount(static_cast<unsigned>(set)) != 3 ? 0
                     : groups.size() == 1                                ? 3
                     : groups.size() == 2                                ? 1
                                                                         : 0;
      sum += times * static_cast<double>(visited.size());
      draws += times;
    }
    EXPECT_NEAR(placesVisited({3, 4, 2, 12}, places), sum / draws, 1e-12) << places;
  }
}

// DeepEP's README: 7168 elements of one byte, 8 experts; GB/s of logical traffic, which counts what
// stays on the token's own node. H100 with CX7, V2: 90 on two nodes, 61 on four. H800, V1 (experts
// in 4 of the 8 groups): 58 on four nodes, 51 on eight.
TEST(Collectives, SendingOnceReachesWhatDeepEpMeasured) {
  struct Row {
    const char *machine;
    int ranks;
    Routing routing;
    double measured;
  };
  for (const Row &row : {Row{"h100", 16, {8, 1, 1, 256}, 90e9}, Row{"h100", 32, {8, 1, 1, 256}, 61e9},
                         Row{"h800", 32, {8, 8, 4, 256}, 58e9}, Row{"h800", 64, {8, 8, 4, 256}, 51e9}}) {
    double bytes = 8192.0 * 7168;
    double logical = bytes * placesVisited(row.routing, row.ranks / 8);
    double seconds = onceSeconds(named(row.machine, row.ranks), bytes, {row.ranks, 1}, row.routing);
    EXPECT_NEAR(logical / seconds / row.measured, 1, 0.1) << row.machine << ' ' << row.ranks;
  }
  // On one node copies go over NVLink: 5.25 ranks, one of eight of them is the token's own.
  Machine h800 = named("h800", 8);
  double bytes = 1e9;
  double seconds = bytes * placesVisited({8}, 8) * 7 / 8 / (200e9 * 0.82);
  EXPECT_NEAR(onceSeconds(h800, bytes, {8, 1}, {8}) / seconds, 1, 1e-3);
  EXPECT_EQ(onceSeconds(h800, bytes, {1, 1}, {8}), 0);
}

} // namespace
