// One daemon per state directory: a lock that the system takes back when the process ends, however it ends.
// Platform file: state_lock_linux.cpp.
#pragma once

#include <cstdint>
#include <utility>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::platform {

class StateLock {
 public:
  // conflict if another process holds it.
  [[nodiscard]] static Result<StateLock> take(const io::Path& path);
  ~StateLock() { release(); }
  StateLock(StateLock&& other) noexcept : native_(std::exchange(other.native_, none)) {}
  StateLock& operator=(StateLock&&) = delete;
  // For a process that is about to end without destructors.
  void release();

 private:
  using Native = std::intptr_t;  // a descriptor, a handle
  static constexpr Native none = -1;
  explicit StateLock(Native native) : native_(native) {}
  Native native_;
};

// Where the state lies that nobody named: $STATE_DIRECTORY (systemd), else /var/lib/gleaner-client for root,
// else ~/.local/share/gleaner-client.
[[nodiscard]] io::Path default_state_directory();

}  // namespace gleaner::platform
