// Blobs to and from the server, in pieces, resumable and checked by digest. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "shared/base/result.h"
#include "shared/io/files.h"
#include "shared/protocol/admin_messages.h"
#include "tools/admin/api.h"

namespace gleaner::admin {

inline constexpr std::int64_t transfer_piece_bytes = 1 << 20;

using TransferProgress = std::function<void(std::int64_t done, std::int64_t total)>;

struct BlobName {
  std::string digest;
  std::int64_t bytes = 0;
};
// Digest and size of a file, which is read in pieces.
[[nodiscard]] Result<BlobName> blob_of_file(const io::Files& files, const io::Path& path);

// Uploads what the server does not have yet. Errors also: conflict if the file changes meanwhile.
[[nodiscard]] Status upload_file(Api& api, const io::Files& files, const io::Path& path, const BlobName& blob,
                                 const TransferProgress& progress);

// A name that a server or a manager gave to a result: may it be made in a directory of the user?
[[nodiscard]] Status check_result_name(const std::string& name);

enum class Overwrite { yes, no };
// Of a file that may not be overwritten.
[[nodiscard]] Error is_there_already(const io::Path& path);
// Downloads a result into `directory` (made if need be) and returns its path. What an interrupted download
// has left (.DIGEST.part) is continued. A file that is there with the right content is left; with another one
// it is a conflict, unless overwriting is allowed.
[[nodiscard]] Result<io::Path> download_result(Api& api, io::Files& files, const protocol::ResultFile& result,
                                               const io::Path& directory, Overwrite overwrite,
                                               const TransferProgress& progress);

}  // namespace gleaner::admin
