//===- Work.cpp - Streams, events, copies, kernels ------------------------===//

#include "Api.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

using namespace gpucc::rt::fakecuda;

namespace gpucc::rt::cuda {

static FakeStream &streamOf(Stream stream, FakeDevice &here) {
  return stream ? *reinterpret_cast<FakeStream *>(stream) : here.defaultStream;
}

FAKE(cuStreamCreate)(Stream *stream, unsigned flags) {
  ENTER;
  (void)flags;
  auto *made = new FakeStream;
  made->device = here;
  here->streams.insert(made);
  *stream = reinterpret_cast<Stream>(made);
  return success;
}
FAKE(cuStreamDestroy)(Stream stream) {
  ENTER;
  FakeStream &s = streamOf(stream, *here);
  here->runUntil(s.last);
  here->streams.erase(&s);
  delete &s;
  return success;
}
FAKE(cuStreamSynchronize)(Stream stream) {
  ENTER;
  FakeStream &s = streamOf(stream, *here);
  if (s.capture)
    return misuse(captureUnsupported, __func__, "the stream is capturing");
  return here->runUntil(s.last);
}
FAKE(cuStreamQuery)(Stream stream) {
  ENTER;
  FakeStream &s = streamOf(stream, *here);
  if (s.capture)
    return misuse(captureUnsupported, __func__, "the stream is capturing");
  if (here->stickyError)
    return here->stickyError;
  here->runReady(s.last); // somebody who polls must see progress
  return here->stickyError ? here->stickyError : !s.last || s.last->done ? success : notReady;
}
FAKE(cuStreamWaitEvent)(Stream stream, Event event, unsigned flags) {
  ENTER;
  (void)flags;
  FakeStream &s = streamOf(stream, *here);
  auto &e = *reinterpret_cast<FakeEvent *>(event);
  if (!e.recorded)
    return success; // as on a device: nothing to wait for
  if (e.capture) {
    if (s.capture && s.capture != e.capture)
      return misuse(captureMerge, __func__, "the event belongs to another capture");
    s.capture = e.capture;
    for (Node *node : e.front)
      if (std::find(s.front.begin(), s.front.end(), node) == s.front.end())
        s.front.push_back(node);
    return success;
  }
  if (s.capture)
    return misuse(captureIsolation, __func__,
                  "a captured stream waits for an event that was recorded outside the capture");
  auto operation = std::make_shared<Operation>();
  if (s.last)
    operation->after.push_back(s.last);
  if (e.operation)
    operation->after.push_back(e.operation);
  s.last = operation;
  here->enroll(operation);
  return success;
}

FAKE(cuEventCreate)(Event *event, unsigned flags) {
  ENTER;
  (void)flags;
  auto *made = new FakeEvent;
  made->device = here;
  *event = reinterpret_cast<Event>(made);
  return success;
}
FAKE(cuEventDestroy)(Event event) {
  ENTER;
  delete reinterpret_cast<FakeEvent *>(event);
  return success;
}
FAKE(cuEventRecord)(Event event, Stream stream) {
  ENTER;
  FakeStream &s = streamOf(stream, *here);
  auto &e = *reinterpret_cast<FakeEvent *>(event);
  e.recorded = true;
  e.capture = s.capture;
  if (s.capture) {
    e.front = s.front;
    return success;
  }
  const int result = here->submit(s, Node::empty, nullptr);
  e.operation = s.last;
  return result;
}
FAKE(cuEventSynchronize)(Event event) {
  ENTER;
  return here->runUntil(reinterpret_cast<FakeEvent *>(event)->operation);
}
FAKE(cuEventQuery)(Event event) {
  ENTER;
  auto &e = *reinterpret_cast<FakeEvent *>(event);
  return here->stickyError                   ? here->stickyError
         : !e.operation || e.operation->done ? success
                                             : notReady;
}
FAKE(cuEventElapsedTime)(float *milliseconds, Event begin, Event end) {
  ENTER;
  auto &b = *reinterpret_cast<FakeEvent *>(begin), &e = *reinterpret_cast<FakeEvent *>(end);
  if (!b.operation || !e.operation)
    return invalidValue;
  if (!b.operation->done || !e.operation->done)
    return notReady;
  *milliseconds = static_cast<float>(e.operation->finished - b.operation->finished);
  return success;
}

/// Device addresses must be inside an allocation of this device; other addresses are host memory.
static int checkRange(FakeDevice &here, const char *function, DevicePointer p, size_t bytes) {
  auto it = here.allocations.upper_bound(p);
  if (it == here.allocations.begin())
    return success;
  --it;
  if (p < it->first + it->second.bytes && p + bytes > it->first + it->second.bytes)
    return misuse(invalidValue, function,
                  here.memory.describe(p) + ": " + std::to_string(bytes) + " bytes do not fit");
  return success;
}

FAKE(cuMemcpyAsync)(DevicePointer destination, DevicePointer source, size_t bytes, Stream stream) {
  ENTER;
  for (DevicePointer p : {destination, source})
    if (int wrong = checkRange(*here, __func__, p, bytes))
      return wrong;
  return here->submit(streamOf(stream, *here), Node::copy, [=] {
    auto *to = reinterpret_cast<void *>(destination);
    const auto *from = reinterpret_cast<const void *>(source);
    noteLabel("a copy of " + std::to_string(bytes) + " bytes");
    noteAccess(from, bytes, /*write=*/false);
    noteAccess(to, bytes, /*write=*/true);
    memmove(to, from, bytes);
    return Progress::done;
  });
}
FAKE(cuMemcpy2DAsync)(const Copy2D *copy, Stream stream) {
  ENTER;
  const Copy2D c = *copy;
  if (c.sourceType != memoryTypeUnified || c.destinationType != memoryTypeUnified)
    return misuse(notSupported, __func__, "only unified addresses are emulated");
  if (c.bytes > c.sourcePitch || c.bytes > c.destinationPitch)
    return misuse(invalidValue, __func__, "a row is wider than its pitch");
  if (c.rows) {
    if (int wrong = checkRange(*here, __func__, c.source, (c.rows - 1) * c.sourcePitch + c.bytes))
      return wrong;
    if (int wrong =
            checkRange(*here, __func__, c.destination, (c.rows - 1) * c.destinationPitch + c.bytes))
      return wrong;
  }
  return here->submit(streamOf(stream, *here), Node::copy, [=] {
    noteLabel("a copy of " + std::to_string(c.rows) + " rows");
    for (size_t row = 0; row < c.rows; ++row) {
      char *to = reinterpret_cast<char *>(c.destination) + row * c.destinationPitch;
      const char *from = reinterpret_cast<const char *>(c.source) + row * c.sourcePitch;
      noteAccess(from, c.bytes, /*write=*/false);
      noteAccess(to, c.bytes, /*write=*/true);
      memmove(to, from, c.bytes);
    }
    return Progress::done;
  });
}

static int fill(FakeDevice &here, const char *function, DevicePointer to, size_t pitch,
                uint32_t value, size_t elementBytes, size_t width, size_t height, Stream stream) {
  if (to % elementBytes)
    return misuse(invalidValue, function, "the address is no multiple of the element size");
  if (height && width)
    if (int wrong = checkRange(here, function, to, (height - 1) * pitch + width * elementBytes))
      return wrong;
  return here.submit(streamOf(stream, here), Node::fill, [=] {
    noteLabel("a fill");
    for (size_t y = 0; y < height; ++y) {
      char *row = reinterpret_cast<char *>(to) + y * pitch;
      noteAccess(row, width * elementBytes, /*write=*/true);
      for (size_t x = 0; x < width; ++x)
        memcpy(row + x * elementBytes, &value, elementBytes);
    }
    return Progress::done;
  });
}
FAKE(cuMemsetD8Async)(DevicePointer destination, unsigned char value, size_t count, Stream stream) {
  ENTER;
  return fill(*here, __func__, destination, 0, value, 1, count, 1, stream);
}
FAKE(cuMemsetD16Async)(DevicePointer destination, unsigned short value, size_t count,
                       Stream stream) {
  ENTER;
  return fill(*here, __func__, destination, 0, value, 2, count, 1, stream);
}
FAKE(cuMemsetD32Async)(DevicePointer destination, unsigned value, size_t count, Stream stream) {
  ENTER;
  return fill(*here, __func__, destination, 0, value, 4, count, 1, stream);
}
FAKE(cuMemsetD2D32Async)(DevicePointer destination, size_t pitch, unsigned value, size_t width,
                         size_t height, Stream stream) {
  ENTER;
  return fill(*here, __func__, destination, pitch, value, 4, width, height, stream);
}

FAKE(cuModuleLoadData)(Module *module, const void *image) {
  ENTER;
  const auto *header = static_cast<const Elf64_Ehdr *>(image);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_machine != EM_X86_64)
    return misuse(
        invalidImage, __func__,
        "the fake device runs simt images only; compile with 'simt' among the architectures");
  // An image carries no size: the section table is its end.
  const size_t size = header->e_shoff + size_t(header->e_shnum) * header->e_shentsize;
  auto made = std::make_unique<FakeModule>();
  made->device = here;
  std::string error;
  made->image = simt::Image::load(image, size, error);
  if (!made->image)
    return misuse(invalidImage, __func__, error);
  *module = reinterpret_cast<Module>(made.release());
  return success;
}
FAKE(cuModuleUnload)(Module module) {
  ENTER;
  here->runAll();
  delete reinterpret_cast<FakeModule *>(module);
  return success;
}
FAKE(cuModuleGetFunction)(Function *function, Module module, const char *name) {
  ENTER;
  auto &m = *reinterpret_cast<FakeModule *>(module);
  std::unique_ptr<FakeFunction> &slot = m.functions[name];
  if (!slot) {
    slot = std::make_unique<FakeFunction>();
    slot->device = here;
    if (!m.image->find(name, slot->kernel)) {
      m.functions.erase(name);
      return misuse(notFound, __func__, std::string("the image has no kernel '") + name + "'");
    }
  }
  *function = reinterpret_cast<Function>(slot.get());
  return success;
}
FAKE(cuFuncGetAttribute)(int *value, int attribute, Function function) {
  ENTER;
  auto &f = *reinterpret_cast<FakeFunction *>(function);
  *value = attribute == functionMaxDynamicShared ? static_cast<int>(f.maxDynamicShared) : 0;
  return success;
}
FAKE(cuFuncSetAttribute)(Function function, int attribute, int value) {
  ENTER;
  if (attribute != functionMaxDynamicShared)
    return success;
  if (value < 0 || value > 232448)
    return misuse(invalidValue, __func__, "more than 232448 bytes of dynamic shared memory");
  reinterpret_cast<FakeFunction *>(function)->maxDynamicShared = static_cast<unsigned>(value);
  return success;
}

/// Runs a kernel with copies of its arguments.
static Progress runKernel(FakeDevice &here, const FakeFunction &function, simt::Dim3 grid,
                          simt::Dim3 block, unsigned shared,
                          const std::vector<std::vector<char>> &arguments) {
  if (injectedFailure(&Options::loseDevice)) {
    addReport("injected failure: the device is gone");
    here.stickyError = deviceLost;
    return Progress::failed;
  }
  if (injectedFailure(&Options::failLaunch)) {
    addReport("injected failure: kernel '" + function.kernel.name + "'");
    return Progress::failed;
  }
  if (!here.executor)
    here.executor = std::make_unique<simt::Executor>();
  std::vector<void *> pointers;
  for (const std::vector<char> &argument : arguments)
    pointers.push_back(const_cast<char *>(argument.data()));
  pointers.push_back(nullptr);
  simt::LaunchOptions options;
  {
    std::lock_guard lock(registry().mutex);
    ++registry().counters.kernelsRun;
    options.seed = registry().options.seed;
    options.races = registry().options.races;
    options.copiesEarly = registry().options.copiesEarly;
    options.footprint = registry().options.order;
  }
  const std::vector<simt::Finding> findings = here.executor->launch(
      function.kernel, grid, block, shared, pointers.data(), here.memory, options);
  if (AccessLog *log = accessLog()) {
    log->label = "kernel '" + function.kernel.name + "'";
    log->footprint = here.executor->footprint();
  }
  for (const simt::Finding &finding : findings)
    addReport(finding.text);
  return findings.empty() ? Progress::done : Progress::failed;
}

FAKE(cuLaunchKernel)(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                     Stream stream, void **arguments, void **extra) {
  ENTER;
  auto &f = *reinterpret_cast<FakeFunction *>(function);
  if (extra)
    return misuse(notSupported, __func__, "argument buffers are not emulated");
  const simt::Dim3 grid{gridX, gridY, gridZ}, block{blockX, blockY, blockZ};
  if (!grid.count() || gridY > 65535 || gridZ > 65535 || !block.count() || block.count() > 1024)
    return misuse(invalidValue, __func__,
                  "kernel '" + f.kernel.name + "': illegal grid or block (" +
                      std::to_string(gridX) + "," + std::to_string(gridY) + "," +
                      std::to_string(gridZ) + ") x (" + std::to_string(blockX) + "," +
                      std::to_string(blockY) + "," + std::to_string(blockZ) + ")");
  if (sharedBytes > f.maxDynamicShared)
    return misuse(invalidValue, __func__,
                  "kernel '" + f.kernel.name + "' asks for " + std::to_string(sharedBytes) +
                      " bytes of dynamic shared memory, its attribute allows " +
                      std::to_string(f.maxDynamicShared));
  std::vector<std::vector<char>> copies;
  for (const unsigned *bytes = f.kernel.parameterBytes; *bytes; ++bytes) {
    const char *from = static_cast<const char *>(arguments[copies.size()]);
    copies.emplace_back(from, from + *bytes);
  }
  FakeDevice *on = here;
  return here->submit(streamOf(stream, *here), Node::kernel,
                      [on, &f, grid, block, sharedBytes, copies = std::move(copies)] {
                        return runKernel(*on, f, grid, block, sharedBytes, copies);
                      });
}

} // namespace gpucc::rt::cuda

void gpuccFakeCudaDeclare(const char *label, const void *p, size_t bytes, int write) {
  noteLabel(label);
  noteAccess(p, bytes, write != 0);
}

int gpuccFakeCudaEnqueue(gpucc::rt::cuda::Stream stream, const void *key, int (*work)(void *),
                         void *data, void (*destroy)(void *)) {
  ENTER;
  std::shared_ptr<void> keep(data, destroy);
  return here->submit(
      gpucc::rt::cuda::streamOf(stream, *here), Node::hook,
      [work, keep] {
        const int result = work(keep.get());
        return result == 0 ? Progress::done : result == 1 ? Progress::notYet : Progress::failed;
      },
      key);
}
