//===- SchedulePicture.cpp - a timed schedule as SVG ----------------------===//
//
// One lane per rank, time to the right. Colours tell the kind, a darker shade the second half of
// the stages; gaps are the bubble.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Facts/Text.h"
#include "gpucc/Solvers/Schedules.h"
#include <algorithm>

namespace gpucc::solvers {

namespace {

struct Paint {
  const char *light, *dark, *what;
};

Paint paintOf(ActionKind kind) {
  switch (kind) {
  case ActionKind::Forward:
    return {"#9ec9f5", "#4a90d9", "forward"};
  case ActionKind::Backward:
    return {"#f7c59f", "#e08b3e", "backward"};
  case ActionKind::BackwardInput:
    return {"#f9dc8c", "#e0b13e", "backward of inputs"};
  case ActionKind::BackwardWeight:
    return {"#b9dfb0", "#5fae57", "backward of weights"};
  case ActionKind::Update:
    return {"#888888", "#888888", "update"};
  }
  return {"#ffffff", "#ffffff", ""};
}

std::string escaped(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

} // namespace

std::string toSvg(const PipelineSchedule &schedule, const ScheduleTiming &timing,
                  const std::string &title) {
  const double lane = 26, left = 64, top = 52, wide = 1400;
  size_t ranks = schedule.stages.size();
  double scale = timing.total > 0 ? wide / timing.total : 0;
  double height = top + lane * static_cast<double>(ranks) + 40;
  int half = schedule.numStages() / 2;
  bool chunks = schedule.numStages() > static_cast<int>(ranks);
  std::string out;
  print(out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
        "height=\"%.0f\" font-family=\"sans-serif\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"white\"/>\n",
        left + wide + 20, height, left + wide + 20, height);
  out += "<text x=\"10\" y=\"20\" font-size=\"15\">" + escaped(title) + "</text>\n";
  bool used[5] = {};
  const ActionKind kinds[] = {ActionKind::Forward, ActionKind::Backward, ActionKind::BackwardInput,
                              ActionKind::BackwardWeight};
  for (size_t r = 0; r < ranks; ++r) {
    double y = top + lane * static_cast<double>(r);
    print(out, "<text x=\"10\" y=\"%.1f\" font-size=\"12\">rank %zu</text>\n", y + 17, r);
    print(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#f3f3f3\"/>\n",
          left, y + 1, wide, lane - 2);
    for (size_t k = 0; k < schedule.stages[r].size(); ++k) {
      const Action &a = schedule.stages[r][k];
      if (a.kind == ActionKind::Update)
        continue;
      auto [start, end] = timing.when[r][k];
      bool pair = a.withNext || (k > 0 && schedule.stages[r][k - 1].withNext);
      bool lower = pair && !a.withNext;
      Paint paint = paintOf(a.kind);
      used[std::find(kinds, kinds + 4, a.kind) - kinds] = true;
      bool dark = chunks && schedule.stageOf(static_cast<int>(r), a) >= half;
      double x = left + start * scale, w = std::max(0.5, (end - start) * scale);
      double h = pair ? (lane - 4) / 2 : lane - 4, top2 = y + 2 + (lower ? (lane - 4) / 2 : 0);
      print(out,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"white\" stroke-width=\"%.2f\"/>\n",
            x, top2, w, h, dark ? paint.dark : paint.light,
            std::min(0.6, 0.1 * w)); // a rim must not outshine a narrow box
      if (w > (a.microBatch > 9 ? 12 : 7))
        print(out,
              "<text x=\"%.2f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"middle\">%d</text>\n",
              x + w / 2, top2 + h / 2 + (pair ? 3.2 : 4), pair ? 8.5 : 11.0, a.microBatch);
    }
  }
  double x = left, y = height - 16;
  for (size_t k = 0; k < 4; ++k)
    if (used[k]) {
      Paint paint = paintOf(kinds[k]);
      print(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"12\" fill=\"%s\"/>\n", x,
            y - 10, paint.light);
      print(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">%s</text>\n", x + 19, y, paint.what);
      x += 170;
    }
  if (chunks)
    print(out,
          "<text x=\"%.1f\" y=\"%.1f\" font-size=\"12\">darker: second half of the stages"
          "</text>\n",
          x, y);
  return out + "</svg>\n";
}

} // namespace gpucc::solvers
