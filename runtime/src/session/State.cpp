//===- State.cpp - Saving and loading the state of a training run
//-------------------------------===//
//
// State is saved under the names of the model's initializers, whole and row-major, so any layout
// can load what any other wrote. Three indirections lie between a rank's bytes and the file:
//
//   rank's part --slices--> tensor "q" [64, 64] --source_base {0, 64}--> saved "qkv" [64, 192]
//   bf16 parameter: not saved, derived (cast) from its f32 master after a load
//
//===--------------------------------------------------------------------------------------------===//
#include "core/Safetensors.h"
#include "session/Session.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;

static bool isSaved(const plan::Tensor &tensor) {
  return tensor.role() >= plan::Role::parameter && tensor.role() <= plan::Role::counter &&
         tensor.derived_from() == -1;
}

static std::string savedName(const plan::Tensor &tensor) {
  bool own = !tensor.source_name() || tensor.source_name()->size() == 0;
  return own ? tensor.name()->str() : tensor.source_name()->str();
}

/// Extents of a state tensor (state has no symbolic dimensions).
static Extents tensorShape(const plan::Tensor &tensor) {
  Extents shape;
  if (tensor.dims())
    for (const plan::Dim *dim : *tensor.dims())
      shape.push_back(dim->size());
  return shape;
}

static bool isPiece(const plan::Tensor &tensor) {
  return tensor.source_shape() && tensor.source_shape()->size() > 0;
}

/// The box of a piece inside its saved tensor.
static Box pieceBox(const plan::Tensor &tensor) {
  Extents shape = tensorShape(tensor);
  return {toExtents(tensor.source_shape()), toExtents(tensor.source_base()), shape, shape};
}

static Status checkStaticShape(const plan::Tensor &tensor) {
  for (int64_t extent : tensorShape(tensor))
    if (extent < 0)
      return GPUCC_RT_FAIL(Code::invalidPlan, "state '", tensor.name()->c_str(),
                           "' has a symbolic dimension");
  return {};
}

Status gpucc::rt::saveState(const std::vector<Session *> &sessions, const std::string &path,
                            const std::map<std::string, std::string> &metadata) {
  if (sessions.empty())
    return GPUCC_RT_FAIL(Code::invalidArgument, "no sessions to save the state of");
  const plan::Plan &index = sessions[0]->planImage().index();
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::vector<const plan::Tensor *>> pieces;
  if (index.tensors())
    for (const plan::Tensor *tensor : *index.tensors()) {
      if (!isSaved(*tensor))
        continue;
      GPUCC_RT_TRY(checkStaticShape(*tensor));
      std::string name = savedName(*tensor);
      SafetensorsEntry entry = {name, tensor->dtype(),
                                isPiece(*tensor) ? toExtents(tensor->source_shape())
                                                 : tensorShape(*tensor)};
      std::vector<const plan::Tensor *> &parts = pieces[name];
      if (parts.empty())
        entries.push_back(entry);
      else if (parts[0]->dtype() != tensor->dtype())
        return GPUCC_RT_FAIL(Code::invalidPlan, "pieces of '", name, "' differ in type");
      parts.push_back(tensor);
    }
  std::sort(entries.begin(), entries.end(),
            [](const auto &a, const auto &b) { return a.name < b.name; });
  return writeSafetensors(
      path, entries, metadata, [&](const SafetensorsEntry &entry, char *buffer) -> Status {
        for (const plan::Tensor *tensor : pieces[entry.name]) {
          if (!isPiece(*tensor)) {
            GPUCC_RT_TRY(gather(sessions, tensor->name()->str(), buffer, entry.bytes()));
            continue;
          }
          Box box = pieceBox(*tensor);
          std::vector<char> part(dtypeBytes(tensor->dtype(), elementCount(box.valid)));
          GPUCC_RT_TRY(gather(sessions, tensor->name()->str(), part.data(), part.size()));
          gatherBox(tensor->dtype(), box, part.data(), rowMajorStrides(box.valid), buffer,
                    /*add=*/false);
        }
        return {};
      });
}

/// The whole tensor out of a state file, in `bytes`.
static Status readSaved(const SafetensorsReader &file, const plan::Tensor &tensor,
                        std::vector<char> &bytes) {
  std::string name = savedName(tensor);
  const SafetensorsEntry *entry = file.find(name);
  if (!entry)
    return GPUCC_RT_FAIL(Code::invalidArgument, "it has no '", name,
                         "', which the plan's state needs; was it saved by another model or "
                         "optimizer?");
  Extents expected = isPiece(tensor) ? toExtents(tensor.source_shape()) : tensorShape(tensor);
  if (entry->dtype != tensor.dtype() || entry->shape != expected)
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", name, "' is ", dtypeName(entry->dtype), " ",
                         toString(entry->shape), ", the plan has ", dtypeName(tensor.dtype()), " ",
                         toString(expected));
  Extents shape = tensorShape(tensor);
  bytes.resize(dtypeBytes(tensor.dtype(), elementCount(shape)));
  if (isPiece(tensor))
    scatterBox(tensor.dtype(), pieceBox(tensor), file.data(*entry), bytes.data(),
               rowMajorStrides(shape), bytes.size());
  else
    std::memcpy(bytes.data(), file.data(*entry), bytes.size());
  return {};
}

Status gpucc::rt::loadState(Session &session, const std::string &path) {
  SafetensorsReader file;
  GPUCC_RT_TRY(file.open(path));
  GPUCC_RT_TRY(file.checkData(path));
  const plan::Plan &index = session.planImage().index();
  if (!index.tensors())
    return {};
  for (const plan::Tensor *tensor : *index.tensors()) {
    bool state = tensor->role() >= plan::Role::parameter && tensor->role() <= plan::Role::counter;
    LocalView view;
    if (!state || session.find(tensor->name()->str(), view))
      continue; // not on this rank
    GPUCC_RT_TRY(checkStaticShape(*tensor));
    std::vector<char> bytes;
    const plan::Tensor &origin =
        tensor->derived_from() == -1 ? *tensor : *index.tensors()->Get(tensor->derived_from());
    GPUCC_RT_TRY(readSaved(file, origin, bytes).prefixed(path));
    if (&origin != tensor) {
      uint64_t count = elementCount(tensorShape(origin));
      std::vector<char> cast(dtypeBytes(tensor->dtype(), count));
      castElements(origin.dtype(), bytes.data(), tensor->dtype(), cast.data(), count);
      bytes = std::move(cast);
    }
    if (bytes.size() != view.globalBytes)
      return GPUCC_RT_FAIL(Code::invalidPlan, "state '", tensor->name()->c_str(), "' has ",
                           bytes.size(), " bytes in the file and ", view.globalBytes,
                           " in the plan");
    GPUCC_RT_TRY(session.write(tensor->name()->str(), bytes.data(), bytes.size()));
  }
  return {};
}
