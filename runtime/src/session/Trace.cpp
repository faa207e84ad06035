//===- Trace.cpp - Chrome trace JSON
//------------------------------------------------------------===//
#include "session/Trace.h"

#include "core/Json.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

using namespace gpucc::rt;

Status gpucc::rt::saveTraces(const std::vector<RankTrace> &traces, const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file)
    return GPUCC_RT_FAIL(Code::io, "cannot write trace '", path, "': ", std::strerror(errno));
  int64_t origin = INT64_MAX;
  for (const RankTrace &rank : traces)
    for (const Trace::Span &span : rank.trace->all())
      origin = std::min(origin, span.begin);
  std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file);
  const char *separator = "\n";
  for (const RankTrace &rank : traces) {
    std::fprintf(
        file,
        "%s{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%u,\"args\":{\"name\":\"rank %u\"}}",
        separator, rank.rank, rank.rank);
    separator = ",\n";
    for (size_t s = 0; s < rank.trace->streamNames().size(); ++s)
      std::fprintf(
          file,
          "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%u,\"tid\":%zu,\"args\":{\"name\":%s}}",
          separator, rank.rank, s, quoteJson(rank.trace->streamNames()[s]).c_str());
    for (const Trace::Span &span : rank.trace->all())
      std::fprintf(file,
                   "%s{\"ph\":\"X\",\"name\":%s,\"cat\":%s,\"pid\":%u,\"tid\":%u,\"ts\":%.3f,"
                   "\"dur\":%.3f,\"args\":{\"slot\":%u}}",
                   separator, quoteJson(span.name).c_str(), quoteJson(span.kind).c_str(), rank.rank,
                   span.stream, static_cast<double>(span.begin - origin) / 1e3,
                   static_cast<double>(span.duration) / 1e3, span.slot);
  }
  std::fputs("\n]}\n", file);
  if (std::fclose(file) != 0)
    return GPUCC_RT_FAIL(Code::io, "cannot write trace '", path, "': ", std::strerror(errno));
  return {};
}
