//===- PackPlan.cpp - Packed weights into the plan file
//-----------------------------------------===//
//
// The library keeps constant operands in layouts of its own, which depend on the CPU. A session
// that finds them in the plan maps them: loading costs no time and no memory of its own. Here a
// session is prepared once, and what it packed is appended to the file:
//
//   | header | index           | blob 0 .. n |          before
//   | header | index, + blobs  | blob 0 .. n | packed ... |
//
// Operands that share bytes share a blob.
//
//===--------------------------------------------------------------------------------------------===//
#include "core/AtomicFile.h"
#include "session/Session.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace gpucc::rt;

namespace {
class Packer {
public:
  Packer(const PlanImage &plan, const std::vector<PackedOperand> &packed) : plan(plan) {
    plan.index().UnPackTo(&index);
    for (const PackedOperand &p : packed)
      byOperand[p.operand] = &p;
  }

  Status write(const std::string &path) {
    takeBlobs();
    forEachOperand(
        [&](plan::OperandT &copy, const plan::Operand *mapped) { copy.packed = blobOf(mapped); });
    sortBlobs();
    for (const auto &tensor : index.tensors)
      if (tensor->varying_dim >= 0)
        writer.minimumMinor = planMinorOfVaryingSizes;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(plan::Plan::Pack(builder, &index), plan::PlanIdentifier());
    AtomicFile file;
    GPUCC_RT_TRY(file.open(path));
    Status status;
    writer.write(builder.GetBufferPointer(), builder.GetSize(), [&](const void *data, size_t n) {
      status = file.write(data, n);
      return !status;
    });
    GPUCC_RT_TRY(std::move(status));
    return file.commit(/*durable=*/false);
  }

private:
  struct Entry {
    std::unique_ptr<plan::BlobT> blob;
    const void *data;
  };

  /// The plan's blobs, but those that another packing has left.
  void takeBlobs() {
    std::vector<uint32_t> place(index.blobs.size());
    for (uint32_t id = 0; id < index.blobs.size(); ++id) {
      place[id] = static_cast<uint32_t>(entries.size());
      if (index.blobs[id]->kind != plan::BlobKind::packed_weight)
        entries.push_back({std::move(index.blobs[id]), plan.blobData(id)});
    }
    renumber(place);
  }

  void sortBlobs() {
    std::vector<uint32_t> order(entries.size()), place(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return entries[a].blob->hash < entries[b].blob->hash;
    });
    index.blobs.clear();
    for (uint32_t from : order) {
      place[from] = static_cast<uint32_t>(index.blobs.size());
      Entry &entry = entries[from];
      entry.blob->offset = writer.addBlob(entry.data, entry.blob->size);
      index.blobs.push_back(std::move(entry.blob));
    }
    renumber(place);
    forEachOperand([&](plan::OperandT &copy, const plan::Operand *) {
      if (copy.packed >= 0)
        copy.packed = static_cast<int32_t>(place[static_cast<uint32_t>(copy.packed)]);
    });
  }

  /// Of kernels and weights.
  void renumber(const std::vector<uint32_t> &place) {
    for (auto &kernel : index.kernels)
      for (auto &variant : kernel->variants)
        variant->blob = place[variant->blob];
    for (auto &weight : index.weights)
      if (weight->blob >= 0)
        weight->blob = static_cast<int32_t>(place[static_cast<uint32_t>(weight->blob)]);
  }

  /// f(copy, mapped): sessions know operands by their addresses in the mapped plan.
  template <typename F> void forEachOperand(F f) {
    const plan::Plan &mapped = plan.index();
    for (uint32_t p = 0; p < index.profiles.size(); ++p)
      for (uint32_t i = 0; i < index.profiles[p]->programs.size(); ++i) {
        auto &segments = index.profiles[p]->programs[i]->segments;
        for (uint32_t s = 0; s < segments.size(); ++s) {
          const auto *commands =
              mapped.profiles()->Get(p)->programs()->Get(i)->segments()->Get(s)->commands();
          for (uint32_t c = 0; c < segments[s]->commands.size(); ++c)
            if (plan::LibraryCallT *call = segments[s]->commands[c]->body.AsLibraryCall())
              for (uint32_t o = 0; o < call->operands.size(); ++o)
                f(*call->operands[o], commands->Get(c)->body_as_LibraryCall()->operands()->Get(o));
        }
      }
  }

  int32_t blobOf(const plan::Operand *operand) {
    auto found = byOperand.find(operand);
    if (found == byOperand.end())
      return -1;
    const PackedOperand &packed = *found->second;
    auto [it, isNew] = byBytes.try_emplace(packed.bytes, static_cast<int32_t>(entries.size()));
    if (isNew) {
      auto blob = std::make_unique<plan::BlobT>();
      blob->kind = plan::BlobKind::packed_weight;
      blob->size = packed.size;
      blob->hash = xxh64(packed.bytes, packed.size);
      blob->library = packed.library;
      blob->arch = packed.arch;
      blob->format = packed.format;
      entries.push_back({std::move(blob), packed.bytes});
    }
    return it->second;
  }

  const PlanImage &plan;
  plan::PlanT index;
  std::vector<Entry> entries;
  std::map<const plan::Operand *, const PackedOperand *> byOperand;
  std::map<const void *, int32_t> byBytes; ///< entry
  PlanFileWriter writer;
};
} // namespace

Status gpucc::rt::packPlan(const std::string &path) {
  std::shared_ptr<PlanImage> plan;
  GPUCC_RT_TRY(PlanImage::open(path, plan));
  if (plan->index().needs()->target() != plan::Target::host || plan->index().ranks() != 1)
    return {};
  std::vector<PackedOperand> packed;
  SessionOptions options;
  options.packed = &packed;
  std::unique_ptr<Session> session;
  Status prepared = Session::prepare(plan, options, session);
  if (prepared && (prepared.code() == Code::unsupported || prepared.code() == Code::outOfMemory))
    return {}; // made for another machine, or a larger one
  GPUCC_RT_TRY(std::move(prepared));
  return packed.empty() ? Status() : Packer(*plan, packed).write(path);
}
