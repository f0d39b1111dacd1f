#include "shared/transport/thread_workers.h"

#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace gleaner::transport {

// Outlives the owner when a queue's thread has to be left behind.
struct ThreadWorkers::Shared {
  struct QueueState {
    std::deque<Job> jobs;
    std::condition_variable wake;
    std::thread thread;
    bool started = false;
    bool ended = false;
  };

  Shared(MakeClient make, MakeClient objects, MakeClient inquiring)
      : make_client(std::move(make)),
        make_objects(std::move(objects)),
        make_inquiring(std::move(inquiring)) {}

  void run(QueueState& queue) {
    std::unique_ptr<io::HttpClient> client = make_client();
    std::unique_ptr<io::HttpClient> objects = make_objects ? make_objects() : nullptr;
    std::unique_ptr<io::HttpClient> inquiring = make_inquiring ? make_inquiring() : nullptr;
    JobContext context{*client, stopping, objects.get(), inquiring.get()};
    std::unique_lock lock(mutex);
    while (true) {
      queue.wake.wait(lock, [&] { return stopping.load() || !queue.jobs.empty(); });
      if (stopping.load()) break;
      Job job = std::move(queue.jobs.front());
      queue.jobs.pop_front();
      lock.unlock();
      Completion completion = job(context);
      job = nullptr;  // what it holds goes before the lock is taken
      lock.lock();
      completions.push_back(std::move(completion));
      done.ring();
    }
    queue.jobs.clear();
    lock.unlock();
    objects.reset();
    inquiring.reset();
    client.reset();  // before anybody hears of the end
    lock.lock();
    queue.ended = true;
    ended.notify_all();
  }

  MakeClient make_client, make_objects, make_inquiring;
  io::Wakeup done;   // there are completions
  std::mutex mutex;  // guards everything below but `stopping`
  std::atomic<bool> stopping{false};
  std::condition_variable ended;
  std::array<QueueState, queue_count> queues;
  std::deque<Completion> completions;
};

ThreadWorkers::ThreadWorkers(MakeClient make_client, MakeClient make_objects, MakeClient make_inquiring)
    : shared_(std::make_shared<Shared>(std::move(make_client), std::move(make_objects),
                                       std::move(make_inquiring))) {}

ThreadWorkers::~ThreadWorkers() {
  (void)stop(Duration{0});
  for (auto& queue : shared_->queues)
    if (queue.thread.joinable()) queue.thread.detach();
}

void ThreadWorkers::submit(Queue name, Job job) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stopping.load()) return;
  Shared::QueueState& queue = shared_->queues.at(static_cast<std::size_t>(name));
  queue.jobs.push_back(std::move(job));
  if (!queue.started) {
    queue.started = true;
    queue.thread = std::thread([shared = shared_, &queue] { shared->run(queue); });
  }
  queue.wake.notify_one();
}

void ThreadWorkers::deliver() {
  if (!shared_->done.take()) return;
  std::deque<Completion> ready;
  {
    const std::lock_guard lock(shared_->mutex);
    ready.swap(shared_->completions);
  }
  for (const Completion& completion : ready)
    if (completion) completion();
}

io::Waitable ThreadWorkers::waitable() const {
  return shared_->done.waitable();
}

bool ThreadWorkers::stop(Duration patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  for (auto& queue : shared_->queues) queue.wake.notify_all();
  const bool all = shared_->ended.wait_for(lock, patience, [this] {
    for (const auto& queue : shared_->queues)
      if (queue.started && !queue.ended) return false;
    return true;
  });
  // To its very end: a thread that lets go of its TLS state while the process exits damages the heap.
  for (auto& queue : shared_->queues)
    if (queue.ended && queue.thread.joinable()) queue.thread.join();
  return all;
}

}  // namespace gleaner::transport
