// Joining, as hosts and relays do it: who answers at the address of a join code, the project's server or a
// relay of it, and whether the project vouches for it. Nothing secret is said before that is known. Blocks;
// on any thread.
#pragma once

#include <optional>

#include "shared/crypto/keys.h"
#include "shared/protocol/join_code.h"
#include "shared/transport/relay.h"

namespace gleaner::transport {

// The ways to the server. Where both are there, the server may be a relay: `inquiring` (relay.h) then asks
// who answers, `pinned`, which `http` obeys, has the relay's key before anything secret is said.
struct Ways {
  io::HttpClient& http;
  io::HttpClient* inquiring = nullptr;
  io::PinnedTlsKey* pinned = nullptr;
};

// Who may vouch for the server of a join code.
[[nodiscard]] io::Vouchers vouchers_of(const protocol::JoinCode& code);

// Who answers at the code's address.
struct Found {
  protocol::SignedStatement document;
  crypto::ProjectTrust trust;
  std::optional<Relay> relay;  // that it is
};

// `seen`: what is known to be revoked. Errors: as in server_call.h; untrusted: it is not of this project.
[[nodiscard]] Result<Found> find_server(const Ways& ways, const protocol::JoinCode& code,
                                        const crypto::Revocations& seen, Timestamp now);

inline constexpr const char* nonce_path = "/v1/enrol/nonce";
// That who joins at whoever was found has the key of the request, over a nonce of the project's.
[[nodiscard]] protocol::SignedStatement proof_of(const protocol::EnrolRequest& request, const Found& found,
                                                 const crypto::PrivateKey& key, const Bytes& nonce);
// Asks for a nonce, and joins with the proof. `code`: of the address. Errors: as in server_call.h; conflict:
// the server does not take the proof, or is older than this program.
[[nodiscard]] Result<protocol::EnrolReply> enrol(const Ways& ways, const protocol::JoinCode& code,
                                                 const Found& found, protocol::EnrolRequest request,
                                                 const crypto::PrivateKey& key);

// HOST:PORT, for messages.
[[nodiscard]] std::string place_of(const protocol::JoinCode& code);
// The same error for people: why joining failed, and what to do.
[[nodiscard]] Error why_not_joined(const Error& error, const protocol::JoinCode& code);

}  // namespace gleaner::transport
