// One daemon per state directory: a lock that the system takes back when the process ends, however it ends.
#pragma once

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::program {

class StateLock {
 public:
  // conflict if another process holds it.
  [[nodiscard]] static Result<StateLock> take(const io::Path& path);
  ~StateLock() { release(); }
  StateLock(StateLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  StateLock& operator=(StateLock&&) = delete;
  // For a process that is about to end without destructors.
  void release();

 private:
  explicit StateLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// --state, else $STATE_DIRECTORY (systemd), else /var/lib/gleaner-client for root, else
// ~/.local/share/gleaner-client.
[[nodiscard]] io::Path default_state_directory();

}  // namespace gleaner::program
