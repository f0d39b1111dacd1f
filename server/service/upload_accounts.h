// What each host has uploaded and not committed. Thread-safe.
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
  // Is the blob in the host's account? It is touched, then.
  [[nodiscard]] bool touch(HostId host, const std::string& digest, Timestamp now);
  // Takes the blob into the account; unavailable if all in it would exceed `allowance` bytes.
  [[nodiscard]] Status open(HostId host, const std::string& digest, std::int64_t bytes,
                            std::int64_t allowance, Timestamp now);
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
  };
  std::mutex mutex_;
  std::map<HostId, std::map<std::string, Blob>> accounts_;
};

}  // namespace gleaner::service
