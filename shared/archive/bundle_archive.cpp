#include "shared/archive/bundle_archive.h"

#include "shared/archive/archive.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"

namespace gleaner::archives {

Result<bundle::PackedBundle> pack_bundle(const io::Path& directory) {
  bundle::PackedBundle packed;
  TRY_ASSIGN(packed.manifest, bundle::read_bundle(directory));
  TRY_ASSIGN(packed.archive, pack_directory(directory));
  packed.digest = crypto::sha256_hex(packed.archive);
  return packed;
}

Status unpack_bundle(const io::Path& file, const std::string& digest, const io::Path& into) {
  TRY_ASSIGN(const Bytes bytes, io::real_files().read(file, limits::bundle_bytes_max));
  if (crypto::sha256_hex(bytes) != digest)
    return Error{ErrorKind::untrusted, "the archive is not the one that was signed: fetch it again"};
  return unpack(bytes, into, limits::bundle_bytes_max, limits::bundle_files_max);
}

}  // namespace gleaner::archives
