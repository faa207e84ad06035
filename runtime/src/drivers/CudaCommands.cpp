//===- CudaCommands.cpp - One command onto its stream ---------------------===//
#include "core/DType.h"
#include "drivers/CudaProgram.h"

using namespace gpucc::rt;

static cuda::DevicePointer pointer(const void *p) {
  return reinterpret_cast<cuda::DevicePointer>(p);
}

Status CudaExecutable::launch(const Run &run, const plan::Launch &launch, uint32_t slot,
                              cuda::Stream stream) {
  const Kernel &kernel = kernels[launch.kernel()];
  std::vector<int64_t> values;
  if (launch.arguments())
    for (const plan::Argument *argument : *launch.arguments())
      values.push_back(argument->view()
                           ? reinterpret_cast<int64_t>(run.addresses->view(*argument->view(), slot))
                       : argument->value() ? context.rank->evaluate(argument->value(), slot)
                                           : argument->scalar());
  std::vector<void *> arguments;
  for (int64_t &value : values)
    arguments.push_back(&value);
  arguments.push_back(nullptr);
  const plan::Dim3 &grid = *kernel.variant->grid(), &block = *kernel.variant->block();
  return check(cuda.fn.cuLaunchKernel(kernel.function, grid.x(), grid.y(), grid.z(), block.x(),
                                      block.y(), block.z(), kernel.variant->shared_bytes(), stream,
                                      arguments.data(), nullptr),
               "cuLaunchKernel");
}

Status CudaExecutable::copy(const Run &run, const plan::Copy &copy, uint32_t slot,
                            cuda::Stream stream) {
  const cuda::DevicePointer from = pointer(run.addresses->view(*copy.source(), slot)),
                            to = pointer(run.addresses->view(*copy.destination(), slot));
  if (copy.bytes() == 0 || copy.rows() == 0)
    return {};
  if (copy.rows() == 1)
    return check(cuda.fn.cuMemcpyAsync(to, from, copy.bytes(), stream), "cuMemcpyAsync");
  cuda::Copy2D c{};
  c.sourceType = c.destinationType = cuda::memoryTypeUnified;
  c.source = from;
  c.sourcePitch = copy.source_pitch();
  c.destination = to;
  c.destinationPitch = copy.destination_pitch();
  c.bytes = copy.bytes();
  c.rows = copy.rows();
  return check(cuda.fn.cuMemcpy2DAsync(&c, stream), "cuMemcpy2DAsync");
}

Status CudaExecutable::fill(const Run &run, const plan::Fill &fill, uint32_t slot,
                            cuda::Stream stream) {
  const cuda::DevicePointer to = pointer(run.addresses->view(*fill.destination(), slot));
  const uint64_t bytes = fill.destination()->size(), pattern = fill.pattern();
  const auto low = static_cast<uint32_t>(pattern), high = static_cast<uint32_t>(pattern >> 32);
  switch (fill.pattern_size()) {
  case 1:
    return check(cuda.fn.cuMemsetD8Async(to, static_cast<unsigned char>(low), bytes, stream),
                 "cuMemsetD8Async");
  case 2:
    return check(cuda.fn.cuMemsetD16Async(to, static_cast<unsigned short>(low), bytes / 2, stream),
                 "cuMemsetD16Async");
  case 4:
    return check(cuda.fn.cuMemsetD32Async(to, low, bytes / 4, stream), "cuMemsetD32Async");
  default: // 8 bytes: the low and the high words of each
    if (low == high)
      return check(cuda.fn.cuMemsetD32Async(to, low, bytes / 4, stream), "cuMemsetD32Async");
    GPUCC_RT_TRY(
        check(cuda.fn.cuMemsetD2D32Async(to, 8, low, 1, bytes / 8, stream), "cuMemsetD2D32Async"));
    return check(cuda.fn.cuMemsetD2D32Async(to + 4, 8, high, 1, bytes / 8, stream),
                 "cuMemsetD2D32Async");
  }
}

Status CudaExecutable::collective(const Run &run, const plan::Command &command, uint32_t slot,
                                  cuda::Stream stream) {
  const plan::Collective &source = *command.body_as_Collective();
  Communicator *communicator = (*context.communicators)[source.communicator()].get();
  CollectiveCall call = {source.kind(),  source.reduce(), source.dtype(),
                         source.count(), nullptr,         nullptr};
  if (source.input())
    call.input = run.addresses->view(*source.input(), slot);
  if (source.output())
    call.output = run.addresses->view(*source.output(), slot);
  call.peer = source.peer() ? context.rank->evaluate(source.peer(), slot) : -1;
  call.source = source.source() ? context.rank->evaluate(source.source(), slot) : -1;
  call.name = command.name() ? command.name()->c_str() : "";
  if (call.kind == plan::CollectiveKind::send)
    return send(call, command, stream);
  std::unique_ptr<Request> request;
  return communicator->start(call, stream, request);
}

Status CudaExecutable::send(CollectiveCall call, const plan::Command &command,
                            cuda::Stream stream) {
  const cuda::DevicePointer place = outbox + outboxPlaces.at({stepIndex, &command});
  GPUCC_RT_TRY(check(
      cuda.fn.cuMemcpyAsync(place, pointer(call.input), dtypeBytes(call.dtype, call.count), stream),
      "cuMemcpyAsync"));
  GPUCC_RT_TRY(check(cuda.fn.cuEventRecord(outboxEvent, stream), "cuEventRecord"));
  GPUCC_RT_TRY(check(cuda.fn.cuStreamWaitEvent(outboxStream, outboxEvent, 0), "cuStreamWaitEvent"));
  outboxUsed = true;
  call.input = reinterpret_cast<const void *>(place);
  std::unique_ptr<Request> request;
  const uint32_t communicator = command.body_as_Collective()->communicator();
  return (*context.communicators)[communicator]->start(call, outboxStream, request);
}

Status CudaExecutable::issue(const Run &run, const plan::Command &command, uint32_t slot) {
  cuda::Stream stream = streams[command.stream()];
  switch (command.body_type()) {
  case plan::CommandBody::Launch:
    return launch(run, *command.body_as_Launch(), slot, stream);
  case plan::CommandBody::Copy:
    return copy(run, *command.body_as_Copy(), slot, stream);
  case plan::CommandBody::Fill:
    return fill(run, *command.body_as_Fill(), slot, stream);
  case plan::CommandBody::Collective:
    return collective(run, command, slot, stream);
  case plan::CommandBody::EventRecord: {
    const uint32_t event = command.body_as_EventRecord()->event();
    recordedIn[event] = issueNumber;
    return check(cuda.fn.cuEventRecord(events[event], stream), "cuEventRecord");
  }
  case plan::CommandBody::EventWait: {
    // Everything of earlier captures and runs is done before by the order of stream 0.
    const uint32_t event = command.body_as_EventWait()->event();
    if (recordedIn[event] != issueNumber)
      return {};
    return check(cuda.fn.cuStreamWaitEvent(stream, events[event], 0), "cuStreamWaitEvent");
  }
  default:
    return GPUCC_RT_FAIL(Code::unsupported, "the cuda driver has no library calls; recompile the "
                                            "model with --target cuda:...");
  }
}
