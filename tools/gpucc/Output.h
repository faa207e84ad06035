//===- Output.h - files that commands write ---------------------*- C++ -*-===//
//
//   gpucc show model.plan --memory --json -    # JSON on stdout, the tables on stderr
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TOOLS_GPUCC_OUTPUT_H
#define GPUCC_TOOLS_GPUCC_OUTPUT_H

#include <string>

namespace gpucc::tool {

/// From now on what is printed goes to stderr, and stdout is for `writeText("-", ...)` alone.
void textToStderr();

/// Writes a file, or stdout for "-". 0, or 2 after an error on stderr.
int writeText(const std::string &path, const std::string &text);

} // namespace gpucc::tool

#endif // GPUCC_TOOLS_GPUCC_OUTPUT_H
