//===- main.cpp - A session's run against a loop over the same kernels ----===//
//
// What gpucc_rt adds to small models. The peer is what one would write by hand for this plan: the
// addresses known, the kernels called one after the other.
//
//   gpucc-bench-overhead model.plan    ->  {"launches": 50, "session_us": 3.1, "loop_us": 2.9, ...}
//
// Both get the same input and must leave the same output. Times are of one thread, in turns. Plans
// of launches only, one rank, one profile.
//
//===----------------------------------------------------------------------===//
#include "drivers/HostImage.h"
#include "session/Session.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace gpucc::rt;

namespace {

[[noreturn]] void die(const std::string &message) {
  std::fprintf(stderr, "gpucc-bench-overhead: %s\n", message.c_str());
  std::exit(2);
}

void must(Status status) {
  if (status)
    die(status.message());
}

/// The plan by hand: memory, argument lists, calls.
class Loop {
public:
  explicit Loop(const PlanImage &plan)
      : program(*plan.index().profiles()->Get(0)->programs()->Get(0)) {
    for (const plan::Arena *arena : *plan.index().stages()->Get(0)->arenas()) {
      uint64_t bytes = (arena->size() / 4096 + 1) * 4096;
      arenas.push_back(static_cast<char *>(std::aligned_alloc(4096, bytes)));
      std::memset(arenas.back(), 0, bytes);
    }
    for (const plan::Command *command : *program.segments()->Get(0)->commands()) {
      const plan::Launch *launch = command->body_as_Launch();
      if (!launch)
        die("the plan has other commands than launches");
      const plan::Kernel &kernel = *plan.index().kernels()->Get(launch->kernel());
      const plan::KernelVariant &variant = *kernel.variants()->Get(0);
      Call call = {nullptr, {}, variant.programs()};
      must(images.lookup(plan, variant.blob(), variant.symbol()->c_str(), call.kernel));
      for (const plan::Argument *argument : *launch->arguments()) {
        if (!argument->view())
          die("a launch has a scalar");
        call.arguments.push_back(address(*argument->view()));
      }
      calls.push_back(std::move(call));
    }
  }

  char *address(const plan::View &view) {
    const plan::Buffer &buffer = *program.buffers()->Get(view.buffer());
    return arenas[buffer.arena()] + buffer.offset() + view.offset();
  }
  /// Where the tensor's only buffer lies.
  char *find(uint32_t tensor) {
    for (const plan::TensorView *view : *program.views())
      if (view->tensor() == tensor) {
        const plan::Buffer &buffer = *program.buffers()->Get(view->buffer());
        return arenas[buffer.arena()] + buffer.offset();
      }
    die("a tensor has no buffer");
  }
  size_t size() const { return calls.size(); }

  void run() {
    for (Call &call : calls)
      call.kernel(call.arguments.data(), 0, call.programs);
  }

private:
  struct Call {
    HostKernel kernel;
    std::vector<void *> arguments;
    int64_t programs;
  };
  const plan::Program &program;
  HostImages images;
  std::vector<char *> arenas;
  std::vector<Call> calls;
};

template <typename F> double microseconds(F f, int times) {
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i)
    f();
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    die("usage: gpucc-bench-overhead PLAN");
  std::shared_ptr<PlanImage> plan;
  must(PlanImage::open(argv[1], plan));
  SessionOptions options;
  options.threads = 1;
  std::unique_ptr<Session> session;
  must(Session::prepare(plan, options, session));
  Loop loop(*plan);

  std::vector<float> input, output;
  for (uint32_t id = 0; id < plan->index().tensors()->size(); ++id) {
    const plan::Tensor &tensor = *plan->index().tensors()->Get(id);
    LocalView view;
    must(session->find(tensor.name()->str(), view));
    if (tensor.role() == plan::Role::input) {
      input.resize(view.globalBytes / 4);
      for (size_t i = 0; i < input.size(); ++i)
        input[i] = static_cast<float>(i % 13) / 64 - 0.1f;
      must(session->write(tensor.name()->str(), input.data(), view.globalBytes));
      std::memcpy(loop.find(id), input.data(), view.globalBytes);
    }
  }
  must(session->run());
  loop.run();
  for (uint32_t id = 0; id < plan->index().tensors()->size(); ++id) {
    const plan::Tensor &tensor = *plan->index().tensors()->Get(id);
    LocalView view;
    must(session->find(tensor.name()->str(), view));
    if (tensor.role() != plan::Role::output)
      continue;
    output.resize(view.globalBytes / 4);
    must(session->read(tensor.name()->str(), output.data(), view.globalBytes));
    if (std::memcmp(output.data(), loop.find(id), view.globalBytes))
      die("session and loop differ in '" + tensor.name()->str() + "'");
  }

  constexpr int pairs = 51, times = 200;
  std::vector<double> ours, byHand, ratios;
  for (int i = 0; i < pairs; ++i) {
    ours.push_back(microseconds([&] { (void)session->run(); }, times));
    byHand.push_back(microseconds([&] { loop.run(); }, times));
    ratios.push_back(ours.back() / byHand.back());
  }
  std::printf("{\"launches\": %zu, \"session_us\": %.3f, \"loop_us\": %.3f, \"ratio\": %.3f, "
              "\"low\": %.3f, \"high\": %.3f}\n",
              loop.size(), median(ours), median(byHand), median(ratios),
              *std::min_element(ratios.begin(), ratios.end()),
              *std::max_element(ratios.begin(), ratios.end()));
  return 0;
}
