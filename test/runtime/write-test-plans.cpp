// write-test-plans FOLDER: axpb.plan, sgd.plan, sgd-dp2.plan and varying.plan, as TestPlan.h describes them,
// future.plan for a CPU that does not exist, and the index of each alone (NAME.index) as a seed for
// the fuzzer.
#include "TestPlan.h"

#include <cstdio>
#include <cstring>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write-test-plans FOLDER\n");
    return 2;
  }
  using namespace gpucc::rt::test;
  auto write = [&](const std::string &name, const char *bytes, size_t size) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary)
        .write(bytes, static_cast<std::streamsize>(size));
  };
  auto save = [&](const std::string &name, const std::vector<char> &bytes) {
    gpucc::rt::PlanHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    write(name + ".plan", bytes.data(), bytes.size());
    write(name + ".index", bytes.data() + header.indexOffset, header.indexSize);
  };
  save("axpb", axpbPlan().file());
  save("sgd", sgdPlan().file());
  save("sgd-dp2", sgdPlanDp2().file());
  save("varying", varyingPlan().file());
  TestPlan future = axpbPlan();
  future.plan.needs->architectures = {"x86-64-v9"};
  save("future", future.file());
  return 0;
}
