//===- Executor.cpp - Fibers, blocks and the order in which they run ------===//
//
// Switching fibers saves the callee-saved registers on the old stack and loads them from the new
// one: about 2 ns. A lane runs until it meets others (barrier, warp operation) or returns; then
// another ready lane of its warp runs, then the next warp.
//
//===----------------------------------------------------------------------===//

#include "Executor.h"
#include "State.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sys/mman.h>

using namespace gpucc::rt::simt;

#if !defined(__x86_64__)
#error "the simt executor switches stacks in x86-64 assembly; port gpuccSimtSwitch to this machine"
#endif
extern "C" void gpuccSimtSwitch(void **save, void *to);
asm(R"(
.text
.globl gpuccSimtSwitch
.hidden gpuccSimtSwitch
.type gpuccSimtSwitch,@function
gpuccSimtSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gpuccSimtSwitch,.-gpuccSimtSwitch
)");

static void fiberEntry() {
  Lane *lane = self();
  lane->state->kernel->entry(lane->state->arguments);
  lane->state->laneReturned();
  __builtin_unreachable();
}

Executor::State::State() {
  const size_t bytes = (maxThreads + 1) * stackBytes;
  reserved = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED)
    throw std::bad_alloc();
  stacks = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(reserved) + stackBytes - 1) &
                                    ~(stackBytes - 1));
  for (unsigned i = 0; i < maxThreads; ++i)
    new (laneAt(i)) Lane();
  sharedArena = static_cast<char *>(aligned_alloc(1024, sharedArenaBytes));
}

Executor::State::~State() {
  for (unsigned i = 0; i < maxThreads; ++i)
    laneAt(i)->~Lane();
  munmap(reserved, (maxThreads + 1) * stackBytes);
  free(sharedArena);
}

Executor::Executor() : state(std::make_unique<State>()) {}
Executor::~Executor() = default;
const Footprint &Executor::footprint() const { return state->footprint; }
uint64_t Executor::switches() const { return state->switches; }

Moment Executor::State::now(const void *pc) const {
  Moment m;
  m.block = blockNumber;
  m.barrier = barrierEpoch;
  m.warp = current->warp->epoch;
  m.thread = static_cast<uint16_t>(current->linear);
  m.pc = kernel->image->offsetOf(pc);
  return m;
}

void Executor::State::switchTo(Lane *to) {
  Lane *from = current;
  if (from && from->guard != stackGuard) {
    report(FindingKind::BadLaunch,
           "the thread's stack of 64 KiB overflowed; make local arrays smaller", from->pc);
    aborted = true;
    to = nullptr;
    from->guard = stackGuard;
  }
  current = to;
  ++switches;
  gpuccSimtSwitch(from ? &from->stackPointer : &mainStack, to ? to->stackPointer : mainStack);
}

unsigned Executor::State::pick(unsigned mask) {
  if (options.seed)
    for (unsigned skip = random() % static_cast<unsigned>(__builtin_popcount(mask)); skip; --skip)
      mask &= mask - 1;
  return static_cast<unsigned>(__builtin_ctz(mask));
}

void Executor::State::leave() {
  Warp *warp = current->warp;
  if (!warp->ready)
    return switchTo(nullptr);
  const unsigned first = static_cast<unsigned>(warp - warps.data()) * 32;
  switchTo(laneAt(first + pick(warp->ready)));
}

void Executor::State::abort() {
  aborted = true;
  switchTo(nullptr); // the block's fibers are never resumed
  __builtin_unreachable();
}

void Executor::State::laneReturned() {
  Warp *warp = current->warp;
  const unsigned bit = 1u << current->lane;
  warp->ready &= ~bit;
  warp->done |= bit;
  --live;
  if ((warp->atCollective & warp->mask) && (warp->mask & bit)) {
    report(FindingKind::BadCollective,
           "returned while other lanes of its warp wait for it at " + std::string(warp->site) +
               "; all lanes of the mask must reach the operation",
           warp->pc);
    aborted = true;
    switchTo(nullptr);
  }
  if (waiting) {
    report(FindingKind::DivergentBarrier,
           "returned while " + std::to_string(waiting) +
               " threads of its block wait at a barrier; every thread of the block must reach it, "
               "so move the barrier out of the branch",
           barrierPc);
    aborted = true;
    switchTo(nullptr);
  }
  leave();
}

void Executor::State::runBlock() {
  const unsigned warpCount = (threads + 31) / 32;
  live = threads;
  waiting = 0;
  barrierEpoch = 1;
  memset(sharedArena, 0xff, std::max(sharedUsed, size_t(1)));
  warps.assign(warpCount, Warp());
  for (unsigned w = 0; w < warpCount; ++w) {
    const unsigned lanes = std::min(32u, threads - w * 32);
    warps[w].exist = warps[w].ready = lanes == 32 ? ~0u : (1u << lanes) - 1;
  }
  for (unsigned i = 0; i < threads; ++i) {
    Lane &lane = *laneAt(i);
    lane.threadIdx = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
    lane.blockIdx = blockIdx;
    lane.blockDim = block;
    lane.gridDim = grid;
    lane.lane = i % 32;
    lane.linear = i;
    lane.state = this;
    lane.warp = &warps[i / 32];
    lane.site = "its first instruction";
    lane.pc = nullptr;
    lane.copies.clear();
    lane.groups.clear();
    lane.guard = stackGuard;
    void **sp = reinterpret_cast<void **>(stacks + (size_t(i) + 1) * stackBytes);
    *--sp = nullptr; // keeps the stack 16-byte aligned at the entry
    *--sp = reinterpret_cast<void *>(fiberEntry);
    for (int r = 0; r < 6; ++r)
      *--sp = nullptr;
    lane.stackPointer = sp;
  }
  std::vector<unsigned> order(warpCount);
  for (unsigned w = 0; w < warpCount; ++w)
    order[w] = w;
  while (live && !aborted) {
    bool progress = false;
    if (options.seed)
      std::shuffle(order.begin(), order.end(), random);
    for (unsigned w : order)
      while (warps[w].ready && !aborted) {
        progress = true;
        switchTo(laneAt(w * 32 + pick(warps[w].ready)));
      }
    if (!progress && live && !aborted) {
      reportStuck(FindingKind::Deadlock, "no thread can go on");
      aborted = true;
    }
  }
}

/// What a device would refuse as an invalid value.
static std::string illegalLaunch(Dim3 grid, Dim3 block, size_t dynamicShared) {
  if (!block.count() || block.count() > maxThreads || block.z > 64)
    return "a block of " + std::to_string(block.count()) +
           " threads; 1 to 1024 are allowed, z <= 64";
  if (!grid.count() || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return "a grid of (" + std::to_string(grid.x) + "," + std::to_string(grid.y) + "," +
           std::to_string(grid.z) + "); at least 1, x < 2^31, y and z <= 65535 are allowed";
  if (dynamicShared > 227 << 10)
    return std::to_string(dynamicShared) + " bytes of dynamic shared memory; 232448 are allowed";
  return {};
}

std::vector<Finding> Executor::launch(const Kernel &kernel, Dim3 grid, Dim3 block,
                                      size_t dynamicSharedBytes, void **arguments,
                                      const MemoryMap &memory, const LaunchOptions &options) {
  State &s = *state;
  s.kernel = &kernel;
  s.arguments = arguments;
  s.memory = &memory;
  s.options = options;
  s.findings.clear();
  s.footprint.clear();
  s.seen.clear();
  s.random.seed(options.seed);
  s.grid = grid;
  s.block = block;
  s.switches = 0;
  s.aborted = false;
  s.current = nullptr;
  s.shared.clear();
  s.sharedUsed = 0;
  s.rangeLow = 1;
  s.rangeHigh = 0;
  if (std::string why = illegalLaunch(grid, block, dynamicSharedBytes); !why.empty())
    return {{FindingKind::BadLaunch, "illegal launch of kernel '" + kernel.name + "': " + why}};
  s.threads = static_cast<unsigned>(block.count());
  if (s.blockNumber > 0xffffffffu - grid.count() % 0xffffffffu) { // numbers of blocks start over
    s.blockNumber = 0;
    s.shadow = Shadow();
  }
  s.shadow.beginLaunch(s.blockNumber + 1);
  for (unsigned z = 0; z < grid.z && !s.aborted; ++z)
    for (unsigned y = 0; y < grid.y && !s.aborted; ++y)
      for (unsigned x = 0; x < grid.x && !s.aborted; ++x) {
        s.blockIdx = {x, y, z};
        ++s.blockNumber;
        s.runBlock();
      }
  return std::move(s.findings);
}
