// JSON text <-> messages, which shared/json parses. Decoding is bounded (size, depth,
// number of values: before a message is built), reports the field that is wrong, ignores unknown fields, and
// never throws. Enumerations are their names, digests hex, keys, signatures, secrets, payloads and data
// base64url, times whole microseconds; an empty std::optional is absent, everything else must be there (but
// for AddProblem's defaults). encode() cleans and cuts reasons and messages (text.h); what else is out of
// bounds the reader refuses. decode()'s errors: too_large (bytes, depth, values), invalid, unavailable (no
// memory). Stateless and thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/access_messages.h"
#include "shared/protocol/admin_messages.h"
#include "shared/protocol/console_messages.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::protocol {

// Every request and reply body also carries "version"; decode() refuses versions this program does not speak.
// Signed payloads (KeyCertificate, ProjectDocument, ApplicationStatement, Grant, Acknowledgement and those of
// relay_messages.h) and GrantContext are encoded by the same functions.
template <typename Message>
[[nodiscard]] std::string encode(const Message& message);
template <typename Message>
[[nodiscard]] Result<Message> decode(std::string_view text);

// Instantiated for every struct of messages.h, admin_messages.h, access_messages.h, console_messages.h and
// relay_messages.h, and for std::vector of ApplicationInfo, ProblemInfo, HostInfo, CodeInfo, TokenInfo, Ban,
// DecisionInfo, OverviewSample, ProblemSample, SettingInfo and RelayInfo (as
// {"version":1,"items":[...]}).

// Is this one bounded JSON object? For parameters, which only the application understands.
[[nodiscard]] Status check_json_object(std::string_view text);

}  // namespace gleaner::protocol
