//===- PlanWriter.cpp - from the plan dialect to a plan file --------------===//
#include "gpucc/Target/Plan/PlanWriter.h"

#include "Tables.h"
#include "dialects/Graph/Graph.h"
#include "dialects/Kernel/Kernel.h"
#include "gpucc/Support/Types.h"
#include "gpucc/Support/WeightFiles.h"
#include "gpucc_rt/PlanFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace mlir;
using namespace gpucc;

namespace {

class Writer {
public:
  Writer(ModuleOp module, const KernelCode &code, const PlanOptions &options, StringRef path)
      : module(module), code(code), options(options), path(path) {}

  LogicalResult run() {
    fillHead();
    addKernels();
    if (failed(plan::verifyModule(module)) || failed(fillPrograms(module, plan, kernelIndex)) ||
        failed(addWeights()))
      return failure();
    sortBlobs();
    fillNeeds();
    return writeFile();
  }

private:
  void fillHead() {
    plan.producer = options.producer;
    plan.model = options.model;
    plan.training = options.training;
    plan.reproducible = options.reproducible;
    plan.explanation = options.explanation;
    plan.partition_hash = options.partitionHash;
  }

  /// Content-addressed: equal bytes are one blob.
  uint32_t addBlob(fb::BlobKind kind, StringRef arch, const void *data, size_t size) {
    uint64_t hash = rt::xxh64(data, size);
    auto [it, isNew] = blobByHash.try_emplace({hash, size, arch.str()}, plan.blobs.size());
    if (isNew) {
      auto b = std::make_unique<fb::BlobT>();
      b->hash = hash;
      b->kind = kind;
      b->size = size;
      b->arch = arch.str();
      plan.blobs.push_back(std::move(b));
      blobData.push_back(data);
    }
    return it->second;
  }

  void addKernels() {
    std::vector<uint32_t> blobs;
    for (const CodeBlob &blob : code.blobs) {
      fb::BlobKind kind = blob.kind == CodeBlob::Kind::HostImage ? fb::BlobKind::host_image
                          : blob.kind == CodeBlob::Kind::Cubin   ? fb::BlobKind::cubin
                                                                 : fb::BlobKind::simt_image;
      blobs.push_back(addBlob(kind, blob.arch, blob.bytes.data(), blob.bytes.size()));
    }
    for (const KernelCodeEntry &entry : code.kernels) {
      kernelIndex[entry.name] = static_cast<uint32_t>(plan.kernels.size());
      auto k = std::make_unique<fb::KernelT>();
      k->name = entry.name;
      k->source = entry.source;
      if (auto func = module.lookupSymbol<kernel::FuncOp>(entry.name)) {
        addArguments(func, *k);
        addWork(func, *k);
      }
      for (const KernelVariantCode &variant : entry.variants) {
        auto v = std::make_unique<fb::KernelVariantT>();
        v->blob = blobs[variant.blob];
        v->symbol = variant.symbol;
        v->programs = variant.programs;
        v->grain = variant.grain;
        v->grid = std::make_unique<fb::Dim3>(variant.grid[0], variant.grid[1], variant.grid[2]);
        v->block = std::make_unique<fb::Dim3>(variant.block[0], variant.block[1], variant.block[2]);
        v->shared_bytes = variant.sharedBytes;
        v->registers = variant.registers;
        k->variants.push_back(std::move(v));
      }
      plan.kernels.push_back(std::move(k));
    }
  }

  /// Views in the order of the kernel's arguments; which are written follows from its stores.
  void addArguments(kernel::FuncOp func, fb::KernelT &k) {
    for (BlockArgument argument : func.getBody().getArguments()) {
      auto type = cast<MemRefType>(argument.getType());
      auto a = std::make_unique<fb::KernelArgumentT>();
      DType dtype = *toDType(type.getElementType());
      a->dtype = toPlan(dtype);
      a->bytes = static_cast<uint64_t>(byteSize(dtype, type.getNumElements()));
      a->name = func.getViewName(argument.getArgNumber()).str();
      bool reads = false, writes = false;
      for (OpOperand &use : argument.getUses()) {
        auto store = dyn_cast<kernel::StoreOp>(use.getOwner());
        (store && store.getDest() == argument ? writes : reads) = true;
      }
      a->access = writes ? (reads ? fb::Access::read_write : fb::Access::write) : fb::Access::read;
      k.arguments.push_back(std::move(a));
    }
  }

  void addWork(kernel::FuncOp func, fb::KernelT &k) {
    kernel::WorkAttr work = func.getWorkAttr();
    if (!work)
      return;
    k.work = std::make_unique<fb::KernelWorkT>();
    k.work->matrix_flops = static_cast<double>(work.getMatrix());
    k.work->alu_flops = static_cast<double>(work.getAlu());
    k.work->special_flops = static_cast<double>(work.getSpecial());
    k.work->m = work.getM(), k.work->n = work.getN(), k.work->k = work.getK();
    k.work->batch = work.getBatch();
    if (work.getType())
      k.work->dtype = toPlan(*toDType(work.getType()));
    k.work->head_dim = work.getHeadDim(), k.work->keys = work.getKeys();
  }

  LogicalResult addWeights() {
    for (auto program : module.getOps<plan::ProgramOp>()) {
      llvm::StringMap<uint32_t> arenas;
      for (auto [i, arena] : llvm::enumerate(program.getOps<plan::ArenaOp>()))
        arenas[arena.getSymName()] = static_cast<uint32_t>(i);
      for (auto init : program.getOps<plan::InitializeOp>())
        if (failed(addWeight(init, program, arenas)))
          return failure();
    }
    return success();
  }

  LogicalResult addWeight(plan::InitializeOp init, plan::ProgramOp program,
                          const llvm::StringMap<uint32_t> &arenas) {
    auto buffer = program.lookupSymbol<plan::BufferOp>(init.getView().getBuffer().getValue());
    if (!buffer || buffer.getBytes() == 0)
      return success(); // nothing reads it
    auto w = std::make_unique<fb::WeightT>();
    w->name = init.getName().str();
    w->stage = static_cast<uint32_t>(program.getStage());
    w->arena = arenas.at(buffer.getArena());
    w->offset = buffer.getOffset() + static_cast<uint64_t>(init.getView().getOffset());
    w->dtype = toPlan(*toDType(cast<RankedTensorType>(init.getType()).getElementType()));
    w->slices = toPlan(init.getSlices(), program.getMesh());
    FailureOr<HostTensor> source = init.getValue() ? constantSource(init) : weightSource(init, *w);
    if (failed(source))
      return failure();
    w->source_dtype = toPlan(source->dtype());
    w->source_shape = source->shape();
    if (w->file < 0) {
      w->blob = static_cast<int32_t>(
          addBlob(fb::BlobKind::constant, "", source->bytes(), source->byteSize()));
      keep.push_back(*source);
    }
    // Profiles share weights: written once.
    std::string key =
        std::to_string(w->stage) + "/" + std::to_string(w->arena) + "/" + std::to_string(w->offset);
    if (written.insert(key).second)
      plan.weights.push_back(std::move(w));
    return success();
  }

  FailureOr<HostTensor> constantSource(plan::InitializeOp init) {
    std::optional<HostTensor> tensor = toHostTensor(*init.getValue());
    if (!tensor)
      return init.emitOpError() << "has a value that is not dense";
    return *tensor;
  }

  FailureOr<HostTensor> weightSource(plan::InitializeOp init, fb::WeightT &w) {
    auto data = module.lookupSymbol<graph::WeightDataOp>(*init.getKey());
    if (!data)
      return init.emitOpError() << "names weight @" << *init.getKey()
                                << ", which the module does not have";
    auto type = cast<RankedTensorType>(data.getType());
    std::string file =
        cast<StringAttr>(module->getAttrOfType<ArrayAttr>(graph::filesAttr)[data.getFile()])
            .str(); // in range: (C2) of graph.weight_data
    if (options.externalWeights) {
      SmallString<256> absolute(options.modelFolder);
      llvm::sys::path::append(absolute, file);
      if (FailureOr<int32_t> index = externalFile(absolute); succeeded(index)) {
        w.file = *index;
        w.file_offset = data.getOffset();
        std::string unreadable; // is said when the plan is run
        if (std::optional<HostTensor> bytes = files.get(
                file, data.getOffset(), *toDType(type.getElementType()), toShape(type), unreadable))
          w.hash = rt::xxh64(bytes->bytes(), static_cast<size_t>(bytes->byteSize()));
        return HostTensor(*toDType(type.getElementType()), toShape(type), nullptr, nullptr);
      }
    }
    std::string error;
    std::optional<HostTensor> tensor =
        files.get(file, data.getOffset(), *toDType(type.getElementType()), toShape(type), error);
    if (!tensor)
      return data.emitOpError() << error;
    return *tensor;
  }

  /// Index of a file that lies in the plan's folder or below it.
  FailureOr<int32_t> externalFile(StringRef absolute) {
    SmallString<256> folder(path), real, realFolder;
    llvm::sys::path::remove_filename(folder);
    if (folder.empty())
      folder = ".";
    if (llvm::sys::fs::real_path(absolute, real) || llvm::sys::fs::real_path(folder, realFolder))
      return failure();
    StringRef relative = real;
    if (!relative.consume_front(realFolder) || !relative.consume_front("/"))
      return failure();
    for (auto [i, f] : llvm::enumerate(plan.files))
      if (f->path == relative)
        return static_cast<int32_t>(i);
    auto f = std::make_unique<fb::ExternalFileT>();
    f->path = relative.str();
    uint64_t size = 0;
    if (llvm::sys::fs::file_size(real, size))
      return failure();
    f->size = size;
    plan.files.push_back(std::move(f));
    return static_cast<int32_t>(plan.files.size() - 1);
  }

  /// By hash, so that the order of compilation does not show.
  void sortBlobs() {
    std::vector<uint32_t> order(plan.blobs.size()), place(plan.blobs.size());
    for (uint32_t i = 0; i < order.size(); ++i)
      order[i] = i;
    llvm::stable_sort(order, [&](uint32_t a, uint32_t b) {
      return std::tie(plan.blobs[a]->hash, plan.blobs[a]->arch) <
             std::tie(plan.blobs[b]->hash, plan.blobs[b]->arch);
    });
    std::vector<std::unique_ptr<fb::BlobT>> sorted;
    for (uint32_t i : order) {
      place[i] = static_cast<uint32_t>(sorted.size());
      plan.blobs[i]->offset = file.addBlob(blobData[i], plan.blobs[i]->size);
      sorted.push_back(std::move(plan.blobs[i]));
    }
    plan.blobs = std::move(sorted);
    for (auto &kernel : plan.kernels)
      for (auto &variant : kernel->variants)
        variant->blob = place[variant->blob];
    for (auto &weight : plan.weights)
      if (weight->blob >= 0)
        weight->blob = static_cast<int32_t>(place[weight->blob]);
  }

  void fillNeeds() {
    plan.needs = std::make_unique<fb::NeedsT>();
    plan.needs->target = options.cuda ? fb::Target::cuda : fb::Target::host;
    plan.needs->architectures = options.architectures;
    for (auto [s, stage] : llvm::enumerate(plan.stages)) {
      uint64_t bytes = 0;
      for (auto &arena : stage->arenas) {
        bytes += arena->size;
        auto line = std::make_unique<fb::MemoryLineT>();
        line->category = arena->name;
        line->stage = static_cast<uint32_t>(s);
        line->bytes = arena->size;
        plan.memory.push_back(std::move(line));
      }
      plan.needs->device_bytes = std::max(plan.needs->device_bytes, bytes);
    }
    for (auto &profile : plan.profiles)
      for (auto &program : profile->programs)
        for (auto &segment : program->segments)
          for (auto &command : segment->commands)
            plan.needs->onednn |= command->body.type == fb::CommandBody::LibraryCall;
  }

  LogicalResult writeFile() {
    if (llvm::any_of(plan.tensors, [](const auto &t) { return t->varying_dim >= 0; }))
      file.minimumMinor = rt::planMinorOfVaryingSizes;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(fb::Plan::Pack(builder, &plan), fb::PlanIdentifier());
    // What a link leads to is replaced, not the link; devices and pipes cannot be.
    llvm::sys::fs::file_status status;
    SmallString<256> target(path);
    if (!llvm::sys::fs::status(path, status)) {
      if (status.type() != llvm::sys::fs::file_type::regular_file)
        return module.emitError() << "cannot write the plan '" << path
                                  << "': it is not a regular file; give the path of a file";
      (void)llvm::sys::fs::real_path(path, target);
    }
    // A name of its own: two compilations must not truncate each other's file.
    SmallString<256> temporary;
    int descriptor = -1;
    std::error_code error =
        llvm::sys::fs::createUniqueFile(target + ".%%%%%%%%.tmp", descriptor, temporary);
    if (error)
      return module.emitError() << "cannot write the plan '" << path << "': " << error.message();
    {
      llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
      file.write(builder.GetBufferPointer(), builder.GetSize(), [&](const void *data, size_t n) {
        os.write(static_cast<const char *>(data), n);
        return !os.has_error();
      });
      os.close();
      error = os.error();
      os.clear_error();
    }
    if (!error)
      error = llvm::sys::fs::rename(temporary, target);
    if (error) {
      llvm::sys::fs::remove(temporary);
      return module.emitError() << "cannot write the plan '" << path << "': " << error.message();
    }
    return success();
  }

  ModuleOp module;
  const KernelCode &code;
  const PlanOptions &options;
  StringRef path;
  fb::PlanT plan;
  rt::PlanFileWriter file;
  WeightFiles files{options.modelFolder};
  std::map<std::string, uint32_t> kernelIndex;
  std::map<std::tuple<uint64_t, size_t, std::string>, uint32_t> blobByHash;
  std::vector<const void *> blobData;
  std::vector<HostTensor> keep;
  std::set<std::string> written;
};

} // namespace

LogicalResult gpucc::writePlan(ModuleOp module, const KernelCode &code, const PlanOptions &options,
                               StringRef path) {
  return Writer(module, code, options, path).run();
}
