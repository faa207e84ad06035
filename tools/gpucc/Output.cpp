//===- Output.cpp - files that commands write -----------------------------===//
#include "Output.h"
#include "CompileOptions.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace gpucc;

/// Where "-" leads to; stdout, until the text has been sent elsewhere.
static FILE *standardOutput = stdout;

void tool::textToStderr() {
  std::fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  FILE *file = kept < 0 ? nullptr : fdopen(kept, "w");
  if (!file || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
    return; // mixed, but complete
  standardOutput = file;
}

int tool::writeText(const std::string &path, const std::string &text) {
  if (path == "-") {
    bool all = std::fwrite(text.data(), 1, text.size(), standardOutput) == text.size();
    return all && !std::fflush(standardOutput) ? 0 : fail(2, "cannot write to stdout");
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (file << text && file.flush())
    return 0;
  return fail(2, "cannot write '" + path + "'" + (errno ? std::string(": ") + std::strerror(errno) : "") +
                     "; give a path in a folder that exists and may be written, or - for stdout");
}
