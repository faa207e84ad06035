//===- RankGroup.cpp - All ranks of a plan in this process
//--------------------------------------===//
#include "gpucc_rt/RankGroup.h"

#include "core/Status.h"

#include <thread>

using namespace gpucc_rt;
using gpucc::rt::Code;

/// Runs `job(rank)` on one thread per rank; the first error in order of ranks.
template <typename Job> static Status onAllRanks(uint32_t ranks, Job job) {
  std::vector<Status> results(ranks);
  std::vector<std::thread> threads;
  for (uint32_t r = 1; r < ranks; ++r)
    threads.emplace_back([&, r] { results[r] = job(r); });
  results[0] = job(0);
  for (std::thread &thread : threads)
    thread.join();
  for (Status &result : results)
    if (result)
      return std::move(result);
  return {};
}

Status RankGroup::open(const Plan &plan, const GroupOptions &options) {
  opened = &plan;
  current = options.profile;
  uint32_t ranks = plan.info().ranks;
  std::string driver = options.driver.empty() ? plan.info().target : options.driver;
  if (ranks > 1)
    if (Status status = World::create(driver == "cuda" ? "nccl" : "threads", ranks,
                                      options.watchdogSeconds, world))
      return status;
  sessions = std::vector<Session>(ranks);
  return onAllRanks(ranks, [&](uint32_t r) {
    SessionOptions session;
    session.driver = driver;
    session.rank = r;
    session.threads = options.threads;
    session.device = driver == "cuda" ? r : 0;
    session.profile = options.profile;
    session.world = world.get();
    session.noGraphs = options.noGraphs;
    session.verifyWeights = options.verifyWeights;
    return Session::prepare(plan, session, sessions[r]);
  });
}

std::vector<gpucc_rt_session *> RankGroup::pointers() const {
  std::vector<gpucc_rt_session *> result;
  for (const Session &session : sessions)
    result.push_back(session.get());
  return result;
}

Status RankGroup::useProfile(uint32_t profile) {
  for (Session &session : sessions)
    if (Status status = session.useProfile(profile))
      return status;
  current = profile;
  return {};
}

Status RankGroup::useProfileFor(const std::vector<Array> &arrays) {
  std::vector<const char *> names;
  std::vector<uint32_t> ranks;
  std::vector<int64_t> dims;
  for (uint32_t t = 0; t < opened->info().tensors; ++t) {
    gpucc_rt_tensor_info info = opened->tensor(t);
    if (info.role != GPUCC_RT_INPUT && info.role != GPUCC_RT_LABEL)
      continue;
    const Array *array = findArray(arrays, info.name);
    if (!array)
      continue;
    names.push_back(array->name.c_str());
    ranks.push_back(static_cast<uint32_t>(array->shape.size()));
    dims.insert(dims.end(), array->shape.begin(), array->shape.end());
  }
  uint32_t profile = 0;
  if (Status status =
          gpucc_rt_plan_select_profile(opened->get(), static_cast<uint32_t>(names.size()),
                                       names.data(), ranks.data(), dims.data(), &profile))
    return status;
  return profile == current ? Status() : useProfile(profile);
}

Status RankGroup::useScript(const std::string &name) {
  for (Session &session : sessions)
    if (Status status = session.useScript(name))
      return status;
  return {};
}

Status RankGroup::write(const std::string &name, const void *data, uint64_t bytes) {
  bool found = false;
  for (Session &session : sessions) {
    if (!session.has(name))
      continue;
    found = true;
    if (Status status = session.write(name, data, bytes))
      return status;
  }
  return found ? Status() : sessions[0].write(name, data, bytes); // for its message
}

Status RankGroup::read(const std::string &name, void *data, uint64_t bytes) {
  std::vector<gpucc_rt_session *> all = pointers();
  return gpucc_rt_gather(all.data(), size(), name.c_str(), data, bytes);
}

Status RankGroup::writeArray(const Array &array) {
  uint32_t index = 0;
  if (Status status = gpucc_rt_plan_find_tensor(opened->get(), array.name.c_str(), &index))
    return status;
  std::vector<int64_t> shape;
  if (Status status = opened->profileDims(current, index, shape))
    return status;
  gpucc_rt_dtype wanted = opened->tensor(index).dtype;
  if (shape != array.shape)
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", array.name, "' is ",
                         describe(array.dtype, array.shape), ", the plan takes ",
                         describe(wanted, shape), " (profile ", opened->profileName(current), ")")
        .release();
  if (array.dtype == wanted)
    return write(array.name, array.bytes.data(), array.bytes.size());
  Array converted = array;
  if (Status status = convert(converted, wanted))
    return status;
  return write(array.name, converted.bytes.data(), converted.bytes.size());
}

Status RankGroup::readArray(const std::string &name, Array &array) {
  uint32_t index = 0;
  if (Status status = gpucc_rt_plan_find_tensor(opened->get(), name.c_str(), &index))
    return status;
  array.name = name;
  array.dtype = opened->tensor(index).dtype;
  if (Status status = opened->profileDims(current, index, array.shape))
    return status;
  uint64_t count = 1;
  for (int64_t extent : array.shape)
    count *= static_cast<uint64_t>(extent);
  array.bytes.resize(dtypeBytes(array.dtype, count));
  return read(name, array.bytes.data(), array.bytes.size());
}

Status RankGroup::run() {
  if (sessions.size() == 1)
    return sessions[0].run();
  Status first;
  for (Session &session : sessions)
    if (Status status = session.execute(); status && !first)
      first = std::move(status);
  // A rank that fails makes the others fail too; its own message says why.
  for (Session &session : sessions) {
    Status status = session.wait();
    bool secondary = first && first.message().find(" failed: ") == std::string::npos;
    if (status && !secondary)
      first = std::move(status);
  }
  return first;
}

Status RankGroup::enableTaps(const std::vector<std::string> &names) {
  for (Session &session : sessions)
    if (Status status = session.enableTaps(names))
      return status;
  return {};
}

Status RankGroup::saveState(const std::string &path, const std::string &metadataJson) {
  std::vector<gpucc_rt_session *> all = pointers();
  return gpucc_rt_state_save(all.data(), size(), path.c_str(),
                             metadataJson.empty() ? nullptr : metadataJson.c_str());
}

Status RankGroup::loadState(const std::string &path) {
  for (Session &session : sessions)
    if (Status status = session.loadState(path))
      return status;
  return {};
}

void RankGroup::setTrace(bool on) {
  for (Session &session : sessions)
    session.setTrace(on);
}

Status RankGroup::saveTrace(const std::string &path) {
  std::vector<gpucc_rt_session *> all = pointers();
  return gpucc_rt_trace_save(all.data(), size(), path.c_str());
}

std::string RankGroup::warnings() const {
  std::string text;
  for (const Session &session : sessions) {
    std::string lines = session.warnings();
    if (!lines.empty() && text.find(lines) == std::string::npos)
      text += (text.empty() ? "" : "\n") + lines;
  }
  return text;
}
