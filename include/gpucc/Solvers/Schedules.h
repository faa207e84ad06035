//===- Schedules.h - pipeline schedules as data -----------------*- C++ -*-===//
//
// What: for every pipeline rank the order in which it runs forward (F), full backward (B) or its
// halves, backward of inputs (I) and of weights (W), of stages and micro-batches, and the update
// (U). One schedule is one table; the partitioner, the simulator and the planner read it.
//
// Example, 1F1B, 2 stages, 3 micro-batches:
//
//     stage 0:  F0 F1 B0 F2 B1 B2 U
//     stage 1:  F0 B0 F1 B1 F2 B2 U
//
// Closed forms the tests hold these tables to (p ranks, m micro-batches, v chunks per rank; times
// F, B = I + W of a rank's whole share; bubble = longest span of a rank minus its work):
//
//     schedule       bubble                    kept micro-batches of a rank's share
//     gpipe          (p-1)(F+B)                m
//     1f1b           (p-1)(F+B)                p - i on rank i
//     interleaved    (p-1)(F+B)/v              p + (p-1)/v on rank 0
//     zb-h1          (p-1)(F+I-W)              p
//     zb-h2          (p-1)(F+I-2W)             2p - 1
//     zb-v           0 for F = I = W           p
//     dualpipe       (p/2-1)(F&B + B - 3W)     p + 1, parameters twice
//     dualpipe-v     (p-1)(F&B + B - 3W), F, B of half a share; (2p + 1) / 2
//
// F&B is a forward and a backward that run as one overlapped unit. The forms hold for m >= p
// (1f1b), m a multiple of p and v >= 2 (interleaved), m >= 2p (the others), p even (dualpipe).
// Sources: GPipe (Huang et al. 2019); 1F1B and interleaved (Narayanan et al., Megatron-LM, SC'21);
// zero bubble (Qi et al., arXiv 2401.10241 and 2405.15362); DualPipe (DeepSeek-V3 report and the
// table of its repository).
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SOLVERS_SCHEDULES_H
#define GPUCC_SOLVERS_SCHEDULES_H

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpucc::solvers {

enum class ScheduleKind { GPipe, OneFOneB, Interleaved, ZbH1, ZbH2, ZbV, DualPipe, DualPipeV };
/// "gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v"
const char *name(ScheduleKind kind);
const std::vector<ScheduleKind> &allScheduleKinds(); ///< in the order of the enumeration
std::optional<ScheduleKind> parseScheduleKind(const std::string &text);

/// The kinds that stages cut from a graph can run: one stage per rank, whole backwards.
std::optional<ScheduleKind> parseGraphScheduleKind(const std::string &text);

/// Stages that one rank holds; `virtualStages` counts for interleaved only.
int chunksPerRank(ScheduleKind kind, int virtualStages);
/// Whether the kind splits the backward pass into inputs and weights.
bool splitsBackward(ScheduleKind kind);
/// Which rule the sizes break and the nearest that works; empty when fine.
std::string checkScheduleShape(ScheduleKind kind, int ranks, int microBatches, int virtualStages);

enum class ActionKind : char {
  Forward = 'F',
  Backward = 'B',
  BackwardInput = 'I',
  BackwardWeight = 'W',
  Update = 'U'
};

struct Action {
  ActionKind kind = ActionKind::Forward;
  int microBatch = 0;    ///< 0 for Update
  int stage = -1;        ///< of the whole pipeline; -1: the number of the rank
  bool withNext = false; ///< forms one overlapped unit with the action behind it
  bool operator==(const Action &) const = default;
};

struct PipelineSchedule {
  int microBatches = 1;
  std::vector<std::vector<Action>> stages; ///< one row per rank

  int numStages() const; ///< of the whole pipeline: rows times chunks
  int stageOf(int rank, const Action &action) const {
    return action.stage < 0 ? rank : action.stage;
  }
  /// Every rank runs forward and backward of each of its stages and micro-batches once, forward
  /// first, one U last, and no set of ranks waits for each other. Empty when fine; else the row,
  /// the cell and the rule.
  std::string check() const;
  std::string dump() const; ///< one row per rank, "F0 F1 B0 ... U"; "5F0" for stage 5 elsewhere
};

/// `virtualStages` is read by interleaved only. The sizes must pass `checkScheduleShape`.
PipelineSchedule makeSchedule(ScheduleKind kind, int ranks, int microBatches,
                              int virtualStages = 1);

/// Most (stage, micro-batch) pairs whose forward ran and whose backward, weights included, did not
/// end, per rank. With one chunk per rank: micro-batches.
std::vector<int> microBatchesInFlight(const PipelineSchedule &schedule);

/// Seconds of one micro-batch on one stage.
struct StageSeconds {
  double forward = 0, backwardInput = 0, backwardWeight = 0;
};

struct TimingOptions {
  double send = 0;      ///< seconds to pass a boundary between ranks
  double pairShare = 1; ///< an overlapped unit takes this share of its two actions' times
};

/// When each action starts and ends. U takes no time.
struct ScheduleTiming {
  double total = 0;                                         ///< seconds until the last action ends
  double bubble = 0;                                        ///< longest span minus work of a rank
  std::vector<double> busy;                                 ///< per rank
  std::vector<std::vector<std::pair<double, double>>> when; ///< per rank, per action: start, end
};
ScheduleTiming timeSchedule(const PipelineSchedule &schedule,
                            const std::vector<StageSeconds> &stages, TimingOptions options = {});
/// Full backward in one time per stage.
ScheduleTiming timeSchedule(const PipelineSchedule &schedule, const std::vector<double> &forward,
                            const std::vector<double> &backward, double send = 0);

/// Bubble of the closed forms above, for equal stages with these times of a rank's whole share.
/// `pairShare` as in TimingOptions.
double bubbleSeconds(ScheduleKind kind, int ranks, int virtualStages, StageSeconds share,
                     double pairShare = 1);
/// Kept activations of the closed forms, in micro-batches of a rank's whole share.
double keptMicroBatches(ScheduleKind kind, int ranks, int microBatches, int virtualStages,
                        int rank);

//===--- text: PyTorch's schedule CSV -------------------------------------===//
// One row per rank, one cell per time step, an empty cell is idle. Cells: 2F0 (stage 2, forward,
// micro-batch 0), 3B1, 3I1, 3W1, (0F3;7B1)OVERLAP_F_B. Cells of the lowered form (SEND_F, RECV_B,
// UNSHARD, ...) are read and dropped: they follow from the table.

std::string toCsv(const PipelineSchedule &schedule);
/// A schedule that passes `check`, or "origin:row 2, cell 5 (3B1): ...".
std::variant<PipelineSchedule, std::string> scheduleFromCsv(const std::string &text,
                                                            const std::string &origin);

/// Picture of a timed schedule: one line per rank, boxes in time, micro-batch numbers inside.
std::string toSvg(const PipelineSchedule &schedule, const ScheduleTiming &timing,
                  const std::string &title);

} // namespace gpucc::solvers
#endif // GPUCC_SOLVERS_SCHEDULES_H
