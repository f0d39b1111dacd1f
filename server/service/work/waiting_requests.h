// Requests for work that wait at a relay until its parent gives it more: one for each host, and so many.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "server/service/core/kernel.h"
#include "server/service/core/work_outcome.h"

namespace gleaner::service {

struct WaitingRequest {
  HostId host;
  protocol::WorkRequest request;  // without commits, which were taken
  WorkOutcome outcome;            // what it is answered if nothing comes
  Done<protocol::WorkReply> done;
  std::uint64_t number = 0;  // lower is older
  SteadyTime until = {};     // then it is answered, whatever there is
};

class WaitingRequests {
 public:
  static constexpr std::size_t most = 4096;

  // Absent: it waits. Else who is to be answered now: the same host's older one, or this one, since it is the
  // older one, or there are as many as may wait, or none may any more.
  [[nodiscard]] std::optional<WaitingRequest> keep(WaitingRequest request);
  // That of the host, which waits no longer: it asks anew.
  [[nodiscard]] std::optional<WaitingRequest> end(HostId host);
  // All of them, the oldest first.
  [[nodiscard]] std::vector<WaitingRequest> take();
  // The same, and from now on none waits.
  [[nodiscard]] std::vector<WaitingRequest> close();
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<HostId, WaitingRequest> all_;
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace gleaner::service
