//===- Worker.h - One background thread that runs jobs in order
//---------------------------------===//
#ifndef GPUCC_RT_SESSION_WORKER_H
#define GPUCC_RT_SESSION_WORKER_H

#include "core/Status.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace gpucc::rt {

/// Starts its thread with the first job. After a job failed, later ones are dropped until wait()
/// has told the error.
class Worker {
public:
  ~Worker();
  void post(std::function<Status()> job);
  /// Until all jobs are done; the first error since the last wait.
  Status wait();

private:
  void loop();
  std::mutex mutex;
  std::condition_variable wake, idle;
  std::deque<std::function<Status()>> jobs;
  bool busy = false, stopping = false;
  Status error;
  std::thread thread;
};

} // namespace gpucc::rt

#endif // GPUCC_RT_SESSION_WORKER_H
