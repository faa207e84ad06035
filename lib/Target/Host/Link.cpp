//===- Link.cpp - object code to a shared library -------------------------===//
//
// By the linker as a program: LLVM's libraries of Debian do not hold one. About 10 ms.
//
//===----------------------------------------------------------------------===//
#include "lib/Target/Host/Pieces.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace gpucc;

static Expected<std::string> findLinker(StringRef wanted) {
  SmallVector<StringRef> names{"ld.lld-22", "ld.lld", "ld"};
  if (!wanted.empty())
    names = {wanted};
  for (StringRef name : names)
    if (ErrorOr<std::string> path = sys::findProgramByName(name))
      return *path;
  std::string tried;
  for (StringRef name : names)
    tried += (tried.empty() ? "" : ", ") + name.str();
  return createStringError("no linker: looked for " + tried +
                           " on PATH; install lld-22 or name one");
}

Expected<std::string> host::linkSharedLibrary(StringRef object, StringRef linker) {
  Expected<std::string> program = findLinker(linker);
  if (!program)
    return program.takeError();
  SmallString<128> input, output, log;
  for (auto [path, suffix] : {std::pair(&input, "o"), {&output, "so"}, {&log, "log"}})
    if (std::error_code error = sys::fs::createTemporaryFile("gpucc", suffix, *path))
      return createStringError(error, "no temporary file for the linker");
  FileRemover removeInput(input), removeOutput(output), removeLog(log);
  {
    std::error_code error;
    raw_fd_ostream stream(input, error);
    stream << object;
    stream.close();
    if (!error)
      error = stream.error();
    stream.clear_error(); // else LLVM ends the process
    if (error)
      return createStringError(error, "cannot write " + input.str().str() +
                                          ", a temporary file for the linker: " + error.message());
  }
  // No names of files, no identifiers: the same kernels give the same bytes.
  StringRef args[] = {*program,          "-shared", "-s",   "--gc-sections",
                      "--build-id=none", "-o",      output, input};
  std::string message;
  int rc = sys::ExecuteAndWait(*program, args, std::nullopt,
                               {std::nullopt, StringRef(log), StringRef(log)},
                               /*SecondsToWait=*/120, /*MemoryLimit=*/0, &message);
  if (rc != 0) {
    if (auto text = MemoryBuffer::getFile(log))
      message += (*text)->getBuffer();
    return createStringError("the linker " + *program + " failed: " + message);
  }
  auto bytes = MemoryBuffer::getFile(output);
  if (!bytes)
    return createStringError(bytes.getError(), "cannot read what the linker wrote");
  return (*bytes)->getBuffer().str();
}
