//===- Order.h - Are conflicting operations ordered? --------------*- C++ -*-===//
//
// A forgotten event wait shows in results only when the order of execution happens to expose it.
// This looks at the order itself: for each operation the device knows its predecessors (streams,
// events, graph edges, what the host waited for) and, once it has run, the words it read and wrote.
// Two operations that conflict and of which neither precedes the other are an error, in whatever
// order they ran. Example:
//
//   stream 1: copy x, kernel A writes y      stream 2: kernel B reads y        no wait between
//   -> "unordered: kernel 'B' and kernel 'A' both touch device memory + 1024 (one writes), ..."
//
// Predecessors are bit sets over the operations since the host last waited for everything.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_RT_EMULATION_FAKECUDA_ORDER_H
#define GPUCC_RT_EMULATION_FAKECUDA_ORDER_H

#include "simt/Footprint.h"

#include <string>
#include <vector>

namespace gpucc::rt::fakecuda {

class OrderChecker {
public:
  /// Names an operation for this checker; tickets of forgotten operations stay valid and precede
  /// everything.
  struct Ticket {
    uint64_t epoch = 0;
    uint32_t index = 0;
  };

  /// A new operation after `before` and after what the host has waited for.
  Ticket enroll(const std::vector<Ticket> &before);
  /// The operation has run. Returns the text of a conflict, with `address` of a common word, or
  /// nothing.
  std::string finish(Ticket ticket, std::string label, const simt::Footprint &footprint,
                     uintptr_t &address);
  /// The host waited for it: it precedes everything that is issued from now on.
  void hostSaw(Ticket ticket);

private:
  using Set = std::vector<uint64_t>;
  struct Entry {
    Set before;
    std::string label;
  };
  struct Touch {
    uint32_t index;
    simt::Footprint::Page page;
  };
  static void add(Set &set, uint32_t index);
  static void merge(Set &set, const Set &other);
  static bool has(const Set &set, uint32_t index);

  uint64_t epoch = 1;
  std::vector<Entry> entries;
  Set seen;                                                  ///< by the host
  std::unordered_map<uintptr_t, std::vector<Touch>> touched; ///< by page
};

} // namespace gpucc::rt::fakecuda

#endif
