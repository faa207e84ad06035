//===- Tables.cpp - the two forms of tables of runs ------------------------===//
//
// Long form (published_runs.csv): a line per run and metric. vTrain's form: a line per run, columns
// "# GPUs", "hidden size", ..., "iteration time (ms)". Columns come in any order.
//
//===----------------------------------------------------------------------===//
#include "Row.h"
#include <set>

namespace gpucc::bench {

namespace {

std::string runId(const Cells &row) { return found(textOf(row, "notes"), "run_id=([^; ]+)"); }

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
      key = "run_id=" + id + '\n' + textOf(rows[i], "source") + '\n' + textOf(rows[i], "model") +
            '\n' + textOf(rows[i], "gpu_type");
    const std::string &metric = textOf(rows[i], "metric_name");
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
    ++runs.skipped[textOf(rows.front(), "source")][why];
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
    bool multi = std::atof(textOf(row, "# gpus").c_str()) > 8;
    std::string which = multi ? "multi" : "single";
    Cells cells = {{"source", "vTrain " + which},
                   {"model", "GPT"},
                   {"layers", textOf(row, "# layers")},
                   {"hidden", textOf(row, "hidden size")},
                   {"heads", textOf(row, "attention heads")},
                   {"vocab", "51200"},
                   {"seq", textOf(row, "sequence length")},
                   {"global_batch", textOf(row, "global batch")},
                   {"micro_batch", textOf(row, "micro batch")},
                   {"gpus", textOf(row, "# gpus")},
                   {"gpu_type", "A100-80GB"},
                   {"gpus_per_node", "8"},
                   {"precision", "fp16"},
                   {"tp", textOf(row, "tensor parallelism")},
                   {"dp", textOf(row, "data parallelism")},
                   {"pp", textOf(row, "pipeline parallelism")},
                   {"metric_name", "iteration_time_ms"},
                   {"metric_value", textOf(row, "iteration time (ms)")}};
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
