// How a file becomes an object: in one piece or, where it is large, in parts, which stay at the store when
// this is interrupted: who comes again sends the others. Stateless; each call blocks.
#pragma once

#include <string>
#include <vector>

#include "server/objects/bucket.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

// A file as a store's checksums would tell it.
struct Outline {
  std::int64_t bytes = 0;
  std::string digest;
  std::vector<std::string> parts;  // the MD5 of each piece, in hex
  std::string etag;                // of an object made of these
};

// Errors: io, not_found.
[[nodiscard]] Result<Outline> outline_file(const io::Files& files, const io::Path& path);
// The ETag that the store gave the object. Errors as bucket.h has them.
[[nodiscard]] Result<std::string> send_file(objects::Bucket& bucket, const io::Files& files,
                                            const io::Path& path, const std::string& key,
                                            const Outline& outline);

}  // namespace gleaner::storage
