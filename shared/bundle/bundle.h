// Application bundles: a directory with manifest.toml, packed (shared/archive), named by its digest and
// signed offline. On disk a signed bundle is two files: NAME-VERSION.tar.gz and NAME-VERSION.tar.gz.signed,
// the latter the encoded protocol::AddApplication (application statement and signer certificate).
// Thread-safe, but do not install into the same directory from two threads. Errors name the file and say what
// to do; ErrorKind::untrusted if the archive is not what was signed.
#pragma once

#include <functional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/bundle/manifest.h"
#include "shared/crypto/keys.h"
#include "shared/io/files.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::bundle {

inline constexpr const char* manifest_file = "manifest.toml";
// NAME-VERSION.tar.gz; its signature has ".signed" added.
[[nodiscard]] std::string archive_name(const Manifest& manifest);

// The manifest of a bundle directory as it stands; a wrapping one is not complete (shared/bundle/wrap.h).
[[nodiscard]] Result<Manifest> read_manifest(const io::Path& directory);
// Is `path`, which the manifest of `directory` names, a file that can be executed?
[[nodiscard]] Status check_program(const io::Path& directory, const std::string& path);
// The manifest of a complete bundle; checks that the files it names are there and executable.
[[nodiscard]] Result<Manifest> read_bundle(const io::Path& directory);

struct PackedBundle {
  Manifest manifest;
  Bytes archive;
  std::string digest;
};
[[nodiscard]] protocol::AddApplication sign_bundle(const PackedBundle& bundle,
                                                   const crypto::PrivateKey& signer,
                                                   const protocol::SignedStatement& signer_certificate,
                                                   const std::string& project, Timestamp now);

// Puts what is in the archive `file` into the new directory `into`; untrusted if its bytes do not have the
// digest, and then nothing of them is looked at (archives::unpack_bundle, or a process that calls it).
using Unpack = std::function<Status(const io::Path& file, const std::string& digest, const io::Path& into)>;

// Unpacks the archive that was signed to `into` (unless that exists and was completed before) and reads its
// manifest, which must carry the statement's name and version.
[[nodiscard]] Result<Manifest> install_bundle(const io::Path& file,
                                              const protocol::ApplicationStatement& statement,
                                              const io::Path& into, const Unpack& unpack);

}  // namespace gleaner::bundle
