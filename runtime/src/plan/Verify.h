//===- Verify.h - Checks the meaning of a plan index
//--------------------------------------------===//
//
// FlatBuffers' own verifier has seen to it that every offset stays inside the bytes. What is
// checked here is what the fields say: ids name existing things, offsets and sizes lie inside what
// they are offsets into, shapes agree. Errors read like a path into the plan:
//
//   profiles[0].programs[1].segments[2].commands[17]: 'fc1/MatMul': operands[1]: covers 4096 bytes,
//   its view has 2048
//
// Files: VerifyPlan.cpp (tables of the plan), VerifyProgram.cpp (buffers, views, scripts),
// VerifyCommands.cpp (commands), VerifyLibrary.cpp (library calls).
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_PLAN_VERIFY_H
#define GPUCC_RT_PLAN_VERIFY_H

#include "core/DType.h"
#include "core/Status.h"

namespace gpucc::rt::verify {

/// Nothing in a plan is larger than this (128 TiB): sums of a few such values cannot overflow.
inline constexpr uint64_t maxBytes = uint64_t(1) << 47;
inline constexpr uint32_t maxDims = 16;
inline constexpr uint32_t maxSlots = 1u << 20;

#define GPUCC_RT_REQUIRE(CONDITION, ...)                                                           \
  do {                                                                                             \
    if (!(CONDITION))                                                                              \
      return GPUCC_RT_FAIL(Code::invalidPlan, __VA_ARGS__);                                        \
  } while (false)

/// Size of an optional vector.
template <typename T> uint32_t length(const flatbuffers::Vector<T> *vector) {
  return vector ? vector->size() : 0;
}

/// Calls check(element, index) for all elements; an error is prefixed with "what[index]".
template <typename T, typename CheckFn>
Status forEach(const flatbuffers::Vector<T> *vector, const char *what, CheckFn check) {
  for (uint32_t i = 0; i < length(vector); ++i)
    if (Status status = check(*vector->Get(i), i))
      return std::move(status).prefixed(concat(what, "[", i, "]"));
  return {};
}

/// FlatBuffers' verifier does not look at the alignment of vectors of 8-byte elements.
template <typename T> Status aligned(const flatbuffers::Vector<T> *vector) {
  if (length(vector) > 0)
    GPUCC_RT_REQUIRE(reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0,
                     "a vector is misaligned");
  return {};
}

template <typename Enum> bool inRange(Enum value, Enum last) { return value <= last; }

/// Product of a shape's extents (each >= 0), at most maxBytes.
Status countElements(const flatbuffers::Vector<int64_t> *shape, uint64_t &count);

/// Bytes that a strided array touches, from its first element. Empty strides: row-major. Strides
/// are >= 0.
Status spannedBytes(DType type, const flatbuffers::Vector<int64_t> *shape,
                    const flatbuffers::Vector<int64_t> *strides, uint64_t &bytes);

Status rankValue(const plan::RankValue *value, const plan::Stage &stage);
Status slices(const flatbuffers::Vector<flatbuffers::Offset<plan::DimSlice>> *slices, uint32_t dims,
              const plan::Stage &stage);

Status program(const plan::Plan &plan, const plan::Program &program);
/// A view lies inside its buffer's slot.
Status view(const plan::Program &program, const plan::View *view);
Status command(const plan::Plan &plan, const plan::Program &program, const plan::Command &command);
Status libraryCall(const plan::Plan &plan, const plan::Program &program,
                   const plan::LibraryCall &call);

} // namespace gpucc::rt::verify

#endif // GPUCC_RT_PLAN_VERIFY_H
