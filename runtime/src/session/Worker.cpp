//===- Worker.cpp - One background thread that runs jobs in order
//-------------------------------===//
#include "session/Worker.h"

using namespace gpucc::rt;

Worker::~Worker() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    stopping = true;
    wake.notify_all();
  }
  thread.join();
}

void Worker::post(std::function<Status()> job) {
  std::lock_guard lock(mutex);
  if (!thread.joinable())
    thread = std::thread([this] { loop(); });
  jobs.push_back(std::move(job));
  wake.notify_all();
}

Status Worker::wait() {
  if (!thread.joinable())
    return {}; // nothing was ever posted
  std::unique_lock lock(mutex);
  idle.wait(lock, [&] { return jobs.empty() && !busy; });
  return std::exchange(error, Status());
}

void Worker::loop() {
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stopping || !jobs.empty(); });
    if (jobs.empty())
      return; // stopping, everything done
    std::function<Status()> job = std::move(jobs.front());
    jobs.pop_front();
    busy = true;
    bool drop = error.failed();
    lock.unlock();
    Status status = drop ? Status() : job();
    lock.lock();
    busy = false;
    if (status && !error)
      error = std::move(status);
    if (jobs.empty())
      idle.notify_all();
  }
}
