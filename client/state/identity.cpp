#include "client/state/identity.h"

#include "shared/base/limits.h"
#include "shared/protocol/codec.h"

namespace gleaner::state {
namespace {

constexpr std::int64_t small_file_bytes_max = 64 << 10;

Result<std::string> read_text(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(std::string text, files.read(path, small_file_bytes_max));
  return text;
}

}  // namespace

std::string Identity::project_name() const {
  if (project)
    if (const auto document = protocol::decode<protocol::ProjectDocument>(project->payload); document.ok())
      return document->name;
  return code.host + ":" + std::to_string(code.port);
}

Result<Identity> load_identity(const io::Files& files, const ProjectDirectory& project) {
  const io::Path directory = project.identity();
  if (!files.exists(directory / "host.json"))
    return Error{ErrorKind::not_found, "this computer has not joined this project (nothing in " +
                                           directory.string() + "): run gleaner-client join CODE"};
  Identity identity;
  TRY_ASSIGN(const std::string host, read_text(files, directory / "host.json"));
  TRY_ASSIGN(identity.host, protocol::decode<protocol::EnrolReply>(host));
  TRY_ASSIGN(const std::string code, read_text(files, directory / "join-code"));
  TRY_ASSIGN(identity.code, protocol::parse_join_code(code));
  TRY_ASSIGN(identity.machine, read_text(files, directory / "machine"));
  TRY_ASSIGN(identity.name, read_text(files, directory / "name"));
  identity.revoked = files.exists(directory / "revoked");
  if (const auto text = files.read(directory / "project.json", limits::json_message_bytes_max); text.ok()) {
    auto document = protocol::decode<protocol::SignedStatement>(*text);
    if (document.ok()) identity.project = std::move(document).value();
  }
  return identity;
}

Status save_identity(io::Files& files, const ProjectDirectory& project, const Identity& identity) {
  const io::Path directory = project.identity();
  TRY(files.make_directories(directory));
  TRY(files.remove(directory / "host.json"));
  TRY(files.remove(directory / "revoked"));
  TRY(files.write(directory / "join-code", protocol::to_text(identity.code), io::Mode::secret));
  TRY(files.write(directory / "machine", identity.machine, io::Mode::secret));
  TRY(files.write(directory / "name", identity.name, io::Mode::secret));
  if (identity.project) TRY(save_document(files, project, *identity.project));
  return files.write(directory / "host.json", protocol::encode(identity.host), io::Mode::secret);
}

Status save_document(io::Files& files, const ProjectDirectory& project,
                     const protocol::SignedStatement& document) {
  return files.write(project.identity() / "project.json", protocol::encode(document), io::Mode::secret);
}

Status mark_revoked(io::Files& files, const ProjectDirectory& project) {
  return files.write(project.identity() / "revoked", "the server no longer accepts this host\n",
                     io::Mode::secret);
}

Status forget_membership(io::Files& files, const ProjectDirectory& project) {
  if (!files.exists(project.root)) return {};
  const io::Path left = project.root.string() + left_suffix;
  TRY(files.remove_all(left));
  TRY(files.rename(project.root, left));
  return files.remove_all(left);
}

Result<crypto::PrivateKey> load_or_make_key(io::Files& files, const ProjectDirectory& project) {
  const io::Path path = project.identity() / "host.key";
  if (files.exists(path)) {
    TRY_ASSIGN(const std::string pem, read_text(files, path));
    return crypto::PrivateKey::from_pem(pem);
  }
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TRY(keep_key(files, project, key));
  return key;
}

Status keep_key(io::Files& files, const ProjectDirectory& project, const crypto::PrivateKey& key) {
  TRY(files.make_directories(project.identity()));
  return files.write(project.identity() / "host.key", key.to_pem(), io::Mode::secret);
}

}  // namespace gleaner::state
