//===- HostDnnCall.h - One oneDNN primitive and its operands
//------------------------------------===//
//
// Between the plan's bytes and the primitive lie, per operand and only where needed:
//
//   plan's memory --widen (f16, bf16 -> f32)--> wide copy --reorder--> primitive's layout
//
// and the same way back for the result. Constants go through once, at prepare, and stay packed.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTDNNCALL_H
#define GPUCC_RT_DRIVERS_HOSTDNNCALL_H

#include "core/DType.h"
#include "drivers/HostBounds.h"
#include "drivers/HostProgram.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <vector>

namespace gpucc::rt {

/// An operand of a primitive: where it lies in the plan and in which layout.
struct DnnOperand {
  int argument = 0; ///< DNNL_ARG_*
  Place place;
  dnnl::memory::desc user;
  bool constant = false, output = false;
  const plan::Operand *source = nullptr;
  bool widened = false; ///< `user` is f32, the plan has `dtype`
  DType dtype = DType::f32;
  int64_t span = 0; ///< elements from the first to the last, gaps included
  bool gaps = false;
};

class DnnCall : public HostCommand {
public:
  explicit DnnCall(const HostContext &context);

  Status run(const Run &run, uint32_t slot) override;
  bool usesPool() const override { return true; }

  void setPrimitive(dnnl::primitive made) { main.primitive = std::move(made); }
  /// Gives the primitive an operand in the layout `wanted`. `accumulates`: its old contents count.
  void bind(const DnnOperand &operand, const dnnl::memory::desc &wanted, bool accumulates);

  /// Appends a primitive that works on the result in place, in the plan's layout; `other` is its
  /// second operand, or null.
  void append(dnnl::primitive made, const DnnOperand *other);
  /// Appends a ReLU or clip that keeps NaN, in place.
  void append(const plan::PostOp &bounds);

  dnnl::engine &engine() { return dnnEngine; }

  /// The layout of a constant operand in the plan; none when it is not there, or packed by another
  /// library or for another CPU.
  std::optional<dnnl::memory::desc> packedLayout(const DnnOperand &operand) const;

private:
  /// A primitive with its arguments as the library's C interface takes them: nothing is allocated
  /// when it runs. Or, with one argument, bounds.
  struct Step {
    std::optional<Bounds> bounds;
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
    std::vector<dnnl::memory> kept;
    void add(int argument, const dnnl::memory &memory);
    void execute(dnnl::stream &stream, int threads) const;
  };
  struct Bound {
    DnnOperand operand;
    bool staged, read;            ///< read: the bytes before the call count
    dnnl::memory outside, inside; ///< layout of the plan, of the primitive (equal unless staged)
    Step in, out;
    char *place; ///< where `outside` points now
  };

  Bound &resultBound();
  Bound &addBound(const DnnOperand &operand, bool staged, bool read);

  dnnl::memory pack(const DnnOperand &operand, const dnnl::memory::desc &wanted);
  void warnOfPacking(const DnnOperand &operand);
  dnnl::memory packNow(const DnnOperand &operand, char *data, const dnnl::memory::desc &wanted);
  void widen(const DnnOperand &operand, const char *data, void *wide);
  void narrow(const DnnOperand &operand, const void *wide, char *data);

  HostContext context;
  dnnl::engine dnnEngine;
  dnnl::stream stream;
  Step main;
  std::vector<Step> behind;
  std::vector<Bound> bound;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTDNNCALL_H
