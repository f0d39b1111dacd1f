#include "client/join/join.h"

#include <spdlog/spdlog.h>

#include "shared/base/limits.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/text.h"

namespace gleaner::joining {
namespace {

std::string place(const protocol::JoinCode& code) {
  return code.host + ":" + std::to_string(code.port);
}

Error explain(const Error& error, const protocol::JoinCode& code) {
  switch (error.kind) {
    case ErrorKind::unavailable:
      return {error.kind, "cannot join: no valid answer from the server " + place(code) + " (" +
                              error.message +
                              "): check the network and that the server is running, then try again"};
    case ErrorKind::untrusted:
      return {error.kind,
              "cannot join: " + place(code) + " is not the server of this join code (" + error.message +
                  "): ask for the current join code; if it is current, do not trust this network"};
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
      return {ErrorKind::forbidden, "cannot join: " + error.message};
    case ErrorKind::banned:
      return {error.kind, "cannot join: " + error.message};
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::io:
    case ErrorKind::internal:
      break;
  }
  return error.within("cannot join");
}

// Who answers at the code's address.
struct Found {
  protocol::SignedStatement document;
  crypto::ProjectTrust trust;
  std::optional<transport::Relay> relay;  // that it is
};

Result<Found> find_server(const Ways& ways, const protocol::JoinCode& code, const crypto::Revocations& seen,
                          Timestamp now) {
  const transport::Server server{code.base_url(), ""};
  if (ways.pinned) ways.pinned->set({});  // it would hide that a relay answers
  const auto document = understand<protocol::SignedStatement>(
      transport::call(ways.http, server, transport::get_request(server, "/v1/project")));
  if (document.ok()) {
    TRY_ASSIGN(auto trust, crypto::check_project(*document, code.root_fingerprint, now, seen));
    return Found{*document, std::move(trust), std::nullopt};
  }
  if (document.error().kind != ErrorKind::untrusted || !ways.inquiring || !ways.pinned)
    return document.error();
  const transport::RelayAnswers answers = transport::inquire(*ways.inquiring, server.base_url);
  const auto told = understand<protocol::SignedStatement>(answers.project);
  if (!told.ok() || !answers.relay.reply.ok()) return document.error();  // no relay of ours
  TRY_ASSIGN(auto trust, crypto::check_project(*told, code.root_fingerprint, now, seen));
  TRY_ASSIGN(auto relay, transport::understand_relay(answers.relay, trust, now));
  ways.pinned->set(relay.certificate.tls_key);
  return Found{*told, std::move(trust), std::move(relay)};
}

// So that the project believes the relay that this host is there.
protocol::SignedStatement proof_of(const protocol::EnrolRequest& request, const Found& found,
                                   const crypto::PrivateKey& key, Timestamp now) {
  const protocol::Enrolment enrolment{found.trust.project, found.relay->certificate.relay, request.host_key,
                                      request.machine, now};
  return crypto::sign_statement(protocol::StatementType::enrolment, protocol::encode(enrolment), key);
}

Result<state::Identity> enrol(const Ways& ways, io::Files& files, const host::Machine& machine,
                              const state::ProjectDirectory& project, const protocol::JoinCode& code,
                              const JoinFacts& facts, Timestamp now) {
  const transport::Server server{code.base_url(), ""};
  state::Identity identity;
  identity.code = code;
  // A computer that was here before has not forgotten what was revoked.
  TRY_ASSIGN(const Found found,
             find_server(ways, code, state::load_revocations(files, project, code.root_fingerprint), now));
  const crypto::ProjectTrust& trust = found.trust;
  identity.project = found.document;
  if (found.relay) identity.relay = found.relay->statement;
  identity.revocations = trust.revocations;
  TRY_ASSIGN(const crypto::PrivateKey key, state::load_or_make_key(files, project));
  identity.machine = machine.machine_digest(trust.project);
  identity.name =
      protocol::clean_line(facts.name.empty() ? machine.host_name() : facts.name, limits::name_length_max);
  protocol::EnrolRequest request;
  request.secret = code.enrolment_secret;
  request.host_key = key.public_key();
  request.machine = identity.machine;
  request.name = identity.name;
  const auto platforms = machine.platforms();
  request.platform = platforms.empty() ? "unknown" : platforms.front();
  request.cores = facts.cores > 0 ? facts.cores : machine.cores();
  request.memory_bytes = machine.memory_bytes();
  request.client_version = facts.client_version;
  request.benchmark = facts.benchmark;
  if (found.relay) request.proof = proof_of(request, found, key, now);
  TRY_ASSIGN(identity.host, understand<protocol::EnrolReply>(transport::call(
                                ways.http, server,
                                transport::json_request(server, "/v1/enrol", protocol::encode(request)))));
  TRY(state::save_identity(files, project, identity));
  return identity;
}

// Must a host that has joined enrol at the code's address? What answers there now has no token of it then.
Result<bool> must_enrol(const Ways& ways, state::Identity& present, const protocol::JoinCode& code,
                        Timestamp now) {
  if (!ways.inquiring || code.base_url() == present.code.base_url()) return false;
  const auto found = find_server(ways, code, present.revocations, now);
  // A server that moved need not be there yet; where a relay is or was, its answer is needed.
  if (!found.ok() && found.error().kind == ErrorKind::unavailable && !present.relay) return false;
  if (!found.ok()) return found.error();
  const HostId relay = found->relay ? found->relay->certificate.relay : HostId{};
  if (relay != state::relay_of(present)) return true;
  if (found->relay) present.relay = found->relay->statement;
  return false;
}

}  // namespace

Result<state::Identity> join(const Ways& ways, io::Files& files, const host::Machine& machine,
                             const state::ProjectDirectory& project, const protocol::JoinCode& code,
                             const JoinFacts& facts, Timestamp now) {
  auto present = state::load_identity(files, project);
  if (!present.ok() && present.error().kind == ErrorKind::forbidden) return present.error();
  if (present.ok()) {
    const bool same = present->code.root_fingerprint == code.root_fingerprint;
    if (!same)
      return Error{
          ErrorKind::conflict,
          "the project at " + place(present->code) +
              ", which this computer has joined, has a key with the same beginning: use another directory "
              "with --state"};
    if (!present->revoked) {
      const auto elsewhere = must_enrol(ways, *present, code, now);
      if (!elsewhere.ok()) return explain(elsewhere.error(), code);
      // The server may have moved: the code is the newest word on where it is.
      present->code = code;
      if (!*elsewhere) {
        TRY(state::save_identity(files, project, *present));
        return present;
      }
    } else {
      // The same computer to the project as before: whether it may return is the administrator's to say.
      TRY_ASSIGN(const crypto::PrivateKey key, state::load_or_make_key(files, project));
      TRY(state::forget_membership(files, project));
      TRY(state::keep_key(files, project, key));
      if (present->revocations.number() > 0)
        TRY(state::save_revocations(files, project, present->revocations));
    }
  }
  auto joined = enrol(ways, files, machine, project, code, facts, now);
  if (!joined.ok()) return explain(joined.error(), code);
  return joined;
}

Status leave(io::HttpClient& http, io::Files& files, const state::ProjectDirectory& project) {
  const auto identity = state::load_identity(files, project);
  if (!identity.ok() && !files.exists(project.root)) return identity.error();
  if (identity.ok()) {
    const transport::Server server{identity->code.base_url(), identity->host.token};
    const transport::Answer answer =
        transport::call(http, server, transport::json_request(server, "/v1/leave", R"({"version":1})"));
    if (!answer.reply.ok())
      spdlog::warn("the server could not be told ({}); it will notice by itself",
                   answer.reply.error().message);
  }
  return state::forget_membership(files, project);
}

Result<state::Identity> load_or_pending(const io::Files& files, const state::ProjectDirectory& project) {
  auto identity = state::load_identity(files, project);
  if (identity.ok() || identity.error().kind != ErrorKind::not_found) return identity;
  const auto text = files.read(project.identity() / "join-code", limits::text_length_max);
  if (!text.ok()) return identity;
  state::Identity pending;
  TRY_ASSIGN(pending.code, protocol::parse_join_code(*text));
  pending.revocations = state::load_revocations(files, project, pending.code.root_fingerprint);
  return pending;
}

Result<state::Identity> confirm_machine(const Ways& ways, io::Files& files, const host::Machine& machine,
                                        const state::ProjectDirectory& project, const JoinFacts& facts,
                                        Timestamp now) {
  TRY_ASSIGN(state::Identity identity, load_or_pending(files, project));
  const protocol::JoinCode code = identity.code;
  if (identity.host.host.valid()) {
    if (machine.machine_digest(to_hex(code.root_fingerprint)) == identity.machine) return identity;
    spdlog::warn("this disk was copied from another computer: joining as a new host");
    // The units on the copied disk belong to the other computer.
    TRY(state::forget_membership(files, project));
    TRY(files.make_directories(project.identity()));
    TRY(files.write(project.identity() / "join-code", protocol::to_text(code), io::Mode::secret));
    if (identity.revocations.number() > 0) TRY(state::save_revocations(files, project, identity.revocations));
  }
  auto joined = enrol(ways, files, machine, project, code, facts, now);
  if (!joined.ok()) return explain(joined.error(), code);
  return joined;
}

}  // namespace gleaner::joining
