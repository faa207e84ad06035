//===- Tables.cpp - the two forms of tables of runs ------------------------===//
//
// Long form (published_runs.csv): a line per run and metric. vTrain's form: a line per run, columns
// "# GPUs", "hidden size", ..., "iteration time (ms)". Columns come in any order.
//
//===----------------------------------------------------------------------===//
#include "Runs.h"
#include <regex>
#include <set>

namespace gpucc::bench {

namespace {

const std::string &text(const Cells &cells, const std::string &key) {
  static const std::string none;
  auto it = cells.find(key);
  return it == cells.end() ? none : it->second;
}

std::string runId(const Cells &row) {
  std::smatch m;
  const std::string &notes = text(row, "notes");
  return std::regex_search(notes, m, std::regex("run_id=([^; ]+)")) ? m[1].str() : "";
}

/// All that was set: lines without run_id= that agree in it are one run.
std::string settings(const Cells &row) {
  std::string key;
  for (const auto &[column, cell] : row)
    if (column != "metric_name" && column != "metric_value")
      key += column + '=' + cell + '\n';
  return key;
}

/// Indices of the lines of each run, in the order of the file. A metric that comes again without a
/// run_id= is another measurement of the same settings.
std::vector<std::vector<size_t>> groupLines(const std::vector<Cells> &rows) {
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> open;
  std::map<size_t, std::set<std::string>> metrics;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::string id = runId(rows[i]), key = settings(rows[i]);
    if (!id.empty()) // notes may differ; the same number in another source is another run
      key = "run_id=" + id + '\n' + text(rows[i], "source") + '\n' + text(rows[i], "model") + '\n' +
            text(rows[i], "gpu_type");
    const std::string &metric = text(rows[i], "metric_name");
    auto it = open.find(key);
    if (it == open.end() || (id.empty() && metrics[it->second].count(metric))) {
      it = open.insert_or_assign(key, groups.size()).first;
      groups.emplace_back();
    }
    metrics[it->second].insert(metric);
    groups[it->second].push_back(i);
  }
  return groups;
}

void add(const std::vector<Cells> &rows, const std::string &id, Runs &runs) {
  Run run;
  std::string why = describe(rows, run);
  if (!id.empty())
    run.id = id;
  if (why.empty() && run.seconds <= 0 && run.memoryBytes <= 0 && run.fits < 0)
    why = "no time, rate or memory";
  if (why.empty())
    runs.runs.push_back(std::move(run));
  else
    ++runs.skipped[text(rows.front(), "source")][why];
}

void addLong(const std::vector<Cells> &rows, Runs &runs) {
  for (const std::vector<size_t> &lines : groupLines(rows)) {
    std::vector<Cells> run;
    for (size_t i : lines)
      run.push_back(rows[i]);
    add(run, "", runs);
  }
}

/// "single" are the runs within a node of eight.
void addWide(const std::vector<Cells> &rows, Runs &runs) {
  int count[2] = {0, 0};
  for (const Cells &row : rows) {
    bool multi = std::atof(text(row, "# gpus").c_str()) > 8;
    std::string which = multi ? "multi" : "single";
    Cells cells = {{"source", "vTrain " + which},
                   {"model", "GPT"},
                   {"layers", text(row, "# layers")},
                   {"hidden", text(row, "hidden size")},
                   {"heads", text(row, "attention heads")},
                   {"vocab", "51200"},
                   {"seq", text(row, "sequence length")},
                   {"global_batch", text(row, "global batch")},
                   {"micro_batch", text(row, "micro batch")},
                   {"gpus", text(row, "# gpus")},
                   {"gpu_type", "A100-80GB"},
                   {"gpus_per_node", "8"},
                   {"precision", "fp16"},
                   {"tp", text(row, "tensor parallelism")},
                   {"dp", text(row, "data parallelism")},
                   {"pp", text(row, "pipeline parallelism")},
                   {"metric_name", "iteration_time_ms"},
                   {"metric_value", text(row, "iteration time (ms)")}};
    add({cells}, "vtrain-" + which + "#" + std::to_string(++count[multi]), runs);
  }
}

/// Those of `columns`, without which no run can be described, that the file lacks.
std::string missing(const Cells &row, const std::vector<const char *> &columns) {
  std::string list;
  for (const char *column : columns)
    if (!row.count(column))
      list += (list.empty() ? "" : ", ") + std::string(column);
  return list;
}

} // namespace

void addRuns(const std::string &path, Runs &runs, std::string &error) {
  std::vector<Cells> rows = readCsv(path, error);
  if (rows.empty()) {
    if (error.empty())
      error = path + ": found no line below the columns' names, allowed at least one";
    return;
  }
  bool wide = rows.front().count("# gpus") > 0;
  std::string lacks = missing(
      rows.front(), wide ? std::vector<const char *>{"hidden size", "attention heads", "# layers",
                                                     "sequence length", "iteration time (ms)"}
                         : std::vector<const char *>{"source", "model", "gpus", "gpu_type",
                                                     "metric_name", "metric_value"});
  if (lacks.empty())
    wide ? addWide(rows, runs) : addLong(rows, runs);
  else
    error = path + ": found no column " + lacks +
            ", allowed the columns of published_runs.csv or of vTrain's ground_truth files";
}

} // namespace gpucc::bench
