//===- Order.cpp - Predecessor sets and conflicts ---------------------------------===//

#include "Order.h"

#include <algorithm>

using namespace gpucc::rt::fakecuda;
using gpucc::rt::simt::Footprint;

void OrderChecker::add(Set &set, uint32_t index) {
  if (set.size() <= index / 64)
    set.resize(index / 64 + 1);
  set[index / 64] |= uint64_t(1) << index % 64;
}

void OrderChecker::merge(Set &set, const Set &other) {
  if (set.size() < other.size())
    set.resize(other.size());
  for (size_t i = 0; i < other.size(); ++i)
    set[i] |= other[i];
}

bool OrderChecker::has(const Set &set, uint32_t index) {
  return index / 64 < set.size() && (set[index / 64] >> index % 64 & 1);
}

OrderChecker::Ticket OrderChecker::enroll(const std::vector<Ticket> &before) {
  Entry entry;
  entry.before = seen;
  for (const Ticket &ticket : before)
    if (ticket.epoch == epoch) {
      merge(entry.before, entries[ticket.index].before);
      add(entry.before, ticket.index);
    }
  entries.push_back(std::move(entry));
  return {epoch, static_cast<uint32_t>(entries.size() - 1)};
}

std::string OrderChecker::finish(Ticket ticket, std::string label, const Footprint &footprint,
                                 uintptr_t &address) {
  if (ticket.epoch != epoch)
    return {};
  Entry &mine = entries[ticket.index];
  mine.label = std::move(label);
  std::string conflict;
  for (const auto &[number, page] : footprint.pages()) {
    std::vector<Touch> &others = touched[number];
    for (const Touch &other : others) {
      if (has(mine.before, other.index) || has(entries[other.index].before, ticket.index))
        continue;
      const int word = Footprint::conflict(page, other.page);
      if (word < 0)
        continue;
      const uintptr_t at = number * Footprint::pageBytes + static_cast<uintptr_t>(word) * 4;
      if (!conflict.empty() && at >= address)
        continue; // the lowest address, so that reports do not depend on the table's order
      address = at;
      conflict = mine.label + " and " + entries[other.index].label;
    }
    others.push_back({ticket.index, page});
  }
  return conflict;
}

void OrderChecker::hostSaw(Ticket ticket) {
  if (ticket.epoch != epoch)
    return;
  merge(seen, entries[ticket.index].before);
  add(seen, ticket.index);
  size_t count = 0;
  for (uint64_t bits : seen)
    count += static_cast<size_t>(__builtin_popcountll(bits));
  if (count < entries.size())
    return;
  ++epoch; // everything so far precedes what comes: forget it
  entries.clear();
  seen.clear();
  touched.clear();
}
