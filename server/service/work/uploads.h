// Blobs come in pieces, so that a lost connection costs one piece. Thread-safe.
//
// What a host uploads and has not committed is bounded by what it may have to commit: the results of its open
// units and of those that were taken from it, and, once it is known, some late ones. So a host without a unit
// fills no disk, and newcomers together only their share of it (upload_accounts.h).
#pragma once

#include <optional>
#include <string>

#include "server/service/core/kernel.h"
#include "server/service/work/upload_accounts.h"

namespace gleaner::service {

class Uploads {
 public:
  Uploads(Kernel& kernel, UploadAccounts& accounts) : kernel_(kernel), accounts_(accounts) {}

  // `bytes` are raw or, if `compressed`, one zlib stream.
  struct Chunk {
    std::string digest;
    std::int64_t offset = 0;
    std::int64_t length = 0;  // of the whole blob
    Bytes bytes;
    bool compressed = false;
    std::int64_t bytes_max = 0;                 // what this caller may upload
    std::optional<HostId> host = std::nullopt;  // absent: an administrator
  };
  void upload(Chunk chunk, Done<protocol::UploadState> done);
  // Takes the blob into the host's account, or says why it may not upload that much now.
  void open_account(HostId host, const std::string& digest, std::int64_t bytes, StatusDone done);
  // Blocks; look() does not.
  [[nodiscard]] Result<protocol::UploadState> state(const std::string& digest,
                                                    std::optional<HostId> host = std::nullopt) const;
  void look(const std::string& digest, std::optional<HostId> host, const Done<protocol::UploadState>& done);

 private:
  [[nodiscard]] Result<protocol::UploadState> take(Chunk& chunk);
  Kernel& kernel_;
  UploadAccounts& accounts_;
};

}  // namespace gleaner::service
