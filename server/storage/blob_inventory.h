// The files under blobs/, uploads/ and damaged/ as they are, whatever rows say; nothing is changed.
// Stateless; one thread, or several that only read. Errors: io.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

struct BlobInventory {
  std::map<std::string, std::int64_t> blobs;  // bytes by digest, of what is where a blob belongs
  std::vector<io::Path> strangers;            // what is in blobs/ and is no blob
  std::int64_t uploads = 0;                   // in progress
  std::int64_t damaged = 0;                   // put aside
};

[[nodiscard]] Result<BlobInventory> list_blobs(const io::Files& files, const io::Path& directory);

// The SHA-256 of a file in hex, read piece by piece; `read` is told the size of each.
[[nodiscard]] Result<std::string> digest_of_file(const io::Files& files, const io::Path& path,
                                                 const std::function<void(std::int64_t)>& read = {});

}  // namespace gleaner::storage
