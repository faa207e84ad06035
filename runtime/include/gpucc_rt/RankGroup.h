//===- RankGroup.h - All ranks of a plan in this process
//----------------------------------------===//
//
//   gpucc_rt::RankGroup group;
//   s = group.open(plan, {.driver = "host"});  // all sessions of the plan, prepared concurrently
//   s = group.write("x", x.data(), bytes);     // each rank takes its part of the global array
//   s = group.run();
//   s = group.read("y", y.data(), bytes);      // put together
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_RANKGROUP_H
#define GPUCC_RT_RANKGROUP_H

#include "gpucc_rt/Arrays.h"

namespace gpucc_rt {

struct GroupOptions {
  std::string driver;         ///< empty: the plan's target
  uint32_t threads = 0;       ///< per rank; 0 = cores / ranks
  double watchdogSeconds = 0; ///< 0 = the default
  uint32_t profile = 0;
  bool noGraphs = false, verifyWeights = false;
};

class RankGroup {
public:
  Status open(const Plan &plan, const GroupOptions &options);
  uint32_t size() const { return static_cast<uint32_t>(sessions.size()); }
  Session &rank(uint32_t index) { return sessions[index]; }
  const Plan &plan() const { return *opened; }
  const std::string &driver() const { return driverName; }

  Status useProfile(uint32_t profile);
  uint32_t profile() const { return current; }
  /// The profile that fits the shapes of all inputs among these arrays. The error names each input
  /// that does not fit, what it is and what every profile takes.
  Status useProfileFor(const std::vector<Array> &arrays);
  /// Chooses the profile and gives the plan all of its inputs and labels: none may be missing, and
  /// no array unknown.
  Status writeInputs(const std::vector<Array> &arrays);

  Status write(const std::string &name, const void *data, uint64_t bytes);
  Status read(const std::string &name, void *data, uint64_t bytes);
  /// By array: checks type and shape (converting where that is safe), resp. allocates. A tensor
  /// that the plan holds in pieces is written and read whole, under the name it is saved under. An
  /// output whose size varies is read in the shape that the last step gave it.
  Status writeArray(const Array &array);
  Status readArray(const std::string &name, Array &array);
  /// Whether the plan holds the tensor, whole or in pieces.
  bool hasTensor(const std::string &name) const;
  /// What one rank holds of the tensor, over the bytes of `array`, which is of the whole one's
  /// size.
  Status readPart(uint32_t rank, const std::string &name, Array &array);
  /// Which script run() runs on all ranks ("main", "accumulate", "apply").
  Status useScript(const std::string &name);
  /// One step on all ranks.
  Status run();
  Status enableTaps(const std::vector<std::string> &names);

  Status saveState(const std::string &path, const std::string &metadataJson);
  Status loadState(const std::string &path);
  void setTrace(bool on);
  Status saveTrace(const std::string &path);
  std::string warnings() const;

private:
  std::vector<gpucc_rt_session *> pointers() const;
  /// Indices of the tensors that are pieces of `name`.
  std::vector<uint32_t> piecesOf(const std::string &name) const;
  Status writePieces(const Array &array, const std::vector<uint32_t> &pieces);
  Status readPieces(Array &array, const std::vector<uint32_t> &pieces);
  /// A piece out of the whole, and back.
  std::vector<char> cutPiece(uint32_t piece, const Array &whole) const;
  void pastePiece(uint32_t piece, const std::vector<char> &part, Array &whole) const;
  const Plan *opened = nullptr;
  std::string driverName;
  World world; ///< before the sessions: freed after them
  std::vector<Session> sessions;
  uint32_t current = 0;
};

} // namespace gpucc_rt

#endif // GPUCC_RT_RANKGROUP_H
