//===- ScheduleCsv.cpp - PyTorch's schedule CSV in and out ----------------===//
//
// Written cells stand at the time step at which they run when every action takes one step, so that
// the file looks like the picture. On reading only the order inside a row counts.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Solvers/Schedules.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace gpucc::solvers {

namespace {

std::string cellText(int stage, const Action &a) {
  return std::to_string(stage) + static_cast<char>(a.kind) + std::to_string(a.microBatch);
}

/// Reads one cell into zero, one or two actions. False: not a cell.
bool parseCell(const std::string &text, std::vector<Action> &out) {
  size_t at = 0;
  auto number = [&](int &value) {
    size_t from = at;
    value = 0;
    while (at < text.size() && at - from < 7 && text[at] >= '0' && text[at] <= '9')
      value = value * 10 + (text[at++] - '0');
    return at > from;
  };
  if (text.size() > 2 && text.front() == '(') {
    size_t middle = text.find(';'), close = text.find(')');
    return middle != std::string::npos && close != std::string::npos && middle < close &&
           text.substr(close + 1) == "OVERLAP_F_B" && parseCell(text.substr(1, middle - 1), out) &&
           parseCell(text.substr(middle + 1, close - middle - 1), out) && out.size() == 2 &&
           (out[0].withNext = true);
  }
  Action a;
  if (!number(a.stage))
    return false;
  size_t word = at;
  while (at < text.size() && ((text[at] >= 'A' && text[at] <= 'Z') || text[at] == '_'))
    ++at;
  std::string kind = text.substr(word, at - word);
  bool hasMicroBatch = number(a.microBatch);
  if (at != text.size())
    return false;
  for (const char *lowered :
       {"SEND_F", "RECV_F", "SEND_B", "RECV_B", "UNSHARD", "RESHARD", "REDUCE_GRAD"})
    if (kind == lowered)
      return true;
  if (kind.size() != 1 || std::string("FBIW").find(kind) == std::string::npos || !hasMicroBatch)
    return false;
  a.kind = static_cast<ActionKind>(kind[0]);
  out.push_back(a);
  return true;
}

std::string strip(std::string text) {
  auto space = [](char c) { return c == ' ' || c == '\r' || c == '\t' || c == '"'; };
  while (!text.empty() && space(text.back()))
    text.pop_back();
  size_t first = 0;
  while (first < text.size() && space(text[first]))
    ++first;
  return text.substr(first);
}

} // namespace

std::string toCsv(const PipelineSchedule &schedule) {
  std::vector<StageSeconds> unit(static_cast<size_t>(schedule.numStages()), {1, 1, 1});
  for (StageSeconds &s : unit) // a full backward takes one step as well
    s.backwardWeight = 0;
  PipelineSchedule split = schedule;
  ScheduleTiming timing = timeSchedule(split, unit, {0, 0.5});
  std::ostringstream out;
  for (size_t r = 0; r < schedule.stages.size(); ++r) {
    const std::vector<Action> &row = schedule.stages[r];
    size_t written = 0;
    for (size_t k = 0; k < row.size(); ++k) {
      const Action &a = row[k];
      if (a.kind == ActionKind::Update)
        continue;
      size_t step = static_cast<size_t>(std::llround(timing.when[r][k].first));
      for (; written < step; ++written)
        out << ',';
      int rank = static_cast<int>(r);
      if (a.withNext && k + 1 < row.size()) {
        out << '(' << cellText(schedule.stageOf(rank, a), a) << ';'
            << cellText(schedule.stageOf(rank, row[k + 1]), row[k + 1]) << ")OVERLAP_F_B";
        ++k;
      } else {
        out << cellText(schedule.stageOf(rank, a), a);
      }
      out << ',';
      ++written;
    }
    std::string line = out.str();
    out.str(line.substr(0, line.find_last_not_of(',') + 1) + "\n");
    out.seekp(0, std::ios::end);
  }
  return out.str();
}

std::variant<PipelineSchedule, std::string> scheduleFromCsv(const std::string &text,
                                                            const std::string &origin) {
  PipelineSchedule schedule;
  std::stringstream lines(text);
  int microBatches = 0;
  for (std::string line; std::getline(lines, line);) {
    if (strip(line).empty())
      continue;
    std::vector<Action> row;
    std::stringstream cells(line);
    int column = 0;
    for (std::string raw; std::getline(cells, raw, ','); ++column) {
      std::string cell = strip(raw);
      if (cell.empty())
        continue;
      std::vector<Action> actions;
      if (!parseCell(cell, actions))
        return origin + ": row " + std::to_string(schedule.stages.size()) + ", column " +
               std::to_string(column) + ": found '" + cell +
               "', allowed stage, F, B, I or W, micro-batch; write e.g. 2F0 or "
               "(0F3;7B1)OVERLAP_F_B";
      for (const Action &a : actions) {
        microBatches = std::max(microBatches, a.microBatch + 1);
        row.push_back(a);
      }
    }
    row.push_back({ActionKind::Update, 0, static_cast<int>(schedule.stages.size())});
    schedule.stages.push_back(row);
  }
  schedule.microBatches = std::max(1, microBatches);
  if (schedule.stages.empty())
    return origin + ": found no row, allowed one row of cells per rank";
  // Dense sizes come next: numbers out of all proportion are mistakes, not schedules.
  if (schedule.numStages() > 4096 || microBatches > 65536)
    return origin + ": found stage " + std::to_string(schedule.numStages() - 1) +
           " or micro-batch " + std::to_string(microBatches - 1) +
           ", allowed 4096 stages and 65536 micro-batches";
  std::string problem = schedule.check();
  if (!problem.empty())
    return origin + ": " + problem;
  return schedule;
}

} // namespace gpucc::solvers
