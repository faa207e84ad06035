//===- Svg.cpp - a drawing of a node --------------------------------------===//
//
// GPUs on a circle in ring order, cards outside beside their nearest GPU. A line per NVLink pair,
// as wide as its links; when all pairs are alike (NVSwitch) a hub in the middle with one line per
// GPU says the same with less ink. GPUs of one NUMA node share a colour.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Topology.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace gpucc::cost {

namespace {

struct Point {
  double x, y;
};

const char *const colours[] = {"#dbe9f6", "#fde3cd", "#dcefdc", "#efdcef",
                               "#f6f0c9", "#d9f0f0", "#f4d9de", "#e3e3e3"};

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

class Drawing {
public:
  explicit Drawing(const Topology &t) : t(t), n(t.gpus.size()) {
    radius = std::max(170.0, 24.0 * static_cast<double>(n));
    centre = {radius + 190, radius + 150};
    RingAndTree r = ringAndTree(t);
    ring = r.ring;
    for (size_t i = ring.size(); i < n; ++i)
      ring.push_back(static_cast<int>(i));
    at.resize(n);
    for (size_t i = 0; i < n; ++i) {
      double angle = -M_PI / 2 + 2 * M_PI * static_cast<double>(i) / static_cast<double>(n);
      at[static_cast<size_t>(ring[i])] = {centre.x + radius * std::cos(angle),
                                          centre.y + radius * std::sin(angle)};
    }
  }

  std::string draw() {
    double width = 2 * centre.x, height = 2 * centre.y;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
        << "\" width=\"" << width << "\" height=\"" << height
        << "\" font-family=\"sans-serif\" font-size=\"13\">\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    text({centre.x, 30},
         std::to_string(n) + " GPUs, " + std::to_string(t.nics.size()) + " network cards", 17);
    if (t.pathsKnown())
      links();
    cards();
    for (size_t i = 0; i < n; ++i)
      box(at[i], 92, 40, colours[static_cast<size_t>(std::max(0, t.gpus[i].numa)) % 8],
          t.gpus[i].name, t.gpus[i].numa >= 0 ? "NUMA " + std::to_string(t.gpus[i].numa) : "");
    legend(height);
    out << "</svg>\n";
    return out.str();
  }

private:
  void line(Point a, Point b, double width, const char *colour, bool dashed = false) {
    out << "<line x1=\"" << a.x << "\" y1=\"" << a.y << "\" x2=\"" << b.x << "\" y2=\"" << b.y
        << "\" stroke=\"" << colour << "\" stroke-width=\"" << width << "\""
        << (dashed ? " stroke-dasharray=\"5 4\"" : "") << "/>\n";
  }

  void text(Point p, const std::string &words, int size = 13, const char *colour = "#222") {
    out << "<text x=\"" << p.x << "\" y=\"" << p.y << "\" text-anchor=\"middle\" font-size=\""
        << size << "\" fill=\"" << colour << "\">" << escaped(words) << "</text>\n";
  }

  void box(Point p, double w, double h, const char *fill, const std::string &first,
           const std::string &second) {
    out << "<rect x=\"" << p.x - w / 2 << "\" y=\"" << p.y - h / 2 << "\" width=\"" << w
        << "\" height=\"" << h << "\" rx=\"6\" fill=\"" << fill << "\" stroke=\"#555\"/>\n";
    text({p.x, p.y + (second.empty() ? 5 : -2)}, first);
    if (!second.empty())
      text({p.x, p.y + 14}, second, 11, "#555");
  }

  /// Links of every pair when they all have the same number of NVLinks, else 0.
  int even() const {
    int links = n > 2 ? t.gpuPaths[0][1].links : 0;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < i; ++j)
        if (t.gpuPaths[i][j].links != links)
          return 0;
    return links;
  }

  void links() {
    if (int each = even()) {
      for (size_t i = 0; i < n; ++i)
        line(centre, at[i], 1 + 0.3 * each, "#76b900");
      box(centre, 130, 44, "#eef7dd", "NVSwitch", std::to_string(each) + " links a GPU");
      return;
    }
    int most = 1;
    for (const auto &row : t.gpuPaths)
      for (const Path &p : row)
        most = std::max(most, p.links);
    for (size_t i = 0; i < n; ++i) {
      size_t a = static_cast<size_t>(ring[i]), b = static_cast<size_t>(ring[(i + 1) % n]);
      if (n > 1 && t.gpuPaths[a][b].kind != PathKind::NvLink)
        line(at[a], at[b], 1.5, "#999", true);
    }
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < i; ++j)
        if (int k = t.gpuPaths[i][j].links; k > 0) {
          line(at[i], at[j], 1 + 5.0 * k / most, "#76b900");
          // Off the middle, so that the labels of crossing lines do not meet.
          Point m{at[i].x * 0.64 + at[j].x * 0.36, at[i].y * 0.64 + at[j].y * 0.36};
          out << "<circle cx=\"" << m.x << "\" cy=\"" << m.y << "\" r=\"9\" fill=\"white\"/>\n";
          text({m.x, m.y + 4}, std::to_string(k), 12, "#4a7500");
        }
  }

  /// A card stands outside, beside the GPU it is nearest to.
  void cards() {
    std::vector<int> beside(n, 0);
    for (size_t k = 0; k < t.nics.size(); ++k) {
      size_t best = 0;
      // Of equally near GPUs the one with the fewest cards yet.
      for (size_t i = 1; i < t.nicPaths.size(); ++i) {
        auto rank = [&](size_t g) { return std::pair(t.nicPaths[g][k].kind, beside[g]); };
        if (rank(i) < rank(best))
          best = i;
      }
      if (t.nicPaths.empty())
        continue;
      double dx = (at[best].x - centre.x) / radius, dy = (at[best].y - centre.y) / radius;
      double away = 95 + 34.0 * beside[best]++;
      Point p{at[best].x + away * dx, at[best].y + away * 0.8 * dy};
      PathKind kind = t.nicPaths[best][k].kind;
      line(at[best], p, kind <= PathKind::Pxb ? 2.5 : 1.2, "#3b6ea5", kind >= PathKind::Sys);
      box(p, 84, 26, "#f4f4f4", t.nics[k].name, "");
    }
  }

  void legend(double height) {
    struct Item {
      const char *words;
      const char *colour;
      double width;
      bool dashed;
    };
    const Item items[] = {{"NVLink", "#76b900", 4, false},
                          {"ring step over PCIe", "#999", 1.5, true},
                          {"card behind the same switch", "#3b6ea5", 2.5, false},
                          {"card on the other NUMA node", "#3b6ea5", 1.2, true}};
    double x = 20, y = height - 22;
    for (const Item &item : items) {
      line({x, y - 4}, {x + 30, y - 4}, item.width, item.colour, item.dashed);
      out << "<text x=\"" << x + 36 << "\" y=\"" << y << "\" font-size=\"11\" fill=\"#444\">"
          << item.words << "</text>\n";
      x += 60 + 6.2 * static_cast<double>(std::char_traits<char>::length(item.words));
    }
  }

  const Topology &t;
  size_t n;
  double radius;
  Point centre;
  std::vector<int> ring;
  std::vector<Point> at;
  std::ostringstream out;
};

} // namespace

std::string topologySvg(const Topology &topology) { return Drawing(topology).draw(); }

} // namespace gpucc::cost
