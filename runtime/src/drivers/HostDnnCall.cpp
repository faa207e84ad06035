//===- HostDnnCall.cpp - One oneDNN primitive and its operands
//----------------------------------===//
#include "drivers/HostDnnCall.h"

#include "drivers/HostDnn.h"
#include "drivers/ParallelFor.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;
using dnnl::memory;

/// One engine per session: memory that calls share must be of the same engine.
static dnnl::engine sharedEngine(PackedWeights &packed) {
  std::shared_ptr<void> &entry = packed["engine"];
  if (!entry)
    entry = std::make_shared<dnnl::engine>(dnnl::engine::kind::cpu, 0);
  return *static_cast<dnnl::engine *>(entry.get());
}

DnnCall::DnnCall(const HostContext &context)
    : context(context), dnnEngine(sharedEngine(*context.packed)), stream(dnnEngine) {}

static constexpr int64_t castGrain = 16384;

void DnnCall::widen(const DnnOperand &operand, const char *data, void *wide) {
  parallelFor(operand.span, castGrain, context.threads, [&](int64_t begin, int64_t end) {
    castElements(operand.dtype, data + 2 * begin, DType::f32, static_cast<float *>(wide) + begin,
                 static_cast<uint64_t>(end - begin));
  });
}

void DnnCall::narrow(const DnnOperand &operand, const void *wide, char *data) {
  parallelFor(operand.span, castGrain, context.threads, [&](int64_t begin, int64_t end) {
    castElements(DType::f32, static_cast<const float *>(wide) + begin, operand.dtype,
                 data + 2 * begin, static_cast<uint64_t>(end - begin));
  });
}

void DnnCall::Step::add(int argument, const memory &memory) {
  arguments.push_back({argument, memory.get()});
  kept.push_back(memory);
}

void DnnCall::Step::execute(dnnl::stream &stream, int threads) const {
  if (bounds) {
    stream.wait();
    return bounds->apply(static_cast<char *>(kept.front().get_data_handle()), threads);
  }
  dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream.get(),
                                                 static_cast<int>(arguments.size()),
                                                 arguments.data()),
                          "a primitive did not run");
}

Status DnnCall::run(const Run &run, uint32_t slot) {
  try {
    for (Bound &b : bound) {
      char *data = b.operand.place.at(run, slot);
      if (b.operand.widened) {
        if (b.read || b.operand.gaps) // what lies in gaps must survive the way back
          widen(b.operand, data, b.outside.get_data_handle());
      } else if (data != b.place) {
        b.outside.set_data_handle(data, stream);
        b.place = data;
      }
      if (b.staged && b.read)
        b.in.execute(stream, context.threads);
    }
    main.execute(stream, context.threads);
    for (Bound &b : bound)
      if (b.operand.output && b.staged)
        b.out.execute(stream, context.threads);
    for (const Step &step : behind)
      step.execute(stream, context.threads);
    for (Bound &b : bound)
      if (b.operand.output && b.operand.widened)
        narrow(b.operand, b.outside.get_data_handle(), b.operand.place.at(run, slot));
    stream.wait();
  } catch (const dnnl::error &e) {
    return GPUCC_RT_FAIL(Code::device, "oneDNN: ", e.what());
  }
  return {};
}

DnnCall::Bound &DnnCall::addBound(const DnnOperand &operand, bool staged, bool read) {
  bound.push_back({operand, staged, read, {}, {}, {}, {}, nullptr});
  Bound &b = bound.back();
  b.outside =
      operand.widened ? memory(operand.user, dnnEngine) : memory(operand.user, dnnEngine, nullptr);
  b.inside = b.outside; // the same object: a data handle set for one is set for both
  return b;
}

void DnnCall::bind(const DnnOperand &operand, const memory::desc &wanted, bool accumulates) {
  if (operand.constant)
    return main.add(operand.argument, pack(operand, wanted));
  Bound &b = addBound(operand, wanted != operand.user, !operand.output || accumulates);
  if (b.staged) {
    b.inside = memory(wanted, dnnEngine);
    auto move = [](Step &step, memory &from, memory &to) {
      step.primitive = dnnl::reorder(from, to);
      step.add(DNNL_ARG_FROM, from);
      step.add(DNNL_ARG_TO, to);
    };
    move(b.in, b.outside, b.inside);
    move(b.out, b.inside, b.outside);
  }
  main.add(operand.argument, b.inside);
}

DnnCall::Bound &DnnCall::resultBound() {
  return *std::find_if(bound.begin(), bound.end(), [](const Bound &b) { return b.operand.output; });
}

void DnnCall::append(const plan::PostOp &bounds) {
  const DnnOperand &result = resultBound().operand;
  const dnnl_memory_desc_t &desc = result.user.data;
  Step step;
  step.bounds.emplace(
      bounds, result.widened ? DType::f32 : result.dtype, result.user.dims(),
      Extents(desc.format_desc.blocking.strides, desc.format_desc.blocking.strides + desc.ndims));
  step.add(DNNL_ARG_DST, resultBound().outside);
  behind.push_back(std::move(step));
}

void DnnCall::append(dnnl::primitive made, const DnnOperand *other) {
  Step step;
  step.primitive = std::move(made);
  step.add(DNNL_ARG_SRC_0, resultBound().outside);
  step.add(DNNL_ARG_DST, resultBound().outside);
  if (other)
    step.add(DNNL_ARG_SRC_1, addBound(*other, false, true).outside);
  behind.push_back(std::move(step));
}

/// The operand in the layout `wanted`, made once per session.
memory DnnCall::pack(const DnnOperand &operand, const memory::desc &wanted) {
  Run run;
  run.addresses = context.program->addresses;
  char *data = operand.place.at(run, 0);
  if (wanted == operand.user && !operand.widened)
    return memory(operand.user, dnnEngine, data);
  std::string key = concat(static_cast<void *>(data), " ", operand.widened, " ");
  for (const memory::desc &desc : {operand.user, wanted})
    key.append(reinterpret_cast<const char *>(&desc.data), sizeof(desc.data));
  std::shared_ptr<void> &entry = (*context.packed)[key];
  if (!entry) {
    int blob = operand.source->packed();
    if (std::optional<memory::desc> given = packedLayout(operand); given && *given == wanted) {
      char *mapped = const_cast<char *>(context.program->plan->blobData(blob));
      entry = std::make_shared<memory>(wanted, dnnEngine, mapped);
    } else {
      if (blob >= 0)
        warnOfPacking(operand);
      entry = std::make_shared<memory>(packNow(operand, data, wanted));
    }
  }
  auto &packed = *static_cast<memory *>(entry.get());
  if (context.record) {
    const auto *format = reinterpret_cast<const uint8_t *>(&wanted.data);
    context.record->push_back({operand.source,
                               packed.get_data_handle(),
                               wanted.get_size(),
                               onednnVersion(),
                               onednnIsa(),
                               {format, format + sizeof(wanted.data)}});
  }
  return packed;
}

std::optional<memory::desc> DnnCall::packedLayout(const DnnOperand &operand) const {
  if (operand.source->packed() < 0)
    return std::nullopt;
  const plan::Blob &blob = *context.program->plan->index().blobs()->Get(operand.source->packed());
  dnnl_memory_desc_t found;
  if (!blob.library() || blob.library()->str() != onednnVersion() || !blob.arch() ||
      blob.arch()->str() != onednnIsa() || !blob.format() || blob.format()->size() != sizeof(found))
    return std::nullopt;
  std::memcpy(&found, blob.format()->data(), sizeof(found));
  const dnnl_memory_desc_t &user = operand.user.data;
  const dnnl_blocking_desc_t &blocking = found.format_desc.blocking;
  if (found.offset0 != 0 ||
      (found.format_kind != dnnl_blocked && found.format_kind != dnnl_format_kind_wino))
    return std::nullopt;
  if (found.format_kind == dnnl_blocked) { // damaged bytes must not lead the library astray
    if (blocking.inner_nblks < 0 || blocking.inner_nblks > DNNL_MAX_NDIMS)
      return std::nullopt;
    for (int i = 0; i < blocking.inner_nblks; ++i)
      if (blocking.inner_blks[i] <= 0 || blocking.inner_idxs[i] < 0 ||
          blocking.inner_idxs[i] >= user.ndims)
        return std::nullopt;
  }
  bool same = found.ndims == user.ndims && found.data_type == user.data_type &&
              std::equal(user.dims, user.dims + user.ndims, found.dims) &&
              dnnl_memory_desc_get_size(&found) == blob.size();
  return same ? std::optional<memory::desc>(found) : std::nullopt;
}

void DnnCall::warnOfPacking(const DnnOperand &operand) {
  const plan::Blob &blob = *context.program->plan->index().blobs()->Get(operand.source->packed());
  std::string library = blob.library() ? blob.library()->str() : "?",
              arch = blob.arch() ? blob.arch()->str() : "?";
  bool sameCpu = library == onednnVersion() && arch == onednnIsa();
  context.program->warnings->push_back(
      sameCpu ? concat("packed weights again: the plan has them for another number of threads")
              : concat("packed weights again: the plan has them for ", library, " on ", arch,
                       ", this is ", onednnVersion(), " on ", onednnIsa(),
                       "; gpucc-run --pack puts them into the plan"));
}

memory DnnCall::packNow(const DnnOperand &operand, char *data, const memory::desc &wanted) {
  memory plain =
      operand.widened ? memory(operand.user, dnnEngine) : memory(operand.user, dnnEngine, data);
  if (operand.widened)
    widen(operand, data, plain.get_data_handle());
  if (wanted == operand.user)
    return plain;
  memory result(wanted, dnnEngine);
  dnnl::reorder(plain, result).execute(stream, plain, result);
  stream.wait();
  return result;
}

std::string gpucc::rt::onednnVersion() {
  const dnnl_version_t *v = dnnl_version();
  return concat("oneDNN ", v->major, ".", v->minor, ".", v->patch);
}

std::string gpucc::rt::onednnIsa() {
  switch (dnnl::get_effective_cpu_isa()) {
  case dnnl::cpu_isa::avx512_core_amx:
    return "avx512_core_amx";
  case dnnl::cpu_isa::avx512_core_bf16:
    return "avx512_core_bf16";
  case dnnl::cpu_isa::avx512_core_vnni:
    return "avx512_core_vnni";
  case dnnl::cpu_isa::avx512_core:
    return "avx512_core";
  case dnnl::cpu_isa::avx2_vnni:
    return "avx2_vnni";
  case dnnl::cpu_isa::avx2:
    return "avx2";
  case dnnl::cpu_isa::avx:
    return "avx";
  case dnnl::cpu_isa::sse41:
    return "sse41";
  default:
    return "other";
  }
}
