// Joining and leaving a project, in one blocking exchange each. Joining is idempotent: the host's key is made
// before the first request and used in every repetition.
#pragma once

#include "client/host/machine.h"
#include "client/state/identity.h"
#include "shared/transport/find_server.h"

namespace gleaner::joining {

struct JoinFacts {
  std::string name;  // empty: the host keeps its name; a new one takes this computer's
  int cores = 0;     // 0: all
  std::string client_version;
  std::optional<protocol::Benchmark> benchmark;
};

using transport::Ways;

// Verifies the server against the code, enrols, stores the identity. Errors say what to do: unavailable
// (cannot be reached), untrusted (another server), forbidden (the code is withdrawn), conflict (two projects
// whose keys begin alike). Who has joined already only takes note of the address, unless a relay is now in
// the server's place, another one, or none any more: then it enrols there, as the same host.
[[nodiscard]] Result<state::Identity> join(const Ways& ways, io::Files& files, const host::Machine& machine,
                                           const state::ProjectDirectory& project,
                                           const protocol::JoinCode& code, const JoinFacts& facts,
                                           Timestamp now);

// Says good-bye (an unreachable server does not keep anybody) and forgets the membership.
[[nodiscard]] Status leave(io::HttpClient& http, io::Files& files, const state::ProjectDirectory& project);

// What is known before anything is asked: the identity, or at least the join code of a joining that a kill
// ended (finish_joining() goes on with it). not_found: not joined.
[[nodiscard]] Result<state::Identity> load_or_pending(const io::Files& files,
                                                      const state::ProjectDirectory& project);
// Who this host is belongs to its state directory: another name or machine id changes nothing about it.
// Returns the identity to use.
[[nodiscard]] Result<state::Identity> finish_joining(const Ways& ways, io::Files& files,
                                                     const host::Machine& machine,
                                                     const state::ProjectDirectory& project,
                                                     const JoinFacts& facts, Timestamp now);

// The server does not know this host (it was restored from a backup, say): joins again with the code that it
// has, units and results stay. As the same host, by its key; if that did not last for a day, another computer
// joins with the same key, and this one is a host of its own from then on.
[[nodiscard]] Result<state::Identity> join_again(const Ways& ways, io::Files& files,
                                                 const host::Machine& machine,
                                                 const state::ProjectDirectory& project,
                                                 const JoinFacts& facts, Timestamp now);
// This computer is a copy: joins as a host of its own, under a key of its own. REQUIRES: it was marked as one
// (state::mark_copy), and nothing is left to be delivered under the old number.
[[nodiscard]] Result<state::Identity> part(const Ways& ways, io::Files& files, const host::Machine& machine,
                                           const state::ProjectDirectory& project, const JoinFacts& facts,
                                           Timestamp now);

}  // namespace gleaner::joining
