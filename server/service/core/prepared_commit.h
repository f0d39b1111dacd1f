// A result that is delivered, on its way from a request to the writer: where it belongs, its checked bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/policy/stage/stage.h"
#include "server/service/core/manager_setup.h"
#include "shared/crypto/revocations.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// Who computed what a relay delivers, by that host's word.
struct Computed {
  HostId host;
  UnitId unit;                          // as its relay numbers it
  Bytes key;                            // of the host; the statement is not yet known to be its
  protocol::SignedStatement statement;  // a Delivery
};

// Of a result that a host brings itself, as it is under a relay no more.
struct Given {
  protocol::GivenUnit unit;  // not yet known to be signed
  crypto::Revocations revocations;
};

// Of a result that is delivered to a relay.
struct LeasedCommit {
  UnitId lease;                                       // that it is a part of
  bool known = false;                                 // it is here already
  bool no_room = false;                               // for a new one, and so it is not looked at
  std::optional<protocol::SignedStatement> answered;  // by the project
};

// A commit whose bytes were checked.
struct PreparedCommit {
  protocol::CommitRequest request;
  std::optional<protocol::Delivery> delivery = {};  // what request.delivery says; absent: not read yet
  Bytes bytes;  // that the store keeps; empty: they are in a blob, durably
  std::optional<protocol::Acknowledgement> answer;  // given before: this is a repeat
  std::string refusal;                              // not empty: refuse it, and why
  bool blame = false;                               // the refusal is the fault of who computed it
  std::optional<Computed> computed = {};            // absent: the host that delivers it did
  std::optional<HostId> holder = {};                // of the unit; absent: who delivers it
  std::optional<Given> given = {};
  // The unit is not known here, as after a restore from a backup, and this host says that the project gave it
  // to it, under another number: what it is to be here from then on.
  std::optional<policy::Unit> adopted = {};
  ProblemId problem;
  int stage = 0;
  bool enough = false;                      // the manager needs no further items
  std::optional<LeasedCommit> leased = {};  // of a relay
  Bytes packed = {};                        // of a relay: `bytes` as they came, compressed; empty: not kept
};

// The same before anybody looked where it belongs: a small result that a host sent along and signed. Its
// statement carries a valid signature of the key that it names, and its bytes are whole.
struct CheckedAhead {
  PreparedCommit prepared;
  std::int64_t item_bytes = 0;  // of its largest item
};

// What the pool needs to know of a unit, copied from the model.
struct CommitPlace {
  PreparedCommit prepared;
  std::int64_t item_bytes_max = 0;
  ManagerSetup manager;
  bool checked_above = false;  // a relay's: its form is looked at, the manager is the project's to ask
};

// Reads what the host signed that computed the result, unless it was read before. invalid: it is no Delivery,
// or not of this result. The signature is looked at on the pool. REQUIRES: request.delivery.
[[nodiscard]] Status read_delivery(PreparedCommit& prepared);

}  // namespace gleaner::service
