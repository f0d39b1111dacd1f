#include "client/engine/speed_reporter.h"

namespace gleaner::engine {
namespace {

bool alike(double now, double then) {
  return now >= 0.8 * then && now <= 1.25 * then;
}

bool alike(const protocol::HostSpeeds& now, const protocol::HostSpeeds& then) {
  return alike(now.all_cores_mflops, then.all_cores_mflops) &&
         alike(now.memory_bytes_per_second, then.memory_bytes_per_second) &&
         alike(now.download_bytes_per_second, then.download_bytes_per_second) &&
         alike(now.upload_bytes_per_second, then.upload_bytes_per_second);
}

}  // namespace

std::optional<protocol::HostSpeeds> SpeedReporter::unreported(const protocol::HostSpeeds& now) {
  if (alike(now, known_)) return std::nullopt;
  offered_ = now;
  return now;
}

}  // namespace gleaner::engine
