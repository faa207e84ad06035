//===- CollectiveReplay.h - do the ranks' queues fit together? --*- C++ -*-===//
//
// Plays the communication of all ranks against each other: a collective
// completes when every member of its group stands at it with the same
// signature, a receive when its message was sent; sends do not wait. Either
// every queue ends, and then any execution in queue order does, or the result
// says who waits for whom, or which two ranks meet with different collectives.
//
//   rank 0: all_reduce A, all_reduce B     rank 1: all_reduce B, all_reduce A
//     -> ranks 0 and 1 meet: rank 0 with A, rank 1 with B
//
// Waiting for completion is stricter than what NCCL does on several streams, so
// a program that passes cannot hang for its order.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TRANSFORMS_DIST_COLLECTIVEREPLAY_H
#define GPUCC_TRANSFORMS_DIST_COLLECTIVEREPLAY_H

#include <cstdint>
#include <string>
#include <vector>

namespace gpucc {

struct CommunicationEvent {
  enum Kind { Meet, Send, Receive } kind = Meet;
  std::vector<int64_t> group;      ///< Meet: all members, in the same order on each
  std::string signature;           ///< what must be equal on all members, or on sender and receiver
  int64_t peer = -1, channel = -1; ///< Send, Receive
  int source = -1;                 ///< the caller's number for the op, for messages
};

struct ReplayFault {
  enum Kind { None, Different, Deadlock, Unreceived, WrongMessage } kind = None;
  std::string what;                                 ///< one sentence
  std::vector<std::pair<int64_t, size_t>> involved; ///< rank and index in its queue
};

ReplayFault replayCollectives(const std::vector<std::vector<CommunicationEvent>> &queues);

} // namespace gpucc

#endif // GPUCC_TRANSFORMS_DIST_COLLECTIVEREPLAY_H
