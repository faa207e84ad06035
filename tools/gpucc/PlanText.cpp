//===- PlanText.cpp - a plan file as text ---------------------------------===//
#include "Output.h"
#include "PlanText.h"

#include "PlanMemory.h"
#include "PlanSource.h"
#include "gpucc/Target/Cuda/Cubin.h"
#include "gpucc_rt/PlanFile.h"
#include "plan_generated.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace gpucc;
using namespace gpucc::tool;
namespace fb = gpucc::rt::plan;

int PlanFile::open(const std::string &name) {
  path = name;
  gpucc_rt::Plan checked; // the runtime's own verifier
  if (auto s = gpucc_rt::Plan::open(path, checked))
    return failed(s);
  std::ifstream file(path, std::ios::binary);
  rt::PlanHeader header;
  file.read(reinterpret_cast<char *>(&header), sizeof(header));
  blobOffset = header.blobOffset;
  bytes.resize(header.indexSize);
  file.seekg(static_cast<std::streamoff>(header.indexOffset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return file ? 0 : fail(2, "cannot read '" + path + "'");
}

const fb::Plan &PlanFile::plan() const { return *fb::GetPlan(bytes.data()); }

std::string PlanFile::blob(uint32_t index) const {
  const fb::Blob *blob = plan().blobs()->Get(index);
  std::string content(blob->size(), '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(blobOffset + blob->offset()));
  file.read(content.data(), static_cast<std::streamsize>(content.size()));
  return file ? content : "";
}

namespace {

template <typename T> size_t count(const T *vector) { return vector ? vector->size() : 0; }
std::string text(const flatbuffers::String *s) { return s ? s->str() : ""; }

template <typename F> void forEachCommand(const fb::Plan &plan, F f) {
  if (plan.profiles())
    for (const fb::Profile *profile : *plan.profiles())
      if (profile->programs())
        for (const fb::Program *program : *profile->programs())
          if (program->segments())
            for (const fb::Segment *segment : *program->segments())
              if (segment->commands())
                for (const fb::Command *command : *segment->commands())
                  f(*profile, *program, *segment, *command);
}

void printSummary(const fb::Plan &plan) {
  std::printf("%s, made by %s\n", text(plan.model()).c_str(), text(plan.producer()).c_str());
  std::printf("target %s", fb::EnumNameTarget(plan.needs()->target()));
  if (plan.needs()->architectures())
    for (const auto *arch : *plan.needs()->architectures())
      std::printf(" %s", arch->c_str());
  std::printf(", %u rank%s in %zu stage%s, %s per rank%s\n", plan.ranks(),
              plan.ranks() == 1 ? "" : "s", count(plan.stages()),
              count(plan.stages()) == 1 ? "" : "s",
              bytesText(static_cast<double>(plan.needs()->device_bytes())).c_str(),
              plan.training() ? ", training step" : "");
  if (std::string hash = text(plan.partition_hash()); !hash.empty())
    std::printf("partition %.16s\n", hash.c_str());
}

std::string commandText(const fb::Plan &plan, const fb::Command &c) {
  std::string body = fb::EnumNameCommandBody(c.body_type());
  switch (c.body_type()) {
  case fb::CommandBody::Launch:
    return "launch " + text(plan.kernels()->Get(c.body_as_Launch()->kernel())->name());
  case fb::CommandBody::LibraryCall:
    return std::string("library ") + fb::EnumNameLibraryKind(c.body_as_LibraryCall()->kind());
  case fb::CommandBody::Collective: {
    const fb::Collective *k = c.body_as_Collective();
    return std::string(fb::EnumNameCollectiveKind(k->kind())) + " over " +
           text(plan.communicators()->Get(k->communicator())->name()) + ", " +
           std::to_string(k->count()) + " " + fb::EnumNameDType(k->dtype());
  }
  case fb::CommandBody::EventRecord:
    return "record event " + std::to_string(c.body_as_EventRecord()->event());
  case fb::CommandBody::EventWait:
    return "wait for event " + std::to_string(c.body_as_EventWait()->event());
  case fb::CommandBody::Copy:
    return "copy " + bytesText(static_cast<double>(c.body_as_Copy()->bytes()));
  default:
    return body;
  }
}

void printPrograms(const fb::Plan &plan) {
  for (const fb::Profile *profile : *plan.profiles())
    for (const fb::Program *program : *profile->programs()) {
      std::printf("\nprofile %s, stage %u\n", text(profile->name()).c_str(), program->stage());
      for (const fb::Segment *segment : *program->segments()) {
        std::printf("  segment %s\n", text(segment->name()).c_str());
        if (segment->commands())
          for (const fb::Command *c : *segment->commands())
            std::printf("    [%u] %-44s %s\n", c->stream(), commandText(plan, *c).c_str(),
                        text(c->name()).c_str());
      }
      for (const fb::Script *script : *program->scripts()) {
        std::printf("  script %s:", text(script->name()).c_str());
        for (const fb::Step *step : *script->steps())
          std::printf(" %s@%u", text(program->segments()->Get(step->segment())->name()).c_str(),
                      step->slot());
        std::printf("\n");
      }
    }
}

void printMemory(const fb::Plan &plan, nlohmann::json &json) {
  for (uint32_t s = 0; s < count(plan.stages()); ++s) {
    const auto &arenas = *plan.stages()->Get(s)->arenas();
    for (uint32_t i = 0; i < arenas.size(); ++i) {
      const fb::Arena *arena = arenas.Get(i);
      nlohmann::json row = {{"stage", s}, {"arena", text(arena->name())}, {"bytes", arena->size()}};
      std::printf("stage %u  arena %-10s %12s%s", s, text(arena->name()).c_str(),
                  bytesText(static_cast<double>(arena->size())).c_str(),
                  arena->persistent() ? "  persistent" : "");
      if (text(arena->name()) == "scratch") {
        uint64_t bound = maxLiveBytes(plan, s, i);
        row["max_live"] = bound;
        std::printf("  most alive at once %s (ratio %.3f)",
                    bytesText(static_cast<double>(bound)).c_str(),
                    bound ? double(arena->size()) / double(bound) : 1.0);
      }
      std::printf("\n");
      json["arenas"].push_back(row);
    }
  }
  std::map<fb::Role, uint64_t> roles;
  for (const fb::Profile *profile : *plan.profiles())
    for (const fb::Program *program : *profile->programs())
      if (program->views())
        for (const fb::TensorView *view : *program->views())
          roles[plan.tensors()->Get(view->tensor())->role()] +=
              program->buffers()->Get(view->buffer())->size();
  for (const auto &[role, bytes] : roles) {
    std::printf("%-24s %12s\n", fb::EnumNameRole(role),
                bytesText(static_cast<double>(bytes)).c_str());
    json["roles"][fb::EnumNameRole(role)] = bytes;
  }
}

/// Resources and matrix instructions of a variant; of a cubin as its code says.
nlohmann::json printVariant(const PlanFile &file, const fb::KernelVariant &v) {
  const fb::Blob *blob = file.plan().blobs()->Get(v.blob());
  nlohmann::json row = {{"arch", text(blob->arch())}};
  std::printf("  %s", text(blob->arch()).c_str());
  if (blob->kind() != fb::BlobKind::cubin)
    return row;
  cuda::CubinInfo cubin = cuda::readCubin(file.blob(v.blob()));
  const cuda::KernelInfo *k = cubin.find(text(v.symbol()));
  if (!k) {
    row["error"] =
        cubin.error.empty() ? "the code has no kernel '" + text(v.symbol()) + "'" : cubin.error;
    std::printf(" %s", row["error"].get<std::string>().c_str());
    return row;
  }
  unsigned shared = k->sharedBytes + v.shared_bytes();
  unsigned matrix = (*k)[cuda::Instruction::HMMA] + (*k)[cuda::Instruction::HGMMA];
  unsigned local = (*k)[cuda::Instruction::LDL] + (*k)[cuda::Instruction::STL];
  row.update({{"registers", k->registers},
              {"shared", shared},
              {"spill_bytes", k->stackBytes},
              {"local_instructions", local},
              {"matrix_instructions", matrix}});
  std::printf(" %u registers, %u B shared", k->registers, shared);
  if (matrix)
    std::printf(", %u matrix instructions", matrix);
  if (k->spills())
    std::printf(", SPILLS: %u B of stack, %u local accesses", k->stackBytes, local);
  return row;
}

void printKernels(const PlanFile &file, nlohmann::json &json) {
  const fb::Plan &plan = file.plan();
  std::map<uint32_t, int> launches;
  forEachCommand(plan, [&](const fb::Profile &, const fb::Program &, const fb::Segment &,
                           const fb::Command &c) {
    if (c.body_type() == fb::CommandBody::Launch)
      ++launches[c.body_as_Launch()->kernel()];
  });
  for (uint32_t i = 0; i < count(plan.kernels()); ++i) {
    const fb::Kernel *kernel = plan.kernels()->Get(i);
    std::printf("%-44s %3d launches", text(kernel->name()).c_str(), launches[i]);
    nlohmann::json row = {{"kernel", text(kernel->name())}, {"launches", launches[i]}};
    for (const fb::KernelVariant *v : *kernel->variants())
      row["variants"].push_back(printVariant(file, *v));
    if (const fb::KernelWork *work = kernel->work()) {
      std::printf(", FLOP: %.4g in products, %.4g others, %.4g special", work->matrix_flops(),
                  work->alu_flops(), work->special_flops());
      row["work"] = {{"matrix_flops", work->matrix_flops()},
                     {"alu_flops", work->alu_flops()},
                     {"special_flops", work->special_flops()}};
    }
    std::printf("\n");
    if (kernel->source() && kernel->source()->size()) {
      std::printf("%s\n", kernel->source()->c_str());
      row["source"] = text(kernel->source());
    }
    json["kernels"].push_back(row);
  }
}

} // namespace

int tool::printPlan(const std::string &path, const PlanTextOptions &options) {
  PlanFile file;
  if (int code = file.open(path))
    return code;
  const fb::Plan &plan = file.plan();
  nlohmann::json json = {{"model", text(plan.model())}, {"ranks", plan.ranks()}};
  printSummary(plan);
  if (options.memory)
    printMemory(plan, json);
  if (options.kernels)
    printKernels(file, json);
  if (!options.memory && !options.kernels)
    printPrograms(plan);
  if (options.json.empty())
    return 0;
  return writeText(options.json, json.dump(1) + "\n");
}
