#include "server/service/access/relays.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/access/admission.h"
#include "server/service/access/relay_certificates.h"
#include "server/service/core/ban_registry.h"
#include "server/service/core/departures.h"
#include "server/service/core/end_host.h"
#include "server/service/core/joined.h"
#include "server/service/core/put_out.h"
#include "server/service/core/relay_rights.h"
#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// So often all hosts under a relay may be replaced by new ones, for labs are: without a bound a relay could
// fill the store with hosts that it makes up and lets leave.
constexpr std::int64_t replaced_times = 10;

Error forbidden(std::string why) {
  return {ErrorKind::forbidden, std::move(why)};
}

std::string named(const storage::HostRow& row) {
  return fmt::format("the relay {} (host {})", row.name, row.id.value);
}

// Whether `known` (null: a new host) fits under the relay and all that are above that.
Status check_place(const Model& model, const Host& relay, const Host* known) {
  const RelayIndex& index = model.index.relays();
  std::vector<HostId> above = index.above(relay.row.id);
  above.insert(above.begin(), relay.row.id);
  if (known != nullptr && std::find(above.begin(), above.end(), known->row.id) != above.end())
    return forbidden(named(known->row) + " cannot be under itself");
  const int below = known == nullptr ? 0 : index.height(known->row.id);
  if (std::ssize(above) + below > limits::relay_depth_max)
    return forbidden(fmt::format("there are {} relays above each other already, as many as may be",
                                 limits::relay_depth_max));
  const auto counts = index.counts();
  const auto count_of = [&](HostId id) { return counts.contains(id) ? counts.at(id) : 0; };
  const std::int64_t more = known == nullptr ? 1 : 1 + count_of(known->row.id);
  for (const HostId id : above) {
    const auto& row = model.hosts.at(id).row;
    const bool counted = known != nullptr && is_under(model, known->row.id, id);
    if (!counted && count_of(id) + more > row.children)
      return forbidden(fmt::format("{} has {} hosts under it, of {} that the administrator allowed",
                                   named(row), count_of(id), row.children));
  }
  return {};
}

// A host that joins under a relay shows no code of its own. It keeps what its code made it only while it is
// active, and only if that code was not another relay's.
bool keeps_code(const Model& model, const Host& known, const Host& relay) {
  if (known.row.state != protocol::HostState::active) return false;
  if (known.row.relay == relay.row.id) return true;
  const auto code = model.codes.find(known.row.code);
  return code == model.codes.end() || code->second.children == 0;
}

// As whom the host joins under the relay. forbidden, banned: why not.
Result<storage::HostRow> admit_under(const Transaction& tx, const Host& relay, const Host* known,
                                     const protocol::EnrolRequest& request, const EnrolmentProof& proof) {
  const Model& model = tx.model;
  const auto code = model.codes.find(relay.row.code);
  if (code == model.codes.end()) return forbidden(named(relay.row) + " has no code any more");
  if (const auto* ban = ban_of_code(model, relay.row.code, tx.now); ban != nullptr) return banned(*ban);
  TRY(check_key(model, request.host_key, tx.now));
  if (known != nullptr) {
    if (const auto* ban = ban_of_code(model, known->row.code, tx.now); ban != nullptr) return banned(*ban);
    const bool same = known->row.relay == relay.row.id && known->row.proved_at == proof.asked_at;
    if (!same) TRY(check_newer(proof, known->row, tx.now));
  } else if (code->second.withdrawn_at != Timestamp{}) {
    return forbidden("the code of " + named(relay.row) +
                     " was withdrawn: ask the administrator for another relay or code");
  } else if (hosts_of(model, code->second) > replaced_times * relay.row.children) {
    return forbidden(fmt::format("{} hosts have joined through {}: allow another relay",
                                 hosts_of(model, code->second), named(relay.row)));
  }
  TRY(check_place(model, relay, known));
  storage::HostRow row = known != nullptr ? known->row : storage::HostRow{};
  fill(row, request, tx.now);
  if (request.relay) {
    TRY_ASSIGN(const auto* const its,
               admit(model, request.secret, Joining::relay, request.host_key, known, tx.now));
    join_with(row, *its, request, known);
  } else if (known == nullptr || !keeps_code(model, *known, relay)) {
    const bool refuted = known != nullptr && known->row.code == code->second.name && !known->row.own;
    join_with(row, code->second, request, nullptr);
    if (refuted) row.own = false;
  }
  row.relay = relay.row.id;
  row.network = relay.row.network;
  row.proved_at = proof.asked_at;
  row.token_digest = crypto::random_secret(32);  // of no token
  return row;
}

Status take_under(Transaction& tx, HostId asker, const protocol::EnrolRequest& request,
                  const EnrolmentProof& proof, Result<protocol::RelayHostReply>& reply) {
  const auto relay = relay_of(tx.model, asker, proof.said.relay.value_or(HostId{}));
  if (!relay.ok()) {
    reply = relay.error();
    return {};
  }
  const Host* const known = known_host(tx.model, request.host_key, request.machine);
  auto row = admit_under(tx, **relay, known, request, proof);
  if (!row.ok()) {
    reply = row.error();
    return {};
  }
  const std::string above = named((*relay)->row);
  if (known != nullptr && known->row.relay == HostId{} && known->row.state == protocol::HostState::active)
    TRY(let_go(tx, *known, "the host works for a relay now"));
  const bool again = known != nullptr;
  TRY(store_joined(tx, *row, known));
  tx.effects.info(fmt::format("{} {} ({}) {} through {}: {} cores, {}", row->children > 0 ? "relay" : "host",
                              row->id.value, row->name, again ? "joined again" : "joined", above, row->cores,
                              row->platform));
  reply = protocol::RelayHostReply{row->id, {}, row->own};
  if (row->children > 0) reply->certificate = unsigned_certificate(*row, proof.said.project, tx.now);
  return {};
}

protocol::RelayInfo describe(const Model& model, const storage::CodeRow& code, const Host* host,
                             const std::map<HostId, std::int64_t>& counts, Timestamp now) {
  protocol::RelayInfo info;
  info.name = code.name;
  info.children = code.children;
  info.state = closed(model, code, now).value_or("allowed");
  if (host == nullptr) {
    if (info.state == "full") info.state = protocol::name_of(protocol::HostState::left);
    return info;
  }
  const auto& row = host->row;
  info.state = protocol::name_of(row.state);
  if (const auto hosts = counts.find(row.id); hosts != counts.end()) info.hosts = hosts->second;
  info.host = row.id;
  if (row.relay != HostId{}) info.relay = row.relay;
  info.last_contact = row.last_contact;
  if (const auto trouble = model.troubles.find(row.id); trouble != model.troubles.end())
    info.trouble = trouble->second;
  return info;
}

}  // namespace

void Relays::status(Done<protocol::RelayStatus> done) {
  Parent* const parent = kernel_.parent();
  if (parent == nullptr)
    return done(Error{ErrorKind::not_found, "this is the project's server, and no relay"});
  const auto certificate = protocol::decode<protocol::RelayCertificate>(parent->certificate().payload);
  if (!certificate.ok()) return done(certificate.error());
  protocol::RelayStatus status;
  status.host = certificate->relay;
  status.name = certificate->name;
  status.parent = parent->place();
  status.heard_at = parent->heard_at();
  kernel_.decide<protocol::RelayStatus>(
      [status](Transaction& tx, Result<protocol::RelayStatus>& reply) -> Status {
        reply = status;
        reply->hosts = tx.model.index.active();
        reply->units = std::ssize(tx.model.open_units);
        for (const auto& [id, host] : tx.model.hosts)
          if (!host.units.empty()) ++reply->busy;
        return tx.model.origin->describe(tx, *reply);
      },
      std::move(done));
}

void Relays::set_quota(const std::string& name, const protocol::RelayQuota& quota,
                       Done<protocol::RelayInfo> done) {
  kernel_.decide<protocol::RelayInfo>(
      [name, children = quota.children](Transaction& tx, Result<protocol::RelayInfo>& info) -> Status {
        const auto code = tx.model.codes.find(name);
        if (code == tx.model.codes.end() || code->second.children == 0) {
          info = Error{ErrorKind::not_found, "there is no relay called " + name +
                                                 ": `gleaner-admin relay list` shows what there is"};
          return {};
        }
        code->second.children = children;
        TRY(tx.store.put_code(code->second));
        const RelayIndex& index = tx.model.index.relays();
        const Host* relay = nullptr;
        for (const HostId id : index.relays()) {
          Host& host = tx.model.hosts.at(id);
          if (host.row.code != name) continue;
          host.row.children = children;
          TRY(tx.store.update_host(host.row));
          relay = &host;
        }
        tx.effects.info(fmt::format("{} hosts may be under the relay {} from now on", children, name));
        info = describe(tx.model, code->second, relay, index.counts(), tx.now);
        return {};
      },
      std::move(done));
}

void Relays::list(Done<std::vector<protocol::RelayInfo>> done) {
  kernel_.decide<std::vector<protocol::RelayInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::RelayInfo>>& list) -> Status {
        const RelayIndex& index = tx.model.index.relays();
        std::map<std::string, const Host*> by_code;
        for (const HostId id : index.relays()) {
          const Host& host = tx.model.hosts.at(id);
          by_code[host.row.code] = &host;
        }
        const auto counts = index.counts();
        std::vector<protocol::RelayInfo> all;
        for (const auto& [name, code] : tx.model.codes)
          if (code.children > 0)
            all.push_back(describe(tx.model, code, by_code.contains(name) ? by_code.at(name) : nullptr,
                                   counts, tx.now));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Relays::allow(const protocol::AddRelay& request, Done<protocol::MadeCode> done) {
  codes_.add_relay(request, std::move(done));
}

Result<protocol::SignedStatement> Relays::own_certificate() const {
  if (kernel_.parent() != nullptr) return kernel_.parent()->certificate();
  return Error{ErrorKind::not_found, "this is the project's server, and no relay"};
}

void Relays::certificate(HostId asker, HostId relay, Done<protocol::SignedStatement> done) {
  if (kernel_.parent() != nullptr) return subtree_.certificate(asker, relay, std::move(done));
  kernel_.decide<protocol::SignedStatement>(
      [asker, relay, project = secrets_.project, revocations = revocations_.present()](
          Transaction& tx, Result<protocol::SignedStatement>& certificate) -> Status {
        const auto found = relay_of(tx.model, asker, relay);
        if (!found.ok()) {
          certificate = found.error();
          return {};
        }
        const auto& row = (*found)->row;
        const Status good = check_relay_keys(revocations, row.public_key, row.tls_key);
        certificate = good.ok() ? Result(unsigned_certificate(row, project, tx.now)) : good.error();
        return {};
      },
      Done<protocol::SignedStatement>(
          [this, done = std::move(done)](Result<protocol::SignedStatement> statement) {
            if (statement.ok()) sign(*statement, secrets_.work_key);
            done(std::move(statement));
          }));
}

void Relays::join(HostId asker, protocol::EnrolRequest request, const std::string& network,
                  Done<protocol::RelayHostReply> done) {
  if (kernel_.parent() != nullptr) return subtree_.join(asker, std::move(request), network, std::move(done));
  if (const Status checked = check_request(request); !checked.ok()) return done(checked.error());
  if (request.relay)  // it shows a secret
    if (const Status room = enrolment_.may_try(network); !room.ok()) return done(room.error());
  if (const Status good = check_relay_keys(revocations_.present(), request); !good.ok())
    return done(good.error());
  kernel_.on_pool([this, asker, request = std::move(request), done = std::move(done)]() mutable {
    auto proof = enrolment_.check_proof(request);
    if (!proof.ok()) return done(proof.error());
    if (!proof->said.relay)
      return done(
          Error{ErrorKind::untrusted, "the host signed that it joins directly, and through no relay"});
    kernel_.decide<protocol::RelayHostReply>(
        [asker, request = std::move(request), proof = std::move(*proof)](
            Transaction& tx, Result<protocol::RelayHostReply>& reply) {
          return take_under(tx, asker, request, proof, reply);
        },
        Done<protocol::RelayHostReply>([this, done](Result<protocol::RelayHostReply> reply) {
          if (reply.ok() && reply->certificate) sign(*reply->certificate, secrets_.work_key);
          done(std::move(reply));
        }));
  });
}

void Relays::leave(HostId asker, HostId id, StatusDone done) {
  kernel_.decide<bool>(
      [asker, id](Transaction& tx, Result<bool>& left) -> Status {
        left = true;
        TRY_ASSIGN(const bool put_out, settle_put_out(tx, asker, id));
        const auto found = tx.model.hosts.find(id);
        const bool under = found != tx.model.hosts.end() && is_under(tx.model, id, asker);
        if (!put_out && !under) return {};
        if (under) {
          found->second.row.state_reason = "left by itself, as its relay says";
          TRY(end_host(tx, found->second, protocol::HostState::left, "the host left the project"));
        }
        return note_departure(tx, id);
      },
      [this, id, done = std::move(done)](Result<bool> left) {
        if (left.ok()) subtree_.departed(id);
        done(left.ok() ? Status{} : Status{left.error()});
      });
}

}  // namespace gleaner::service
