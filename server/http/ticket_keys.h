// The keys that seal TLS session tickets, in a file of the project, so that clients resume across restarts of
// the server too. A key seals for `period` and opens for twice that: then what it sealed is worth nothing any
// more, to a thief of the file either. Who comes with an older ticket shakes hands in full. A file that
// cannot be read is replaced, one that cannot be written is done without: either is a line of the log, and
// costs handshakes only. Thread-safe.
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/io/files.h"

namespace gleaner::http {

class TicketKeys {
 public:
  static constexpr Duration period = std::chrono::hours{12};
  static constexpr std::size_t name_bytes = 16;  // as TLS has it
  static constexpr std::size_t secret_bytes = 32;

  struct Key {
    Bytes name;           // in the ticket, not secret
    Bytes cipher_secret;  // AES-256
    Bytes digest_secret;  // HMAC-SHA-256
    Timestamp made_at;
  };
  struct Opening {
    Key key;
    bool newest = false;  // otherwise the client is given a new ticket
  };

  // `log`: what an administrator should read, from any thread.
  TicketKeys(io::Files& files, io::Path file, const Clock& clock,
             std::function<void(const std::string&)> log);

  [[nodiscard]] Key sealing();
  // None: it was sealed by a key that is gone, or is no ticket of this server.
  [[nodiscard]] std::optional<Opening> opening(std::string_view name);

 private:
  [[nodiscard]] Status load();
  void renew(Timestamp now);  // if it is time
  void save();

  io::Files& files_;
  const io::Path file_;
  const Clock& clock_;
  const std::function<void(const std::string&)> log_;
  std::mutex mutex_;
  std::array<std::optional<Key>, 2> keys_;  // newest first
};

}  // namespace gleaner::http
