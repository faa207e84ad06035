// train-test-plan PLAN DATA.npz STEPS FOLDER [--resume]: the training loop of gpucc train, without
// the compiler.
#include "gpucc_rt/TrainLoop.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: train-test-plan PLAN DATA.npz STEPS FOLDER [--resume]\n");
    return 2;
  }
  using namespace gpucc_rt;
  Plan plan;
  RankGroup group;
  std::vector<Array> data;
  TrainOptions options;
  TrainResult result;
  options.data = &data;
  options.steps = std::strtoull(argv[3], nullptr, 10);
  options.saveFolder = argv[4];
  options.saveEvery = 10;
  if (argc > 5 && std::strcmp(argv[5], "--resume") == 0)
    options.resumeFolder = argv[4];
  Status status = Plan::open(argv[1], plan);
  if (!status)
    status = group.open(plan, {});
  if (!status)
    status = readArrays(argv[2], data);
  if (!status)
    status = train(group, options, result);
  if (!status)
    return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 2;
}
