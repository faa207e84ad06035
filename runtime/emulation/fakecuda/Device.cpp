//===- Device.cpp - The order in which operations run ---------------------===//

#include "Objects.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace gpucc::rt;
using namespace gpucc::rt::fakecuda;

constexpr int maxDevices = 64;

Registry &fakecuda::registry() {
  static Registry all;
  return all;
}

FakeDevice &fakecuda::device(int ordinal) {
  static FakeDevice devices[maxDevices];
  devices[ordinal].ordinal = ordinal;
  return devices[ordinal];
}

static thread_local FakeDevice *current = nullptr;
FakeDevice *fakecuda::currentDevice() { return current; }
void fakecuda::setCurrentDevice(FakeDevice *device) { current = device; }

void fakecuda::countCall(const char *function) {
  std::lock_guard lock(registry().mutex);
  ++registry().counters.calls[function];
}

bool fakecuda::injectedFailure(long long Options::*counter) {
  std::lock_guard lock(registry().mutex);
  long long &left = registry().options.*counter;
  return left >= 0 && left-- == 0;
}

void fakecuda::addReport(const std::string &text) {
  std::lock_guard lock(registry().mutex);
  registry().report += text + "\n";
}

void fakecuda::announceProgress() {
  int count = 0;
  {
    std::lock_guard lock(registry().mutex);
    count = registry().options.devices;
  }
  for (int i = 0; i < count; ++i)
    device(i).changed.notify_all();
}

bool FakeDevice::owns(uintptr_t p, size_t bytes) const {
  auto it = allocations.upper_bound(p);
  if (it == allocations.begin())
    return false;
  --it;
  return p + bytes <= it->first + it->second.bytes;
}

void FakeDevice::serialize(const OperationPtr &operation, const void *serial) {
  if (!serial)
    return;
  OperationPtr &last = lastOfSerial[serial];
  if (last)
    operation->after.push_back(last);
  last = operation;
}

void FakeDevice::enroll(const OperationPtr &operation) {
  std::vector<OrderChecker::Ticket> before;
  for (const OperationPtr &other : operation->after)
    before.push_back(other->ticket);
  operation->ticket = order.enroll(before);
  pending.push_back(operation);
}

int FakeDevice::submit(FakeStream &stream, Node::Kind kind, Work work, const void *serial) {
  if (stream.capture) {
    auto node = std::make_unique<Node>();
    node->kind = kind;
    node->work = std::move(work);
    node->after = stream.front;
    node->serial = serial;
    stream.front = {node.get()};
    stream.capture->nodes.push_back(std::move(node));
    return cuda::success;
  }
  if (stickyError)
    return stickyError;
  auto operation = std::make_shared<Operation>();
  operation->work = std::move(work);
  if (stream.last)
    operation->after.push_back(stream.last);
  serialize(operation, serial);
  stream.last = operation;
  enroll(operation);
  maybeRunSome();
  return cuda::success;
}

/// Work that was issued may also run before anybody waits: the host must not rely on laziness
/// either.
void FakeDevice::maybeRunSome() {
  uint64_t seed = 0;
  {
    std::lock_guard lock(registry().mutex);
    seed = registry().options.seed;
  }
  if (!seed)
    return;
  for (uint64_t n = random() % 4; n > 2 && runOne(/*mayWait=*/false);)
    n = random() % 4;
}

static thread_local AccessLog running; // of the operation under way
AccessLog *fakecuda::accessLog() {
  std::lock_guard lock(registry().mutex);
  return registry().options.order ? &running : nullptr;
}

void FakeDevice::checkOrder(const OperationPtr &operation) {
  uintptr_t address = 0;
  const std::string conflict =
      order.finish(operation->ticket, std::move(running.label), running.footprint, address);
  if (conflict.empty())
    return;
  addReport("unordered: " + conflict + " both touch " + memory.describe(address) +
            ", one of them writes, and neither a stream nor an event wait orders them; record an "
            "event after the first and wait for it before the second");
  if (!stickyError)
    stickyError = cuda::launchFailed;
}

/// Runs one operation whose predecessors are done. False: nothing could run.
bool FakeDevice::runOne(bool mayWait) {
  std::vector<OperationPtr> ready;
  for (const OperationPtr &operation : pending)
    if (std::all_of(operation->after.begin(), operation->after.end(),
                    [](const OperationPtr &before) { return before->done; }))
      ready.push_back(operation);
  uint64_t seed = 0;
  {
    std::lock_guard lock(registry().mutex);
    seed = registry().options.seed;
  }
  if (seed)
    std::shuffle(ready.begin(), ready.end(), random);
  for (const OperationPtr &operation : ready) {
    Progress progress = Progress::done;
    running = {};
    if (!stickyError && operation->work)
      progress = operation->work();
    if (progress == Progress::notYet)
      continue;
    checkOrder(operation);
    if (progress == Progress::failed && !stickyError)
      stickyError = cuda::launchFailed;
    clock += 0.001;
    operation->finished = clock;
    operation->done = true;
    operation->work = nullptr;
    operation->after.clear();
    pending.remove(operation);
    return true;
  }
  if (mayWait && !ready.empty()) {
    // Only collectives that other ranks have not reached: let them.
    std::unique_lock<std::recursive_mutex> lock(mutex, std::adopt_lock);
    changed.wait_for(lock, std::chrono::milliseconds(2));
    lock.release();
    return true;
  }
  return false;
}

int FakeDevice::runUntil(const OperationPtr &target) {
  while (target && !target->done)
    if (!runOne(/*mayWait=*/true)) {
      addReport("internal: an operation waits for one that was never issued");
      return stickyError = cuda::launchFailed;
    }
  if (target)
    order.hostSaw(target->ticket);
  return stickyError;
}

void FakeDevice::runReady(const OperationPtr &target) {
  while (target && !target->done && runOne(/*mayWait=*/false)) {
  }
  if (target && target->done)
    order.hostSaw(target->ticket);
}

int FakeDevice::runAll() {
  while (!pending.empty())
    if (!runOne(/*mayWait=*/true))
      break;
  for (FakeStream *stream : streams)
    if (stream->last && stream->last->done)
      order.hostSaw(stream->last->ticket);
  return stickyError;
}
