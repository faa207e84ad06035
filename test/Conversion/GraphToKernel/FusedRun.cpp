//===- FusedRun.cpp - a function through fusion, kernels and machine code -===//
#include "FusedRun.h"

#include "../../emulation/KernelFixture.h"
#include "dialects/Kernel/Kernel.h"
#include "gpucc/Conversion/GraphToKernel/Passes.h"
#include "gpucc/Target/Cuda/Emit.h"
#include "gpucc/Target/Host/Host.h"
#include "gpucc/Transforms/Fusion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sstream>
#include <unistd.h>

using namespace mlir;
using namespace gpucc;
using namespace gpucc::test;

void gpucc::test::registerForFusedRun(DialectRegistry &registry) {
  registry
      .insert<base::BaseDialect, graph::GraphDialect, kernel::KernelDialect, func::FuncDialect>();
  host::registerHostTarget(registry);
  cuda::registerCudaTarget(registry);
}

static int64_t cudaKernels = 0;
int64_t gpucc::test::executedCudaKernels() { return cudaKernels; }

namespace {
/// What runs the kernels of a module.
struct Runner {
  virtual ~Runner() = default;
  /// `args` and `bytes` of the views; what is wrong, or "".
  virtual std::string run(StringRef name, ArrayRef<void *> args, ArrayRef<int64_t> bytes) const = 0;
};

/// The CUDA text of each kernel on the SIMT executor.
class CudaText : public Runner {
public:
  explicit CudaText(ModuleOp kernels) {
    for (auto func : kernels.getOps<kernel::FuncOp>())
      if (auto kernel = cuda::emitCuda(func); succeeded(kernel))
        texts[func.getSymName()] = *kernel;
  }

  std::string run(StringRef name, ArrayRef<void *> args, ArrayRef<int64_t> bytes) const override {
    auto it = texts.find(name);
    if (it == texts.end())
      return ("no CUDA text for kernel " + name).str();
    const cuda::CudaKernel &k = it->second;
    SimtProgram program(k.text, k.name);
    if (!program.kernel.entry)
      return "the CUDA text does not compile:\n" + k.text;
    rt::simt::MemoryMap memory;
    SmallVector<void *> values(args), pointers;
    for (size_t i = 0; i < values.size(); ++i)
      if (llvm::find(ArrayRef(values).take_front(i), values[i]) ==
          values.begin() + i) // once, where shared in place
        memory.add(values[i], static_cast<size_t>(bytes[i]), "view");
    for (void *&value : values)
      pointers.push_back(&value);
    auto dim = [](const std::array<int64_t, 3> &d) {
      return rt::simt::Dim3{unsigned(d[0]), unsigned(d[1]), unsigned(d[2])};
    };
    auto findings = program.executor.launch(program.kernel, dim(k.grid), dim(k.block), 0,
                                            pointers.data(), memory, {});
    ++cudaKernels;
    return findings.empty() ? "" : textOf(findings) + k.text;
  }

private:
  llvm::StringMap<cuda::CudaKernel> texts;
};

/// A loaded image; unloads it at the end.
class Image : public Runner {
public:
  explicit Image(const host::HostImage &image) : image(image) {
    char path[] = "/tmp/gpucc-fused-run-XXXXXX";
    int file = mkstemp(path);
    bool written = file >= 0 && write(file, image.bytes.data(), image.bytes.size()) ==
                                    ssize_t(image.bytes.size());
    if (file >= 0)
      close(file);
    if (written)
      handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (written && !handle)
      error = dlerror();
    unlink(path);
  }
  ~Image() {
    if (handle)
      dlclose(handle);
  }
  bool isLoaded() const { return handle != nullptr; }
  std::string error;

  std::string run(StringRef name, ArrayRef<void *> args, ArrayRef<int64_t>) const override {
    using Kernel = void (*)(void **, int64_t, int64_t);
    auto kernel = reinterpret_cast<Kernel>(dlsym(handle, name.str().c_str()));
    int64_t programs = 0;
    for (const host::HostKernelInfo &info : image.kernels)
      if (info.symbol == name)
        programs = info.programs;
    SmallVector<void *> list(args);
    kernel(list.data(), 0, programs / 2); // as two threads would
    kernel(list.data(), programs / 2, programs);
    return "";
  }

private:
  const host::HostImage &image;
  void *handle = nullptr;
};

/// Memory for one tensor at an address that views may have, between guard zones.
struct Buffer {
  static constexpr int64_t guard = 1024;
  explicit Buffer(int64_t bytes)
      : bytes(bytes),
        base(static_cast<char *>(std::aligned_alloc(256, (bytes + 2 * guard + 255) / 256 * 256))),
        memory(base + guard) {
    std::memset(base, 0xA5, guard);
    std::memset(base + guard + bytes, 0xA5, guard);
  }
  ~Buffer() { std::free(base); }
  bool isIntact() const {
    for (int64_t i = 0; i < guard; ++i)
      if (base[i] != char(0xA5) || base[guard + bytes + i] != char(0xA5))
        return false;
    return true;
  }
  int64_t bytes;
  char *base;
  void *memory;
};

std::string text(Operation *op) {
  std::string s;
  llvm::raw_string_ostream os(s);
  op->print(os);
  return s;
}

std::string compare(ArrayRef<HostTensor> got, ArrayRef<HostTensor> want, StringRef what,
                    const FusedRunOptions *options) {
  for (auto [r, a, b] : llvm::enumerate(got, want)) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape())
      return (what + ": result " + Twine(r) + " has another type").str();
    if (!options || !isFloat(a.dtype())) {
      if (!a.identical(b))
        return (what + ": result " + Twine(r) + " has other bits").str();
      continue;
    }
    double relative = a.dtype() == DType::F64   ? options->f64
                      : a.dtype() == DType::F32 ? options->f32
                                                : options->narrow;
    double largest = options->floor;
    for (int64_t i = 0; i < b.numElements(); ++i)
      if (std::isfinite(b.getFloat(i)))
        largest = std::max(largest, 1e-2 * std::abs(b.getFloat(i)));
    for (int64_t i = 0; i < a.numElements(); ++i) {
      double x = a.getFloat(i), y = b.getFloat(i);
      if ((std::isnan(x) && std::isnan(y)) || x == y)
        continue;
      if (!(std::abs(x - y) <= relative * std::max(std::abs(y), largest))) {
        std::ostringstream s;
        s << what.str() << ": result " << r << " element " << i << " is " << x << ", expected "
          << y;
        return s.str();
      }
    }
  }
  return "";
}

FailureOr<SmallVector<HostTensor>> runFunction(func::FuncOp function, ArrayRef<HostTensor> inputs,
                                               const Runner &runner) {
  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] : llvm::zip_equal(function.getArguments(), inputs))
    values[argument] = tensor;
  MapWeights none;
  for (Operation &op : function.getBody().front().without_terminator()) {
    SmallVector<HostTensor> operands;
    for (Value v : op.getOperands())
      operands.push_back(values.lookup(v));
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch) {
      auto results = evaluateOp(&op, operands, none);
      if (failed(results))
        return failure();
      for (auto [v, t] : llvm::zip_equal(op.getResults(), *results))
        values[v] = t;
      continue;
    }
    std::vector<std::unique_ptr<Buffer>> buffers;
    SmallVector<void *> args;
    SmallVector<int64_t> bytes;
    for (const HostTensor &t : operands) {
      bytes.push_back(t.byteSize());
      buffers.push_back(std::make_unique<Buffer>(t.byteSize()));
      std::memcpy(buffers.back()->memory, t.bytes(), t.byteSize());
      args.push_back(buffers.back()->memory);
    }
    for (Value v : launch.getOutputs()) {
      HostTensor t(*toDType(getElementTypeOrSelf(v.getType())), toShape(v.getType()));
      bytes.push_back(t.byteSize());
      buffers.push_back(std::make_unique<Buffer>(t.byteSize()));
      std::memset(buffers.back()->memory, 0xAB, t.byteSize());
      args.push_back(buffers.back()->memory);
      values[v] = t;
    }
    ArrayRef<int64_t> pairs = launch.getInplace(); // the sharing that the pass claims is legal
    for (size_t p = 0; p < pairs.size(); p += 2)
      if (llvm::count(args, args[pairs[p]]) == 1)
        args[operands.size() + pairs[p + 1]] = args[pairs[p]];
    if (std::string wrong = runner.run(launch.getKernel(), args, bytes); !wrong.empty())
      return launch.emitError(wrong);
    for (auto [i, buffer] : llvm::enumerate(buffers))
      if (!buffer->isIntact())
        return launch.emitError("the kernel wrote outside of view ") << i;
    for (auto [i, v] : llvm::enumerate(launch.getOutputs())) {
      HostTensor &t = values[v];
      std::memcpy(t.bytes(), args[operands.size() + i], t.byteSize());
    }
  }
  SmallVector<HostTensor> results;
  for (Value v : function.getBody().front().getTerminator()->getOperands())
    results.push_back(values.lookup(v));
  return results;
}

/// Ops that may stay outside of clusters.
bool mayStay(Operation *op) {
  return isa<graph::ClusterOp, graph::ReshapeOp, graph::ConstantOp, graph::WeightOp, graph::IotaOp,
             func::ReturnOp>(op) ||
         isa<graph::ContractOp, graph::ConvolutionOp, graph::ConvolutionInputGradOp,
             graph::ConvolutionFilterGradOp>(op) ||
         llvm::any_of(op->getResultTypes(),
                      [](Type t) { return cast<RankedTensorType>(t).getNumElements() == 0; });
}
} // namespace

std::string gpucc::test::checkFused(func::FuncOp function, ArrayRef<HostTensor> inputs,
                                    const FusedRunOptions &options) {
  MLIRContext *context = function.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  module->push_back(function->clone());
  auto main = [&] { return *module->getOps<func::FuncOp>().begin(); };
  MapWeights none;
  auto fail = [&](const std::string &why) { return why + "\n" + text(*module); };
  auto evaluate = [&] { return evaluateFunction(main(), inputs, none); };

  auto want = evaluate();
  if (failed(want))
    return fail("the original does not evaluate");
  auto pass = [&](auto makePass, bool onFunction) {
    PassManager pm(context);
    if (onFunction)
      pm.nest<func::FuncOp>().addPass(makePass());
    else
      pm.addPass(makePass());
    return pm.run(*module);
  };
  if (failed(pass([&] { return createPrepareFusion({options.target}); }, true)))
    return fail("gpucc-prepare-fusion failed");
  auto prepared = evaluate();
  if (failed(prepared))
    return fail("the prepared function does not evaluate");
  if (std::string d = compare(*prepared, *want, "prepared", &options); !d.empty())
    return fail(d);
  FuseOptions fuse;
  fuse.target = options.target;
  if (failed(pass([&] { return createFuse(fuse); }, true)))
    return fail("gpucc-fuse failed");
  auto fused = evaluate();
  if (failed(fused))
    return fail("the fused function does not evaluate");
  if (std::string d = compare(*fused, *prepared, "fused", nullptr); !d.empty())
    return fail(d);
  for (Operation &op : main().getBody().front())
    if (!mayStay(&op))
      return fail("'" + op.getName().getStringRef().str() + "' stayed outside of clusters");
  if (failed(pass([&] { return createOutlineKernels({options.target}); }, false)))
    return fail("gpucc-outline-kernels failed");

  OwningOpRef<ModuleOp> kernels = ModuleOp::create(UnknownLoc::get(context));
  for (auto func : module->getOps<kernel::FuncOp>())
    kernels->push_back(func->clone());
  auto runOn = [&](const Runner &runner, StringRef what) {
    auto got = runFunction(main(), inputs, runner);
    if (failed(got))
      return fail("a kernel, or an op outside of kernels, does not run as " + what.str());
    std::string d = compare(*got, *want, what, &options);
    return d.empty() ? d : fail(d);
  };
  if (options.executeCuda)
    return runOn(CudaText(*kernels), "CUDA text");
  host::HostImage image;
  if (!kernels->getBody()->empty() && failed(host::compileHostImage(*kernels, {}, image)))
    return fail("the kernels do not compile");
  Image loaded(image);
  if (!kernels->getBody()->empty() && !loaded.isLoaded())
    return fail("the image does not load: " + loaded.error);
  return runOn(loaded, "machine code");
}
