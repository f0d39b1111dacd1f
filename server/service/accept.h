// Commits on the writer thread: where one belongs, before its bytes are checked, and taking it, with them or
// after they are stored. Between the two lies commits.h, on the pool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/transaction.h"
#include "shared/protocol/admin_messages.h"

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
};

// What the pool needs to know of a unit, copied from the model.
struct CommitPlace {
  PreparedCommit prepared;
  std::int64_t item_bytes_max = 0;
  ManagerSetup manager;
  bool checked_above = false;  // a relay's: its form is looked at, the manager is the project's to ask
};

// What anybody needs to check results of a unit, and the application that does.
struct CheckingPlace {
  int stage = 0;
  std::int64_t item_bytes_max = 0;
  ManagerSetup manager;
  protocol::AddApplication application;
};
// not_found: this is no unit of the host whose results are of use.
[[nodiscard]] Status find_checking_place(Transaction& tx, HostId host, UnitId unit,
                                         Result<CheckingPlace>& place);

// That a request of that host may bring, and its answer may answer.
[[nodiscard]] std::size_t segments_max(const Host& host);
// invalid: a request of that host brings more.
[[nodiscard]] Status count_segments(const Model& model, HostId host, std::size_t count);

[[nodiscard]] Result<CommitPlace> find_place(Transaction& tx, HostId host, protocol::CommitRequest request);
// The same for commits that a front end has checked, with the problem and stage that it took theirs to be of:
// each with what it found, or with what is answered to it anyway. conflict: one is of another problem or
// stage, and must be checked again.
[[nodiscard]] Status take_checked(Transaction& tx, HostId host, std::vector<PreparedCommit> checked,
                                  Result<std::vector<PreparedCommit>>& commits);
// First come, first accepted, item by item; a repeat is answered as before, a refusal is an acknowledgement,
// too.
[[nodiscard]] Status apply_commits(Transaction& tx, HostId host, const std::vector<PreparedCommit>& commits,
                                   std::vector<protocol::Acknowledgement>& acknowledgements);

}  // namespace gleaner::service
