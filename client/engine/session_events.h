// What a session with a server exchanges (server_session.h), as plain values: the kinds of exchanges, what
// there is to send, and what came of it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "shared/base/result.h"
#include "shared/protocol/messages.h"

namespace gleaner::engine {

// In order of urgency. `project`: its document is fetched; `failure`: of a unit.
enum class Exchange { none, project, failure, work, heartbeat, commit };

// What there is to say now.
struct Outgoing {
  bool project_doubted = false;  // something signed did not verify: its keys may have changed
  bool failure = false;
  bool work = false;   // slots that want a unit
  bool units = false;  // in hand, for a heartbeat to tell of
  bool commit = false;
};

// What came of an exchange. The project's document has been checked and is trusted; all else is as received.
struct ProjectRenewed {
  protocol::SignedStatement document;
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
struct CommitAnswered {
  UnitId unit;
  Result<protocol::SignedStatement> acknowledgement;
};
struct HostRevoked {  // or was never known
  std::string reason;
};
using SessionEvent = std::variant<ProjectRenewed, FailureAnswered, WorkAnswered, HeartbeatAnswered,
                                  CommitAnswered, HostRevoked>;

}  // namespace gleaner::engine
