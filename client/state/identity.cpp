#include "client/state/identity.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/crypto/relay_chain.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::state {
namespace {

constexpr std::int64_t small_file_bytes_max = 64 << 10;

Result<std::string> read_secret(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(std::string text, io::read_secret_file(files, path, small_file_bytes_max));
  return text;
}

Result<std::string> read_text(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(std::string text, files.read(path, small_file_bytes_max));
  return text;
}

std::optional<Timestamp> read_time(const io::Files& files, const io::Path& path) {
  const auto text = files.read(path, limits::text_length_max);
  if (!text.ok()) return std::nullopt;
  std::int64_t at = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, fault] = std::from_chars(text->data(), end, at);
  if (fault != std::errc{} || rest != end || at <= 0) return std::nullopt;
  return from_microseconds(at);
}

std::optional<protocol::SignedStatement> read_statement(const io::Files& files, const io::Path& path) {
  const auto text = files.read(path, limits::json_message_bytes_max);
  if (!text.ok()) return std::nullopt;
  auto statement = protocol::decode<protocol::SignedStatement>(*text);
  if (!statement.ok()) return std::nullopt;
  return std::move(statement).value();
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
                                           utf8_text(directory) + "): run gleaner-client join CODE"};
  Identity identity;
  TRY_ASSIGN(const std::string host, read_secret(files, directory / "host.json"));
  TRY_ASSIGN(identity.host, protocol::decode<protocol::EnrolReply>(host));
  TRY_ASSIGN(const std::string code, read_secret(files, directory / "join-code"));
  TRY_ASSIGN(identity.code, protocol::parse_join_code(code));
  TRY_ASSIGN(identity.machine, read_text(files, directory / "machine"));
  TRY_ASSIGN(identity.name, read_text(files, directory / "name"));
  if (auto computer = files.read(directory / "computer", limits::text_length_max); computer.ok())
    identity.computer = std::move(*computer);
  if (files.exists(directory / "host.key")) TRY(read_secret(files, directory / "host.key"));
  identity.revoked = files.exists(directory / "revoked");
  identity.project = read_statement(files, directory / "project.json");
  identity.relay = read_statement(files, directory / "relay.json");
  identity.revocations = load_revocations(files, project, identity.code.root_fingerprint);
  identity.unheard = load_unheard(files, project);
  identity.copy = files.exists(directory / "copy");
  identity.former = load_former(files, project);
  if (const auto why = files.read(directory / "moved", limits::text_length_max); why.ok())
    identity.moved = protocol::clean_line(*why, limits::message_length_max);
  return identity;
}

crypto::Revocations load_revocations(const io::Files& files, const ProjectDirectory& project,
                                     std::string_view root_fingerprint) {
  crypto::Revocations newest;
  const auto take = [&newest](const Result<crypto::Revocations>& list) {
    if (list.ok() && list->number() > newest.number()) newest = *list;
  };
  if (const auto list = read_statement(files, project.identity() / "revocations.json"))
    take(crypto::Revocations::from(*list, root_fingerprint));
  if (const auto document = read_statement(files, project.identity() / "project.json"))
    take(crypto::revocations_in(*document, root_fingerprint));
  return newest;
}

std::vector<HostId> load_former(const io::Files& files, const ProjectDirectory& project) {
  std::vector<HostId> hosts;
  const auto text = files.read(project.identity() / "former", small_file_bytes_max);
  if (!text.ok()) return hosts;
  std::istringstream lines(*text);
  for (std::int64_t number = 0; lines >> number;) hosts.push_back(HostId{number});
  return hosts;
}

Status save_revocations(io::Files& files, const ProjectDirectory& project,
                        const crypto::Revocations& revocations) {
  return files.write(project.identity() / "revocations.json", protocol::encode(revocations.statement()),
                     io::Mode::secret);
}

Status save_identity(io::Files& files, const ProjectDirectory& project, const Identity& identity) {
  const io::Path directory = project.identity();
  TRY(files.make_directories(directory));
  TRY(files.remove(directory / "host.json"));
  for (const char* const former : {"revoked", "unheard", "moved", "copy"})
    TRY(files.remove(directory / former));
  TRY(files.write(directory / "join-code", protocol::to_text(identity.code), io::Mode::secret));
  TRY(files.write(directory / "machine", identity.machine, io::Mode::secret));
  TRY(files.write(directory / "name", identity.name, io::Mode::secret));
  TRY(files.write(directory / "computer", identity.computer, io::Mode::secret));
  std::string former;
  for (const HostId host : identity.former) former += std::to_string(host.value) + "\n";
  if (!former.empty()) TRY(files.write(directory / "former", former, io::Mode::secret));
  if (identity.revocations.number() > 0) TRY(save_revocations(files, project, identity.revocations));
  if (identity.project) TRY(save_document(files, project, *identity.project));
  if (identity.relay)
    TRY(save_relay(files, project, *identity.relay));
  else
    TRY(files.remove(directory / "relay.json"));
  return files.write(directory / "host.json", protocol::encode(identity.host), io::Mode::secret);
}

Status save_document(io::Files& files, const ProjectDirectory& project,
                     const protocol::SignedStatement& document) {
  return files.write(project.identity() / "project.json", protocol::encode(document), io::Mode::secret);
}

Status save_relay(io::Files& files, const ProjectDirectory& project,
                  const protocol::SignedStatement& certificate) {
  return files.write(project.identity() / "relay.json", protocol::encode(certificate), io::Mode::secret);
}

std::optional<Timestamp> load_unheard(const io::Files& files, const ProjectDirectory& project) {
  return read_time(files, project.identity() / "unheard");
}

Status save_unheard(io::Files& files, const ProjectDirectory& project, std::optional<Timestamp> since) {
  const io::Path path = project.identity() / "unheard";
  if (!since) return files.remove(path);
  return files.write(path, std::to_string(to_microseconds(*since)), io::Mode::secret);
}

Status save_moved(io::Files& files, const ProjectDirectory& project, const std::string& why) {
  return files.write(project.identity() / "moved", why, io::Mode::secret);
}

HostId relay_of(const Identity& identity) {
  if (!identity.relay) return {};
  const auto certificate = protocol::decode<protocol::RelayCertificate>(identity.relay->payload);
  return certificate.ok() ? certificate->relay : HostId{};
}

void pin_relay(const Identity& identity, Timestamp now, io::PinnedTlsKey* pinned) {
  if (pinned == nullptr || !identity.relay || !identity.project) return;
  const auto trust =
      crypto::check_project(*identity.project, identity.code.root_fingerprint, now, identity.revocations);
  if (!trust.ok()) return;  // both are asked for again, of whoever answers
  if (const auto relay = crypto::check_relay_certificate(*identity.relay, *trust, now); relay.ok())
    pinned->set(relay->tls_key);
}

void refuse_tls_keys(const crypto::Revocations& revocations, io::RefusedTlsKeys* refused) {
  if (refused == nullptr || revocations.number() == 0) return;
  std::vector<std::string> digests;
  for (const protocol::RevokedTlsKey& one : revocations.list().tls_keys) digests.push_back(one.digest);
  refused->set(std::move(digests));
}

Status mark_revoked(io::Files& files, const ProjectDirectory& project) {
  return files.write(project.identity() / "revoked", "the server no longer accepts this host\n",
                     io::Mode::secret);
}

Status mark_copy(io::Files& files, const ProjectDirectory& project) {
  TRY_ASSIGN(const crypto::PrivateKey shared, load_or_make_key(files, project));
  return files.write(project.identity() / "copy", to_hex(shared.public_key()), io::Mode::secret);
}

Result<crypto::PrivateKey> load_or_make_own_key(io::Files& files, const ProjectDirectory& project) {
  TRY_ASSIGN(const std::string shared, read_text(files, project.identity() / "copy"));
  TRY_ASSIGN(crypto::PrivateKey key, load_or_make_key(files, project));
  if (to_hex(key.public_key()) != shared) return key;
  key = crypto::PrivateKey::generate();
  TRY(keep_key(files, project, key));
  return key;
}

std::optional<Timestamp> load_rejoined(const io::Files& files, const ProjectDirectory& project) {
  return read_time(files, project.identity() / "rejoined");
}

Status save_rejoined(io::Files& files, const ProjectDirectory& project, Timestamp at) {
  return files.write(project.identity() / "rejoined", std::to_string(to_microseconds(at)), io::Mode::secret);
}

Status forget_membership(io::Files& files, const ProjectDirectory& project) {
  if (!files.exists(project.root)) return {};
  const io::Path left = with_suffix(project.root, left_suffix);
  TRY(files.remove_all(left));
  TRY(files.rename(project.root, left));
  return files.remove_all(left);
}

Result<crypto::PrivateKey> load_or_make_key(io::Files& files, const ProjectDirectory& project) {
  const io::Path path = project.identity() / "host.key";
  if (files.exists(path)) {
    TRY_ASSIGN(const std::string pem, read_secret(files, path));
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
