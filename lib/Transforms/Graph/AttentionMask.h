//===- AttentionMask.h - what an exported mask says -------------*- C++ -*-===//
//
// A mask hides scores, by adding something very negative or by a select. For
// the composite it is "causal", or a bias that broadcasts to [B,H,S,T].
//
//   select(le(column, row), scores, -3.4e38)        causal
//   scores + (1 - convert(attention_mask)) * -3.4e38    bias [B,1,1,T]
//
// Softmax of a row that is -inf everywhere is NaN, attention gives zero there,
// so a mask is accepted only when it cannot hide a whole row with -inf.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_GRAPH_ATTENTIONMASK_H
#define GPUCC_TRANSFORMS_GRAPH_ATTENTIONMASK_H

#include "dialects/Graph/Graph.h"

namespace gpucc::graph_passes {

class AttentionMask {
public:
  bool present() const { return bias || condition; }
  bool causal() const { return isCausal; }

  void setBias(mlir::Value value) { bias = value; }
  /// Scores stay where the condition is true (`keepsTrue`) or false, `fill` elsewhere.
  void setSelect(mlir::Value value, bool keepsTrue, double number) {
    condition = value;
    keeps = keepsTrue;
    fill = number;
  }

  /// Decides for scores of this shape ([B,H,S,T] or [N,S,T]); false, with the reason, when the
  /// composite would mean something else.
  bool resolve(llvm::ArrayRef<int64_t> scores, std::string &why);

  /// The bias of rank 4; null without one.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, llvm::ArrayRef<int64_t> scores,
                    mlir::Type element) const;

private:
  bool resolveSelect(llvm::ArrayRef<int64_t> scores, std::string &why);
  bool resolveBias(llvm::ArrayRef<int64_t> scores, std::string &why);

  mlir::Value bias, condition;
  bool keeps = true, isCausal = false;
  double fill = 0;
};

} // namespace gpucc::graph_passes

#endif // GPUCC_TRANSFORMS_GRAPH_ATTENTIONMASK_H
