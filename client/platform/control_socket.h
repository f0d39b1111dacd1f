// The daemon's end of the control protocol: a Unix socket (0600) that answers one line with one line to its
// own user and to root. Nothing blocks; at most eight callers at a time, each a few seconds. Not thread-safe.
// Platform file: control_socket_linux.cpp. And the caller's end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/io/waiting.h"

namespace gleaner::platform {

class ControlSocket {
 public:
  using Handler = std::function<std::string(std::string_view line)>;

  // Takes the place of a socket that an earlier run left. io if the path is too long or not writable.
  [[nodiscard]] static Result<std::unique_ptr<ControlSocket>> listen(const io::Path& path,
                                                                     std::size_t line_bytes_max,
                                                                     Handler handler);
  ~ControlSocket();  // removes the socket

  [[nodiscard]] std::vector<io::Waitable> waitables() const;
  // Accepts, reads, answers what is there. Call when one is ready, or wait_until() has come.
  void serve(SteadyTime now);
  [[nodiscard]] SteadyTime wait_until() const;  // max(): nobody is connected

  static constexpr std::size_t callers_max = 8;
  static constexpr Duration patience = std::chrono::seconds{5};

 private:
  struct State;
  explicit ControlSocket(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Sends a line, waits for the answer. not_found: no client runs there; unavailable: it does not answer.
[[nodiscard]] Result<std::string> ask_daemon(const io::Path& path, const std::string& line,
                                             Duration timeout = std::chrono::seconds{5});

}  // namespace gleaner::platform
