// Who may join: what a code still allows. Writer thread only.
#pragma once

#include <optional>
#include <string>

#include "server/service/core/model.h"
#include "shared/base/result.h"

namespace gleaner::service {

enum class Joining { host, relay };

// The code that a joining host or relay may use: it shows this secret, this key, and is `known` (null: new).
// All codes are compared, by digests, whichever it is: the time says nothing of the secrets. forbidden,
// banned: why not, as its owner is told.
[[nodiscard]] Result<const storage::CodeRow*> admit(const Model& model, const Bytes& secret, Joining kind,
                                                    const Bytes& host_key, const Host* known, Timestamp now);
// The host with this key on this machine; null: none. The same key on another machine is another host: a
// copied disk of a client of before, which joined anew by itself.
[[nodiscard]] const Host* known_host(const Model& model, const Bytes& host_key, const std::string& machine);
// banned, forbidden: nobody with this key may join, as its owner is told.
[[nodiscard]] Status check_key(const Model& model, const Bytes& host_key, Timestamp now);
// How many hosts joined with it, those that are gone included.
[[nodiscard]] std::int64_t hosts_of(const Model& model, const storage::CodeRow& code);
// Absent: hosts may join with it. "full", "expired" or "withdrawn".
[[nodiscard]] std::optional<std::string> closed(const Model& model, const storage::CodeRow& code,
                                                Timestamp now);

}  // namespace gleaner::service
