#include "client/join/join.h"

#include <spdlog/spdlog.h>

#include "shared/base/limits.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/copy_name.h"
#include "shared/protocol/text.h"

namespace gleaner::joining {
namespace {

constexpr std::size_t former_max = 64;  // numbers of a host; older receipts are another's then
// A host that joined again and is not known once more so soon has a double that does the same.
constexpr Duration rejoined_for_good = std::chrono::hours{24};

// Who it was before goes along: its name, its machine's digest and name, the numbers that it had.
struct Before {
  std::string name, machine, computer;
  std::vector<HostId> former;
  std::optional<HostId> copy_of;
};

Before before_of(const state::Identity& identity) {
  Before before{identity.name, identity.machine, identity.computer, identity.former, {}};
  if (identity.host.host.valid()) before.former.push_back(identity.host.host);
  if (before.former.size() > former_max) before.former.erase(before.former.begin());
  return before;
}

Result<state::Identity> enrol(const Ways& ways, io::Files& files, const host::Machine& machine,
                              const state::ProjectDirectory& project, const protocol::JoinCode& code,
                              const JoinFacts& facts, const Before& before, Timestamp now) {
  state::Identity identity;
  identity.code = code;
  identity.former = before.former;
  // A computer that was here before has not forgotten what was revoked.
  TRY_ASSIGN(const transport::Found found,
             transport::find_server(ways, code,
                                    state::load_revocations(files, project, code.root_fingerprint), now));
  const crypto::ProjectTrust& trust = found.trust;
  identity.project = found.document;
  if (found.relay) identity.relay = found.relay->statement;
  identity.revocations = trust.revocations;
  TRY_ASSIGN(const crypto::PrivateKey key, state::load_or_make_key(files, project));
  identity.machine = before.machine.empty() ? machine.machine_digest(trust.project) : before.machine;
  const std::string& name = facts.name.empty() ? before.name : facts.name;
  identity.name = protocol::clean_line(name.empty() ? machine.host_name() : name, limits::name_length_max);
  identity.computer = before.computer.empty() ? machine.host_name() : before.computer;
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
  request.copy_of = before.copy_of;
  TRY_ASSIGN(identity.host, transport::enrol(ways, code, found, std::move(request), key));
  if (before.copy_of && identity.name == before.name)  // so the server calls it
    identity.name = protocol::name_of_copy(identity.name, identity.host.host);
  TRY(state::save_identity(files, project, identity));
  return identity;
}

// Does the project still take it, at the code's place, which is the one that it knows or has proved to be of
// the project (must_enrol())? Only a clear no is one: then joining anew says what holds.
bool still_taken(const Ways& ways, const state::Identity& present, const protocol::JoinCode& code) {
  const transport::Server server{code.base_url(), present.host.token};
  const transport::Answer answer = transport::call(
      ways.http, server, transport::json_request(server, "/v1/heartbeat", R"({"version":1,"units":[]})"));
  if (answer.reply.ok()) return true;
  const ErrorKind kind = answer.reply.error().kind;
  return kind != ErrorKind::banned && kind != ErrorKind::forbidden && kind != ErrorKind::unauthorized;
}

// Must a host that has joined enrol at the code's address? What answers there now has no token of it then.
Result<bool> must_enrol(const Ways& ways, state::Identity& present, const protocol::JoinCode& code,
                        Timestamp now) {
  if (!ways.inquiring || code.base_url() == present.code.base_url()) return false;
  const auto found = transport::find_server(ways, code, present.revocations, now);
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
  Before before;
  if (present.ok()) {
    before = before_of(*present);
    const bool same = present->code.root_fingerprint == code.root_fingerprint;
    if (!same)
      return Error{
          ErrorKind::conflict,
          "the project at " + transport::place_of(present->code) +
              ", which this computer has joined, has a key with the same beginning: use another directory "
              "with --state"};
    if (!present->revoked) {
      if (code.base_url() == present->code.base_url() &&
          code.enrolment_secret != present->code.enrolment_secret) {
        // Another code of the same place: the host becomes what that one says. Until it has, nothing changes.
        auto joined = enrol(ways, files, machine, project, code, facts, before, now);
        if (!joined.ok()) return transport::why_not_joined(joined.error(), code);
        return joined;
      }
      const auto elsewhere = must_enrol(ways, *present, code, now);
      if (!elsewhere.ok()) return transport::why_not_joined(elsewhere.error(), code);
      if (!*elsewhere && still_taken(ways, *present, code)) {
        // The server may have moved: the code is the newest word on where it is.
        present->code = code;
        TRY(state::save_identity(files, project, *present));
        return present;
      }
    }
    // A host that was put out is the same computer to the project as before: whether it may return is the
    // administrator's to say. Until the project has said so, and after it, its results and receipts stay.
  }
  auto joined = enrol(ways, files, machine, project, code, facts, before, now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), code);
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
      spdlog::warn("the server could not be notified ({}); it will notice by itself",
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
  if (auto name = files.read(project.identity() / "name", limits::text_length_max); name.ok())
    pending.name = std::move(*name);
  if (auto machine_then = files.read(project.identity() / "machine", limits::text_length_max);
      machine_then.ok())
    pending.machine = std::move(*machine_then);
  pending.former = state::load_former(files, project);
  pending.revocations = state::load_revocations(files, project, pending.code.root_fingerprint);
  return pending;
}

Result<state::Identity> finish_joining(const Ways& ways, io::Files& files, const host::Machine& machine,
                                       const state::ProjectDirectory& project, const JoinFacts& facts,
                                       Timestamp now) {
  TRY_ASSIGN(state::Identity identity, load_or_pending(files, project));
  if (identity.host.host.valid()) return identity;
  auto joined = enrol(ways, files, machine, project, identity.code, facts, before_of(identity), now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), identity.code);
  return joined;
}

Result<state::Identity> join_again(const Ways& ways, io::Files& files, const host::Machine& machine,
                                   const state::ProjectDirectory& project, const JoinFacts& facts,
                                   Timestamp now) {
  TRY_ASSIGN(const state::Identity identity, state::load_identity(files, project));
  const auto last = state::load_rejoined(files, project);
  const bool has_double = last && now >= *last && now - *last < rejoined_for_good;
  if (has_double) {
    spdlog::warn(
        "another computer joins with the key of this one, as after its disk was copied: this one gets "
        "a key of its own");
    const auto units = files.list(project.units());
    if (!units.ok() || units->empty()) {
      TRY(state::mark_copy(files, project));
      return part(ways, files, machine, project, facts, now);
    }
  }
  auto joined = enrol(ways, files, machine, project, identity.code, facts, before_of(identity), now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), identity.code);
  TRY(state::save_rejoined(files, project, now));
  // What it holds was given to the host that it was: it delivers that as this host, and parts then.
  if (has_double) TRY(state::mark_copy(files, project));
  return joined;
}

Result<state::Identity> part(const Ways& ways, io::Files& files, const host::Machine& machine,
                             const state::ProjectDirectory& project, const JoinFacts& facts, Timestamp now) {
  TRY_ASSIGN(const state::Identity identity, state::load_identity(files, project));
  if (const auto own = state::load_or_make_own_key(files, project); !own.ok()) return own.error();
  Before before = before_of(identity);
  before.machine.clear();  // this computer's own
  // A computer that was given another name than the one it is a copy of goes by that.
  const std::string called = machine.host_name();
  if (!before.computer.empty() && before.computer != called && before.name != called) before.name.clear();
  before.computer.clear();
  before.copy_of = identity.host.host;
  auto joined = enrol(ways, files, machine, project, identity.code, facts, before, now);
  if (!joined.ok()) return transport::why_not_joined(joined.error(), identity.code);
  return joined;
}

}  // namespace gleaner::joining
