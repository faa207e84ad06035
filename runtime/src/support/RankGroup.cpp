//===- RankGroup.cpp - All ranks of a plan in this process
//--------------------------------------===//
#include "gpucc_rt/RankGroup.h"

#include "core/Status.h"

#include <cstring>
#include <thread>

using namespace gpucc_rt;
using gpucc::rt::Code;

/// Runs `job(rank)` on one thread per rank; the first error in order of ranks, of those that are no
/// echo of another rank's if there is one.
template <typename Job> static Status onAllRanks(uint32_t ranks, Job job) {
  std::vector<Status> results(ranks);
  std::vector<std::thread> threads;
  for (uint32_t r = 1; r < ranks; ++r)
    threads.emplace_back([&, r] { results[r] = job(r); });
  results[0] = job(0);
  for (std::thread &thread : threads)
    thread.join();
  Status *found = nullptr;
  for (Status &result : results)
    if (result && (!found || (found->code() == GPUCC_RT_COMMUNICATION_ERROR &&
                              result.code() != GPUCC_RT_COMMUNICATION_ERROR)))
      found = &result;
  return found ? std::move(*found) : Status();
}

Status RankGroup::open(const Plan &plan, const GroupOptions &options) {
  opened = &plan;
  current = options.profile;
  uint32_t ranks = plan.info().ranks;
  std::string driver = options.driver.empty() ? plan.info().target : options.driver;
  driverName = driver;
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

/// Inputs and labels, by index.
static std::vector<uint32_t> inputsOf(const Plan &plan) {
  std::vector<uint32_t> result;
  for (uint32_t t = 0; t < plan.info().tensors; ++t)
    if (gpucc_rt_role role = plan.tensor(t).role; role == GPUCC_RT_INPUT || role == GPUCC_RT_LABEL)
      result.push_back(t);
  return result;
}

/// "x is f32 [2, 3], expected f32 [1, 3] (p0), f32 [4, 3] (p1)"
static std::string expectation(const Plan &plan, uint32_t tensor, const Array *given) {
  gpucc_rt_tensor_info info = plan.tensor(tensor);
  std::string text = std::string("'") + info.name + "' " +
                     (given ? "is " + describe(given->dtype, given->shape) : "is not given") +
                     ", expected ";
  for (uint32_t p = 0; p < plan.info().profiles; ++p) {
    std::vector<int64_t> shape;
    if (plan.profileDims(p, tensor, shape))
      continue;
    text +=
        (p ? ", " : "") + describe(info.dtype, shape) + " (profile " + plan.profileName(p) + ")";
  }
  return text;
}

/// Does some profile take this array, whatever the others are?
static bool fitsSomewhere(const Plan &plan, uint32_t tensor, const Array &array) {
  for (uint32_t p = 0; p < plan.info().profiles; ++p) {
    std::vector<int64_t> shape;
    if (!plan.profileDims(p, tensor, shape) && shape == array.shape)
      return true;
  }
  return false;
}

/// Inputs that fit no profile; when each fits some, all of them.
static std::string misfits(const Plan &plan, const std::vector<Array> &arrays) {
  std::string alone, all;
  for (uint32_t t : inputsOf(plan)) {
    const Array *array = findArray(arrays, plan.tensor(t).name);
    std::string line = "\n  input " + expectation(plan, t, array);
    all += line;
    if (array && !fitsSomewhere(plan, t, *array))
      alone += line;
  }
  return alone.empty() ? "\n  each fits one, but not together:" + all : alone;
}

Status RankGroup::writeInputs(const std::vector<Array> &arrays) {
  for (uint32_t t : inputsOf(*opened))
    if (!findArray(arrays, opened->tensor(t).name))
      return GPUCC_RT_FAIL(Code::invalidArgument, "input ", expectation(*opened, t, nullptr))
          .release();
  if (Status status = useProfileFor(arrays))
    return status;
  for (const Array &array : arrays)
    if (Status status = writeArray(array))
      return status;
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
  Status chosen = gpucc_rt_plan_select_profile(opened->get(), static_cast<uint32_t>(names.size()),
                                               names.data(), ranks.data(), dims.data(), &profile);
  if (chosen && chosen.code() == GPUCC_RT_INVALID_ARGUMENT)
    return GPUCC_RT_FAIL(Code::invalidArgument, chosen.message(), misfits(*opened, arrays))
        .release();
  if (chosen)
    return chosen;
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

std::vector<uint32_t> RankGroup::piecesOf(const std::string &name) const {
  std::vector<uint32_t> pieces;
  for (uint32_t t = 0; t < opened->info().tensors; ++t)
    if (opened->piece(t).source == name)
      pieces.push_back(t);
  return pieces;
}

bool RankGroup::hasTensor(const std::string &name) const {
  uint32_t index = 0;
  return !Status(gpucc_rt_plan_find_tensor(opened->get(), name.c_str(), &index)) ||
         !piecesOf(name).empty();
}

/// Calls `row(in the whole, in the piece, elements)` for each run of elements that is contiguous in
/// both.
template <typename Row>
static void forEachRow(const gpucc_rt_piece_info &piece, const gpucc_rt_tensor_info &part,
                       Row row) {
  uint64_t rows = 1, length = part.rank ? static_cast<uint64_t>(part.dims[part.rank - 1]) : 1;
  for (uint32_t d = 0; d + 1 < part.rank; ++d)
    rows *= static_cast<uint64_t>(part.dims[d]);
  for (uint64_t r = 0; r < rows; ++r) {
    uint64_t rest = r, whole = part.rank ? static_cast<uint64_t>(piece.base[part.rank - 1]) : 0;
    uint64_t stride = part.rank ? static_cast<uint64_t>(piece.dims[part.rank - 1]) : 1;
    for (uint32_t d = part.rank; d-- > 1;) {
      auto extent = static_cast<uint64_t>(part.dims[d - 1]);
      whole += (static_cast<uint64_t>(piece.base[d - 1]) + rest % extent) * stride;
      rest /= extent;
      stride *= static_cast<uint64_t>(piece.dims[d - 1]);
    }
    row(whole, r * length, length);
  }
}

static uint64_t elementCount(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<uint64_t>(extent);
  return count;
}

Status RankGroup::writePieces(const Array &array, const std::vector<uint32_t> &pieces) {
  gpucc_rt_piece_info whole = opened->piece(pieces[0]);
  std::vector<int64_t> shape(whole.dims, whole.dims + whole.rank);
  gpucc_rt_dtype wanted = opened->tensor(pieces[0]).dtype;
  if (shape != array.shape)
    return GPUCC_RT_FAIL(Code::invalidArgument, "'", array.name, "' is ",
                         describe(array.dtype, array.shape), ", the plan takes ",
                         describe(wanted, shape), " (in ", pieces.size(), " pieces)")
        .release();
  Array converted = array;
  if (array.dtype != wanted)
    if (Status status = convert(converted, wanted))
      return status;
  for (uint32_t piece : pieces) {
    std::vector<char> part = cutPiece(piece, converted);
    if (Status status = write(opened->tensor(piece).name, part.data(), part.size()))
      return status;
  }
  return {};
}

std::vector<char> RankGroup::cutPiece(uint32_t piece, const Array &whole) const {
  gpucc_rt_tensor_info info = opened->tensor(piece);
  uint64_t width = dtypeBytes(whole.dtype, 1);
  std::vector<char> part(elementCount({info.dims, info.dims + info.rank}) * width);
  forEachRow(opened->piece(piece), info, [&](uint64_t from, uint64_t to, uint64_t count) {
    std::memcpy(part.data() + to * width, whole.bytes.data() + from * width, count * width);
  });
  return part;
}

void RankGroup::pastePiece(uint32_t piece, const std::vector<char> &part, Array &whole) const {
  uint64_t width = dtypeBytes(whole.dtype, 1);
  forEachRow(
      opened->piece(piece), opened->tensor(piece), [&](uint64_t to, uint64_t from, uint64_t count) {
        std::memcpy(whole.bytes.data() + to * width, part.data() + from * width, count * width);
      });
}

Status RankGroup::readPieces(Array &array, const std::vector<uint32_t> &pieces) {
  gpucc_rt_piece_info whole = opened->piece(pieces[0]);
  array.shape.assign(whole.dims, whole.dims + whole.rank);
  array.dtype = opened->tensor(pieces[0]).dtype;
  array.bytes.assign(dtypeBytes(array.dtype, elementCount(array.shape)), 0);
  for (uint32_t piece : pieces) {
    std::vector<char> part = cutPiece(piece, array);
    if (Status status = read(opened->tensor(piece).name, part.data(), part.size()))
      return status;
    pastePiece(piece, part, array);
  }
  return {};
}

Status RankGroup::readPart(uint32_t rank, const std::string &name, Array &array) {
  std::vector<uint32_t> pieces = piecesOf(name);
  for (uint32_t piece : pieces) {
    std::string own = opened->tensor(piece).name;
    if (!sessions[rank].has(own))
      continue;
    std::vector<char> part = cutPiece(piece, array);
    if (Status status = sessions[rank].read(own, part.data(), part.size()))
      return status;
    pastePiece(piece, part, array);
  }
  if (!pieces.empty() || !sessions[rank].has(name))
    return {};
  return sessions[rank].read(name, array.bytes.data(), array.bytes.size());
}

Status RankGroup::writeArray(const Array &array) {
  if (std::vector<uint32_t> pieces = piecesOf(array.name); !pieces.empty())
    return writePieces(array, pieces);
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
  array.name = name;
  if (std::vector<uint32_t> pieces = piecesOf(name); !pieces.empty())
    return readPieces(array, pieces);
  uint32_t index = 0;
  if (Status status = gpucc_rt_plan_find_tensor(opened->get(), name.c_str(), &index))
    return status;
  array.dtype = opened->tensor(index).dtype;
  Status sized = opened->varyingDim(index) >= 0
                     ? sessions[0].shape(name, opened->tensor(index).rank, array.shape)
                     : opened->profileDims(current, index, array.shape);
  if (sized)
    return sized;
  array.bytes.resize(dtypeBytes(array.dtype, elementCount(array.shape)));
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
