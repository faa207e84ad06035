//===- TestPlan.cpp - Hand-built plans for tests
//------------------------------------------------===//
#include "TestPlan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

using namespace gpucc::rt;
using namespace gpucc::rt::test;

std::unique_ptr<RankValueT> test::value(int64_t base, std::vector<Term> terms, int64_t slotStep,
                                        int64_t modulo) {
  auto v = std::make_unique<RankValueT>();
  v->base = base;
  v->terms = std::move(terms);
  v->slot_step = slotStep;
  v->modulo = modulo;
  return v;
}

TestPlan::TestPlan(std::vector<std::pair<std::string, uint32_t>> axes) {
  plan.producer = "test";
  plan.model = "hand-built";
  plan.needs = std::make_unique<NeedsT>();
  plan.profiles.push_back(std::make_unique<ProfileT>());
  plan.profiles[0]->name = "default";
  addStage("all");
  for (auto &[name, size] : axes) {
    auto axis = std::make_unique<AxisT>();
    axis->name = name;
    axis->size = size;
    plan.stages[0]->axes.push_back(std::move(axis));
    plan.ranks *= size;
  }
}

uint32_t TestPlan::addStage(const std::string &name, uint64_t scratch) {
  auto stage = std::make_unique<StageT>();
  stage->name = name;
  stage->first_rank = plan.ranks;
  for (bool persistent : {true, false}) {
    auto arena = std::make_unique<ArenaT>();
    arena->name = persistent ? "state" : "scratch";
    arena->size = scratch;
    arena->persistent = persistent;
    stage->arenas.push_back(std::move(arena));
  }
  plan.stages.push_back(std::move(stage));
  plan.ranks += 1;
  auto made = std::make_unique<ProgramT>();
  made->stage = static_cast<uint32_t>(plan.stages.size() - 1);
  for (StreamKind kind : {StreamKind::compute, StreamKind::communication}) {
    auto stream = std::make_unique<StreamT>();
    stream->name = EnumNameStreamKind(kind);
    stream->kind = kind;
    made->streams.push_back(std::move(stream));
  }
  plan.profiles[0]->programs.push_back(std::move(made));
  current = plan.profiles[0]->programs.back()->stage;
  segment("main");
  return current;
}

void TestPlan::segment(const std::string &name) {
  auto made = std::make_unique<SegmentT>();
  made->name = name;
  program().segments.push_back(std::move(made));
}

void TestPlan::script(std::vector<std::pair<uint32_t, uint32_t>> steps) {
  auto made = std::make_unique<ScriptT>();
  made->name = "main";
  for (auto [segment, slot] : steps)
    made->steps.emplace_back(segment, slot);
  program().scripts.clear();
  program().scripts.push_back(std::move(made));
}

uint32_t TestPlan::buffer(uint32_t arena, uint64_t offset, uint64_t size, uint32_t slots,
                          uint64_t stride) {
  auto made = std::make_unique<BufferT>();
  made->arena = arena;
  made->offset = offset;
  made->size = size;
  made->slots = slots;
  made->slot_stride = stride;
  program().buffers.push_back(std::move(made));
  return static_cast<uint32_t>(program().buffers.size() - 1);
}

TensorViewT &TestPlan::tensor(const std::string &name, Role role, DType dtype, Shape shape,
                              uint32_t buffer) {
  auto entry = std::make_unique<TensorT>();
  entry->name = name;
  entry->role = role;
  entry->dtype = dtype;
  for (int64_t extent : shape) {
    auto dim = std::make_unique<DimT>();
    dim->size = extent;
    entry->dims.push_back(std::move(dim));
  }
  auto found = std::find_if(plan.tensors.begin(), plan.tensors.end(),
                            [&](const auto &t) { return t->name == name; });
  auto id = static_cast<uint32_t>(found - plan.tensors.begin());
  if (found == plan.tensors.end())
    plan.tensors.push_back(std::move(entry));
  auto view = std::make_unique<TensorViewT>();
  view->tensor = id;
  view->buffer = buffer;
  view->global_shape = shape;
  view->local_shape = shape;
  program().views.push_back(std::move(view));
  return *program().views.back();
}

void TestPlan::slice(TensorViewT &view, size_t dim, std::unique_ptr<RankValueT> start,
                     int64_t size) {
  if (view.slices.empty())
    for (int64_t extent : view.global_shape) {
      auto all = std::make_unique<DimSliceT>();
      all->start = value(0);
      all->size = extent;
      view.slices.push_back(std::move(all));
    }
  view.slices[dim]->start = std::move(start);
  view.slices[dim]->size = size;
  view.local_shape[dim] = size;
}

std::unique_ptr<View> TestPlan::whole(uint32_t buffer) const {
  const ProgramT &p = *plan.profiles[0]->programs[current];
  return std::make_unique<View>(buffer, 0, p.buffers[buffer]->size);
}

std::unique_ptr<ArgumentT> TestPlan::view(uint32_t buffer) const {
  auto argument = std::make_unique<ArgumentT>();
  argument->view = whole(buffer);
  return argument;
}

std::unique_ptr<ArgumentT> TestPlan::scalar(double bits) {
  auto argument = std::make_unique<ArgumentT>();
  std::memcpy(&argument->scalar, &bits, 8);
  return argument;
}

std::unique_ptr<ArgumentT> TestPlan::scalar(std::unique_ptr<RankValueT> v) {
  auto argument = std::make_unique<ArgumentT>();
  argument->value = std::move(v);
  return argument;
}

std::unique_ptr<OperandT> TestPlan::operand(uint32_t buffer, Shape dims, DType dtype,
                                            Shape strides) const {
  auto made = std::make_unique<OperandT>();
  made->view = whole(buffer);
  made->dtype = dtype;
  made->dims = std::move(dims);
  made->strides = std::move(strides);
  return made;
}

uint32_t TestPlan::addBlob(std::vector<char> bytes, BlobKind kind, const std::string &arch,
                           const std::string &library) {
  auto blob = std::make_unique<BlobT>();
  blob->kind = kind;
  blob->size = bytes.size();
  blob->hash = xxh64(bytes.data(), bytes.size());
  blob->arch = arch;
  blob->library = library;
  plan.blobs.push_back(std::move(blob));
  blobs.push_back(std::move(bytes));
  return static_cast<uint32_t>(blobs.size() - 1);
}

CommandT &TestPlan::launchAll(const std::string &symbol, int64_t programs,
                              std::vector<std::unique_ptr<ArgumentT>> arguments) {
  if (kernelBlob < 0) {
    std::ifstream in(otherKernels ? OTHER_KERNELS : TEST_KERNELS, std::ios::binary);
    kernelBlob = static_cast<int>(addBlob(std::vector<char>(std::istreambuf_iterator<char>(in), {}),
                                          BlobKind::host_image, "x86-64"));
  }
  auto kernel = std::make_unique<KernelT>();
  kernel->name = symbol;
  for (const auto &argument : arguments) {
    auto entry = std::make_unique<KernelArgumentT>();
    entry->scalar = !argument->view;
    entry->bytes = argument->view ? argument->view->size() : 8;
    kernel->arguments.push_back(std::move(entry));
  }
  auto variant = std::make_unique<KernelVariantT>();
  variant->blob = static_cast<uint32_t>(kernelBlob);
  variant->symbol = symbol;
  variant->programs = programs;
  kernel->variants.push_back(std::move(variant));
  plan.kernels.push_back(std::move(kernel));
  LaunchT launch;
  launch.kernel = static_cast<uint32_t>(plan.kernels.size() - 1);
  launch.arguments = std::move(arguments);
  return command(std::move(launch), symbol);
}

CommandT &TestPlan::collective(CollectiveKind kind, uint32_t communicator, uint64_t count,
                               uint32_t input, uint32_t output, uint32_t stream) {
  CollectiveT call;
  call.kind = kind;
  call.communicator = communicator;
  call.dtype = DType::f32;
  call.count = count;
  call.input = whole(input);
  call.output = whole(output);
  return command(std::move(call), EnumNameCollectiveKind(kind), stream);
}

void TestPlan::constant(const std::string &name, const void *data, uint64_t bytes, DType dtype,
                        Shape shape, uint32_t arena, uint64_t offset) {
  auto weight = std::make_unique<WeightT>();
  const char *begin = static_cast<const char *>(data);
  weight->name = name;
  weight->stage = current;
  weight->blob =
      static_cast<int>(addBlob(std::vector<char>(begin, begin + bytes), BlobKind::constant));
  weight->hash = xxh64(data, bytes);
  weight->source_dtype = weight->dtype = dtype;
  weight->source_shape = std::move(shape);
  weight->arena = arena;
  weight->offset = offset;
  plan.weights.push_back(std::move(weight));
}

void TestPlan::useSimtKernels(const char *path) {
  if (!path)
    path = std::getenv(otherKernels ? "GPUCC_TEST_OTHER_SIMT_KERNELS" : "GPUCC_TEST_SIMT_KERNELS");
  ASSERT_TRUE(path) << "GPUCC_TEST_SIMT_KERNELS names no image";
  if (plan.needs->target == Target::cuda)
    return;
  plan.needs->target = Target::cuda;
  plan.needs->architectures = {"simt"};
  if (plan.kernels.empty())
    return;
  std::ifstream in(path, std::ios::binary);
  const uint32_t blob =
      addBlob(std::vector<char>(std::istreambuf_iterator<char>(in), {}), BlobKind::simt_image);
  plan.blobs[blob]->arch = "simt";
  for (auto &kernel : plan.kernels) {
    auto variant = std::make_unique<KernelVariantT>();
    variant->blob = blob;
    variant->symbol = kernel->variants[0]->symbol;
    variant->grid =
        std::make_unique<Dim3>(static_cast<uint32_t>(kernel->variants[0]->programs), 1, 1);
    variant->block = std::make_unique<Dim3>(1, 1, 1);
    kernel->variants.push_back(std::move(variant));
  }
}

std::vector<char> TestPlan::file() {
  for (auto &profile : plan.profiles)
    for (auto &p : profile->programs)
      if (p->scripts.empty()) {
        auto main = std::make_unique<ScriptT>();
        main->name = "main";
        for (uint32_t s = 0; s < p->segments.size(); ++s)
          main->steps.emplace_back(s, 0);
        p->scripts.push_back(std::move(main));
      }
  // Sort the blobs by hash and rename their users.
  std::vector<uint32_t> order(blobs.size()), position(blobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(plan.blobs[a]->hash, a) < std::pair(plan.blobs[b]->hash, b);
  });
  std::vector<std::unique_ptr<BlobT>> entries;
  std::vector<std::vector<char>> bytes;
  for (uint32_t i = 0; i < order.size(); ++i) {
    position[order[i]] = i;
    entries.push_back(std::move(plan.blobs[order[i]]));
    bytes.push_back(std::move(blobs[order[i]]));
  }
  plan.blobs = std::move(entries);
  blobs = std::move(bytes);
  for (auto &kernel : plan.kernels)
    for (auto &variant : kernel->variants)
      if (variant->blob < position.size())
        variant->blob = position[variant->blob];
  for (auto &weight : plan.weights)
    if (weight->blob >= 0 && weight->blob < static_cast<int>(position.size()))
      weight->blob = static_cast<int>(position[weight->blob]);
  for (auto &profile : plan.profiles)
    for (auto &program : profile->programs)
      for (auto &segment : program->segments)
        for (auto &command : segment->commands)
          if (auto *call = command->body.AsLibraryCall())
            for (auto &operand : call->operands)
              if (operand->packed >= 0)
                operand->packed = static_cast<int>(position[operand->packed]);
  if (kernelBlob >= 0)
    kernelBlob = static_cast<int>(position[kernelBlob]);
  PlanFileWriter writer;
  for (size_t i = 0; i < blobs.size(); ++i)
    plan.blobs[i]->offset = writer.addBlob(blobs[i].data(), blobs[i].size());
  flatbuffers::FlatBufferBuilder builder;
  FinishPlanBuffer(builder, Plan::Pack(builder, &plan));
  return writer.toBytes(builder.GetBufferPointer(), builder.GetSize());
}

TestPlan test::axpbPlan() {
  TestPlan p;
  uint32_t x = p.buffer(1, 0, 64), y = p.buffer(1, 256, 64);
  p.program().buffers[x]->bindable = p.program().buffers[y]->bindable = true;
  p.tensor("x", Role::input, DType::f32, {16}, x);
  p.tensor("y", Role::output, DType::f32, {16}, y);
  p.launch("axpb", 4, p.view(x), p.view(y), p.scalar(2.0), p.scalar(1.0));
  return p;
}

/// Buffers and tensors that both training plans share; the gradient is buffer 5.
static TestPlan trainingBase(std::vector<std::pair<std::string, uint32_t>> axes, uint64_t rows) {
  TestPlan p(std::move(axes));
  p.plan.training = true;
  uint32_t w = p.buffer(0, 0, 16), step = p.buffer(0, 256, 8), x = p.buffer(1, 0, rows * 16),
           loss = p.buffer(1, 256, 4), lr = p.buffer(1, 512, 4);
  p.buffer(1, 768, 16); // gradient
  const float initial[4] = {1, 2, 3, 4};
  p.constant("w", initial, sizeof(initial), DType::f32, {4}, 0, 0);
  p.tensor("w", Role::parameter, DType::f32, {4}, w);
  p.tensor("step", Role::counter, DType::i64, {}, step);
  p.tensor("x", Role::input, DType::f32, {2, 4}, x);
  p.tensor("loss", Role::metric, DType::f32, {}, loss);
  p.tensor("lr", Role::metric, DType::f32, {}, lr);
  return p;
}

TestPlan test::sgdPlan() {
  TestPlan p = trainingBase({}, 2);
  TensorViewT &g = p.tensor("w.gradient", Role::tap, DType::f32, {4}, 5);
  g.tap = std::make_unique<TapPointT>();
  g.tap->last = 1;
  p.launch("column_sums", 1, p.view(2), p.view(5));
  p.launch("sgd", 1, p.view(0), p.view(5), p.view(3), p.scalar(0.1));
  FillT fill;
  fill.destination = p.whole(4);
  float rate = 0.1f;
  std::memcpy(&fill.pattern, &rate, 4);
  p.command(std::move(fill), "lr");
  p.launch("increment", 1, p.view(1));
  return p;
}

TestPlan test::sgdPlanDp2() {
  TestPlan p = trainingBase({{"dp", 2}}, 1);
  TestPlan::slice(*p.program().views[2], 0, value(0, {Term(0, 1)}), 1); // x: row = coordinate
  auto communicator = std::make_unique<CommunicatorT>();
  communicator->name = "dp";
  communicator->axes = {0};
  p.plan.communicators.push_back(std::move(communicator));
  p.program().events = 2;
  TensorViewT &g = p.tensor("w.gradient", Role::tap, DType::f32, {4}, 5);
  g.partial_axes = {0};
  g.tap = std::make_unique<TapPointT>(); // before the all-reduce: a partial sum

  CopyT copy;
  copy.source = p.whole(2);
  copy.destination = p.whole(5);
  copy.bytes = 16;
  p.command(std::move(copy), "gradient");
  p.command(EventRecordT(), "computed");
  p.command(EventWaitT(), "computed", 1);
  p.collective(CollectiveKind::all_reduce, 0, 4, 5, 5, 1);
  EventRecordT reduced;
  reduced.event = 1;
  p.command(std::move(reduced), "reduced", 1);
  p.launch("increment", 1, p.view(1)); // runs while the all-reduce is under way
  EventWaitT wait;
  wait.event = 1;
  p.command(std::move(wait), "reduced");
  p.launch("sgd", 1, p.view(0), p.view(5), p.view(3), p.scalar(0.1));
  return p;
}

TestPlan test::pipelinePlan() {
  TestPlan p;
  p.addStage("second");
  for (uint32_t from : {0u, 1u}) { // one communicator per direction
    auto c = std::make_unique<CommunicatorT>();
    c->name = from ? "backward" : "forward";
    c->kind = CommunicatorKind::stage_pair;
    c->stage = from;
    c->to_stage = 1 - static_cast<int>(from);
    p.plan.communicators.push_back(std::move(c));
  }
  auto micro = [&](const char *name, Role role, uint32_t buffer) {
    TensorViewT &view = p.tensor(name, role, DType::f32, {8}, buffer);
    view.slots = 2;
    TestPlan::slice(view, 0, value(0, {}, 4), 4);
  };
  auto transfer = [&](CollectiveKind kind, uint32_t communicator, uint32_t buffer, int64_t peer) {
    CollectiveT call;
    call.kind = kind;
    call.communicator = communicator;
    call.dtype = DType::f32;
    call.count = 4;
    call.peer = value(peer);
    (kind == CollectiveKind::send ? call.input : call.output) = p.whole(buffer);
    p.command(std::move(call), EnumNameCollectiveKind(kind));
  };
  p.useStage(0);
  uint32_t x = p.buffer(1, 0, 16, 2, 256), y = p.buffer(1, 512, 16, 2, 256),
           z = p.buffer(1, 1024, 16, 2, 256);
  micro("x", Role::input, x);
  micro("z", Role::output, z);
  p.launch("axpb", 1, p.view(x), p.view(y), p.scalar(2.0), p.scalar(1.0));
  transfer(CollectiveKind::send, 0, y, 1);
  p.segment("back");
  transfer(CollectiveKind::recv, 1, z, 1); // members of "backward": rank 1, rank 0
  p.program().segments[1]->commands[0]->body.AsCollective()->peer = value(0);
  p.script({{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  p.useStage(1);
  uint32_t in = p.buffer(1, 0, 16, 2, 256), out = p.buffer(1, 512, 16, 2, 256);
  micro("y", Role::output, in);
  transfer(CollectiveKind::recv, 0, in, 0);
  p.launch("axpb", 1, p.view(in), p.view(out), p.scalar(3.0), p.scalar(0.0));
  transfer(CollectiveKind::send, 1, out, 1);
  p.script({{0, 0}, {0, 1}});
  return p;
}

TestPlan test::varyingPlan() {
  TestPlan p;
  uint32_t x = p.buffer(1, 0, 48), n = p.buffer(1, 256, 8), y = p.buffer(1, 512, 48),
           count = p.buffer(1, 768, 8);
  p.tensor("x", Role::input, DType::f32, {2, 6}, x);
  p.tensor("n", Role::input, DType::i64, {}, n);
  p.tensor("y", Role::output, DType::f32, {2, 6}, y);
  p.tensor("y.count", Role::count, DType::i64, {}, count);
  p.plan.tensors[2]->varying_dim = 1;
  p.plan.tensors[2]->count = 3;
  auto copy = [&](uint32_t from, uint32_t to, uint64_t bytes) {
    CopyT command;
    command.source = p.whole(from);
    command.destination = p.whole(to);
    command.bytes = bytes;
    p.command(std::move(command), "copy");
  };
  copy(x, y, 48);
  copy(n, count, 8);
  return p;
}
