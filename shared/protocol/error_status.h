// How errors cross the wire: each ErrorKind's HTTP status (RFC 9110, section 15) and title (RFC 9457), and
// what the one who is answered makes of it. The only place that pairs the two. Stateless and thread-safe.
//
// Kind, status: what it says; the client; gleaner-admin.
//   invalid 400: malformed, repeating cannot help; gives the exchange up and logs; says what to change
//   unauthorized 401: no valid credentials; stops: join again; names the token file
//   forbidden 403: known, but revoked or not allowed; stops: join again; names the token file
//   banned 403: kept out, perhaps for a while; says so, asks again in an hour; says so
//   not_found 404: no such thing (410: no longer); gives it up; says so
//   conflict 409: contradicts the present state; gives it up; says so
//   too_large 413: over a limit; sends results one by one; says so
//   untrusted 422: digest or signature does not hold; sends the bytes again; refuses
//   unavailable 503: not now; tries again, backing off; tries again a few times
//   internal 500: a fault of the server; tries again, backing off; points at its log
//   io 503: the server's disk or processes fail; tries again, backing off; tries again a few times
//
// `io` is told as 503 and heard as unavailable: whoever is answered must not look for the fault on its own
// disk. `banned` is told by the document's type alone: a client from before it hears forbidden.
#pragma once

#include <optional>
#include <string_view>

#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::protocol {

// What a server answers with.
[[nodiscard]] int status_of(ErrorKind kind);
[[nodiscard]] ProblemDocument problem_document(const Error& error);

// What a status says about an error, where nothing else does: 408, 425, 429, 502, 503 and 504 may pass; an
// unknown 4xx is invalid, anything else internal (RFC 9110, 15: an unknown status counts as its class).
[[nodiscard]] ErrorKind kind_of_status(int status);

// What an answer with a problem document means: the kind that it names, where that is one that we know and
// may believe of somebody else (not io), else by its status.
[[nodiscard]] ErrorKind kind_of_problem(const ProblemDocument& document, int status);

}  // namespace gleaner::protocol
