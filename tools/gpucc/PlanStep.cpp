//===- PlanStep.cpp - commands to events ----------------------------------===//
#include "PlanStep.h"

#include "gpucc/CostModel/Collectives.h"
#include "gpucc/CostModel/OpCost.h"
#include "gpucc/Simulate/Events.h"
#include "plan_generated.h"

#include <algorithm>
#include <cmath>

namespace gpucc::tool {

namespace fb = gpucc::rt::plan;
using cost::OpKind;
using cost::OpWork;

namespace {

double widthOf(fb::DType type) {
  static const double widths[] = {8, 4, 2, 2, 1, 1, 8, 4, 2, 1, 8, 4, 2, 1, .5, .5, 1};
  return widths[static_cast<int>(type)];
}

DType typeOf(fb::DType type) {
  switch (type) {
  case fb::DType::f64:
    return DType::F64;
  case fb::DType::f16:
    return DType::F16;
  case fb::DType::bf16:
    return DType::BF16;
  case fb::DType::f8e4m3:
  case fb::DType::f8e5m2:
    return DType::F8E4M3;
  default:
    return DType::F32;
  }
}

struct Priced {
  OpWork work;
  std::string what;
};

/// What a generated kernel works: bytes by its views, operations by what the compiler noted.
Priced ofLaunch(const fb::Plan &plan, const fb::Launch &launch) {
  const fb::Kernel &kernel = *plan.kernels()->Get(launch.kernel());
  Priced p{{}, "other kernels"};
  p.work.kind = OpKind::Pointwise;
  OpFacts &facts = p.work.facts;
  uint32_t views = launch.arguments() && kernel.arguments()
                       ? std::min(launch.arguments()->size(), kernel.arguments()->size())
                       : 0;
  for (uint32_t i = 0; i < views; ++i) {
    const fb::Argument *argument = launch.arguments()->Get(i);
    if (!argument->view())
      continue;
    double bytes = static_cast<double>(argument->view()->size());
    fb::Access access = kernel.arguments()->Get(i)->access();
    if (access != fb::Access::write)
      facts.bytesRead += bytes;
    if (access != fb::Access::read)
      facts.bytesWritten += bytes;
  }
  const fb::KernelWork *work = kernel.work();
  if (!work)
    return p;
  facts.aluFlops = work->alu_flops();
  facts.specialFlops = work->special_flops();
  facts.matrixFlops = work->matrix_flops();
  if (facts.matrixFlops <= 0)
    return p;
  facts.matrixType = typeOf(work->dtype());
  facts.m = work->m(), facts.n = work->n(), facts.k = work->k(), facts.batch = work->batch();
  p.work.headDim = work->head_dim(), p.work.sequence = work->keys();
  p.work.kind = work->head_dim() > 0 ? OpKind::Attention : OpKind::Matmul;
  p.what = work->head_dim() > 0 ? "attention cores" : "matrix products";
  return p;
}

double elementsOf(const fb::Operand &operand) {
  double n = 1;
  if (operand.dims())
    for (int64_t d : *operand.dims())
      n *= static_cast<double>(d);
  return n;
}

double dim(const fb::Operand &operand, int fromEnd) {
  int64_t rank = operand.dims() ? operand.dims()->size() : 0;
  return rank >= fromEnd
             ? static_cast<double>(operand.dims()->Get(static_cast<uint32_t>(rank - fromEnd)))
             : 1;
}

/// A library call: its operands say everything. A convolution is the product of its implicit form:
/// as many FLOP as 2 * (outputs) * (weights of one output).
Priced ofLibrary(const fb::LibraryCall &call) {
  Priced p{{}, "other kernels"};
  const auto &operands = *call.operands();
  p.work.kind = OpKind::Pointwise;
  for (uint32_t i = 0; i < operands.size(); ++i)
    (i + 1 == operands.size() ? p.work.facts.bytesWritten : p.work.facts.bytesRead) +=
        elementsOf(*operands.Get(i)) * widthOf(operands.Get(i)->dtype());
  if (call.extra_operands())
    for (const fb::Operand *more : *call.extra_operands())
      p.work.facts.bytesRead += elementsOf(*more) * widthOf(more->dtype());
  p.work.facts.matrixType = typeOf(operands.Get(0)->dtype());
  bool convolves = call.kind() == fb::LibraryKind::conv ||
                   call.kind() == fb::LibraryKind::conv_backward_data ||
                   call.kind() == fb::LibraryKind::conv_backward_weights;
  if ((call.kind() != fb::LibraryKind::matmul && !convolves) || operands.size() < 3)
    return p;
  p.work.kind = OpKind::Matmul;
  p.what = "matrix products";
  OpFacts &facts = p.work.facts;
  double m, n, k, batch = 1;
  if (call.kind() == fb::LibraryKind::matmul) {
    m = dim(*operands.Get(0), 2), k = dim(*operands.Get(0), 1), n = dim(*operands.Get(2), 1);
    batch = elementsOf(*operands.Get(2)) / std::max(1.0, m * n);
  } else {
    bool data = call.kind() == fb::LibraryKind::conv_backward_data;
    bool weights = call.kind() == fb::LibraryKind::conv_backward_weights;
    const fb::Operand &filter = *operands.Get(weights ? 2 : 1);
    const fb::Operand &out = *operands.Get(data ? 0 : weights ? 1 : 2);
    double outputs = static_cast<double>(filter.dims()->Get(0));
    n = outputs, k = elementsOf(filter) / outputs, m = elementsOf(out) / outputs;
  }
  facts.matrixFlops = 2 * batch * m * n * k;
  facts.m = static_cast<int64_t>(m), facts.n = static_cast<int64_t>(n);
  facts.k = static_cast<int64_t>(k), facts.batch = static_cast<int64_t>(std::max(1.0, batch));
  return p;
}

/// Memory traffic of a copy or a fill.
Priced ofBytes(double read, double written) {
  Priced p{{}, "copies and fills"};
  p.work.kind = OpKind::Pointwise;
  p.work.facts.bytesRead = read;
  p.work.facts.bytesWritten = written;
  return p;
}

class PlanClock {
public:
  PlanClock(const fb::Plan &plan, const fb::Profile &profile, const cost::Machine &machine,
            const cost::Calibration &calibration)
      : plan(plan), profile(profile), machine(machine), calibration(calibration) {}

  PlanStep run() {
    step.stages.resize(profile.programs()->size());
    for (const fb::Program *program : *profile.programs())
      add(*program);
    step.error = graph.run();
    if (!step.error.empty())
      return std::move(step);
    step.seconds = graph.total();
    for (const Shown &s : shown) {
      PlanStageStep &stage = step.stages[s.stage];
      double start = graph.start(s.event), end = graph.end(s.event);
      stage.end = std::max(stage.end, end);
      if (s.stream == 0)
        stage.compute += end - start;
      const char *kind = s.communicates ? "communication" : s.stream == 0 ? "compute" : "beside";
      step.trace.push_back({plan.stages()->Get(static_cast<uint32_t>(s.stage))->first_rank(), kind,
                            s.name, start, end});
    }
    return std::move(step);
  }

private:
  struct Shown {
    int event;
    size_t stage;
    uint32_t stream;
    bool communicates;
    std::string name;
  };

  void add(const fb::Program &program) {
    base = streams;
    streams += static_cast<int>(program.streams()->size());
    recorded.clear();
    const fb::Script *script = program.scripts()->Get(0);
    for (const fb::Step *part : *script->steps()) {
      const fb::Segment *segment = program.segments()->Get(part->segment());
      if (segment->commands())
        for (const fb::Command *command : *segment->commands())
          add(program, *command);
    }
  }

  void add(const fb::Program &program, const fb::Command &c) {
    int stream = base + static_cast<int>(c.stream());
    if (const fb::EventRecord *record = c.body_as_EventRecord()) {
      recorded[record->event()] = graph.add(stream, 0);
      return;
    }
    if (const fb::EventWait *wait = c.body_as_EventWait()) {
      auto it = recorded.find(wait->event());
      graph.add(stream, 0,
                it == recorded.end() ? std::vector<int>{} : std::vector<int>{it->second});
      return;
    }
    if (const fb::Collective *collective = c.body_as_Collective()) {
      addCollective(program, c, *collective, stream);
      return;
    }
    Priced priced;
    if (const fb::Launch *launch = c.body_as_Launch())
      priced = ofLaunch(plan, *launch);
    else if (const fb::LibraryCall *call = c.body_as_LibraryCall())
      priced = ofLibrary(*call);
    else if (const fb::Copy *copy = c.body_as_Copy())
      priced = ofBytes(static_cast<double>(copy->bytes() * copy->rows()),
                       static_cast<double>(copy->bytes() * copy->rows()));
    else if (const fb::Fill *fill = c.body_as_Fill())
      priced = ofBytes(0, static_cast<double>(fill->destination()->size()));
    double seconds = cost::opCost(machine.device, priced.work, calibration).seconds;
    const OpFacts &facts = priced.work.facts;
    note(program.stage(), priced.what, seconds, facts.bytesRead + facts.bytesWritten,
         facts.matrixFlops);
    std::string name = c.name() && c.name()->size() ? c.name()->str() : priced.what;
    shown.push_back({graph.add(stream, seconds), program.stage(), c.stream(), false, name});
  }

  void note(uint32_t stage, const std::string &what, double seconds, double bytes, double flops) {
    PlanWork &work = step.stages[stage].classes[what];
    ++work.commands;
    work.seconds += seconds;
    work.bytes += bytes;
    work.flops += flops;
  }

  /// The ranks that differ only in the communicator's axes.
  cost::RankGroup groupOf(const fb::Communicator &communicator) const {
    const fb::Stage &stage = *plan.stages()->Get(communicator.stage());
    if (communicator.kind() == fb::CommunicatorKind::stage_pair) {
      const fb::Stage &to = *plan.stages()->Get(static_cast<uint32_t>(communicator.to_stage()));
      return {2, std::max<int64_t>(1, std::llabs(int64_t(to.first_rank()) - stage.first_rank()))};
    }
    cost::RankGroup group{1, 1};
    int64_t stride = 1;
    std::vector<uint32_t> axes;
    if (communicator.axes()) // none: a communicator of one rank
      axes.assign(communicator.axes()->begin(), communicator.axes()->end());
    for (uint32_t a = stage.axes() ? stage.axes()->size() : 0; a-- > 0;) {
      int64_t size = stage.axes()->Get(a)->size();
      if (std::find(axes.begin(), axes.end(), a) != axes.end()) {
        if (group.size == 1)
          group.stride = stride;
        group.size *= size;
      }
      stride *= size;
    }
    return group;
  }

  void addCollective(const fb::Program &program, const fb::Command &c, const fb::Collective &k,
                     int stream) {
    const fb::Communicator &communicator = *plan.communicators()->Get(k.communicator());
    cost::RankGroup group = groupOf(communicator);
    double bytes = widthOf(k.dtype()) * static_cast<double>(k.count());
    auto [kind, whole] = formOf(k.kind(), group.size);
    double seconds = cost::collectiveCost(machine, kind, bytes * whole, group, calibration).seconds;
    // Both stages of a pair meet: the n-th send of one with the n-th receive of the other.
    int meeting = -1;
    if (communicator.kind() == fb::CommunicatorKind::stage_pair) {
      bool point = k.kind() == fb::CollectiveKind::send || k.kind() == fb::CollectiveKind::recv;
      int number = counts[{program.stage(), k.communicator(), static_cast<int>(k.kind())}]++;
      std::array<int, 3> key = {static_cast<int>(k.communicator()),
                                point ? -1 : static_cast<int>(k.kind()), number};
      meeting = meetings.insert({key, static_cast<int>(meetings.size())}).first->second;
    }
    std::string name =
        std::string(fb::EnumNameCollectiveKind(k.kind())) + " over " + communicator.name()->str();
    note(program.stage(), name, seconds, bytes, 0);
    shown.push_back(
        {graph.add(stream, seconds, {}, meeting), program.stage(), c.stream(), true, name});
  }

  /// The cost model's kind, and how often the full tensor holds what one member brings.
  static std::pair<cost::Collective, double> formOf(fb::CollectiveKind kind, int64_t members) {
    double n = static_cast<double>(members);
    switch (kind) {
    case fb::CollectiveKind::all_gather:
      return {cost::Collective::AllGather, n};
    case fb::CollectiveKind::reduce_scatter:
      return {cost::Collective::ReduceScatter, n};
    case fb::CollectiveKind::all_to_all:
      return {cost::Collective::AllToAll, n};
    case fb::CollectiveKind::broadcast:
      return {cost::Collective::Broadcast, 1};
    case fb::CollectiveKind::permute:
    case fb::CollectiveKind::send:
    case fb::CollectiveKind::recv:
      return {cost::Collective::SendRecv, 1};
    case fb::CollectiveKind::all_reduce:
      break;
    }
    return {cost::Collective::AllReduce, 1};
  }

  const fb::Plan &plan;
  const fb::Profile &profile;
  const cost::Machine &machine;
  const cost::Calibration &calibration;
  PlanStep step;
  simulate::EventGraph graph;
  int streams = 0, base = 0;
  std::map<uint32_t, int> recorded; ///< event of the program -> event of the graph
  std::map<std::array<int, 3>, int> meetings;
  std::map<std::tuple<uint32_t, uint32_t, int>, int> counts;
  std::vector<Shown> shown;
};

} // namespace

int64_t ranksOf(const PlanFile &file) { return file.plan().ranks(); }

PlanStep simulatePlan(const fb::Plan &plan, const std::string &profile,
                      const cost::Machine &machine, const cost::Calibration &calibration) {
  std::string names;
  for (const fb::Profile *p : *plan.profiles()) {
    if (profile.empty() || p->name()->str() == profile)
      return PlanClock(plan, *p, machine, calibration).run();
    names += (names.empty() ? "" : ", ") + p->name()->str();
  }
  PlanStep wrong;
  wrong.error = "--profile: found '" + profile + "', allowed one of the plan's: " + names;
  return wrong;
}

} // namespace gpucc::tool
