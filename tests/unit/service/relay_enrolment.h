// How relays, and hosts under them, join a project.
#pragma once

#include <string>

#include "server/service/access/relays.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/join_code.h"
#include "tests/unit/service/world.h"

namespace gleaner::service::testing {

// A computer with a key of its own.
struct Computer {
  std::string name;
  crypto::PrivateKey key = key_of("computer " + name);

  [[nodiscard]] protocol::EnrolRequest request(const World& world) const {
    auto request = world.enrol_request(name);
    request.host_key = key.public_key();
    request.machine = crypto::sha256_hex(name);
    return request;
  }
};

inline protocol::ProjectDocument document(World& world) {
  return must(protocol::decode<protocol::ProjectDocument>(world.service().enrolment().project().payload));
}

inline protocol::Enrolment enrolment(World& world, const Computer& computer, HostId relay) {
  return enrolment_of(computer.request(world), document(world).project, world.nonce(), relay);
}

// As its relay passes it on.
inline protocol::EnrolRequest passed_on(World& world, const Computer& computer, HostId relay) {
  auto request = computer.request(world);
  request.secret.clear();
  return world.proven(std::move(request), relay);
}

inline Result<protocol::MadeCode> allow(World& world, const protocol::AddRelay& relay) {
  world.service().overview().set_listening_port(8443);
  return World::wait<protocol::MadeCode>(
      [&](auto done) { world.service().relays().allow(relay, std::move(done)); });
}

inline Bytes secret_for_relay(World& world, const std::string& name, std::int64_t children) {
  return must(protocol::parse_join_code(
                  must(allow(world, {.name = name, .children = children, .own = true})).join_code))
      .enrolment_secret;
}

inline protocol::EnrolRequest relay_request(World& world, const Computer& computer, const Bytes& secret) {
  auto request = computer.request(world);
  request.secret = secret;
  request.relay = protocol::RelayRequest{crypto::sha256_hex("tls of " + computer.name)};
  return request;
}

inline protocol::EnrolReply join_as_relay(World& world, const Computer& computer, std::int64_t children) {
  return must(world.enrol(relay_request(world, computer, secret_for_relay(world, computer.name, children))));
}

inline Result<protocol::RelayHostReply> join(World& world, HostId relay,
                                             const protocol::EnrolRequest& request) {
  return World::wait<protocol::RelayHostReply>(
      [&](auto done) { world.service().relays().join(relay, request, "192.0.2.1", std::move(done)); });
}

}  // namespace gleaner::service::testing
