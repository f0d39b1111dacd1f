// What whoever runs the server is told of it: whether it should be sent requests, and figures for a
// monitoring system. Nothing of it waits for the writer longer than a look at the status page does.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "server/service/core/kernel.h"
#include "server/service/core/load.h"
#include "server/service/operator/overview.h"
#include "server/service/operator/views.h"

namespace gleaner::service {

struct Figures {
  Overview::Snapshot snapshot;
  protocol::OverviewSample sample;  // the console's newest: core-hours since the server started
  WriterFigures writer;
  int requests_under_way = 0;  // of hosts
  std::int64_t overloads = 0;  // their requests that were told to come again later
  bool ready = false;
  std::optional<std::int64_t> disk_free_bytes;  // absent: the system does not tell
  std::int64_t disk_reserve_bytes = 0;
  std::optional<std::int64_t> store_bytes;    // absent: the store does not tell
  std::optional<storage::BlobFigures> blobs;  // absent: they are files here
  bool blobs_away = false;
};

class Vitals {
 public:
  Vitals(Kernel& kernel, Overview& overview, const Views& views, const Load& load)
      : kernel_(kernel), overview_(overview), views_(views), load_(load) {}
  // From memory, but for the disk's free space. unavailable: why not.
  [[nodiscard]] Status readiness() const;
  void figures(Done<Figures> done);
  // From now on the server is not ready: it finishes what it has.
  void begin_stop() { stopping_ = true; }

 private:
  Kernel& kernel_;
  Overview& overview_;
  const Views& views_;
  const Load& load_;
  std::atomic<bool> stopping_{false};
};

}  // namespace gleaner::service
