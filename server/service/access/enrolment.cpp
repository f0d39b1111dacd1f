#include "server/service/access/enrolment.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/service/access/admission.h"
#include "server/service/access/relay_certificates.h"
#include "server/service/core/copies.h"
#include "server/service/core/departures.h"
#include "server/service/core/end_host.h"
#include "server/service/core/joined.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// The same key on the same machine is the same host (its state was lost, or the reply was), also if it was
// under a relay. The reply's certificate is not signed yet.
Status take_host(Transaction& tx, const protocol::EnrolRequest& request, const EnrolmentProof& proof,
                 const std::string& network, Result<protocol::EnrolReply>& reply) {
  const Host* const known = known_host(tx.model, request.host_key, request.machine);
  if (known != nullptr)
    if (const Status newer = check_newer(proof, known->row, tx.now); !newer.ok()) {
      reply = newer.error();
      return {};
    }
  const auto admitted = admit(tx.model, request.secret, request.relay ? Joining::relay : Joining::host,
                              request.host_key, known, tx.now);
  if (!admitted.ok()) {
    reply = admitted.error();
    return {};
  }
  const std::string token = to_base64url(crypto::random_secret(32));
  const bool again = known != nullptr;
  storage::HostRow row = again ? known->row : storage::HostRow{};
  if (again) tx.effects.add(effect::DropToken{row.token_digest});
  fill(row, request, tx.now);
  join_with(row, **admitted, request, known);
  row.token_digest = crypto::sha256(token);
  row.network = network;
  row.relay = HostId{};
  row.proved_at = proof.asked_at;  // what it said to relays before this counts no more
  TRY(store_joined(tx, row, known, request.copy_of));
  if (request.copy_of) note_parted(tx, row, *request.copy_of);
  tx.effects.add(effect::AdmitToken{row.token_digest, row.id, is_proven(row)});
  tx.effects.info(fmt::format("{} {} ({}) {} with the code {}: {} cores, {}",
                              row.children > 0 ? "relay" : "host", row.id.value, row.name,
                              again ? "joined again" : "joined", row.code, row.cores, row.platform));
  reply = protocol::EnrolReply{row.id, token, {}};
  if (row.children > 0) reply->certificate = unsigned_certificate(row, proof.said.project, tx.now);
  return {};
}

}  // namespace

Result<HostId> Enrolment::authenticate_host(const std::string& token) const {
  TRY_ASSIGN(const Load::Visitor host, visitor(token, {}));
  return *host.host;
}

Result<Load::Visitor> Enrolment::visitor(std::string_view token, const std::string& network) const {
  using Caller = Load::Caller;
  const Bytes digest = crypto::sha256(token);
  if (const auto known = tokens_.find(digest))
    return Load::Visitor{known->proven ? Caller::proven : Caller::stranger, network, known->host};
  TRY(bans_.check_token(digest, kernel_.clock().now()));
  return tokens_.why_not(digest);
}

protocol::SignedStatement Enrolment::project() {
  if (kernel_.parent() != nullptr) return kernel_.parent()->project();
  const crypto::Revocations revocations = revocations_.present();
  const std::lock_guard lock(mutex_);
  if (!project_ || revocations.number() > project_revocations_) {
    const Configuration& configuration = kernel_.settings().configuration;
    protocol::ProjectDocument document;
    document.project = secrets_.project;
    document.name = configuration.name;
    document.root_key = secrets_.root_key;
    document.work_certificate = secrets_.work_certificate;
    document.heartbeat_seconds = configuration.heartbeat_seconds;
    document.commit_seconds = configuration.commit_seconds;
    document.issued_at = kernel_.clock().now();
    if (revocations.number() > 0) document.revocations = revocations.statement();
    project_revocations_ = revocations.number();
    std::vector<protocol::SignedStatement> former;
    for (const auto& statement : secrets_.former_work_certificates)
      if (const auto certificate = protocol::decode<protocol::KeyCertificate>(statement.payload);
          certificate.ok() && revocations.check_key(certificate->key, "work key").ok())
        former.push_back(statement);
    if (!former.empty()) document.former_work_certificates = std::move(former);
    project_ = crypto::sign_statement(protocol::StatementType::project, protocol::encode(document),
                                      secrets_.work_key);
  }
  return *project_;
}

void Enrolment::enrol(protocol::EnrolRequest request, const std::string& network,
                      Done<protocol::EnrolReply> done) {
  // Whatever it shows counts: secrets are not to be tried out.
  if (const Status room = may_try(network); !room.ok()) return done(room.error());
  if (const Status checked = check_request(request); !checked.ok()) return done(checked.error());
  if (const Status good = check_relay_keys(revocations_.present(), request); !good.ok())
    return done(good.error());
  if (kernel_.parent() != nullptr) return subtree_.enrol(std::move(request), network, std::move(done));
  kernel_.on_pool([this, request = std::move(request), network, done = std::move(done)]() mutable {
    auto proof = check_proof(request);
    if (!proof.ok()) return done(proof.error());
    if (proof->said.relay)
      return done(Error{ErrorKind::untrusted, "the host signed that it joins through a relay, and not here"});
    kernel_.decide<protocol::EnrolReply>(
        [request = std::move(request), proof = std::move(*proof), network](
            Transaction& tx, Result<protocol::EnrolReply>& reply) {
          return take_host(tx, request, proof, network, reply);
        },
        Done<protocol::EnrolReply>([this, done = std::move(done)](Result<protocol::EnrolReply> reply) {
          if (reply.ok() && reply->certificate) sign(*reply->certificate, secrets_.work_key);
          done(std::move(reply));
        }));
  });
}

void Enrolment::nonce(const std::string& network, Done<protocol::EnrolmentNonce> done) {
  if (kernel_.parent() == nullptr)
    return done(protocol::EnrolmentNonce{make_nonce(secrets_.work_key, kernel_.clock().now())});
  // The parent is asked each time, for strangers, too.
  if (const Status room = nonces_.admit(network, kernel_.clock().steady()); !room.ok())
    return done(room.error());
  subtree_.nonce(std::move(done));
}

Result<EnrolmentProof> Enrolment::check_proof(const protocol::EnrolRequest& request) const {
  TRY_ASSIGN(auto proof, read_proof(request, secrets_.project));
  TRY(check_nonce(proof.said.nonce, secrets_.work_key.public_key(), kernel_.clock().now()));
  return proof;
}

Status Enrolment::may_try(const std::string& network) {
  return joins_.admit(network, kernel_.clock().steady());
}

void Enrolment::leave(HostId id, StatusDone done) {
  kernel_.decide<bool>(
      [id](Transaction& tx, Result<bool>& left) -> Status {
        left = true;
        const auto found = tx.model.hosts.find(id);
        if (found == tx.model.hosts.end()) return {};
        found->second.row.state_reason = "left by itself";
        TRY(end_host(tx, found->second, protocol::HostState::left, "the host left the project"));
        return note_departure(tx, id);
      },
      [this, id, done = std::move(done)](Result<bool> left) {
        if (left.ok()) subtree_.departed(id);
        done(left.ok() ? Status{} : Status{left.error()});
      });
}

}  // namespace gleaner::service
