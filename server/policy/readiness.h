// Whether a server should be sent requests just now: what a load balancer and whoever is on call ask. Pure.
#pragma once

#include <cstdint>

#include "shared/base/clock.h"
#include "shared/base/result.h"

namespace gleaner::policy {

struct ReadinessFacts {
  bool stopping = false;
  bool store_failing = false;      // the last transaction was refused, or the model could not be read back
  Duration writer_waits{};         // since the writer last took something, while something waits for it
  int requests_under_way = 0;      // of hosts
  int requests_under_way_max = 0;  // as many are served
  bool disk_full = false;          // less is free than the reserve: results are refused
  bool blobs_away = false;         // the object store does not answer
};

// A writer that has taken nothing for so long hangs: a sync of a slow disk takes a second.
inline constexpr Duration writer_patience = std::chrono::seconds{10};

// unavailable: the gravest reason why not, in words that anyone may read.
[[nodiscard]] Status readiness(const ReadinessFacts& facts);

}  // namespace gleaner::policy
