//===- TrainLoop.cpp - Steps over a data set, with log and checkpoints
//--------------------------===//
//
// Why a killed run resumes with equal bits: the state file is replaced atomically and holds
// everything that a step depends on (the sample position follows from the step number); log lines
// beyond the saved step are dropped at resume and written again.
//
//===--------------------------------------------------------------------------------------------===//
#include "gpucc_rt/TrainLoop.h"

#include "core/AtomicFile.h"
#include "core/DType.h"
#include "core/Json.h"
#include "core/MappedFile.h"
#include "core/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace rt = gpucc::rt;
using namespace gpucc_rt;
using rt::Code;

namespace {
/// Feeds one input of the plan from one array.
struct Feed {
  const Array *array;
  std::string tensor;
  uint64_t perStep; ///< samples
  uint64_t sampleBytes;
  std::vector<char> batch;
};

class Loop {
public:
  Loop(RankGroup &group, const TrainOptions &options) : group(group), options(options) {}
  ~Loop() {
    if (log >= 0)
      close(log);
  }
  rt::Status run(TrainResult &result);

private:
  rt::Status openFeeds();
  rt::Status openFeed(uint32_t tensor, const gpucc_rt_tensor_info &info);
  void collectMetrics();
  rt::Status resume();
  void warn(const std::string &text) const;
  void warnOfUnused(const rt::SafetensorsReader &file, const std::string &path) const;
  rt::Status openLog();
  rt::Status keptLog(std::string &lines);
  rt::Status feed();
  rt::Status report();
  rt::Status save();
  static rt::Status adopt(Status status) { return rt::Status::adopt(status.release()); }

  RankGroup &group;
  const TrainOptions &options;
  std::vector<Array> converted; ///< arrays that had another element type; never reallocated
  std::vector<Feed> feeds;
  std::vector<std::pair<std::string, gpucc_rt_dtype>> metrics;
  uint64_t step = 0; ///< done so far
  StepReport last;
  int log = -1;
};
} // namespace

rt::Status Loop::openFeed(uint32_t tensor, const gpucc_rt_tensor_info &info) {
  const Array *array = findArray(*options.data, info.name);
  if (!array && info.role == GPUCC_RT_LABEL)
    array = findArray(*options.data, "labels");
  if (!array) {
    std::string given;
    for (const Array &entry : *options.data)
      given += (given.empty() ? "" : ", ") + entry.name;
    return GPUCC_RT_FAIL(Code::invalidArgument, "the data has no array '",
                         info.role == GPUCC_RT_LABEL ? "labels" : info.name,
                         "' for the plan's input '", info.name, "'; it has ", given);
  }
  std::vector<int64_t> shape;
  GPUCC_RT_TRY(adopt(group.plan().profileDims(group.profile(), tensor, shape)));
  bool fits = !shape.empty() && shape.size() == array->shape.size() && array->shape[0] > 0 &&
              std::equal(shape.begin() + 1, shape.end(), array->shape.begin() + 1);
  if (!fits)
    return GPUCC_RT_FAIL(Code::invalidArgument, "array '", array->name, "' is ",
                         describe(array->dtype, array->shape), "; the plan takes ",
                         describe(info.dtype, shape),
                         " per step: all dimensions but the first (samples) must agree");
  if (array->dtype != info.dtype) {
    converted.push_back(*array);
    GPUCC_RT_TRY(adopt(convert(converted.back(), info.dtype)));
    array = &converted.back();
  }
  uint64_t elements = 1;
  for (size_t d = 1; d < shape.size(); ++d)
    elements *= static_cast<uint64_t>(shape[d]);
  uint64_t sampleBytes = dtypeBytes(info.dtype, elements);
  auto perStep = static_cast<uint64_t>(shape[0]);
  feeds.push_back(
      {array, info.name, perStep, sampleBytes, std::vector<char>(perStep * sampleBytes)});
  return {};
}

rt::Status Loop::openFeeds() {
  if (!options.data)
    return GPUCC_RT_FAIL(Code::invalidArgument, "no data to train on");
  if (!group.plan().info().training)
    return GPUCC_RT_FAIL(Code::invalidArgument, "the plan has no training step; compile with "
                                                "--train");
  if (group.driver() == "null")
    return GPUCC_RT_FAIL(Code::invalidArgument,
                         "driver 'null' computes nothing, so it would save zeros as state; host "
                         "and cuda are allowed: leave --driver out");
  uint32_t count = group.plan().info().tensors;
  converted.reserve(count);
  for (uint32_t t = 0; t < count; ++t) {
    gpucc_rt_tensor_info info = group.plan().tensor(t);
    if (info.role == GPUCC_RT_INPUT || info.role == GPUCC_RT_LABEL)
      GPUCC_RT_TRY(openFeed(t, info));
  }
  for (const Feed &feed : feeds)
    if (feed.array->shape[0] != feeds[0].array->shape[0])
      return GPUCC_RT_FAIL(Code::invalidArgument, "array '", feed.array->name, "' has ",
                           feed.array->shape[0], " samples, '", feeds[0].array->name, "' has ",
                           feeds[0].array->shape[0]);
  return {};
}

/// loss, lr and grad_norm first (with or without a tensor of that name), then the others in the
/// plan's order.
void Loop::collectMetrics() {
  for (const char *name : {"loss", "lr", "grad_norm"})
    last.metrics.push_back({name, std::nullopt});
  for (uint32_t t = 0; t < group.plan().info().tensors; ++t) {
    gpucc_rt_tensor_info info = group.plan().tensor(t);
    if (info.role != GPUCC_RT_METRIC || info.rank != 0)
      continue;
    metrics.push_back({info.name, info.dtype});
    bool listed = false;
    for (const auto &[name, value] : last.metrics)
      listed |= name == info.name;
    if (!listed)
      last.metrics.push_back({info.name, std::nullopt});
  }
}

void Loop::warn(const std::string &text) const {
  if (options.warning)
    options.warning(text);
}

/// State that the plan has no place for: it was saved by another optimizer, or by a plan that
/// trains more.
void Loop::warnOfUnused(const rt::SafetensorsReader &file, const std::string &path) const {
  std::string first;
  size_t unused = 0;
  for (const rt::SafetensorsEntry &entry : file.entries())
    if (!group.hasTensor(entry.name) && ++unused == 1)
      first = entry.name;
  if (unused)
    warn(rt::concat(path, ": ", unused, " of ", file.entries().size(), " tensors, such as '", first,
                    "', have no place in this plan and are left; was the run made with another "
                    "optimizer or --freeze?"));
}

rt::Status Loop::resume() {
  if (options.resumeFolder.empty())
    return {};
  struct stat info;
  if (stat(options.resumeFolder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return GPUCC_RT_FAIL(Code::invalidArgument, "cannot resume from '", options.resumeFolder,
                         "': no such folder");
  std::string path = options.resumeFolder + "/state.safetensors";
  if (stat(path.c_str(), &info) != 0) {
    warn("'" + options.resumeFolder +
         "' has no state.safetensors (it is no run's folder, or the run was killed before its first "
         "save): training begins at step 1");
    return {};
  }
  rt::SafetensorsReader file;
  GPUCC_RT_TRY(file.open(path));
  warnOfUnused(file, path);
  auto found = file.metadata().find("step");
  char *end = nullptr;
  if (found != file.metadata().end())
    step = std::strtoull(found->second.c_str(), &end, 10);
  if (!end || end == found->second.c_str() || *end != '\0')
    return GPUCC_RT_FAIL(Code::invalidArgument, path,
                         ": its metadata has no step number; it was "
                         "not written by a training run");
  return adopt(group.loadState(path));
}

/// The lines of the resumed run's log up to the saved step.
rt::Status Loop::keptLog(std::string &lines) {
  std::string path = options.resumeFolder + "/log.jsonl";
  if (step == 0 || access(path.c_str(), R_OK) != 0)
    return {};
  rt::MappedFile file;
  GPUCC_RT_TRY(file.open(path, "log"));
  std::string_view text(file.data(), file.size());
  while (!text.empty()) {
    size_t end = text.find('\n');
    if (end == std::string_view::npos)
      break; // a line that the kill cut off
    rt::Json value;
    rt::Status status = rt::parseJson(text.substr(0, end), value);
    const rt::Json *number = value.find("step");
    if (status || !number || !number->isInteger || static_cast<uint64_t>(number->integer) > step)
      break;
    lines += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return {};
}

rt::Status Loop::openLog() {
  if (options.saveFolder.empty())
    return {};
  if (mkdir(options.saveFolder.c_str(), 0755) != 0 && errno != EEXIST)
    return GPUCC_RT_FAIL(Code::io, "cannot create folder '", options.saveFolder,
                         "': ", std::strerror(errno));
  std::string path = options.saveFolder + "/log.jsonl", kept;
  GPUCC_RT_TRY(keptLog(kept));
  rt::AtomicFile file;
  GPUCC_RT_TRY(file.open(path));
  GPUCC_RT_TRY(file.write(kept.data(), kept.size()));
  GPUCC_RT_TRY(file.commit());
  log = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log < 0)
    return GPUCC_RT_FAIL(Code::io, "cannot write '", path, "': ", std::strerror(errno));
  return {};
}

rt::Status Loop::feed() {
  for (Feed &f : feeds) {
    auto samples = static_cast<uint64_t>(f.array->shape[0]);
    uint64_t first = step % samples * (f.perStep % samples) % samples;
    for (uint64_t i = 0; i < f.perStep; ++i) {
      uint64_t sample = (first + i) % samples;
      std::memcpy(f.batch.data() + i * f.sampleBytes,
                  f.array->bytes.data() + sample * f.sampleBytes, f.sampleBytes);
    }
    GPUCC_RT_TRY(adopt(group.write(f.tensor, f.batch.data(), f.batch.size())));
  }
  return {};
}

rt::Status Loop::report() {
  last.step = step;
  for (const auto &[name, dtype] : metrics) {
    char bytes[8] = {};
    double value = 0;
    GPUCC_RT_TRY(adopt(group.read(name, bytes, dtypeBytes(dtype, 1))));
    rt::castElements(static_cast<rt::DType>(dtype), bytes, rt::DType::f64, &value, 1);
    for (auto &[listed, slot] : last.metrics)
      if (listed == name)
        slot = value;
  }
  if (options.progress)
    options.progress(last);
  if (log < 0)
    return {};
  std::string line = formatStep(last) + "\n";
  if (write(log, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return GPUCC_RT_FAIL(Code::io, "cannot write '", options.saveFolder,
                         "/log.jsonl': ", std::strerror(errno));
  return {};
}

rt::Status Loop::save() {
  if (log < 0)
    return {};
  fsync(log); // the log reaches at least as far as the state
  return adopt(group.saveState(options.saveFolder + "/state.safetensors",
                               rt::concat("{\"step\":\"", step, "\"}")));
}

rt::Status Loop::run(TrainResult &result) {
  GPUCC_RT_TRY(openFeeds());
  collectMetrics();
  GPUCC_RT_TRY(resume());
  GPUCC_RT_TRY(openLog());
  result.firstStep = step;
  bool saved = false;
  while (step < options.steps) {
    GPUCC_RT_TRY(feed());
    GPUCC_RT_TRY(adopt(group.run()).prefixed(rt::concat("step ", step + 1)));
    ++step;
    GPUCC_RT_TRY(report());
    saved = options.saveEvery > 0 && step % options.saveEvery == 0;
    if (saved)
      GPUCC_RT_TRY(save());
  }
  if (!saved)
    GPUCC_RT_TRY(save());
  result.lastLoss = last.metrics[0].second;
  return {};
}

Status gpucc_rt::train(RankGroup &group, const TrainOptions &options, TrainResult &result) {
  return Loop(group, options).run(result).release();
}

std::string gpucc_rt::formatStep(const StepReport &report) {
  std::string line = "{\"step\":" + std::to_string(report.step);
  for (const auto &[name, value] : report.metrics) {
    char text[40] = "null"; // JSON has no NaN
    // As "%.9g", but with a point in every locale.
    if (value && std::isfinite(*value))
      *std::to_chars(text, text + sizeof(text) - 1, *value, std::chars_format::general, 9).ptr = 0;
    line += "," + rt::quoteJson(name) + ":" + text;
  }
  return line + "}";
}
