// The file blobs.place of a project's directory: where its blobs are, so that a changed setting alone does
// not make all of them "gone". Absent: files of the directory. Errors: io.
#pragma once

#include <string>
#include <string_view>

#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::storage {

[[nodiscard]] Result<std::string> read_blob_note(const io::Files& files, const io::Path& directory);
// Empty: files.
[[nodiscard]] Status write_blob_note(io::Files& files, const io::Path& directory, std::string_view place);
[[nodiscard]] Error not_moved(const std::string& to, const std::string& from);

}  // namespace gleaner::storage
