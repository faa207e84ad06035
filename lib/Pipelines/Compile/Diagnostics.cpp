//===- Diagnostics.cpp - errors as people read them -----------------------===//
#include "Diagnostics.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace gpucc;

std::string gpucc::placeOf(Location location) {
  std::string file, node;
  location->walk([&](Location l) {
    if (auto position = dyn_cast<FileLineColLoc>(l); position && file.empty()) {
      file = position.getFilename().str();
      if (position.getLine())
        file += ":" + std::to_string(position.getLine());
    }
    if (auto named = dyn_cast<NameLoc>(l); named && node.empty())
      node = named.getName().str();
    return WalkResult::advance();
  });
  std::string place = file.empty() ? "" : file + ": ";
  return node.empty() ? place : place + node + ": ";
}

static const char *word(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return "error";
  case DiagnosticSeverity::Warning:
    return "warning";
  case DiagnosticSeverity::Remark:
    return "remark";
  case DiagnosticSeverity::Note:
    return "note";
  }
  llvm_unreachable("all severities are handled");
}

ConsoleDiagnostics::ConsoleDiagnostics(MLIRContext *context, bool quiet)
    : ScopedDiagnosticHandler(context) {
  context->printOpOnDiagnostic(false);
  setHandler([this, quiet](Diagnostic &d) {
    if (quiet && d.getSeverity() != DiagnosticSeverity::Error)
      return success();
    std::string text = placeOf(d.getLocation()) + word(d.getSeverity()) + ": " + d.str() + "\n";
    for (Diagnostic &note : d.getNotes()) {
      // "the user" is of use with its place only.
      std::string place =
          note.getLocation() == d.getLocation() ? "" : placeOf(note.getLocation());
      text += std::string("  ") + word(note.getSeverity()) + ": " + place + note.str() + "\n";
    }
    // A search imports the model again and again; a node's ops are told apart in the IR only.
    if (d.getSeverity() == DiagnosticSeverity::Error || said.insert(text).second)
      llvm::errs() << text;
    return success();
  });
}
