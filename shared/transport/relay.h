// A relay in the place of a server: what it says of itself is signed by the project, so that anybody may be
// asked for it, by a client that trusts nobody and tells nothing (io::make_inquiring_client). Blocks; on any
// thread.
#pragma once

#include "shared/crypto/relay_chain.h"
#include "shared/transport/server_call.h"

namespace gleaner::transport {

// What was answered, as received.
struct RelayAnswers {
  Answer project;  // GET /v1/project
  Answer relay;    // GET /v1/relay
};
[[nodiscard]] RelayAnswers inquire(io::HttpClient& inquiring, const std::string& base_url);

struct Relay {
  protocol::SignedStatement statement;
  protocol::RelayCertificate certificate;
};
// Certified by the project, and shown to us with the TLS key that it is certified for. Errors: as in
// server_call.h; untrusted.
[[nodiscard]] Result<Relay> understand_relay(const Answer& answer, const crypto::ProjectTrust& trust,
                                             Timestamp now);

}  // namespace gleaner::transport
