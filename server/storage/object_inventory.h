// The objects of a project's blobs as they are, whatever rows say; nothing is changed, and nothing of it is
// kept here. One thread. Errors: io, forbidden: the store cannot be asked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/objects/bucket.h"
#include "server/storage/blob_inventory.h"
#include "server/storage/open_blobs.h"

namespace gleaner::storage {

class ObjectInventory {
 public:
  explicit ObjectInventory(std::unique_ptr<objects::Bucket> bucket) : bucket_(std::move(bucket)) {}
  // Errors: invalid, untrusted, not_found: of the url or the file with the keys.
  [[nodiscard]] static Result<ObjectInventory> open(const io::Files& files, const BlobPlace& place,
                                                    Clock& clock);

  // Whose they are; not_found: nobody's.
  [[nodiscard]] Result<std::string> owner() const;
  // `listed` is told how many there are so far. Strangers: what is below blobs/ and is no blob.
  [[nodiscard]] Result<BlobInventory> list(const std::function<void(std::int64_t)>& listed = {}) const;
  // The SHA-256 of one in hex, read piece by piece; `read_bytes` is told the size of each.
  [[nodiscard]] Result<std::string> digest_of(const std::string& digest,
                                              const std::function<void(std::int64_t)>& read_bytes = {}) const;
  // A new file with it, not synced; what came before an error is removed. untrusted: it is not what its name
  // says, read three times. not_found.
  [[nodiscard]] Status copy(io::Files& files, const std::string& digest, const io::Path& to) const;
  [[nodiscard]] std::string shown() const { return bucket_->place().shown(); }

 private:
  // Its SHA-256; `take` has each piece.
  [[nodiscard]] Result<std::string> read(
      const std::string& digest, const std::function<Status(std::int64_t offset, const Bytes&)>& take) const;
  std::unique_ptr<objects::Bucket> bucket_;
};

}  // namespace gleaner::storage
