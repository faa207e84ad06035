// write-test-plans FOLDER: axpb.plan, sgd.plan and sgd-dp2.plan, as TestPlan.h describes them.
#include "TestPlan.h"

#include <cstdio>
#include <fstream>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write-test-plans FOLDER\n");
    return 2;
  }
  using namespace gpucc::rt::test;
  auto save = [&](const char *name, std::vector<char> bytes) {
    std::ofstream(std::string(argv[1]) + "/" + name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  save("axpb.plan", axpbPlan().file());
  save("sgd.plan", sgdPlan().file());
  save("sgd-dp2.plan", sgdPlanDp2().file());
  return 0;
}
