//===- gpucc_rt.hpp - C++ face of gpucc_rt.h
//----------------------------------------------------===//
//
// Owning objects over the C API, header only; no exceptions, every failure is a Status:
//
//   gpucc_rt::Plan plan;
//   gpucc_rt::Session session;
//   gpucc_rt::Status s = gpucc_rt::Plan::open("model.plan", plan);
//   if (!s) s = gpucc_rt::Session::prepare(plan, {}, session);
//   if (!s) s = session.write("x", x.data(), x.size() * sizeof(float));
//   if (!s) s = session.run();
//   if (s) std::cerr << s.message() << "\n";
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_HPP
#define GPUCC_RT_HPP

#include "gpucc_rt/gpucc_rt.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpucc_rt {

/// Success (false) or an error (true in a condition).
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(gpucc_rt_status *status) : status(status) {}
  explicit operator bool() const { return status != nullptr; }
  gpucc_rt_code code() const { return gpucc_rt_status_code(status.get()); }
  std::string message() const { return gpucc_rt_status_message(status.get()); }
  std::string place() const { return gpucc_rt_status_place(status.get()); }
  gpucc_rt_status *release() { return status.release(); }

private:
  struct Free {
    void operator()(gpucc_rt_status *s) const { gpucc_rt_status_free(s); }
  };
  std::unique_ptr<gpucc_rt_status, Free> status;
};

class Plan {
public:
  static Status open(const std::string &path, Plan &plan) {
    gpucc_rt_plan *made = nullptr;
    Status status = gpucc_rt_plan_open(path.c_str(), &made);
    plan.plan.reset(made);
    return status;
  }
  static Status fromMemory(const void *bytes, uint64_t size, const std::string &folder,
                           Plan &plan) {
    gpucc_rt_plan *made = nullptr;
    Status status = gpucc_rt_plan_from_memory(bytes, size, folder.c_str(), &made);
    plan.plan.reset(made);
    return status;
  }
  /// Packs the weights of the plan file `path` for this CPU.
  static Status pack(const std::string &path) { return gpucc_rt_plan_pack(path.c_str()); }
  gpucc_rt_plan_info info() const {
    gpucc_rt_plan_info result;
    gpucc_rt_plan_get_info(plan.get(), &result);
    return result;
  }
  /// `index` is below info().tensors.
  gpucc_rt_tensor_info tensor(uint32_t index) const {
    gpucc_rt_tensor_info result = {};
    gpucc_rt_status_free(gpucc_rt_plan_get_tensor(plan.get(), index, &result));
    return result;
  }
  gpucc_rt_piece_info piece(uint32_t index) const {
    gpucc_rt_piece_info result = {"", 0, {}, {}};
    gpucc_rt_status_free(gpucc_rt_plan_get_piece(plan.get(), index, &result));
    return result;
  }
  /// The dimension of an output whose size each step computes; -1: none.
  int32_t varyingDim(uint32_t index) const { return gpucc_rt_plan_varying_dim(plan.get(), index); }
  std::string profileName(uint32_t profile) const {
    return gpucc_rt_plan_profile_name(plan.get(), profile);
  }
  Status profileDims(uint32_t profile, uint32_t tensorIndex, std::vector<int64_t> &dims) const {
    dims.assign(GPUCC_RT_MAX_RANK, 0);
    Status status = gpucc_rt_plan_profile_dims(plan.get(), profile, tensorIndex, dims.data());
    dims.resize(status ? 0 : tensor(tensorIndex).rank);
    return status;
  }
  gpucc_rt_plan *get() const { return plan.get(); }

private:
  struct Free {
    void operator()(gpucc_rt_plan *p) const { gpucc_rt_plan_free(p); }
  };
  std::unique_ptr<gpucc_rt_plan, Free> plan;
};

class World {
public:
  static Status create(const std::string &kind, uint32_t ranks, double watchdogSeconds,
                       World &world) {
    gpucc_rt_world *made = nullptr;
    Status status = gpucc_rt_world_create(kind.c_str(), ranks, watchdogSeconds, &made);
    world.world.reset(made);
    return status;
  }
  gpucc_rt_world *get() const { return world.get(); }

private:
  struct Free {
    void operator()(gpucc_rt_world *w) const { gpucc_rt_world_free(w); }
  };
  std::unique_ptr<gpucc_rt_world, Free> world;
};

struct SessionOptions {
  std::string driver; ///< empty: the plan's target
  uint32_t rank = 0, threads = 0, device = 0, profile = 0;
  gpucc_rt_world *world = nullptr;
  bool noGraphs = false, verifyWeights = false;
};

class Session {
public:
  static Status prepare(const Plan &plan, const SessionOptions &options, Session &session) {
    gpucc_rt_session_options c;
    std::memset(&c, 0, sizeof(c));
    c.size = sizeof(c);
    c.driver = options.driver.empty() ? nullptr : options.driver.c_str();
    c.rank = options.rank;
    c.world = options.world;
    c.threads = options.threads;
    c.device = options.device;
    c.no_graphs = options.noGraphs;
    c.verify_weights = options.verifyWeights;
    c.profile = options.profile;
    gpucc_rt_session *made = nullptr;
    Status status = gpucc_rt_session_prepare(plan.get(), &c, &made);
    session.session.reset(made);
    return status;
  }
  std::string warnings() const { return gpucc_rt_session_warnings(session.get()); }
  Status useProfile(uint32_t profile) {
    return gpucc_rt_session_use_profile(session.get(), profile);
  }
  bool has(const std::string &name) const {
    return gpucc_rt_session_has(session.get(), name.c_str()) != 0;
  }
  Status write(const std::string &name, const void *data, uint64_t bytes) {
    return gpucc_rt_session_write(session.get(), name.c_str(), data, bytes);
  }
  Status read(const std::string &name, void *data, uint64_t bytes) {
    return gpucc_rt_session_read(session.get(), name.c_str(), data, bytes);
  }
  /// `rank`: of the tensor. See gpucc_rt_session_shape.
  Status shape(const std::string &name, uint32_t rank, std::vector<int64_t> &dims) {
    dims.assign(GPUCC_RT_MAX_RANK, 0);
    Status status = gpucc_rt_session_shape(session.get(), name.c_str(), dims.data());
    dims.resize(status ? 0 : rank);
    return status;
  }
  Status bind(const std::string &name, void *pointer, uint64_t bytes) {
    return gpucc_rt_session_bind(session.get(), name.c_str(), pointer, bytes);
  }
  Status useScript(const std::string &name) {
    return gpucc_rt_session_use_script(session.get(), name.c_str());
  }
  Status execute() { return gpucc_rt_session_execute(session.get()); }
  Status wait() { return gpucc_rt_session_wait(session.get()); }
  Status run() { return gpucc_rt_session_run(session.get()); }
  Status enableTaps(const std::vector<std::string> &names) {
    std::vector<const char *> pointers;
    for (const std::string &name : names)
      pointers.push_back(name.c_str());
    return gpucc_rt_session_enable_taps(session.get(), pointers.data(),
                                        static_cast<uint32_t>(pointers.size()));
  }
  Status loadState(const std::string &path) {
    return gpucc_rt_state_load(session.get(), path.c_str());
  }
  void setTrace(bool on) { gpucc_rt_session_set_trace(session.get(), on); }
  gpucc_rt_session *get() const { return session.get(); }

private:
  struct Free {
    void operator()(gpucc_rt_session *s) const { gpucc_rt_session_free(s); }
  };
  std::unique_ptr<gpucc_rt_session, Free> session;
};

} // namespace gpucc_rt

#endif // GPUCC_RT_HPP
