// Work that may have to wait (for the network, for large files, for a benchmark) runs on queues, each with
// its own thread and connection, so that neither kernels nor heartbeats ever wait for it. A job returns a
// completion, which runs on the engine's thread in deliver(). The jobs of one queue run in order, one at a
// time.
#pragma once

#include <atomic>
#include <functional>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/http_client.h"
#include "shared/io/waiting.h"
#include "shared/transport/transfer_allowance.h"

namespace gleaner::transport {

enum class Queue : int { control = 0, data = 1, background = 2 };
inline constexpr int queue_count = 3;

struct JobContext {
  io::HttpClient& http;
  const std::atomic<bool>& stopping;    // long jobs look at it between steps
  io::HttpClient* objects = nullptr;    // to a server's object store; null: only the server is asked
  io::HttpClient* inquiring = nullptr;  // for what relays say of themselves (relay.h); null: none are asked
  const TransferAllowance* allowance = nullptr;  // of large transfers; null: any

  // Bytes that large transfers may still move; 0: they are held back.
  [[nodiscard]] std::int64_t left() const {
    return allowance == nullptr ? TransferAllowance::any : allowance->left();
  }
};

// The error of a transfer that is held back.
[[nodiscard]] inline Error held_back() {
  return {ErrorKind::unavailable, "the preferences allow no transfer now"};
}

using Completion = std::function<void()>;
using Job = std::function<Completion(JobContext&)>;

class Workers {
 public:
  virtual ~Workers() = default;
  virtual void submit(Queue queue, Job job) = 0;
  // Runs the completions that have come in.
  virtual void deliver() = 0;
  // Ready when deliver() has something to do; not valid if there is no such thing.
  [[nodiscard]] virtual io::Waitable waitable() const = 0;
};

}  // namespace gleaner::transport
