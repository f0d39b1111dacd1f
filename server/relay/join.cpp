#include "server/relay/join.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <thread>

#include "shared/base/limits.h"
#include "shared/base/version.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::relay {
namespace {

constexpr const char* machine_id_file = "/etc/machine-id";

std::string machine_of(const io::Files& files, const std::string& project) {
  const auto text = files.read(machine_id_file, limits::text_length_max);
  std::string id = text.ok() ? text->substr(0, text->find('\n')) : std::string();
  utsname facts{};
  if (id.empty() && ::uname(&facts) == 0) id = std::string("name:") + facts.nodename;
  return crypto::machine_digest(project, id);
}

protocol::EnrolRequest request_of(const RelayKeys& keys, const protocol::JoinCode& code,
                                  const std::string& name, std::string machine) {
  protocol::EnrolRequest request;
  request.secret = code.enrolment_secret;
  request.host_key = keys.host.public_key();
  request.machine = std::move(machine);
  request.name = protocol::clean_line(name, limits::name_length_max);
  utsname facts{};
  request.platform = ::uname(&facts) == 0 ? std::string(facts.machine) + "-linux" : "unknown";
  request.cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  request.memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  request.client_version = version_text;
  request.relay = protocol::RelayRequest{keys.tls_digest};
  return request;
}

// What the project says of this relay.
Status check_certificate(const protocol::SignedStatement& statement, const crypto::ProjectTrust& trust,
                         const RelayKeys& keys, HostId host, Timestamp now) {
  TRY_ASSIGN(const auto certificate, crypto::check_relay_certificate(statement, trust, now));
  if (certificate.relay == host && certificate.key == keys.host.public_key() &&
      certificate.tls_key == keys.tls_digest)
    return {};
  return Error{ErrorKind::untrusted, "the relay certificate that came is of another relay"};
}

Result<Membership> enrol(const transport::Ways& ways, const io::Files& files, const RelayKeys& keys,
                         const protocol::JoinCode& code, const std::string& name, const Membership* present,
                         Timestamp now) {
  Membership joined;
  joined.code = code;
  if (present != nullptr) joined.revocations = present->revocations;
  TRY_ASSIGN(const transport::Found found, transport::find_server(ways, code, joined.revocations, now));
  joined.project = found.document;
  joined.revocations = found.trust.revocations;
  if (found.relay) joined.above = found.relay->statement;
  joined.machine = present != nullptr ? present->machine : machine_of(files, found.trust.project);
  protocol::EnrolRequest request = request_of(keys, code, name, joined.machine);
  TRY_ASSIGN(const auto reply, transport::enrol(ways, code, found, std::move(request), keys.host));
  if (!reply.certificate)
    return Error{ErrorKind::conflict, "it knows nothing of relays: its version is older than this program's"};
  TRY(check_certificate(*reply.certificate, found.trust, keys, reply.host, now));
  joined.host = reply.host;
  joined.token = reply.token;
  joined.certificate = *reply.certificate;
  return joined;
}

}  // namespace

Result<Membership> join(const transport::Ways& ways, io::Files& files, const RelayDirectory& directory,
                        const RelayKeys& keys, const protocol::JoinCode& code, const std::string& name,
                        Timestamp now) {
  const auto present = load_membership(files, directory);
  if (!present.ok() && present.error().kind != ErrorKind::not_found) return present.error();
  TRY(check_no_copy(files, directory));
  if (present.ok() && present->code.root_fingerprint != code.root_fingerprint)
    return Error{ErrorKind::conflict,
                 "this relay has joined the project at " + transport::place_of(present->code) +
                     ": `gleaner-relay leave` first, or use another directory with --relay"};
  if (present.ok() && protocol::to_text(present->code) == protocol::to_text(code)) return present;
  auto joined = enrol(ways, files, keys, code, name, present.ok() ? &*present : nullptr, now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), code);
  // What another membership left here is of no use to this one.
  if (!present.ok() || present->host != joined->host) TRY(forget_membership(files, directory));
  TRY(save_membership(files, directory, *joined));
  return joined;
}

Result<Membership> join_again(const transport::Ways& ways, const RelayKeys& keys, const Membership& present,
                              const std::string& name, Timestamp now) {
  auto joined = enrol(ways, io::real_files(), keys, present.code, name, &present, now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), present.code);
  return joined;
}

Status leave(io::HttpClient& http, io::Files& files, const RelayDirectory& directory,
             const std::function<void(const std::string&)>& warn) {
  TRY_ASSIGN(const Membership membership, load_membership(files, directory));
  if (!check_no_copy(files, directory).ok()) {
    // The other one stays, and this one is to be nobody again.
    TRY(files.remove(directory.host_key()));
    return forget_membership(files, directory);
  }
  const transport::Server server{membership.code.base_url(), membership.token};
  const transport::Answer answer =
      transport::call(http, server, transport::json_request(server, "/v1/leave", R"({"version":1})"));
  if (!answer.reply.ok())
    warn(transport::place_of(membership.code) + " could not be notified (" + answer.reply.error().message +
         "); an administrator can end this relay with `gleaner-admin host revoke " +
         std::to_string(membership.host.value) + "`");
  return forget_membership(files, directory);
}

std::string parent_tls_key(const Membership& membership, Timestamp now) {
  if (!membership.above) return {};
  const auto trust = crypto::check_project(membership.project, membership.code.root_fingerprint, now,
                                           membership.revocations);
  if (!trust.ok()) return {};  // both are asked for again, of whoever answers
  const auto relay = crypto::check_relay_certificate(*membership.above, *trust, now);
  return relay.ok() ? relay->tls_key : std::string();
}

}  // namespace gleaner::relay
