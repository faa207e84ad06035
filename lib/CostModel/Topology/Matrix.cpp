//===- Matrix.cpp - nvidia-smi topo -m ------------------------------------===//
//
// A header of column names, then a row per GPU and NIC. Columns are separated by tabs (or runs of
// blanks); the affinity columns at the end may hold commas or be empty. Below the table a legend,
// which may give NICs their device names ("NIC0: mlx5_0").
//
//===----------------------------------------------------------------------===//
#include "Importers.h"
#include <algorithm>
#include <map>
#include <sstream>

namespace gpucc::cost::topology {

namespace {

struct Row {
  int line;
  std::string name;
  std::vector<std::string> cells;
};

bool isGpu(const std::string &word) {
  return word.size() > 3 && word.compare(0, 3, "GPU") == 0 &&
         word.find_first_not_of("0123456789", 3) == std::string::npos;
}

/// NIC0 or a device name of older drivers (mlx5_0).
bool isNic(const std::string &word) {
  return word.compare(0, 3, "NIC") == 0 || word.compare(0, 4, "mlx5") == 0 ||
         word.compare(0, 4, "mlx4") == 0 || word.compare(0, 4, "hfi1") == 0 ||
         word.compare(0, 5, "bnxt_") == 0 || word.compare(0, 4, "rdma") == 0;
}

/// Removes colour codes that the tool writes to a terminal.
std::string plain(const std::string &line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm')
        ++i;
      continue;
    }
    if (line[i] != '\r')
      out += line[i];
  }
  return out;
}

bool parsePath(const std::string &word, Path &path) {
  static const std::map<std::string, PathKind> kinds = {
      {"X", PathKind::Self},  {"PIX", PathKind::Pix},    {"PXB", PathKind::Pxb},
      {"PHB", PathKind::Phb}, {"NODE", PathKind::Node},  {"SYS", PathKind::Sys},
      {"SOC", PathKind::Sys}, {"N/A", PathKind::Unknown}};
  auto it = kinds.find(word);
  if (it != kinds.end()) {
    path = {it->second, 0};
    return true;
  }
  if (word.size() < 3 || word.size() > 5 || word.compare(0, 2, "NV") != 0 ||
      word.find_first_not_of("0123456789", 2) != std::string::npos)
    return false;
  path = {PathKind::NvLink, std::stoi(word.substr(2))};
  return true;
}

std::vector<std::string> words(const std::string &line) {
  std::vector<std::string> out;
  std::istringstream stream(line);
  std::string word;
  while (stream >> word)
    out.push_back(word);
  return out;
}

class MatrixReader {
public:
  explicit MatrixReader(Importer &in) : in(in) {}

  void read() {
    in.result.format = "table of nvidia-smi topo -m";
    split();
    if (columns.empty()) {
      in.fail(1, "found no line that names GPU0, allowed the table of nvidia-smi topo -m; save its "
                 "whole output");
      return;
    }
    if (rows.empty())
      in.fail(headerLine, "found column names without rows, allowed a row per GPU; save the whole "
                          "output");
    for (const std::string &column : columns)
      addEndpoint(column);
    for (const Row &row : rows)
      addRow(row);
    finish();
  }

private:
  void split() {
    std::istringstream stream(in.text);
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      std::vector<std::string> w = words(plain(line));
      if (w.empty())
        continue;
      if (columns.empty()) {
        if (isGpu(w[0]) && (w.size() == 1 || isGpu(w[1]) || isNic(w[1]) || w[1] == "CPU")) {
          headerLine = number;
          for (const std::string &word : w) {
            if (!isGpu(word) && !isNic(word))
              break;
            columns.push_back(word);
          }
        }
      } else if (isGpu(w[0]) || (isNic(w[0]) && w[0].back() != ':')) {
        rows.push_back({number, w[0], {w.begin() + 1, w.end()}});
      } else if (isNic(w[0]) && w.size() > 1) {
        legend[w[0].substr(0, w[0].size() - 1)] = w[1];
      }
    }
  }

  void addEndpoint(const std::string &column) {
    auto &list = isGpu(column) ? in.result.gpus : in.result.nics;
    for (const Endpoint &e : list)
      if (e.name == column)
        in.fail(headerLine,
                "found the column " + column + " twice, allowed once; save the table again");
    Endpoint e;
    e.name = column;
    if (auto it = legend.find(column); it != legend.end())
      e.model = it->second;
    list.push_back(e);
  }

  void addRow(const Row &row) {
    if (!isGpu(row.name))
      return; // the columns of GPUs say the same
    size_t self = in.result.gpus.size();
    for (size_t i = 0; i < in.result.gpus.size(); ++i)
      if (in.result.gpus[i].name == row.name)
        self = i;
    if (self == in.result.gpus.size()) {
      in.fail(row.line, "found a row of " + row.name +
                            ", allowed rows of the columns' names; save "
                            "the whole table");
      return;
    }
    if (row.cells.size() < columns.size()) {
      in.fail(row.line, "found " + std::to_string(row.cells.size()) + " cells in the row of " +
                            row.name + ", allowed one for each of the " +
                            std::to_string(columns.size()) + " columns; save the whole line");
      return;
    }
    std::vector<Path> toGpus, toNics;
    for (size_t c = 0; c < columns.size(); ++c) {
      Path path;
      if (!parsePath(row.cells[c], path))
        in.fail(row.line, row.name + " to " + columns[c] + ": found '" + row.cells[c] +
                              "', allowed X, NV#, PIX, PXB, PHB, NODE, SYS; correct the cell");
      (isGpu(columns[c]) ? toGpus : toNics).push_back(path);
    }
    // After the paths: CPU affinity (0-23,48-71), then NUMA affinity (one number).
    if (row.cells.size() >= columns.size() + 2) {
      const std::string &numa = row.cells[columns.size() + 1];
      if (!numa.empty() && numa.find_first_not_of("0123456789") == std::string::npos &&
          numa.size() < 5)
        in.result.gpus[self].numa = std::stoi(numa);
    }
    in.result.gpuPaths.resize(in.result.gpus.size());
    in.result.nicPaths.resize(in.result.gpus.size());
    in.result.gpuPaths[self] = toGpus;
    in.result.nicPaths[self] = toNics;
  }

  void finish() {
    size_t n = in.result.gpus.size();
    in.result.gpuPaths.resize(n);
    in.result.nicPaths.resize(n);
    for (size_t i = 0; i < n && in.error.empty(); ++i) {
      if (in.result.gpuPaths[i].size() != n)
        in.fail(headerLine, "found no row of " + in.result.gpus[i].name +
                                ", allowed one per column; save the whole table");
      else if (in.result.gpuPaths[i][i].kind != PathKind::Self)
        in.fail(headerLine, "found no X from " + in.result.gpus[i].name +
                                " to itself, allowed X on the diagonal; save the table again");
    }
    for (size_t i = 0; i < n && in.error.empty(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (!(in.result.gpuPaths[i][j] == in.result.gpuPaths[j][i]))
          in.fail(headerLine, "found different paths from " + in.result.gpus[j].name + " to " +
                                  in.result.gpus[i].name +
                                  " and back, allowed the same; save the table again");
  }

  Importer &in;
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::map<std::string, std::string> legend;
  int headerLine = 1;
};

} // namespace

void readMatrix(Importer &in) { MatrixReader(in).read(); }

} // namespace gpucc::cost::topology
