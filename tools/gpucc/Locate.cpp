//===- Locate.cpp - who made a wrong value --------------------------------===//
#include "Locate.h"

#include "Compare.h"

#include <cmath>

using namespace gpucc;
using namespace gpucc::tool;

std::string tool::locate(gpucc_rt::RankGroup &group, const PlanFile &plan,
                         const std::string &tensor, const gpucc_rt::Array &expected, int64_t index,
                         double allowed) {
  std::vector<int64_t> element;
  if (index >= 0)
    element = coordinates(index, expected.shape);
  std::string text = writerOf(plan.plan(), tensor, element), ranks;
  int count = 0;
  for (uint32_t rank = 0; index >= 0 && rank < group.size(); ++rank) {
    gpucc_rt::Array array = expected; // what the rank does not hold stays as expected
    if (group.readPart(rank, tensor, array))
      continue;
    double error =
        std::fabs(toHostTensor(array).getFloat(index) - toHostTensor(expected).getFloat(index));
    if (error <= allowed)
      continue;
    ranks += (count++ ? ", " : "") + std::to_string(rank);
  }
  if (count)
    text += std::string(text.empty() ? "" : " ") + (count > 1 ? "on ranks " : "on rank ") + ranks;
  return text;
}
