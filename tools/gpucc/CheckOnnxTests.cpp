//===- CheckOnnxTests.cpp - the official ONNX node tests ------------------===//
#include "Check.h"
int gpucc::tool::checkOnnxTests(CheckArguments &) { return 2; }
