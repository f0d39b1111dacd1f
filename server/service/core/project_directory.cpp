#include "server/service/core/project_directory.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "shared/base/limits.h"
#include "shared/bundle/project_keys.h"
#include "shared/bundle/server_keys.h"
#include "shared/crypto/statements.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

std::string this_machine() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

std::string public_host(const Configuration& configuration) {
  if (!configuration.public_host.empty()) return configuration.public_host;
  if (configuration.address == "127.0.0.1" || configuration.address == "::1") return configuration.address;
  return this_machine();
}

// {"url", "root_fingerprint", "token_file"}, and whether an authority's certificate counts: what
// gleaner-admin reads. Written by hand: plain strings.
std::string admin_profile(const std::string& url, const std::string& project, bool public_certificate) {
  return "{\n  \"url\": \"" + url + "\",\n  \"root_fingerprint\": \"" + project + "\",\n" +
         (public_certificate ? "  \"public_certificate\": true,\n" : "") + "  \"token_file\": \"token\"\n}\n";
}

// What `run` would refuse, and a code that nobody could join with, are refused before there is a project.
Status check_settings(const Configuration& configuration, const std::string& host, const std::string& file) {
  TRY(parse_configuration(render_configuration(configuration), file));
  const protocol::JoinCode code{host, static_cast<int>(configuration.port), Bytes(32, '\0'),
                                Bytes(enrolment_secret_bytes, '\0')};
  const auto read = protocol::parse_join_code(protocol::to_text(code));
  return read.ok() ? Status() : Status(read.error().within("--public-host"));
}

}  // namespace

protocol::JoinCode join_code(const Configuration& configuration, const Bytes& root_key,
                             const Bytes& enrolment_secret, int port) {
  return {public_host(configuration),
          port,
          crypto::fingerprint(root_key),
          enrolment_secret,
          std::nullopt,
          configuration.public_certificate ? protocol::Certificate::either : protocol::Certificate::project};
}

namespace {

Result<Bytes> read_enrolment_secret(io::Files& files, const io::Path& path) {
  if (!files.exists(path)) return Bytes();
  TRY_ASSIGN(const Bytes hex, io::read_secret_file(files, path, key_file_bytes_max));
  const auto secret = from_hex(std::string_view(hex).substr(0, 2 * enrolment_secret_bytes));
  if (!secret || secret->size() != enrolment_secret_bytes)
    return Error{ErrorKind::invalid, path.string() + " is damaged: expected 32 hex digits"};
  return *secret;
}

}  // namespace

Result<Bytes> read_root_public_key(io::Files& files, const ProjectDirectory& directory) {
  TRY_ASSIGN(const Bytes root_hex, files.read(directory.root_public_key(), key_file_bytes_max));
  const auto root_key = from_hex(std::string_view(root_hex).substr(0, 64));
  if (root_key && root_key->size() == 32) return *root_key;
  return Error{ErrorKind::invalid, directory.root_public_key().string() +
                                       " is damaged: expected 64 hex digits; restore it from a backup"};
}

Result<TlsFiles> read_tls(io::Files& files, const ProjectDirectory& directory) {
  TRY_ASSIGN(Bytes chain, files.read(directory.tls_chain(), key_file_bytes_max));
  TRY_ASSIGN(Bytes key, io::read_secret_file(files, directory.tls_key(), key_file_bytes_max));
  return TlsFiles{std::move(chain), std::move(key)};
}

Result<ProjectSecrets> read_secrets(io::Files& files, const ProjectDirectory& directory, Timestamp now) {
  if (!files.exists(directory.configuration()))
    return Error{ErrorKind::not_found, directory.root().string() +
                                           " holds no project: make one with `gleaner-server init " +
                                           directory.root().string() + "`"};
  TRY_ASSIGN(const Bytes root_key, read_root_public_key(files, directory));
  TRY_ASSIGN(crypto::PrivateKey work_key, bundle::read_key_file(files, directory.work_key()));
  TRY_ASSIGN(auto certificate, bundle::read_certificate_file(files, directory.work_certificate()));
  const std::string project = bundle::project_id(root_key);
  auto checked = crypto::check_key_certificate(certificate, protocol::StatementType::work_key_certificate,
                                               root_key, project, now);
  if (!checked.ok())
    return checked.error().within(
        "the work key's certificate " + directory.work_certificate().string() +
        " does not hold (certify the work key again with `gleaner-admin keys work` and the "
        "offline root key)");
  if (checked->key != work_key.public_key())
    return Error{ErrorKind::untrusted, directory.work_certificate().string() + " is for another key than " +
                                           directory.work_key().string() +
                                           ": certify the present one with `gleaner-admin keys work`"};
  TRY_ASSIGN(TlsFiles tls, read_tls(files, directory));
  TRY_ASSIGN(Bytes secret, read_enrolment_secret(files, directory.enrolment_secret()));
  TRY_ASSIGN(Bytes token, io::read_secret_file(files, directory.admin_token(), key_file_bytes_max));
  while (!token.empty() && token.back() == '\n') token.pop_back();
  if (token.size() < 32)
    return Error{ErrorKind::invalid, directory.admin_token().string() + " is damaged: expected a token"};
  return ProjectSecrets{project,
                        root_key,
                        std::move(work_key),
                        std::move(certificate),
                        checked->not_after,
                        read_former_certificates(files, directory, root_key, now),
                        std::move(tls.chain_pem),
                        std::move(tls.key_pem),
                        std::move(secret),
                        crypto::sha256(token)};
}

std::vector<protocol::SignedStatement> read_former_certificates(io::Files& files,
                                                                const ProjectDirectory& project,
                                                                const Bytes& root_key, Timestamp now) {
  std::vector<std::pair<Timestamp, protocol::SignedStatement>> good;
  const auto names = files.list(project.former_certificates());
  if (!names.ok()) return {};
  for (const std::string& name : *names) {
    if (io::is_leftover(name)) continue;
    auto statement = bundle::read_certificate_file(files, project.former_certificates() / name);
    if (!statement.ok()) {
      spdlog::warn("a former work key's certificate is left out: {}", statement.error().message);
      continue;
    }
    const auto certificate =
        crypto::check_key_certificate(*statement, protocol::StatementType::work_key_certificate, root_key,
                                      bundle::project_id(root_key), now);
    if (certificate.ok()) good.emplace_back(certificate->not_before, std::move(*statement));
  }
  std::sort(good.begin(), good.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (good.size() > limits::former_work_keys_max) good.resize(limits::former_work_keys_max);
  std::vector<protocol::SignedStatement> newest;
  for (auto& [from, statement] : good) newest.push_back(std::move(statement));
  return newest;
}

Result<InitReport> init_project(io::Files& files, const InitOptions& options, Timestamp now) {
  const ProjectDirectory directory(options.directory);
  if (files.exists(directory.configuration()))
    return Error{ErrorKind::conflict, options.directory.string() +
                                          " already holds a project; serve it with `gleaner-server run " +
                                          options.directory.string() + "`, or choose another directory"};
  const std::string host = public_host(options.configuration);
  TRY(check_settings(options.configuration, host, directory.configuration().string()));
  TRY_ASSIGN(const auto offline, options.root
                                     ? bundle::create_signer(files, options.offline, *options.root, now)
                                     : bundle::create_offline_keys(files, options.offline, now));
  const Timestamp until = now + std::chrono::hours{24} * options.days;
  const Bytes secret = crypto::random_secret(enrolment_secret_bytes);
  const std::string token = to_base64url(crypto::random_secret(32));

  TRY(bundle::create_server_keys(files, options.directory / "keys", offline.root,
                                 {true, true, {host}, now, until}));
  TRY(files.make_directories(options.directory / "admin"));
  TRY(files.write(directory.root_public_key(), to_hex(offline.root.public_key()) + "\n", io::Mode::normal));
  TRY(files.write(directory.enrolment_secret(), to_hex(secret) + "\n", io::Mode::secret));
  TRY(files.write(directory.admin_token(), token + "\n", io::Mode::secret));
  const std::string port = std::to_string(options.configuration.port);
  const bool any = options.configuration.address == "0.0.0.0" || options.configuration.address == "::";
  const bool public_certificate = options.configuration.public_certificate;
  const std::string address = public_certificate ? host  // an authority's certificate is for no other name
                              : any              ? "127.0.0.1"
                                                 : options.configuration.address;
  const std::string url_host = address.find(':') == std::string::npos ? address : "[" + address + "]";
  TRY(files.write(directory.admin_profile(),
                  admin_profile("https://" + url_host + ":" + port, offline.project, public_certificate),
                  io::Mode::normal));
  // Last: a directory without it is not a project yet, and init may be repeated.
  TRY(files.write(directory.configuration(), render_configuration(options.configuration), io::Mode::normal));

  return InitReport{protocol::to_text(join_code(options.configuration, offline.root.public_key(), secret,
                                                static_cast<int>(options.configuration.port))),
                    offline.project};
}

}  // namespace gleaner::service
