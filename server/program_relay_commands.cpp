#include "server/program_relay_commands.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>

#include "server/program_owner.h"
#include "server/relay/join.h"
#include "server/storage/directory_lock.h"
#include "server/storage/open_store.h"
#include "shared/base/figures.h"
#include "shared/base/version.h"
#include "shared/io/secret_file.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"
#include "shared/terminal/print.h"

namespace gleaner::server {
namespace {

std::string user_agent() {
  return std::string("gleaner-relay/") + version_text;
}

// Nobody else changes the directory while it lives.
Result<std::unique_ptr<storage::DirectoryLock>> take(const relay::RelayDirectory& directory,
                                                     const std::string& command) {
  TRY(check_user(directory.root(), command + " --relay", "gleaner-relay"));
  auto lock = storage::DirectoryLock::take(directory.root());
  if (!lock.ok() && lock.error().kind == ErrorKind::conflict)
    return Error{ErrorKind::conflict, "the relay in " + directory.root().string() +
                                          " is running: stop it first (systemctl stop gleaner-relay)"};
  return lock;
}

// The way to the parent. It trusts what the membership (null: there is none yet) does.
struct Connection {
  std::shared_ptr<io::PinnedTlsKey> pinned = std::make_shared<io::PinnedTlsKey>();
  std::unique_ptr<io::HttpClient> http;
  std::unique_ptr<io::HttpClient> inquiring = io::make_inquiring_client(user_agent());

  Connection(const protocol::JoinCode& code, const relay::Membership* membership) {
    auto refused = std::make_shared<io::RefusedTlsKeys>();
    if (membership != nullptr) {
      pinned->set(relay::parent_tls_key(*membership, system_clock().now()));
      std::vector<std::string> digests;
      if (membership->revocations.number() > 0)
        for (const auto& one : membership->revocations.list().tls_keys) digests.push_back(one.digest);
      refused->set(std::move(digests));
    }
    http = io::make_curl_client(transport::vouchers_of(code), user_agent(), {}, std::move(refused), pinned);
  }
};

// "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT" in the place of the code's own.
Status move_to(protocol::JoinCode& code, const std::string& via) {
  const Error wrong{ErrorKind::invalid, "--via: expected HOST or HOST:PORT, got \"" + via + "\""};
  const bool bracketed = via.starts_with('[');
  const auto end = bracketed ? via.find(']') : std::min(via.find(':'), via.size());
  if (end == std::string::npos) return wrong;
  code.host = bracketed ? via.substr(1, end - 1) : via.substr(0, end);
  const std::string rest = via.substr(bracketed ? end + 1 : end);
  if (code.host.empty() || (!rest.empty() && rest[0] != ':')) return wrong;
  if (rest.empty()) {
    code.port = static_cast<int>(service::Configuration().port);
    return {};
  }
  const char* const last = rest.data() + rest.size();
  const auto parsed = std::from_chars(rest.data() + 1, last, code.port);
  if (parsed.ec != std::errc{} || parsed.ptr != last || code.port < 1 || code.port > 65535) return wrong;
  return {};
}

Result<protocol::JoinCode> meant_code(const RelayJoin& command) {
  TRY_ASSIGN(const std::string given, io::read_secret_argument(command.code));
  TRY_ASSIGN(auto code, protocol::parse_join_code(given));
  if (!command.via.empty()) TRY(move_to(code, command.via));
  return code;
}

std::string local_url(const service::Configuration& configuration) {
  const std::string& address = configuration.address;
  const bool any = address == "0.0.0.0" || address == "::";
  const std::string host = any                                      ? "127.0.0.1"
                           : address.find(':') == std::string::npos ? address
                                                                    : "[" + address + "]";
  return fmt::format("https://{}:{}", host, configuration.port);
}

// For gleaner-admin and the console: the token beside it may look at everything.
std::string admin_profile(const service::Configuration& configuration, const protocol::JoinCode& code,
                          const relay::RelayKeys& keys) {
  json::Value profile = json::Value::object();
  profile["url"] = local_url(configuration);
  profile["root_fingerprint"] = to_hex(code.root_fingerprint);
  profile["tls_key"] = keys.tls_digest;
  profile["token_file"] = "token";
  return json::write(profile, {.indent = 2}) + "\n";
}

std::string this_machine() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

// Of results for the parent.
std::string waiting_text(const protocol::RelayStatus& status) {
  if (status.results == 0) return "nothing";
  return fmt::format("{} ({}), since {}{}", counted(status.results, "result"),
                     bytes_text(status.result_bytes), local_text(status.results_since),
                     status.full ? "; that is as much as relay.toml allows: hosts keep theirs" : "");
}

// Whether the project has everything.
Status check_delivered(const relay::RelayDirectory& directory) {
  if (!io::real_files().exists(directory.root() / storage::store_file)) return {};
  TRY_ASSIGN(const auto store, storage::open_store({}, directory.root(), {}));
  TRY_ASSIGN(const auto owed, store->deliveries(Timestamp::max()));
  if (owed.empty()) return {};
  return Error{ErrorKind::conflict,
               fmt::format("there are {} results here that the project does not have yet, which would be "
                           "lost: run the relay until `gleaner-relay status` says that nothing waits, or say "
                           "--force",
                           owed.size())};
}

Status add_fallback(protocol::JoinCode& code, const std::string& text) {
  const auto refused = [](const std::string& why) {
    return Error{ErrorKind::invalid, "--fallback: " + why + ": give the project's own join code"};
  };
  TRY_ASSIGN(const std::string given, io::read_secret_argument(text));
  const auto elsewhere = protocol::parse_join_code(given);
  if (!elsewhere.ok()) return elsewhere.error().within("--fallback");
  if (elsewhere->root_fingerprint != code.root_fingerprint)
    return refused("this code is of another project than this relay is of");
  if (elsewhere->enrolment_secret == code.enrolment_secret || elsewhere->base_url() == code.base_url())
    return refused("this code leads to this relay itself");
  if (elsewhere->fallback) return refused("this code is a relay's, with a fallback of its own");
  code.fallback = protocol::Fallback{elsewhere->host, elsewhere->port, elsewhere->enrolment_secret,
                                     elsewhere->certificate};
  return {};
}

}  // namespace

Status join_relay(const relay::RelayDirectory& directory, const RelayJoin& command) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const protocol::JoinCode code, meant_code(command));
  TRY(files.make_directories(directory.root()));
  TRY_ASSIGN(const auto lock, take(directory, "join CODE"));
  TRY_ASSIGN(auto configuration, relay::read_settings(files, directory));
  if (command.name) configuration.name = *command.name;
  if (command.address) configuration.address = *command.address;
  if (command.public_host) configuration.public_host = *command.public_host;
  if (command.port) configuration.port = *command.port;
  const Timestamp now = system_clock().now();
  TRY_ASSIGN(const auto keys,
             relay::load_or_make_keys(
                 files, directory,
                 {configuration.public_host.empty() ? this_machine() : configuration.public_host, "localhost",
                  "127.0.0.1", "::1"},
                 now));
  const auto present = relay::load_membership(files, directory);
  const Connection connection(code, present.ok() ? &*present : nullptr);
  TRY_ASSIGN(const auto joined,
             relay::join({*connection.http, connection.inquiring.get(), connection.pinned.get()}, files,
                         directory, keys, code, configuration.name, now));
  TRY_ASSIGN(const auto certificate,
             protocol::decode<protocol::RelayCertificate>(joined.certificate.payload));
  if (!command.name && !present.ok()) configuration.name = certificate.name;
  TRY(relay::write_settings(files, directory, configuration));
  TRY(files.write(directory.project().admin_profile(), admin_profile(configuration, code, keys),
                  io::Mode::normal));
  terminal::print(
      "Joined {} as the relay {} (host {}), for {} hosts.\n"
      "  settings      {}\n"
      "Run it with:  systemctl enable --now gleaner-relay  (or gleaner-relay run --relay {})\n"
      "Its hosts join with the code that `gleaner-relay code` prints.\n",
      transport::place_of(joined.code), certificate.name, joined.host.value, certificate.children,
      directory.settings().string(), directory.root().string());
  return {};
}

Status leave_relay(const relay::RelayDirectory& directory, Undelivered undelivered) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const auto membership, relay::load_membership(files, directory));
  TRY_ASSIGN(auto lock, take(directory, "leave"));
  if (undelivered == Undelivered::kept) {
    lock.reset();  // the store takes it
    TRY(check_delivered(directory));
    TRY_ASSIGN(lock, take(directory, "leave"));
  }
  const Connection connection(membership.code, &membership);
  TRY(relay::leave(*connection.http, files, directory,
                   [](const std::string& line) { terminal::print(stderr, "gleaner-relay: {}\n", line); }));
  terminal::print(
      "Left the project at {}. Keys and settings stay in {}; hosts that were under this relay join "
      "elsewhere.\n",
      transport::place_of(membership.code), directory.root().string());
  return {};
}

Result<std::string> relay_join_code(const relay::RelayDirectory& directory, const std::string& fallback) {
  io::Files& files = io::real_files();
  TRY(check_user(directory.root(), "code --relay", "gleaner-relay"));
  TRY_ASSIGN(const auto configuration, relay::read_settings(files, directory));
  TRY_ASSIGN(const auto membership, relay::load_membership(files, directory));
  TRY_ASSIGN(const auto keys, relay::load_or_make_keys(files, directory, {}, system_clock().now()));
  TRY_ASSIGN(const auto secrets, relay::secrets_of(keys, membership));
  auto code = service::join_code(configuration, secrets.root_key, keys.enrolment_secret,
                                 static_cast<int>(configuration.port));
  if (!fallback.empty()) TRY(add_fallback(code, fallback));
  return protocol::to_text(code);
}

Status print_relay_status(const relay::RelayDirectory& directory, Format format) {
  io::Files& files = io::real_files();
  TRY_ASSIGN(const auto configuration, relay::read_settings(files, directory));
  TRY_ASSIGN(const auto membership, relay::load_membership(files, directory));
  TRY_ASSIGN(const auto tls, service::read_tls(files, directory.project()));
  auto pinned = std::make_shared<io::PinnedTlsKey>();
  TRY_ASSIGN(auto digest, crypto::tls_key_digest(tls.chain_pem));
  pinned->set(std::move(digest));
  TRY_ASSIGN(Bytes token,
             io::read_secret_file(files, directory.project().admin_token(), service::key_file_bytes_max));
  while (!token.empty() && token.back() == '\n') token.pop_back();
  const auto http =
      io::make_curl_client({membership.code.root_fingerprint}, user_agent(), {}, {}, std::move(pinned));
  const transport::Server server{local_url(configuration), token};
  const auto answer = transport::call(*http, server, transport::get_request(server, "/v1/admin/relay"));
  if (!answer.reply.ok())
    return answer.reply.error().within("the relay does not answer at " + server.base_url +
                                       " (systemctl status gleaner-relay)");
  if (format == Format::json) {
    terminal::print("{}\n", answer.reply->body);
    return {};
  }
  TRY_ASSIGN(const auto status, protocol::decode<protocol::RelayStatus>(answer.reply->body));
  terminal::print(
      "relay {}, host {} of the project\n"
      "  parent        {}, last contact {}\n",
      status.name, status.host.value, status.parent,
      status.heard_at == Timestamp{} ? std::string("never since its start")
                                     : "at " + local_text(status.heard_at));
  if (!status.trouble.empty()) terminal::print("                no contact now: {}\n", status.trouble);
  terminal::print(
      "  hosts         {}, of which {} have units\n"
      "  units         {}\n"
      "  leases        {} of {} items\n"
      "  waiting       {}\n",
      status.hosts, status.busy, status.units, status.leases, status.leased_items, waiting_text(status));
  return {};
}

}  // namespace gleaner::server
