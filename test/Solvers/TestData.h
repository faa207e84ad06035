//===- TestData.h - public instances under $GPUCC_DATA ----------*- C++ -*-===//
//
// Tests that read data call `dataFile` and skip, saying so, where the variable or file is absent.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_SOLVERS_TESTDATA_H
#define GPUCC_TEST_SOLVERS_TESTDATA_H

#include <cstdlib>
#include <filesystem>
#include <string>

/// Path of a file under $GPUCC_DATA, or empty.
inline std::string dataFile(const std::string &relative) {
  const char *folder = std::getenv("GPUCC_DATA");
  if (!folder)
    return "";
  std::string path = std::string(folder) + "/" + relative;
  return std::filesystem::exists(path) ? path : "";
}

#define GPUCC_NEED_DATA(variable, relative)                                                        \
  std::string variable = dataFile(relative);                                                       \
  if (variable.empty())                                                                            \
  GTEST_SKIP() << relative << " not found: set GPUCC_DATA to the folder of public data sets"

#endif
