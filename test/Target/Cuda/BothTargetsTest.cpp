//===- BothTargetsTest.cpp - equal bits on the CPU and in CUDA text -------===//
#include "BothTargets.h"
#include "KernelCases.h"

using namespace gpucc;
using namespace gpucc::test;

namespace {

/// Bytes of the kernel's views, and fills for inputs.
struct Shape {
  int64_t elements;
  std::string type;
};
std::vector<Shape> viewsOf(const std::string &text) {
  // The views of `kernel.func @name(%a: memref<2x3xf32> ..., %b: ...)`.
  std::vector<Shape> views;
  size_t at = text.find("kernel.func"), end = text.find(") {", at);
  while ((at = text.find("memref<", at)) < end) {
    at += 7;
    std::string inner = text.substr(at, text.find('>', at) - at);
    Shape s{1, ""};
    size_t x;
    while ((x = inner.find('x')) != std::string::npos) {
      s.elements *= std::stoll(inner.substr(0, x));
      inner = inner.substr(x + 1);
    }
    s.type = inner;
    views.push_back(s);
  }
  return views;
}
size_t bytesOf(const Shape &s) {
  size_t bytes =
      s.type == "i1" ? 1 : std::stoi(s.type.substr(s.type.find_first_of("0123456789"))) / 8;
  return s.elements * bytes;
}
void fill(const Shape &s, char *data, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-3, 3);
  for (int64_t i = 0; i < s.elements; ++i) {
    float v = distribution(engine);
    if (s.type == "f32")
      memcpy(data + 4 * i, &v, 4);
    else if (s.type == "f64") {
      double w = v;
      memcpy(data + 8 * i, &w, 8);
    } else if (s.type == "bf16")
      memcpy(data + 2 * i, reinterpret_cast<char *>(&v) + 2, 2);
    else if (s.type == "f16") {
      _Float16 h = v;
      memcpy(data + 2 * i, &h, 2);
    } else if (s.type == "i8")
      data[i] = char(engine());
  }
}

class BothTargetsTest : public testing::TestWithParam<Case> {};

TEST_P(BothTargetsTest, EqualBits) {
  const Case &c = GetParam();
  std::vector<Shape> shapes = viewsOf(c.text);
  cuda::CudaKernel emitted = emit(c.text);
  if (emitted.text.empty())
    return;
  Kernels compiled(c.text, levels().front());
  std::vector<View> onHost, onDevice;
  std::vector<void *> hostArgs;
  std::vector<std::pair<void *, size_t>> deviceArgs;
  for (auto [i, s] : llvm::enumerate(shapes)) {
    for (auto *views : {&onHost, &onDevice}) {
      views->emplace_back(bytesOf(s));
      fill(s, views->back().data, unsigned(i) + 1);
    }
    hostArgs.push_back(onHost.back().data);
    deviceArgs.push_back({onDevice.back().data, bytesOf(s)});
  }
  compiled.run(emitted.name.c_str(), hostArgs);
  runSimt(emitted, deviceArgs);
  bool changed = false;
  for (auto [i, s] : llvm::enumerate(shapes)) {
    std::vector<char> before(bytesOf(s) + 8);
    fill(s, before.data(), unsigned(i) + 1);
    changed |= memcmp(before.data(), onHost[i].data, bytesOf(s)) != 0;
    size_t size = bytesOf(s) / s.elements;
    for (int64_t e = 0; e < s.elements; ++e) {
      const char *h = onHost[i].data + e * size, *d = onDevice[i].data + e * size;
      bool bothNan = false;
      if (s.type == "f32") { // any NaN is as good as another
        float x, y;
        memcpy(&x, h, 4), memcpy(&y, d, 4);
        bothNan = x != x && y != y;
      }
      ASSERT_TRUE(bothNan || memcmp(h, d, size) == 0) << "view " << i << " element " << e << "\n"
                                                      << emitted.text;
    }
  }
  EXPECT_TRUE(changed) << "the kernel wrote nothing";
}

INSTANTIATE_TEST_SUITE_P(Kernels, BothTargetsTest, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
