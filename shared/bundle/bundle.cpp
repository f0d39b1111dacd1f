#include "shared/bundle/bundle.h"

#include <filesystem>

#include "shared/base/paths.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::bundle {
namespace {

constexpr std::int64_t manifest_bytes_max = 64 << 10;

Status check_identity(const Manifest& manifest, const protocol::ApplicationStatement& statement) {
  if (manifest.name == statement.name && manifest.version == statement.version) return {};
  return Error{ErrorKind::untrusted, "the bundle says it is " + manifest.name + " " + manifest.version +
                                         ", but it was signed as " + statement.name + " " +
                                         statement.version + ": sign it again"};
}

}  // namespace

std::string archive_name(const Manifest& manifest) {
  return manifest.name + "-" + manifest.version + ".tar.gz";
}

Status check_program(const io::Path& directory, const std::string& path) {
  namespace fs = std::filesystem;
  const std::string what = utf8_text(directory / utf8_path(path)) + ", which " + manifest_file + " names, ";
  std::error_code code;
  const fs::file_status status = fs::symlink_status(directory / utf8_path(path), code);
  if (!fs::exists(status)) return Error{ErrorKind::not_found, what + "is not there: build it first"};
  if (!fs::is_regular_file(status)) return Error{ErrorKind::invalid, what + "is not a file"};
  if ((status.permissions() & fs::perms::owner_exec) == fs::perms::none)
    return Error{ErrorKind::invalid, what + "is not executable: chmod +x it"};
  return {};
}

Result<Manifest> read_manifest(const io::Path& directory) {
  const io::Path file = directory / manifest_file;
  auto text = io::real_files().read(file, manifest_bytes_max);
  if (!text.ok() && text.error().kind == ErrorKind::not_found)
    return Error{ErrorKind::not_found,
                 utf8_text(directory) + " is not an application's bundle: it has no " + manifest_file};
  if (!text.ok()) return text.error();
  return parse_manifest(*text, utf8_text(file));
}

Result<Manifest> read_bundle(const io::Path& directory) {
  TRY_ASSIGN(auto manifest, read_manifest(directory));
  if (!manifest.wrap.empty())
    return Error{ErrorKind::invalid,
                 utf8_text(directory / manifest_file) +
                     " wraps a program and is not complete: `gleaner-admin app sign` adds "
                     "the kernel and the manager"};
  for (const auto& [platform, path] : manifest.kernels) TRY(check_program(directory, path));
  TRY(check_program(directory, manifest.manager));
  return manifest;
}

protocol::AddApplication sign_bundle(const PackedBundle& bundle, const crypto::PrivateKey& signer,
                                     const protocol::SignedStatement& signer_certificate,
                                     const std::string& project, Timestamp now) {
  protocol::ApplicationStatement statement;
  statement.project = project;
  statement.name = bundle.manifest.name;
  statement.version = bundle.manifest.version;
  statement.archive = bundle.digest;
  statement.archive_bytes = static_cast<std::int64_t>(bundle.archive.size());
  statement.signed_at = now;
  return {crypto::sign_statement(protocol::StatementType::application, protocol::encode(statement), signer),
          signer_certificate};
}

Result<Manifest> install_bundle(const io::Path& file, const protocol::ApplicationStatement& statement,
                                const io::Path& into, const Unpack& unpack) {
  io::Files& files = io::real_files();
  if (!files.exists(into)) {
    // Renamed when it is whole and found good, so that a directory of that name is always complete.
    TRY_ASSIGN(const std::int64_t bytes, files.size(file));
    if (bytes != statement.archive_bytes)
      return Error{ErrorKind::untrusted, statement.name + " " + statement.version +
                                             ": the archive is not the one that was signed (" +
                                             std::to_string(bytes) + " bytes instead of " +
                                             std::to_string(statement.archive_bytes) + "): fetch it again"};
    const io::Path partial = with_suffix(into, ".partial");
    TRY(files.remove_all(partial));  // of an installation that was interrupted
    TRY(files.make_directories(into.parent_path()));
    if (const Status unpacked = unpack(file, statement.archive, partial); !unpacked.ok())
      return unpacked.error().within(statement.name + " " + statement.version);
    const auto manifest = read_bundle(partial);
    const Status good = manifest.ok() ? check_identity(*manifest, statement) : Status(manifest.error());
    if (!good.ok()) {
      TRY(files.remove_all(partial));
      return good.error();
    }
    TRY(files.rename(partial, into));
  }
  TRY_ASSIGN(auto manifest, read_bundle(into));
  TRY(check_identity(manifest, statement));
  return manifest;
}

}  // namespace gleaner::bundle
