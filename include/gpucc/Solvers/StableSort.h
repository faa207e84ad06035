//===- StableSort.h - a stable sort without the deprecated buffer *- C++ -*-===//
//
// std::stable_sort of libstdc++ 12 uses std::get_temporary_buffer, which clang 22 reports as
// deprecated. Equal elements keep their order, so results do not depend on the library.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_STABLESORT_H
#define GPUCC_SOLVERS_STABLESORT_H

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gpucc::solvers {

template <typename T, typename Less> void stableSort(std::vector<T> &values, Less less) {
  std::vector<size_t> index(values.size());
  for (size_t i = 0; i < index.size(); ++i)
    index[i] = i;
  std::sort(index.begin(), index.end(), [&](size_t a, size_t b) {
    if (less(values[a], values[b]))
      return true;
    return !less(values[b], values[a]) && a < b;
  });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (size_t i : index)
    sorted.push_back(std::move(values[i]));
  values = std::move(sorted);
}

} // namespace gpucc::solvers
#endif
