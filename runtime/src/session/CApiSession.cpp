//===- CApiSession.cpp - gpucc_rt_session_*, state and trace
//------------------------------------===//
#include "core/Json.h"
#include "session/CApi.h"

#include <algorithm>
#include <cstring>

using namespace gpucc::rt;

/// Options as the caller's header knew them: newer fields keep their defaults.
static SessionOptions readOptions(const gpucc_rt_session_options *given) {
  gpucc_rt_session_options options = {};
  if (given)
    std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  SessionOptions result;
  result.driver = options.driver ? options.driver : "";
  result.rank = options.rank;
  result.world = options.world ? options.world->world : nullptr;
  result.threads = options.threads;
  result.device = options.device;
  result.profile = options.profile;
  result.noGraphs = options.no_graphs != 0;
  result.verifyWeights = options.verify_weights != 0;
  return result;
}

static Status collect(gpucc_rt_session *const *sessions, uint32_t count,
                      std::vector<Session *> &result) {
  for (uint32_t i = 0; i < count; ++i) {
    if (!sessions || !sessions[i])
      return GPUCC_RT_FAIL(Code::invalidArgument, "session ", i, " is null");
    result.push_back(sessions[i]->session.get());
  }
  return {};
}

/// {"key": "value", ...} as a map.
static Status parseMetadata(const char *text, std::map<std::string, std::string> &metadata) {
  if (!text)
    return {};
  Json value;
  GPUCC_RT_TRY(parseJson(text, value).prefixed("metadata"));
  for (const auto &[key, entry] : value.members)
    metadata[key] = entry.string;
  return {};
}

extern "C" {

gpucc_rt_status *gpucc_rt_session_prepare(const gpucc_rt_plan *plan,
                                          const gpucc_rt_session_options *options,
                                          gpucc_rt_session **session) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(plan);
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    if (options && (options->size == 0 || options->size > 4096))
      return GPUCC_RT_FAIL(Code::invalidArgument, "options.size is ", options->size,
                           "; set it to sizeof(gpucc_rt_session_options)");
    auto made = std::make_unique<gpucc_rt_session>();
    GPUCC_RT_TRY(Session::prepare(plan->image, readOptions(options), made->session));
    *session = made.release();
    return {};
  });
}

void gpucc_rt_session_free(gpucc_rt_session *session) { delete session; }

const char *gpucc_rt_session_warnings(const gpucc_rt_session *session) {
  return session->session->warningText().c_str();
}

gpucc_rt_status *gpucc_rt_session_use_profile(gpucc_rt_session *session, uint32_t profile) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    return session->session->useProfile(profile);
  });
}

int gpucc_rt_session_has(const gpucc_rt_session *session, const char *name) {
  return session && name && session->session->has(name);
}

gpucc_rt_status *gpucc_rt_session_write(gpucc_rt_session *session, const char *name,
                                        const void *data, uint64_t bytes) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    if (bytes > 0)
      GPUCC_RT_REQUIRE_ARGUMENT(data);
    return session->session->write(name, data, bytes);
  });
}

gpucc_rt_status *gpucc_rt_session_read(gpucc_rt_session *session, const char *name, void *data,
                                       uint64_t bytes) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    if (bytes > 0)
      GPUCC_RT_REQUIRE_ARGUMENT(data);
    return session->session->read(name, data, bytes);
  });
}

gpucc_rt_status *gpucc_rt_session_shape(gpucc_rt_session *session, const char *name,
                                        int64_t *dims) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    GPUCC_RT_REQUIRE_ARGUMENT(dims);
    Extents shape;
    GPUCC_RT_TRY(session->session->shape(name, shape));
    std::copy(shape.begin(), shape.end(), dims);
    return {};
  });
}

gpucc_rt_status *gpucc_rt_gather(gpucc_rt_session *const *sessions, uint32_t count,
                                 const char *name, void *data, uint64_t bytes) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    if (bytes > 0)
      GPUCC_RT_REQUIRE_ARGUMENT(data);
    std::vector<Session *> all;
    GPUCC_RT_TRY(collect(sessions, count, all));
    return gather(all, name, data, bytes);
  });
}

gpucc_rt_status *gpucc_rt_session_bind(gpucc_rt_session *session, const char *name, void *pointer,
                                       uint64_t bytes) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    return session->session->bind(name, pointer, bytes);
  });
}

gpucc_rt_status *gpucc_rt_session_address(gpucc_rt_session *session, const char *name,
                                          void **pointer, uint64_t *bytes) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    GPUCC_RT_REQUIRE_ARGUMENT(pointer);
    GPUCC_RT_REQUIRE_ARGUMENT(bytes);
    return session->session->address(name, pointer, bytes);
  });
}

gpucc_rt_status *gpucc_rt_session_use_script(gpucc_rt_session *session, const char *name) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(name);
    return session->session->useScript(name);
  });
}

gpucc_rt_status *gpucc_rt_session_execute(gpucc_rt_session *session) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    return session->session->execute();
  });
}

gpucc_rt_status *gpucc_rt_session_wait(gpucc_rt_session *session) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    return session->session->wait();
  });
}

gpucc_rt_status *gpucc_rt_session_run(gpucc_rt_session *session) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    return session->session->run();
  });
}

gpucc_rt_status *gpucc_rt_session_enable_taps(gpucc_rt_session *session, const char *const *names,
                                              uint32_t count) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    if (count > 0)
      GPUCC_RT_REQUIRE_ARGUMENT(names);
    return session->session->enableTaps(std::vector<std::string>(names, names + count));
  });
}

gpucc_rt_status *gpucc_rt_state_save(gpucc_rt_session *const *sessions, uint32_t count,
                                     const char *path, const char *metadata) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(path);
    std::vector<Session *> all;
    std::map<std::string, std::string> entries;
    GPUCC_RT_TRY(collect(sessions, count, all));
    GPUCC_RT_TRY(parseMetadata(metadata, entries));
    return saveState(all, path, entries);
  });
}

gpucc_rt_status *gpucc_rt_state_load(gpucc_rt_session *session, const char *path) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(session);
    GPUCC_RT_REQUIRE_ARGUMENT(path);
    return loadState(*session->session, path);
  });
}

void gpucc_rt_session_set_trace(gpucc_rt_session *session, int on) {
  session->session->setTrace(on != 0);
}

gpucc_rt_status *gpucc_rt_trace_save(gpucc_rt_session *const *sessions, uint32_t count,
                                     const char *path) {
  return guarded([&]() -> Status {
    GPUCC_RT_REQUIRE_ARGUMENT(path);
    std::vector<Session *> all;
    GPUCC_RT_TRY(collect(sessions, count, all));
    std::vector<RankTrace> traces;
    for (Session *session : all)
      traces.push_back({session->rankContext().rank, &session->traceLog()});
    return saveTraces(traces, path);
  });
}
}
