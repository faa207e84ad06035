#include "lib/Conversion/FrontendToGraph/Node.h"
using namespace gpucc::frontend_to_graph;
namespace gpucc::frontend_to_graph {
#define T(x)                                                                                       \
  ArrayRef<Entry> x##Rules() { return {}; }
T(attention)
T(control) T(loss) T(optimizer) T(quantization) T(recurrent) T(resize) T(rotary) T(sequence)
} // namespace gpucc::frontend_to_graph
