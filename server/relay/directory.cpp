#include "server/relay/directory.h"

#include "server/storage/generation_note.h"
#include "server/storage/open_store.h"
#include "shared/base/limits.h"
#include "shared/bundle/project_keys.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"

namespace gleaner::relay {
namespace {

constexpr std::int64_t settings_bytes_max = 1 << 20;
// The project's certificate of the key has an end, and is what hosts look at.
constexpr auto tls_valid = std::chrono::hours{24} * 36'500;
constexpr auto clock_forgiven = std::chrono::hours{24};

constexpr const char* joined_file = "host.json";
constexpr const char* copy_file = "copy";

Result<std::string> read_secret(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(std::string text, io::read_secret_file(files, path, service::key_file_bytes_max));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Result<protocol::SignedStatement> read_statement(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(const Bytes text, files.read(path, limits::json_message_bytes_max));
  auto statement = protocol::decode<protocol::SignedStatement>(text);
  if (!statement.ok()) return statement.error().within(path.string() + " is damaged");
  return statement;
}

Result<crypto::PrivateKey> load_or_make_host_key(io::Files& files, const io::Path& path) {
  if (files.exists(path)) return bundle::read_key_file(files, path);
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  TRY(files.write(path, key.to_pem(), io::Mode::secret));
  return key;
}

// The certificate last: a key without one is made anew.
Result<crypto::TlsIdentity> load_or_make_tls(io::Files& files, const service::ProjectDirectory& project,
                                             const std::vector<std::string>& names, Timestamp now) {
  if (files.exists(project.tls_chain())) {
    TRY_ASSIGN(service::TlsFiles tls, service::read_tls(files, project));
    return crypto::TlsIdentity{std::move(tls.chain_pem), std::move(tls.key_pem)};
  }
  crypto::TlsIdentity identity =
      crypto::make_self_signed_identity(names, now - clock_forgiven, now + tls_valid);
  TRY(files.write(project.tls_key(), identity.private_key_pem, io::Mode::secret));
  TRY(files.write(project.tls_chain(), identity.certificate_chain_pem, io::Mode::normal));
  return identity;
}

Result<Bytes> load_or_make_secret(io::Files& files, const io::Path& path) {
  if (!files.exists(path)) {
    Bytes secret = crypto::random_secret(service::enrolment_secret_bytes);
    TRY(files.write(path, to_hex(secret) + "\n", io::Mode::secret));
    return secret;
  }
  TRY_ASSIGN(const std::string text, read_secret(files, path));
  const auto secret = from_hex(text);
  if (secret && secret->size() == service::enrolment_secret_bytes) return *secret;
  return Error{ErrorKind::invalid, path.string() + " is damaged: expected 32 hex digits"};
}

Result<std::string> load_or_make_token(io::Files& files, const io::Path& path) {
  if (files.exists(path)) return read_secret(files, path);
  std::string token = to_base64url(crypto::random_secret(32));
  TRY(files.write(path, token + "\n", io::Mode::secret));
  return token;
}

Status save_joined(io::Files& files, const RelayDirectory& directory, const Membership& membership) {
  return files.write(directory.parent() / joined_file,
                     protocol::encode(protocol::EnrolReply{membership.host, membership.token, {}}),
                     io::Mode::secret);
}

// The store and its files: nothing of them is of use to another membership.
Status forget_work(io::Files& files, const io::Path& root) {
  for (const char* const suffix : {"", "-wal", "-shm"})
    TRY(files.remove(root / (std::string(storage::store_file) + suffix)));
  TRY(files.remove(storage::generation_note_path(root)));
  for (const char* const tree : {"blobs", "uploads", "damaged", "cache", "problems", "decisions"})
    TRY(files.remove_all(root / tree));
  return {};
}

}  // namespace

Result<service::Configuration> read_settings(const io::Files& files, const RelayDirectory& directory) {
  if (!files.exists(directory.settings())) return service::relay_defaults();
  TRY_ASSIGN(const Bytes text, files.read(directory.settings(), settings_bytes_max));
  return service::parse_relay_configuration(text, directory.settings().string());
}

Status write_settings(io::Files& files, const RelayDirectory& directory,
                      const service::Configuration& configuration) {
  TRY(files.make_directories(directory.root()));
  return files.write(directory.settings(), service::render_relay_configuration(configuration),
                     io::Mode::normal);
}

Result<RelayKeys> load_or_make_keys(io::Files& files, const RelayDirectory& directory,
                                    const std::vector<std::string>& names, Timestamp now) {
  const service::ProjectDirectory& project = directory.project();
  for (const io::Path& path : {directory.host_key(), project.admin_token()})
    TRY(files.make_directories(path.parent_path()));
  TRY_ASSIGN(crypto::PrivateKey host, load_or_make_host_key(files, directory.host_key()));
  TRY_ASSIGN(crypto::TlsIdentity tls, load_or_make_tls(files, project, names, now));
  TRY_ASSIGN(std::string digest, crypto::tls_key_digest(tls.certificate_chain_pem));
  TRY_ASSIGN(Bytes secret, load_or_make_secret(files, project.enrolment_secret()));
  TRY_ASSIGN(const std::string token, load_or_make_token(files, project.admin_token()));
  return RelayKeys{std::move(host), std::move(tls), std::move(digest), std::move(secret),
                   crypto::sha256(token)};
}

Result<Membership> load_membership(const io::Files& files, const RelayDirectory& directory) {
  const io::Path parent = directory.parent();
  if (!files.exists(parent / joined_file))
    return Error{ErrorKind::not_found,
                 "this relay has not joined a project (nothing in " + parent.string() +
                     "): run gleaner-relay join CODE, with a code of `gleaner-admin relay allow`"};
  TRY_ASSIGN(const std::string host, read_secret(files, parent / joined_file));
  TRY_ASSIGN(const auto joined, protocol::decode<protocol::EnrolReply>(host));
  TRY_ASSIGN(const std::string code, read_secret(files, parent / "join-code"));
  Membership membership;
  TRY_ASSIGN(membership.code, protocol::parse_join_code(code));
  membership.host = joined.host;
  membership.token = joined.token;
  TRY_ASSIGN(membership.machine, files.read(parent / "machine", limits::text_length_max));
  TRY_ASSIGN(membership.project, read_statement(files, parent / "project.json"));
  TRY_ASSIGN(membership.certificate, read_statement(files, parent / "certificate.json"));
  if (files.exists(parent / "relay.json")) {
    TRY_ASSIGN(membership.above, read_statement(files, parent / "relay.json"));
  }
  if (files.exists(parent / "revocations.json")) {
    TRY_ASSIGN(const auto list, read_statement(files, parent / "revocations.json"));
    TRY_ASSIGN(membership.revocations, crypto::Revocations::from(list, membership.code.root_fingerprint));
  }
  return membership;
}

Status save_statements(io::Files& files, const RelayDirectory& directory, const Membership& membership) {
  const io::Path parent = directory.parent();
  if (membership.revocations.number() > 0)
    TRY(files.write(parent / "revocations.json", protocol::encode(membership.revocations.statement()),
                    io::Mode::secret));
  TRY(files.write(parent / "project.json", protocol::encode(membership.project), io::Mode::secret));
  TRY(files.write(parent / "certificate.json", protocol::encode(membership.certificate), io::Mode::secret));
  if (!membership.above) return files.remove(parent / "relay.json");
  return files.write(parent / "relay.json", protocol::encode(*membership.above), io::Mode::secret);
}

Status save_membership(io::Files& files, const RelayDirectory& directory, const Membership& membership) {
  const io::Path parent = directory.parent();
  TRY(files.make_directories(parent));
  TRY(files.remove(parent / joined_file));
  TRY(files.write(parent / "join-code", protocol::to_text(membership.code), io::Mode::secret));
  TRY(files.write(parent / "machine", membership.machine, io::Mode::secret));
  TRY(save_statements(files, directory, membership));
  return save_joined(files, directory, membership);
}

Status replace_membership(io::Files& files, const RelayDirectory& directory, const Membership& membership) {
  TRY(forget_work(files, directory.root()));
  TRY(save_statements(files, directory, membership));
  return save_joined(files, directory, membership);
}

Status mark_copy(io::Files& files, const RelayDirectory& directory) {
  return files.write(directory.parent() / copy_file, "another relay has this one's identity\n",
                     io::Mode::secret);
}

Status check_no_copy(const io::Files& files, const RelayDirectory& directory) {
  if (!files.exists(directory.parent() / copy_file)) return {};
  return Error{ErrorKind::conflict,
               "another relay runs with the identity of this one, as after its directory was copied, and the "
               "project serves that one: `gleaner-relay leave --force` here, then join with a new code of "
               "`gleaner-admin relay allow`"};
}

Status forget_membership(io::Files& files, const RelayDirectory& directory) {
  TRY(files.remove(directory.parent() / joined_file));
  TRY(forget_work(files, directory.root()));
  return files.remove_all(directory.parent());
}

Result<service::ProjectSecrets> secrets_of(const RelayKeys& keys, const Membership& membership) {
  TRY_ASSIGN(const auto document, protocol::decode<protocol::ProjectDocument>(membership.project.payload));
  TRY_ASSIGN(const auto relay, protocol::decode<protocol::RelayCertificate>(membership.certificate.payload));
  if (relay.key != keys.host.public_key() || relay.tls_key != keys.tls_digest)
    return Error{
        ErrorKind::untrusted,
        "keys/host.key and keys/tls.pem are not those that the project certified: put them back from "
        "a backup, or `gleaner-relay leave` and join again"};
  TRY_ASSIGN(const auto certificate,
             protocol::decode<protocol::KeyCertificate>(document.work_certificate.payload));
  return service::ProjectSecrets{
      document.project,
      document.root_key,
      keys.host,
      document.work_certificate,
      certificate.not_after,
      document.former_work_certificates.value_or(std::vector<protocol::SignedStatement>{}),
      keys.tls.certificate_chain_pem,
      keys.tls.private_key_pem,
      keys.enrolment_secret,
      keys.admin_token_digest};
}

}  // namespace gleaner::relay
