// Who this host is to its project, on disk in identity/ (state_directory.h). Secrets are files of mode 0600.
// host.json is written last: with it, the host has joined. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/state/state_directory.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/revocations.h"
#include "shared/io/http_client.h"
#include "shared/protocol/join_code.h"
#include "shared/protocol/messages.h"

namespace gleaner::state {

struct Identity {
  protocol::JoinCode code;
  protocol::EnrolReply host;
  // Digest when it joined: a part of who this host is, whatever this computer is called or made of later.
  std::string machine;
  std::string name;
  std::string computer = {};  // what that called itself when it joined; empty: an older client joined
  std::optional<protocol::SignedStatement> project;  // as last fetched; to be checked before use
  bool revoked = false;                              // the server said so; only joining again helps
  crypto::Revocations revocations;                   // the newest list ever seen of this project
  // The server is a relay: its RelayCertificate, as last fetched; to be checked before use.
  std::optional<protocol::SignedStatement> relay = {};
  std::optional<Timestamp> unheard = {};  // since when the relay has not answered
  std::string moved = {};                 // why it is not under a relay any more, in a sentence
  bool copy = false;                      // another computer uses this identity: this one is to part from it
  std::vector<HostId> former = {};        // numbers that it had before, the oldest first

  // As its document says, which is checked elsewhere; the server's address while there is none.
  [[nodiscard]] std::string project_name() const;
};

// Has another place of the project serve this host; what it is from then on is in its files. Blocks.
using Move = std::function<Status()>;

// not_found if this project has not been joined: "gleaner-client join CODE"; forbidden if others may read its
// secrets: the message says what to do.
[[nodiscard]] Result<Identity> load_identity(const io::Files& files, const ProjectDirectory& project);
[[nodiscard]] Status save_identity(io::Files& files, const ProjectDirectory& project,
                                   const Identity& identity);
[[nodiscard]] Status save_document(io::Files& files, const ProjectDirectory& project,
                                   const protocol::SignedStatement& document);
// REQUIRES: there is one.
[[nodiscard]] Status save_relay(io::Files& files, const ProjectDirectory& project,
                                const protocol::SignedStatement& certificate);
// What cannot be read is as good as none: the silence is counted anew.
[[nodiscard]] std::optional<Timestamp> load_unheard(const io::Files& files, const ProjectDirectory& project);
// None: it answers.
[[nodiscard]] Status save_unheard(io::Files& files, const ProjectDirectory& project,
                                  std::optional<Timestamp> since);
[[nodiscard]] Status save_moved(io::Files& files, const ProjectDirectory& project, const std::string& why);
// The host that the stored certificate is of; invalid: there is none, or it cannot be read.
[[nodiscard]] HostId relay_of(const Identity& identity);
// Connections take the relay's TLS key from now on, if document and certificate hold; null: there are none.
void pin_relay(const Identity& identity, Timestamp now, io::PinnedTlsKey* pinned);
// The numbers that it had before; what is damaged is as good as none.
[[nodiscard]] std::vector<HostId> load_former(const io::Files& files, const ProjectDirectory& project);
// The newest list that is on the disk; one that is damaged is as good as none (the next document brings it).
[[nodiscard]] crypto::Revocations load_revocations(const io::Files& files, const ProjectDirectory& project,
                                                   std::string_view root_fingerprint);
// REQUIRES: there is a list.
[[nodiscard]] Status save_revocations(io::Files& files, const ProjectDirectory& project,
                                      const crypto::Revocations& revocations);
// Connections obey the list from now on; null: there are none.
void refuse_tls_keys(const crypto::Revocations& revocations, io::RefusedTlsKeys* refused);
[[nodiscard]] Status mark_revoked(io::Files& files, const ProjectDirectory& project);
// The server says that two computers use this identity, and that this one is the copy. Until it has joined
// under a number of its own.
[[nodiscard]] Status mark_copy(io::Files& files, const ProjectDirectory& project);
// The key of a copy, which is to be nobody else's: made once, however often joining with it is tried.
[[nodiscard]] Result<crypto::PrivateKey> load_or_make_own_key(io::Files& files,
                                                              const ProjectDirectory& project);
// When it joined again by itself, last; absent: it never did.
[[nodiscard]] std::optional<Timestamp> load_rejoined(const io::Files& files, const ProjectDirectory& project);
[[nodiscard]] Status save_rejoined(io::Files& files, const ProjectDirectory& project, Timestamp at);
// Leaves nothing of the membership: identity, units, results that were not delivered, caches. At once, by a
// renaming: what a kill leaves of it is gone at the next start (migrate_state()).
[[nodiscard]] Status forget_membership(io::Files& files, const ProjectDirectory& project);
inline constexpr const char* left_suffix = ".left";

// The host's key; made and stored if there is none, so that an enrolment whose answer was lost is repeated
// with it.
[[nodiscard]] Result<crypto::PrivateKey> load_or_make_key(io::Files& files, const ProjectDirectory& project);
[[nodiscard]] Status keep_key(io::Files& files, const ProjectDirectory& project,
                              const crypto::PrivateKey& key);

}  // namespace gleaner::state
