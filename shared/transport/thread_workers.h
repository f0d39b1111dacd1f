// Workers with real threads, one for each queue, started with the queue's first job. No ThreadPool, which
// finishes what it took: what has not begun is dropped here, and a thread that a server stalls can be left
// behind. submit(), deliver() and stop() are called from one thread.
#pragma once

#include <functional>
#include <memory>

#include "shared/transport/workers.h"

namespace gleaner::transport {

class ThreadWorkers final : public Workers {
 public:
  using MakeClient = std::function<std::unique_ptr<io::HttpClient>()>;
  // `make_objects`, `make_inquiring`: for those of JobContext; empty: none.
  explicit ThreadWorkers(MakeClient make_client, MakeClient make_objects = {},
                         MakeClient make_inquiring = {});
  ~ThreadWorkers() override;  // stop() without patience

  void submit(Queue queue, Job job) override;
  void deliver() override;
  [[nodiscard]] io::Waitable waitable() const override;

  // Drops jobs that have not begun and waits up to `patience` for those that have. False if one is still busy
  // (a stalled server): its thread is left behind, and the caller should end the process with _exit().
  [[nodiscard]] bool stop(Duration patience);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace gleaner::transport
