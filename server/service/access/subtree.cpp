#include "server/service/access/subtree.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sstream>
#include <utility>

#include "server/service/access/admission.h"
#include "server/service/access/enrolment_proof.h"
#include "server/service/core/copies.h"
#include "server/service/core/departures.h"
#include "server/service/core/end_host.h"
#include "server/service/core/joined.h"
#include "server/service/core/relay_rights.h"
#include "server/service/core/tokens.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// untrusted: the host joined with this proof before. That one is older than another, the project knows, which
// takes the same from a relay again.
Status check_unused(const Transaction& tx, const protocol::EnrolRequest& request, Timestamp asked_at) {
  const Host* const known = known_host(tx.model, request.host_key, request.machine);
  if (known == nullptr || known->row.proved_at != asked_at) return {};
  return Error{ErrorKind::untrusted, "the proof of the joining host's key was used already: join again"};
}

// Why it may not join with this relay's own code. A relay shows the project's, which the project looks at.
Status check_admission(const Transaction& tx, const protocol::EnrolRequest& request) {
  if (request.relay) return {};
  const Host* const known = known_host(tx.model, request.host_key, request.machine);
  const auto code = admit(tx.model, request.secret, Joining::host, request.host_key, known, tx.now);
  return code.ok() ? Status{} : Status{code.error()};
}

// Whom the project has admitted.
struct Admitted {
  const protocol::EnrolRequest& request;
  const protocol::RelayHostReply& reply;
  HostId relay;        // under which it is here; 0: it joined here
  Timestamp asked_at;  // of its proof
  const std::string& network;
  Bytes token_digest;
};

// The same computer under another number, and another computer under this one, are of a project that was
// restored from a backup.
Status make_room(Transaction& tx, const Admitted& host) {
  const Host* const same = known_host(tx.model, host.request.host_key, host.request.machine);
  if (same != nullptr && same->row.id != host.reply.host && same->row.state == protocol::HostState::active) {
    Host& other = tx.model.hosts.at(same->row.id);
    other.row.state_reason = fmt::format("the project knows it as host {} now", host.reply.host.value);
    TRY(end_host(tx, other, protocol::HostState::left, "the host has another number now"));
    tx.effects.add(effect::DropToken{other.row.token_digest});  // it may not have had the reply yet
  }
  const auto found = tx.model.hosts.find(host.reply.host);
  if (found == tx.model.hosts.end() || found->second.row.state != protocol::HostState::active) return {};
  const Host& known = found->second;
  if (host.relay == HostId{} && known.row.public_key == host.request.host_key) {
    tx.effects.add(effect::DropToken{known.row.token_digest});
    return {};
  }
  if (known.row.relay != HostId{} && host.relay != HostId{}) return {};
  return let_go(tx, known, "the host is under another relay now");
}

Status store_admitted(Transaction& tx, const Admitted& host) {
  TRY(make_room(tx, host));
  const auto found = tx.model.hosts.find(host.reply.host);
  const Host* const known = found == tx.model.hosts.end() ? nullptr : &found->second;
  storage::HostRow row = known != nullptr ? known->row : storage::HostRow{};
  row.id = host.reply.host;
  fill(row, host.request, tx.now);
  row.code = default_code;
  row.own = host.reply.own.value_or(false);
  if (host.reply.certificate) {
    TRY_ASSIGN(const auto certificate,
               protocol::decode<protocol::RelayCertificate>(host.reply.certificate->payload));
    row.name = certificate.name;
    row.children = certificate.children;
    row.tls_key = certificate.tls_key;
  }
  row.relay = host.relay;
  row.network = host.network;
  row.proved_at = host.asked_at;
  row.token_digest = host.token_digest;
  TRY(store_joined(tx, row, known, host.request.copy_of));
  TRY(forget_departure(tx, row.id));
  if (host.request.copy_of) note_parted(tx, row, *host.request.copy_of);
  tx.effects.info(fmt::format(
      "{} {} ({}) {}{}", row.children > 0 ? "relay" : "host", row.id.value, row.name,
      known != nullptr ? "joined again" : "joined",
      host.relay == HostId{} ? std::string() : fmt::format(" through relay {}", host.relay.value)));
  return {};
}

}  // namespace

Subtree::Subtree(Kernel& kernel, const ProjectSecrets& secrets)
    : kernel_(kernel),
      secrets_(secrets),
      thread_(kernel.parent() != nullptr ? std::make_unique<ThreadPool>(1) : nullptr) {}

void Subtree::stop() {
  stopping_ = true;
  if (thread_) thread_->stop();
}

Status Subtree::restore(storage::Store& store) {
  TRY_ASSIGN(departed_, stored_departures(store));
  return {};
}

void Subtree::on_thread(std::function<void()> job) {
  auto shared = std::make_shared<std::function<void()>>(std::move(job));
  if (!thread_->submit([shared] { (*shared)(); })) (*shared)();  // which is then told that it is too late
}

void Subtree::ask(protocol::EnrolRequest request, Store store, std::function<void(const Error&)> refuse) {
  on_thread(
      [this, request = std::move(request), store = std::move(store), refuse = std::move(refuse)]() mutable {
        if (stopping_) return refuse({ErrorKind::unavailable, "this relay is stopping"});
        if (!request.relay) request.secret.clear();  // which is this relay's own
        auto reply = kernel_.parent()->join(request);
        if (!reply.ok()) return refuse(reply.error());
        departed_.erase(reply->host);
        store(request, std::move(*reply));
      });
}

void Subtree::nonce(Done<protocol::EnrolmentNonce> done) {
  on_thread([this, done = std::move(done)] {
    if (stopping_) return done(Error{ErrorKind::unavailable, "this relay is stopping"});
    done(kernel_.parent()->nonce());
  });
}

void Subtree::enrol(protocol::EnrolRequest request, const std::string& network,
                    Done<protocol::EnrolReply> done) {
  kernel_.on_pool([this, request = std::move(request), network, done = std::move(done)]() mutable {
    const auto proof = read_proof(request, secrets_.project);
    if (!proof.ok()) return done(proof.error());
    if (proof->said.relay != kernel_.settings().relay)
      return done(Error{ErrorKind::untrusted, "the host signed that it does not join through this relay"});
    const Timestamp asked_at = proof->asked_at;
    auto store = [this, network, asked_at, done](const protocol::EnrolRequest& asked,
                                                 protocol::RelayHostReply given) {
      kernel_.decide<protocol::EnrolReply>(
          [asked, given = std::move(given), network, asked_at](
              Transaction& tx, Result<protocol::EnrolReply>& reply) -> Status {
            if (const Status unused = check_unused(tx, asked, asked_at); !unused.ok()) {
              reply = unused.error();
              return {};
            }
            const std::string token = to_base64url(crypto::random_secret(32));
            const Bytes digest = crypto::sha256(token);
            TRY(store_admitted(tx, {asked, given, HostId{}, asked_at, network, digest}));
            tx.effects.add(
                effect::AdmitToken{digest, given.host, is_proven(tx.model.hosts.at(given.host).row)});
            reply = protocol::EnrolReply{given.host, token, given.certificate};
            return {};
          },
          done);
    };
    kernel_.decide<bool>(
        [request, asked_at](Transaction& tx, Result<bool>& admitted) -> Status {
          Status may = check_unused(tx, request, asked_at);
          if (may.ok()) may = check_admission(tx, request);
          admitted = may.ok() ? Result(true) : may.error();
          return {};
        },
        Done<bool>([this, request, done, store](const Result<bool>& admitted) {
          if (!admitted.ok()) return done(admitted.error());
          ask(request, store, [done](const Error& error) { done(error); });
        }));
  });
}

void Subtree::join(HostId asker, protocol::EnrolRequest request, const std::string& network,
                   Done<protocol::RelayHostReply> done) {
  kernel_.on_pool([this, asker, request = std::move(request), network, done = std::move(done)]() mutable {
    const auto proof = read_proof(request, secrets_.project);
    if (!proof.ok()) return done(proof.error());
    const HostId relay = proof->said.relay.value_or(HostId{});
    const Timestamp asked_at = proof->asked_at;
    auto store = [this, relay, asked_at, network, done](const protocol::EnrolRequest& asked,
                                                        protocol::RelayHostReply given) {
      kernel_.decide<protocol::RelayHostReply>(
          [asked, given = std::move(given), relay, asked_at, network](
              Transaction& tx, Result<protocol::RelayHostReply>& reply) -> Status {
            TRY(store_admitted(tx, {asked, given, relay, asked_at, network, crypto::random_secret(32)}));
            reply = given;
            return {};
          },
          done);
    };
    kernel_.decide<bool>(
        [asker, relay](Transaction& tx, Result<bool>& may) -> Status {
          const auto found = relay_of(tx.model, asker, relay);
          may = found.ok() ? Result(true) : found.error();
          return {};
        },
        Done<bool>([this, request, done, store](const Result<bool>& may) {
          if (!may.ok()) return done(may.error());
          ask(request, store, [done](const Error& error) { done(error); });
        }));
  });
}

void Subtree::certificate(HostId asker, HostId relay, Done<protocol::SignedStatement> done) {
  kernel_.decide<bool>(
      [asker, relay](Transaction& tx, Result<bool>& may) -> Status {
        const auto found = relay_of(tx.model, asker, relay);
        may = found.ok() ? Result(true) : found.error();
        return {};
      },
      Done<bool>([this, relay, done = std::move(done)](const Result<bool>& may) {
        if (!may.ok()) return done(may.error());
        on_thread([this, relay, done] {
          if (stopping_) return done(Error{ErrorKind::unavailable, "this relay is stopping"});
          done(kernel_.parent()->certificate_of(relay));
        });
      }));
}

void Subtree::departed(HostId host) {
  if (!thread_) return;
  on_thread([this, host] {
    if (!stopping_) departed_.insert(host);  // else the next start reads it
  });
  tell();
}

void Subtree::tell() {
  if (!thread_ || telling_.exchange(true)) return;
  on_thread([this] {
    telling_ = false;
    if (!stopping_) tell_all();
  });
}

void Subtree::tell_all() {
  while (!departed_.empty()) {
    const HostId host = *departed_.begin();
    if (const Status told = kernel_.parent()->left(host); !told.ok()) {
      spdlog::warn("the parent cannot be notified yet that host {} left: {}", host.value,
                   told.error().message);
      return;
    }
    departed_.erase(host);
    kernel_.writer().submit_surely([host](Transaction& tx) { return forget_departure(tx, host); });
  }
}

}  // namespace gleaner::service
