// What came of an exchange with a server (server_session.h), as plain values.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/messages.h"
#include "shared/transport/relay.h"

namespace gleaner::engine {

// The project's document has been checked and is trusted, as is the relay's certificate, if the server is a
// relay; all else is as received.
struct ProjectRenewed {
  protocol::SignedStatement document;
  std::optional<transport::Relay> relay = {};
};
struct FailureAnswered {
  protocol::FailureReport report;
  Status outcome;
};
struct WorkAnswered {
  std::vector<UnitId> commits;  // that went with the request
  Result<protocol::WorkReply> reply;
};
struct HeartbeatAnswered {
  protocol::HeartbeatReply reply;
};
struct HostRevoked {
  std::string reason;
};
struct HostUnknown {  // the project's server does not know it, or no longer
  std::string reason;
};
struct HostCopied {};  // another computer uses its identity, and this one is the copy
struct Moved {};       // this host is served by another place of its project: a new start finds it there
using SessionEvent = std::variant<ProjectRenewed, FailureAnswered, WorkAnswered, HeartbeatAnswered,
                                  HostRevoked, HostUnknown, HostCopied, Moved>;

}  // namespace gleaner::engine
