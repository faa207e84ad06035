//===- HostDnnMaker.h - How a library call becomes a oneDNN primitive
//-------------------------------===//
//
// HostDnn.cpp: operands, post-ops and the attempts, in which order. HostDnnPrimitives.cpp: one
// attempt for each kind of primitive.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTDNNMAKER_H
#define GPUCC_RT_DRIVERS_HOSTDNNMAKER_H

#include "drivers/HostDnnCall.h"
#include "drivers/HostDnnLayout.h"

namespace gpucc::rt {

/// One way to make a primitive.
struct DnnAttempt {
  bool winograd = false;
  bool any = false;    ///< layouts of oneDNN's choice
  bool fused = true;   ///< post-ops inside the primitive, up to one that loses NaN
  bool packed = false; ///< weights in the layout that the plan has them in
};

/// Makes one call; throws dnnl::error when oneDNN cannot.
class DnnMaker {
public:
  DnnMaker(const HostContext &context, const plan::LibraryCall &call, bool widen)
      : context(context), call(call), widen(widen),
        folds(call.kind() == plan::LibraryKind::matmul && canFold(call)),
        result(std::make_unique<DnnCall>(context)) {}

  /// False when oneDNN has no such element type.
  bool collectSlots();
  std::unique_ptr<HostCommand> make();

private:
  bool describe(const plan::Operand &operand, int64_t groups, DnnOperand &result);
  bool addSlot(const plan::Operand &operand, int argument, int64_t groups, bool output);
  void makeGeometry();
  void makeAttributes();
  void appendPostOp(const plan::PostOp &op, dnnl::post_ops &ops);
  void appendBehind();
  dnnl::memory::desc layout(int argument) const;
  const DnnOperand *slot(int argument) const;
  std::vector<DnnAttempt> attempts() const;
  uint32_t insideCount() const;
  bool suitsWinograd() const;
  bool accepts(const char *implementation) const;

  bool makeMatmul();
  bool makeReorder();
  bool makeConv();
  bool makeConvBackwardData();
  bool makeConvBackwardWeights();
  bool makePool();
  bool makeKind();
  template <typename Desc>
  void finish(const Desc &desc, std::initializer_list<std::pair<int, dnnl::memory::desc>> layouts);
  dnnl::convolution_forward::primitive_desc forwardHint(const dnnl::memory::desc &source,
                                                        const dnnl::memory::desc &weights,
                                                        const dnnl::memory::desc &result);

  const HostContext &context;
  const plan::LibraryCall &call;
  bool widen; ///< 16-bit floats become f32
  bool folds; ///< matmul: batch and rows are one dimension
  DnnAttempt attempt;
  bool isLast = false; ///< of the attempts: any implementation will do
  std::vector<DnnOperand> slots;
  dnnl::primitive_attr attributes;
  bool accumulates = false;
  std::unique_ptr<DnnCall> result;
  dnnl::memory::dims strides, dilations, padsBegin, padsEnd;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTDNNMAKER_H
