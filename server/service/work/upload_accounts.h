// What each host has uploaded and not committed, and how much that may be: by itself, of one network, and of
// all who are not known. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"

namespace gleaner::service {

// Whose upload it is, for the blob store; absent: an administrator's.
[[nodiscard]] inline std::string sender_of(std::optional<HostId> host) {
  return host ? std::to_string(host->value) : std::string();
}

class UploadAccounts {
 public:
  struct Terms {
    std::int64_t allowance = 0;               // of the host, in bytes
    std::optional<std::string> network = {};  // of a newcomer; absent: the host is known
    std::int64_t room = 0;                    // bytes that the disk has for uploads now
  };
  // Newcomers together leave half of the room to known hosts, and those of one network an eighth at most. One
  // blob each fits in any case: a share may be smaller than the result of one unit.
  static constexpr std::int64_t newcomers_part = 2, network_part = 8;

  // Is the blob in the host's account? It is touched, then.
  [[nodiscard]] bool touch(HostId host, const std::string& digest, Timestamp now);
  // Takes the blob into the account; unavailable: what would be exceeded.
  [[nodiscard]] Status open(HostId host, const std::string& digest, std::int64_t bytes, const Terms& terms,
                            Timestamp now);
  // A valid result: it belongs to the problem now.
  void close(HostId host, const std::string& digest);
  struct Abandoned {
    HostId host;
    std::string digest;
    friend bool operator==(const Abandoned&, const Abandoned&) = default;
  };
  // Removes what was not touched since `before`, and returns it: nobody will commit it.
  [[nodiscard]] std::vector<Abandoned> expire(Timestamp before);

 private:
  struct Blob {
    std::int64_t bytes = 0;
    Timestamp touched{};
    std::optional<std::string> network = {};  // as of Terms
  };
  [[nodiscard]] Status check(HostId host, const std::string& digest, std::int64_t more,
                             const Terms& terms) const;

  std::mutex mutex_;
  std::map<HostId, std::map<std::string, Blob>> accounts_;
};

}  // namespace gleaner::service
