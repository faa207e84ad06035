//===- Trace.h - When each command ran
//----------------------------------------------------------===//
//
// Drivers add one span per command; saved as Chrome trace JSON (opens in Perfetto): process = rank,
// thread = stream.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_SESSION_TRACE_H
#define GPUCC_RT_SESSION_TRACE_H

#include "core/Status.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace gpucc::rt {

class Trace {
public:
  struct Span {
    std::string name, kind;
    uint32_t stream, slot;
    int64_t begin, duration; ///< nanoseconds of the steady clock
  };

  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void add(Span span) { spans.push_back(std::move(span)); }
  void nameStreams(std::vector<std::string> names) { streams = std::move(names); }
  const std::vector<Span> &all() const { return spans; }
  const std::vector<std::string> &streamNames() const { return streams; }

private:
  std::vector<Span> spans;
  std::vector<std::string> streams;
};

struct RankTrace {
  uint32_t rank;
  const Trace *trace;
};
Status saveTraces(const std::vector<RankTrace> &traces, const std::string &path);

} // namespace gpucc::rt

#endif // GPUCC_RT_SESSION_TRACE_H
