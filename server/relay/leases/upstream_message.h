// What a relay says to its parent, all its hosts' in one, and what the answer comes to. Operations of the
// writer; the uplink (server/relay) carries it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "server/relay/leases/upstream.h"
#include "server/service/core/transaction.h"
#include "shared/bundle/manifest.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

struct UpMessage {
  // Its commits have no bytes yet: they are those of `results`, each at its place.
  protocol::WorkRequest request;
  struct Result {
    SegmentId segment;
    bool in_store = false;                          // else a blob of the commit's digest
    std::shared_ptr<const Bytes> packed = nullptr;  // its bytes, compressed; null: not at hand
  };
  std::vector<Result> results;
  bool in_vain = false;          // some results could not be brought just now
  std::vector<ProblemId> said;   // of whose stages a policy::Relay has spoken
  std::vector<ProblemId> asked;  // of these, who wants more
};

// A stage that the parent leased some of.
struct LeasedStage {
  protocol::StageDescription description;
  bundle::Manifest manifest;
  std::vector<double> costs;  // hints; empty: all 1
};

// A unit that the parent granted.
struct LeasedUnit {
  protocol::SignedStatement statement;           // a Grant, or a RelayGrant
  std::vector<protocol::SignedStatement> above;  // what stands behind a RelayGrant
  protocol::Grant grant;                         // what it says, with what is above it
};
// invalid, untrusted: what is wrong with them.
[[nodiscard]] Result<std::vector<LeasedUnit>> read_leases(const protocol::WorkReply& reply);

// Absent: there is nothing to say yet. `until`: then there is, if nothing happens meanwhile.
struct NextMessage {
  std::vector<protocol::FailureReport>
      failures;  // to be told before it, each by itself (upstream_failures.h)
  std::optional<UpMessage> message;
  Timestamp until;
};
// Whether anything can be stored here, as the uplink finds before each message. Empty: it can.
void note_unable(Upstream& upstream, const std::string& why);
[[nodiscard]] Status next_message(Transaction& tx, NextMessage& next);
// The answer. `stages`: of all units among `leases`, or of as many as could be looked up; others are dropped,
// and the parent has them back. REQUIRES: the acknowledgements are the project's.
[[nodiscard]] Status take_reply(Transaction& tx, const UpMessage& message, const protocol::WorkReply& reply,
                                const std::vector<LeasedUnit>& leases,
                                const std::vector<LeasedStage>& stages);
// It was lost, or the answer was; `again`: not before.
void take_silence(Transaction& tx, const UpMessage& message, const std::string& why, Timestamp again);

}  // namespace gleaner::service
