//===- Csv.cpp - cells of a CSV file --------------------------------------===//
#include "Names.h"
#include "Runs.h"
#include <filesystem>
#include <fstream>
#include <iterator>

namespace gpucc::bench {

static std::vector<std::vector<std::string>> splitCsv(const std::string &text) {
  std::vector<std::vector<std::string>> lines(1);
  std::string cell;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
        cell += text[i++];
      else if (c == '"')
        quoted = false;
      else
        cell += c;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',' || c == '\n') {
      lines.back().push_back(std::move(cell));
      cell.clear();
      if (c == '\n')
        lines.emplace_back();
    } else if (c != '\r') {
      cell += c;
    }
  }
  lines.back().push_back(std::move(cell));
  return lines;
}

static std::string trimmed(const std::string &cell) {
  size_t from = cell.find_first_not_of(" \t"), to = cell.find_last_not_of(" \t");
  return from == std::string::npos ? "" : cell.substr(from, to - from + 1);
}

std::vector<Cells> readCsv(const std::string &path, std::string &error) {
  std::error_code none;
  bool isFile = std::filesystem::is_regular_file(path, none);
  std::ifstream file(path, std::ios::binary);
  std::string all;
  if (isFile)
    all.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (all.empty()) {
    bool readable = isFile && file.is_open() && !file.bad();
    error = path + (readable ? ": is empty" : ": cannot be read") + "; name a CSV file";
    return {};
  }
  if (all.compare(0, 3, "\xEF\xBB\xBF") == 0)
    all.erase(0, 3);
  std::vector<std::vector<std::string>> lines = splitCsv(all);
  for (std::string &column : lines[0])
    column = lower(trimmed(column));
  std::vector<Cells> rows;
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() < 2)
      continue;
    Cells cells;
    for (size_t c = 0; c < lines[0].size(); ++c)
      cells[lines[0][c]] = c < lines[i].size() ? trimmed(lines[i][c]) : "";
    rows.push_back(std::move(cells));
  }
  return rows;
}

} // namespace gpucc::bench
