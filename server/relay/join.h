// How a relay joins its project and leaves it, in one blocking exchange each. Joining is idempotent: keys are
// made before the first request and used in every repetition, so that a lost reply and a second try are the
// same relay.
#pragma once

#include "server/relay/directory.h"
#include "shared/transport/find_server.h"

namespace gleaner::relay {

// `code`: as `gleaner-admin relay allow` made it; its address is that of the project's server, or of the
// relay under which this one is to be. `keys`: load_or_make_keys. Errors say what to do: unavailable (cannot
// be reached), untrusted (another server), forbidden (the code admits no relay, or not this one), conflict
// (another project was joined). Who has joined already with this code is told so; with another code of the
// same project it joins anew, as the same host.
[[nodiscard]] Result<Membership> join(const transport::Ways& ways, io::Files& files,
                                      const RelayDirectory& directory, const RelayKeys& keys,
                                      const protocol::JoinCode& code, const std::string& name, Timestamp now);

// Joins again, with the same code and key, a project that does not know this relay, for example after it was
// restored from a backup. Stores nothing: the relay has to stop before replace_membership() (directory.h).
// Errors: as of join().
[[nodiscard]] Result<Membership> join_again(const transport::Ways& ways, const RelayKeys& keys,
                                            const Membership& present, const std::string& name,
                                            Timestamp now);

// Says good-bye (who cannot be reached keeps nobody) and forgets the membership. `warn` hears of that.
[[nodiscard]] Status leave(io::HttpClient& http, io::Files& files, const RelayDirectory& directory,
                           const std::function<void(const std::string&)>& warn);

// The TLS key that the parent is to show, as the membership has it; empty: the project's server.
[[nodiscard]] std::string parent_tls_key(const Membership& membership, Timestamp now);

}  // namespace gleaner::relay
