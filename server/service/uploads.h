// Blobs come in pieces, so that a lost connection costs one piece. Thread-safe.
#pragma once

#include <string>

#include "server/service/kernel.h"

namespace gleaner::service {

class Uploads {
 public:
  explicit Uploads(Kernel& kernel) : kernel_(kernel) {}

  // `bytes` are raw or, if `compressed`, one zlib stream.
  struct Chunk {
    std::string digest;
    std::int64_t offset = 0;
    std::int64_t length = 0;  // of the whole blob
    Bytes bytes;
    bool compressed = false;
    std::int64_t bytes_max = 0;  // what this caller may upload
  };
  void upload(Chunk chunk, Done<protocol::UploadState> done);
  [[nodiscard]] Result<protocol::UploadState> state(const std::string& digest) const;
  [[nodiscard]] const storage::BlobStore& blobs() const { return kernel_.blobs(); }

 private:
  [[nodiscard]] Result<protocol::UploadState> take(Chunk& chunk);
  Kernel& kernel_;
};

}  // namespace gleaner::service
