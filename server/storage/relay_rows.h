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
  UnitId unit;  // of the host, as this relay numbers it
  HostId host;  // that delivered it here: it computed it, or is a relay
  Range range;
  std::string digest;
  SegmentId segment;
  ProblemId problem;
  int stage = 0;
  UnitId lease;           // that it is a part of
  bool last = false;      // as of its CommitRequest
  Bytes statement;        // protocol::SignedStatement: the Delivery
  Bytes acknowledgement;  // the same, of the project; empty: none yet
  Timestamp answered_at;  // when that came
};

}  // namespace gleaner::storage
