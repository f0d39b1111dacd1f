// tar.gz archives, by libarchive. Packing is reproducible: sorted names, no times, no owners. Unpacking is
// for hostile input: only regular files and directories, relative paths without "..", bounded in files and
// bytes, into a directory that must not exist yet (removed again on failure).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::archives {

// At most limits::bundle_bytes_max bytes (not packed) and limits::bundle_files_max files and directories.
[[nodiscard]] Result<Bytes> pack_directory(const io::Path& directory);
// `bytes_max` counts what comes out, `files_max` files and directories. What is unpacked is synced to disk.
[[nodiscard]] Status unpack(std::string_view archive, const io::Path& into, std::int64_t bytes_max,
                            int files_max);

struct TarMember {
  std::string path;  // as the archive has it
  Bytes content;
};
// The files of a tar archive that is not packed, or of a part of one that begins with a header. invalid: it
// is damaged, or has something that is no file.
[[nodiscard]] Result<std::vector<TarMember>> read_tar(std::string_view archive);

}  // namespace gleaner::archives
