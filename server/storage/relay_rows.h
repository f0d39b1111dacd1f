// Rows of a relay: what it has of its parent, and what its hosts delivered for that. The tables of a
// project's server have none of them. Value types.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/ids.h"
#include "shared/base/range_set.h"

namespace gleaner::storage {

// A unit that the parent granted.
struct LeaseRow {
  UnitId unit;  // the parent's number
  ProblemId problem;
  int stage = 0;
  Range range;                  // `end` as the parent cut it
  std::int64_t handed_end = 0;  // as it was granted
  Timestamp deadline;           // as granted
  bool open = true;             // the parent expects it
  Bytes chain;                  // protocol::LeaseChain: the statement that grants it, then what is above that
};

// A result that a host signed, until the project has answered it, and what was answered.
struct DeliveryRow {
  // As the Delivery has them: the host that computed it, and its unit as its own relay numbers it.
  UnitId unit;
  HostId host;
  Range range;
  std::string digest;
  HostId via;  // that delivered it here: that host, or a relay above it
  SegmentId segment;
  ProblemId problem;
  int stage = 0;
  UnitId lease;  // that it is a part of
  std::int64_t bytes = 0;
  bool in_store = false;  // its bytes are the segment's in the store; else those of the blob of its digest
  double compute_seconds = 0;  // as of its CommitRequest
  Bytes statement;             // protocol::SignedStatement: the Delivery
  Bytes acknowledgement;       // the same, of the project; empty: none yet
  Timestamp answered_at;       // when that came
};

}  // namespace gleaner::storage
