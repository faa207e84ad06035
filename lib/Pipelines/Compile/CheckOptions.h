//===- CheckOptions.h - what is wrong with options, before any work -*- C++ -*-===//
#ifndef GPUCC_LIB_PIPELINES_COMPILE_CHECKOPTIONS_H
#define GPUCC_LIB_PIPELINES_COMPILE_CHECKOPTIONS_H

#include "gpucc/Pipelines/Options.h"

namespace gpucc {

/// "", or which option is wrong, what was found, what is allowed and what to do. Reads the machine
/// file, and nothing else.
std::string checkOptions(const CompileOptions &options);

} // namespace gpucc

#endif // GPUCC_LIB_PIPELINES_COMPILE_CHECKOPTIONS_H
