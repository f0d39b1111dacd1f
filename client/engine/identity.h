// Who this host is to its project, on disk in identity/ (state_directory.h). Secrets are files of mode 0600.
// host.json is written last: with it, the host has joined. Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "client/engine/state_directory.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/join_code.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

struct Identity {
  protocol::JoinCode code;
  protocol::EnrolReply host;
  std::string machine;  // digest when it joined
  std::string name;
  std::optional<protocol::SignedStatement> project;  // as last fetched; to be checked before use
  bool revoked = false;                              // the server said so; only joining again helps
};

// not_found if this directory has not joined: "gleaner-client join CODE".
[[nodiscard]] Result<Identity> load_identity(const io::Files& files, const StateDirectory& state);
[[nodiscard]] Status save_identity(io::Files& files, const StateDirectory& state, const Identity& identity);
[[nodiscard]] Status save_project(io::Files& files, const StateDirectory& state,
                                  const protocol::SignedStatement& project);
[[nodiscard]] Status mark_revoked(io::Files& files, const StateDirectory& state);
// Leaves nothing of the membership: identity, units, results that were not delivered, caches.
[[nodiscard]] Status forget_membership(io::Files& files, const StateDirectory& state);

// The host's key; made and stored if there is none, so that an enrolment whose answer was lost is repeated
// with it.
[[nodiscard]] Result<crypto::PrivateKey> load_or_make_key(io::Files& files, const StateDirectory& state);

}  // namespace gleaner::engine
