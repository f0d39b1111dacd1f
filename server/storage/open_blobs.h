// Where a project's blobs are, by its settings.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "server/objects/bucket.h"
#include "server/storage/blob_store.h"

namespace gleaner::storage {

struct BlobPlace {
  std::string url;  // empty: files of the directory; else as objects/place.h has it
  std::string region = "us-east-1";
  io::Path keys;  // the file with the access key
  std::int64_t cache_bytes = 0;
  // Where several servers take turns: is it certain that this one leads the project? Empty: there is only
  // one.
  std::function<bool()> leads = {};
  std::string public_url = {};  // where hosts reach the store themselves; empty: they do not
};

[[nodiscard]] Status check_blob_url(const std::string& url);    // invalid
[[nodiscard]] Status check_public_url(const std::string& url);  // invalid
// Not opened yet. Errors: invalid, untrusted, not_found: of the url or the file with the keys.
[[nodiscard]] Result<std::unique_ptr<BlobStore>> make_blobs(io::Files& files, const io::Path& directory,
                                                            const BlobPlace& place, Clock& clock);

[[nodiscard]] Result<std::unique_ptr<objects::Bucket>> make_bucket(const io::Files& files,
                                                                   const BlobPlace& place, Clock& clock);
class ObjectBlobs;
[[nodiscard]] Result<std::unique_ptr<ObjectBlobs>> make_object_blobs(io::Files& files,
                                                                     const io::Path& directory,
                                                                     const BlobPlace& place, Clock& clock);

}  // namespace gleaner::storage
