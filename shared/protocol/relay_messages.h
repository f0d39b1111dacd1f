// Relays: how they and the hosts under them are admitted. A relay is a host of its parent; what hosts under
// it may believe of it is what the project says (server/policy/relay/RELAYS.md, shared/crypto/KEYS.md).
// Statements are as in messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/range_set.h"
#include "shared/protocol/messages.h"

namespace gleaner::protocol {

// ---- Admission --------------------------------------------------------------------------------------------

// The project's word that a relay is one: by the work key, for 30 days; the relay asks for the next by
// GET /v1/relay/certificate when half of them are over.
struct RelayCertificate {
  std::string project;
  HostId relay;
  std::string name;
  std::string key;
  std::string tls_key;
  std::int64_t children = 0;
  Timestamp not_before;
  Timestamp not_after;
};

// Answer to GET /v1/enrol/nonce, at the project's server or at a relay, which asks for the project's: opaque
// bytes that a proof is good with for some minutes.
struct EnrolmentNonce {
  Bytes nonce;
};

// A host or relay that joins proves its host key: it signs this with it. So nobody else joins as it, and no
// relay makes it up or moves it.
struct Enrolment {
  std::string project;
  std::optional<HostId> relay = {};
  std::string host_key;  // 32 raw bytes
  std::string machine;
  std::optional<std::string> tls_key = {};
  Bytes nonce;
};

// Answer to POST /v1/relay/hosts, whose request is the EnrolRequest with the proof, as the host sent it, but
// without the relay's own secret.
struct RelayHostReply {
  HostId host;
  std::optional<SignedStatement> certificate = {};
  std::optional<bool> own = {};
};

// POST /v1/relay/hosts/leave: a host under the relay has left.
struct RelayHostLeft {
  HostId host;
};

// POST /v1/admin/relays: a code that admits one relay, once. The answer is a MadeCode.
struct AddRelay {
  std::string name;
  std::int64_t children = 1;
  std::int64_t lifetime_seconds = 0;
  std::optional<bool> own = {};
};

// POST /v1/admin/relays/NAME/quota, before it joined and after. The answer is a RelayInfo.
struct RelayQuota {
  std::int64_t children = 1;
};

// GET /v1/admin/relays.
struct RelayInfo {
  std::string name;
  std::string state;
  std::int64_t children = 0;
  std::int64_t hosts = 0;
  std::optional<HostId> host = {};
  std::optional<HostId> relay = {};
  Timestamp last_contact;
  std::optional<std::string> trouble = {};
};

// GET /v1/admin/relays/NAME/limit.
struct RelayLimit {
  std::string relay;
  std::string limit;
  std::string sentence;
  std::optional<double> items_per_second = {};
  std::optional<double> computing_items_per_second = {};
  std::optional<double> work_seconds = {};
  std::vector<std::string> left_out = {};
  std::vector<std::string> never_measured = {};
};

// GET /v1/admin/relay, of a relay: what it says of itself.
struct RelayStatus {
  HostId host;
  std::string name;
  std::string parent;
  Timestamp heard_at;
  std::int64_t hosts = 0;
  std::int64_t units = 0;
  std::int64_t busy = 0;
  std::string trouble;
  std::int64_t leases = 0;
  std::int64_t leased_items = 0;
  std::int64_t results = 0;
  std::int64_t result_bytes = 0;
  Timestamp results_since;
  bool full = false;
};

// ---- Working through relays -------------------------------------------------------------------------------

// A part of a lease, signed by the relay that has the lease. Problem, stage, application, parameters and
// inputs are those of the project's Grant at the head of its chain.
struct RelayGrant {
  std::string parent;
  UnitId unit;
  HostId host;
  Range range;
  double cost = 0;
  std::optional<BegunItem> begun;
  std::int64_t commit_seconds = 60;
  Timestamp issued_at;
  Timestamp deadline;
  std::string reason;
};

// "I computed this": by the key of the host that did, whatever relays the result passes.
struct Delivery {
  std::string project;
  HostId host;
  UnitId unit;
  ProblemId problem;
  int stage = 0;
  Range range;
  std::string digest;
  std::int64_t bytes = 0;
};

// A host says, signed, that its kernel failed: passed up unchanged, so that it counts against that host and
// the item, and no relay can say it for a host.
struct Failure {
  std::string project;
  HostId host;
  UnitId unit;
  ProblemId problem;
  int stage = 0;
  FailureKind kind = FailureKind::kernel_error;
  std::int64_t item = 0;
  std::string message;
  Timestamp at;
};

// GET /v1/relay/stages/PROBLEM/STAGE: what a relay must know of a stage to decide for its own hosts. It is
// not signed: what hosts compute is in the project's Grant.
struct StageDescription {
  ProblemId problem;
  int stage = 0;
  std::string name;
  std::string manifest;
  std::int64_t items = 0;
  bool costs = false;
  double weight = 1;
  int priority = 0;
};

}  // namespace gleaner::protocol
