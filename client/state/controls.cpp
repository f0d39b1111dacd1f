#include "client/state/controls.h"

#include <algorithm>

#include "shared/base/paths.h"
#include "shared/io/settings.h"

namespace gleaner::state {
namespace {

constexpr std::int64_t controls_bytes_max = 64 << 10;
constexpr std::int64_t pause_seconds_max = std::int64_t{366} * 24 * 3600;
constexpr std::int64_t time_max = std::int64_t{1} << 53;

struct Stored {
  bool enabled = true;
  bool finish = false;
  std::int64_t pause_seconds = 0;
  std::int64_t pause_begun = 0;

  [[nodiscard]] io::Settings settings() {
    io::Settings all;
    all.add("enabled", &enabled, "May this computer compute at all?");
    all.add("finish", &finish, "Finish current work and fetch no new units.");
    all.add("pause_seconds", &pause_seconds, -1, pause_seconds_max,
            "Length of the pause; 0: none, -1: until resumed.");
    all.add("pause_begun", &pause_begun, 0, time_max, "When it began, in microseconds since 1970.");
    return all;
  }
};

}  // namespace

std::optional<Duration> Controls::pause_left(Timestamp now) const {
  if (!pause_length || *pause_length == Duration::max()) return pause_length;
  const Duration left = pause_begun + *pause_length - now;
  if (left <= Duration{0}) return std::nullopt;
  return std::min(left, *pause_length);
}

Result<Controls> load_controls(const io::Files& files, const io::Path& path) {
  Controls controls;
  if (!files.exists(path)) return controls;
  TRY_ASSIGN(const Bytes text, files.read(path, controls_bytes_max));
  Stored stored;
  TRY(stored.settings().parse(text, utf8_text(path)));
  controls.enabled = stored.enabled;
  controls.finish = stored.finish;
  controls.pause_begun = from_microseconds(stored.pause_begun);
  if (stored.pause_seconds < 0) controls.pause_length = Duration::max();
  if (stored.pause_seconds > 0) controls.pause_length = std::chrono::seconds{stored.pause_seconds};
  return controls;
}

Status save_controls(io::Files& files, const io::Path& path, const Controls& controls) {
  Stored stored;
  stored.enabled = controls.enabled;
  stored.finish = controls.finish;
  stored.pause_begun = std::clamp<std::int64_t>(to_microseconds(controls.pause_begun), 0, time_max);
  if (controls.pause_length)
    stored.pause_seconds = *controls.pause_length == Duration::max()
                               ? -1
                               : std::clamp<std::int64_t>(
                                     std::chrono::ceil<std::chrono::seconds>(*controls.pause_length).count(),
                                     1, pause_seconds_max);
  return files.write(path, stored.settings().render(), io::Mode::secret);
}

}  // namespace gleaner::state
