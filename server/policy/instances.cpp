#include "server/policy/instances.h"

#include <algorithm>

#include "shared/base/limits.h"

namespace gleaner::policy {
namespace {

constexpr int returns_max = 2;
// A computer that sleeps for the night is still known the next morning.
constexpr Duration remembered_for = std::chrono::hours{24};

}  // namespace

Heard Instances::begin(std::int64_t id, std::int64_t sequence, Timestamp now) {
  const auto over = std::remove_if(runs_.begin(), runs_.end(), [&](const Run& run) {
    return run.id != present_ && now - run.at > remembered_for;
  });
  runs_.erase(over, runs_.end());
  if (runs_.size() >= limits::instances_per_host_max) runs_.erase(runs_.begin());
  runs_.push_back({id, sequence, now, 0, false});
  present_ = id;
  return Heard::well;
}

Heard Instances::hear(std::int64_t id, std::int64_t sequence, Timestamp now) {
  const auto run = std::find_if(runs_.begin(), runs_.end(), [id](const Run& one) { return one.id == id; });
  if (run == runs_.end()) return begin(id, sequence, now);
  run->at = now;
  if (run->parts) {
    copied_at_ = now;
    return Heard::copy;
  }
  if (sequence <= run->sequence) return Heard::again;
  run->sequence = sequence;
  if (id == present_) return Heard::well;
  const auto other =
      std::find_if(runs_.begin(), runs_.end(), [this](const Run& one) { return one.id == present_; });
  // The later one's return says only that the earlier one spoke.
  if (run < other && ++run->returns >= returns_max && other != runs_.end()) {
    other->parts = true;
    copied_at_ = now;
  }
  present_ = id;
  return Heard::returned;
}

}  // namespace gleaner::policy
