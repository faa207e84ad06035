//===- Session.h - A plan on one rank: prepare, bind, execute
//-----------------------------------===//
//
// What the C API's gpucc_rt_session_* functions do; gpucc_rt.h says it from the outside. Files:
// Session.cpp (prepare, profiles, execution), SessionTensors.cpp (reading and writing tensors,
// taps), VaryingSizes.cpp (outputs whose size a step computes), Gather.cpp (from all ranks), State.cpp (save and load), PackPlan.cpp (packed
// weights into the file).
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_SESSION_SESSION_H
#define GPUCC_RT_SESSION_SESSION_H

#include "drivers/Driver.h"
#include "plan/Slices.h"
#include "session/Trace.h"
#include "session/Worker.h"

#include <map>

namespace gpucc::rt {

struct SessionOptions {
  std::string driver; ///< empty: the plan's target
  uint32_t rank = 0;
  std::shared_ptr<World> world;
  uint32_t threads = 0, device = 0, profile = 0;
  bool noGraphs = false, verifyWeights = false;
  std::vector<PackedOperand> *packed = nullptr; ///< see DriverOptions
};

/// The part of a tensor on this rank, under one profile.
struct LocalView {
  const plan::TensorView *view;
  const plan::Tensor *tensor;
  Extents global, local, strides;
  uint64_t localBytes;  ///< one slot
  uint64_t globalBytes; ///< the whole tensor
};

class Session {
public:
  static Status prepare(std::shared_ptr<PlanImage> plan, const SessionOptions &options,
                        std::unique_ptr<Session> &session);
  ~Session();

  Status useProfile(uint32_t profile);
  /// Which of the program's scripts execute and run run; "main" at first.
  Status useScript(const std::string &name);
  Status execute(); ///< in the background
  Status wait();
  Status run(); ///< in the calling thread

  bool has(const std::string &name) const;
  Status write(const std::string &name, const void *data, uint64_t bytes);
  Status read(const std::string &name, void *data, uint64_t bytes);
  Status bind(const std::string &name, void *pointer, uint64_t bytes);
  Status address(const std::string &name, void **pointer, uint64_t *bytes);
  /// Global extents; of an output whose size a step computes, those of the last step.
  Status shape(const std::string &name, Extents &dims);
  Status enableTaps(const std::vector<std::string> &names);

  /// Finds a tensor's part on this rank; an error that says why there is none.
  Status find(const std::string &name, LocalView &view) const;
  /// Puts this rank's part into a global array; `add` sums.
  Status readPart(const LocalView &view, char *global, bool add);
  Status writePart(const LocalView &view, const char *global);

  const PlanImage &planImage() const { return *plan; }
  const RankContext &rankContext() const { return rank; }
  const std::string &warningText();
  void setTrace(bool on) { tracing = on; }
  const Trace &traceLog() const { return trace; }
  bool computes() const { return driver->computes(); }

private:
  /// One profile's program on this rank.
  struct Prepared {
    const plan::Program *program = nullptr;
    AddressTable addresses;
    std::unique_ptr<Executable> executable;
  };
  struct Tap {
    TapRequest request;
    std::vector<std::vector<char>> slots;
  };

  Session() = default;
  Status open(const SessionOptions &options);
  Status allocate();
  Status connect();
  Status loadInitialValues(bool verify);
  Status writeRankConstants();
  Status prepareProfiles();
  Status runScript();
  const plan::Script *findScript() const;
  Status checkUsable() const;
  Status keepError(Status status);
  void rebuildTaps();
  LocalView makeView(const plan::TensorView &view) const;
  Status countOf(const LocalView &view, int64_t &count);
  Status readVarying(const LocalView &view, void *data, uint64_t bytes);
  char *slotAddress(const LocalView &view, uint32_t slot) const;
  Prepared &current() { return prepared[profile]; }
  const Prepared &current() const { return prepared[profile]; }

  std::shared_ptr<PlanImage> plan;
  RankContext rank;
  std::shared_ptr<World> world;
  std::unique_ptr<Driver> driver;
  std::vector<char *> arenas;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<Prepared> prepared; ///< per profile
  uint32_t profile = 0;
  std::string scriptName = "main";
  bool stepped = false; ///< a step was completed under the profile in use
  uint64_t bindingVersion = 0;
  std::vector<std::string> tapNames;
  std::map<uint32_t, std::unique_ptr<Tap>> taps; ///< by tensor
  std::vector<TapRequest> tapRequests;
  Trace trace;
  bool tracing = false;
  std::vector<std::string> warnings;
  std::string warningLines;
  Status broken; ///< the error after which only freeing is allowed
  Worker worker; ///< last: stops before anything else goes
};

/// The whole tensor from the sessions of all ranks.
Status gather(const std::vector<Session *> &sessions, const std::string &name, void *data,
              uint64_t bytes);

Status saveState(const std::vector<Session *> &sessions, const std::string &path,
                 const std::map<std::string, std::string> &metadata);
Status loadState(Session &session, const std::string &path);

/// PackPlan.cpp: writes the plan file anew with its constant operands packed for this CPU.
Status packPlan(const std::string &path);

} // namespace gpucc::rt

#endif // GPUCC_RT_SESSION_SESSION_H
