//===- RandomSteps.h - the steps random programs are made of ----*- C++ -*-===//
//
// A step looks at the values made so far, picks some that fit (or makes an
// argument that does) and adds one to three ops. Each float value carries a
// bound of its magnitude; steps keep it small.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_LIB_REFERENCE_RANDOMSTEPS_H
#define GPUCC_LIB_REFERENCE_RANDOMSTEPS_H

#include "dialects/Graph/Build.h"
#include "gpucc/Reference/RandomProgram.h"

#include <random>

namespace gpucc::detail {

class RandomSteps {
public:
  using Value = mlir::Value;
  using Shape = llvm::SmallVector<int64_t>;

  RandomSteps(mlir::func::FuncOp function, uint64_t seed, const RandomProgramOptions &options);

  /// Adds one step of a random family.
  void step();
  /// Values of any type in the order they were made, arguments included.
  llvm::ArrayRef<Value> values() const { return made; }
  graph::GraphBuilder &graph() { return g; }

private:
  // RandomSteps.cpp: drawing.
  uint64_t below(uint64_t n) { return random() % n; }
  bool coin() { return random() >> 63; }
  double real(double lo, double hi);
  int64_t size() { return options.sizes[below(options.sizes.size())]; }
  Shape shape(size_t rank);
  int64_t elements(llvm::ArrayRef<int64_t> shape);
  Value argument(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  Value argument(llvm::ArrayRef<int64_t> shape) { return argument(shape, element); }
  /// A float value, mostly one made before; of a rank in [least, most].
  Value pick(size_t least = 0, size_t most = 4);
  /// A float value of this very shape: one made before, a broadcast, or an argument.
  Value like(Value x);
  double bound(Value v) { return bounds.lookup(v) == 0 ? 1 : bounds.lookup(v); }
  /// Registers a result; squashes it by tanh when its bound is large.
  void done(Value v, double bound);
  /// |x| + 0.5 (or x² + 0.5 when smooth): safe to divide by and to take logarithms of.
  Value positive(Value x);

  // RandomNumbers.cpp: other numbers than f32.
  void narrow();
  void arithmetic();
  void special();
  Value moved(Value x, Value y);

  // One function per family.
  void pointwise();
  void unary();
  void binary();
  void reduction();
  void movement();
  void reshape();
  void sliceOrPad();
  void contraction();
  void convolution();
  void window();
  void composite();
  void attention();
  void norm();
  void batchNorm();
  void crossEntropy();
  void integers();
  void gatherOrScatter();
  void dropout();

  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  graph::GraphBuilder g;
  const RandomProgramOptions &options;
  mlir::Type element;
  std::mt19937_64 random;
  std::vector<Value> made;
  llvm::DenseMap<Value, double> bounds;
  std::vector<void (RandomSteps::*)()> families;
  int64_t ordinal = 0;
};

} // namespace gpucc::detail

#endif // GPUCC_LIB_REFERENCE_RANDOMSTEPS_H
