// Relays: how they and the hosts under them are admitted. A relay is a host of its parent; what hosts under
// it may believe of it is what the project says (server/policy/relay/RELAYS.md, shared/crypto/KEYS.md).
// Statements are as in messages.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "shared/base/range_set.h"
#include "shared/protocol/messages.h"

namespace gleaner::protocol {

// ---- Admission --------------------------------------------------------------------------------------------

// The project's word that a relay is one: by the work key, for 30 days; the relay asks for the next by
// GET /v1/relay/certificate when half of them are over.
struct RelayCertificate {
  std::string project;
  HostId relay;               // which host it is
  std::string name;           // as an administrator allowed it
  std::string key;            // its host key, 32 raw bytes: it signs leases of parts of its own
  std::string tls_key;        // digest of the SubjectPublicKeyInfo (DER) of its TLS key
  std::int64_t children = 0;  // how many hosts may be under it
  Timestamp not_before;
  Timestamp not_after;
};

// The word of a host that it joins through this relay, by its host key: the relay cannot make it up.
struct Enrolment {
  std::string project;
  HostId relay;          // of the RelayCertificate that the host was shown
  std::string host_key;  // 32 raw bytes
  std::string machine;   // as of EnrolRequest
  Timestamp at;          // by the host's clock
};

// Answer to POST /v1/relay/hosts, whose request is the EnrolRequest with the proof, as the host sent it, but
// without the relay's own secret.
struct RelayHostReply {
  HostId host;
  std::optional<SignedStatement> certificate = {};  // of a host that is a relay, too
  std::optional<bool> own = {};                     // it is one of the project's own; absent: a stranger
};

// POST /v1/relay/hosts/leave: a host under the relay has left.
struct RelayHostLeft {
  HostId host;
};

// POST /v1/admin/relays: a code that admits one relay, once. The answer is a MadeCode.
struct AddRelay {
  std::string name;                   // of the code and of the relay; letters, digits, ".", "_" and "-"
  std::int64_t children = 1;          // so many hosts may be under it, those under relays under it included
  std::int64_t lifetime_seconds = 0;  // of the code; 0: for ever
  std::optional<bool> own = {};       // it and new hosts under it are the project's own; absent: strangers
};

// POST /v1/admin/relays/NAME/quota, before it joined and after. The answer is a RelayInfo.
struct RelayQuota {
  std::int64_t children = 1;  // as of AddRelay
};

// GET /v1/admin/relays.
struct RelayInfo {
  std::string name;
  std::string state;          // allowed (it has not come yet) | expired | withdrawn | active | left | revoked
  std::int64_t children = 0;  // how many hosts may be under it
  std::int64_t hosts = 0;     // that are under it
  std::optional<HostId> host = {};   // as which it joined
  std::optional<HostId> relay = {};  // under which it is
  Timestamp last_contact;            // 0: never
};

// GET /v1/admin/relay, of a relay: what it says of itself.
struct RelayStatus {
  HostId host;                    // as which the project knows it
  std::string name;               // as an administrator allowed it
  std::string parent;             // HOST:PORT
  Timestamp heard_at;             // when the parent answered last; 0: not since the start
  std::int64_t hosts = 0;         // that are under it, those under relays under it included
  std::int64_t units = 0;         // that hosts directly under it hold
  std::int64_t busy = 0;          // of those, who hold some
  std::string trouble;            // why the parent is not heard; empty: it is, or nothing had to be said yet
  std::int64_t leases = 0;        // units of the parent that are open
  std::int64_t leased_items = 0;  // of these together, done or not
  std::int64_t results = 0;       // that wait until the project has answered them
  std::int64_t result_bytes = 0;  // of these together, raw
  Timestamp results_since;        // when the oldest of them came; 0: none waits
  bool full = false;              // and so many that hosts keep theirs
};

// ---- Working through relays -------------------------------------------------------------------------------

// A part of a lease, signed by the relay that has the lease. Problem, stage, application, parameters and
// inputs are those of the project's Grant at the head of its chain.
struct RelayGrant {
  std::string parent;  // digest of the payload of the statement that it is a part of
  UnitId unit;         // the relay's number
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
  UnitId unit;  // as its own grant numbers it
  ProblemId problem;
  int stage = 0;
  Range range;
  std::string digest;      // of the raw segment bytes
  std::int64_t bytes = 0;  // raw
};

// A host says, signed, that its kernel failed: passed up unchanged, so that it counts against that host and
// the item, and no relay can say it for a host.
struct Failure {
  std::string project;
  HostId host;
  UnitId unit;  // as the relay that it came from numbers it
  ProblemId problem;
  int stage = 0;
  FailureKind kind = FailureKind::kernel_error;
  std::int64_t item = 0;  // where
  std::string message;
  Timestamp at;  // by the host's clock; each is later than the one before
};

// GET /v1/relay/stages/PROBLEM/STAGE: what a relay must know of a stage to decide for its own hosts. It is
// not signed: what hosts compute is in the project's Grant.
struct StageDescription {
  ProblemId problem;
  int stage = 0;
  std::string name;      // of the problem
  std::string manifest;  // of its application (shared/bundle/manifest.h)
  std::int64_t items = 0;
  // Their hints differ: GET of the same path with "/costs" has them (stage_costs.h, compressed with zlib).
  bool costs = false;
  double weight = 1;
  int priority = 0;
};

}  // namespace gleaner::protocol
