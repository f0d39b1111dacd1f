// Commits on the writer thread: where one belongs, before its bytes are checked, and taking it, with them or
// after they are stored. Between the two lies commits.h, on the pool.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/core/prepared_commit.h"
#include "server/service/core/transaction.h"
#include "shared/protocol/admin_messages.h"

namespace gleaner::service {

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

// Origin::find_place() of a project's server.
[[nodiscard]] Result<CommitPlace> find_own_place(Transaction& tx, HostId host, PreparedCommit delivered);
// The same for commits that a front end has checked, with the problem and stage that it took theirs to be of:
// each with what it found, or with what is answered to it anyway. conflict: one is of another problem or
// stage, and must be checked again.
[[nodiscard]] Status take_checked(Transaction& tx, HostId host, std::vector<PreparedCommit> checked,
                                  Result<std::vector<PreparedCommit>>& commits);
// The same for commits that were checked before anybody looked where they belong. conflict: one has to be
// checked with its place.
[[nodiscard]] Status take_ahead(Transaction& tx, HostId host, std::vector<CheckedAhead> checked,
                                Result<std::vector<PreparedCommit>>& commits);
// First come, first accepted, item by item; a repeat is answered as before, a refusal is an acknowledgement,
// too.
[[nodiscard]] Status apply_commits(Transaction& tx, HostId host, const std::vector<PreparedCommit>& commits,
                                   std::vector<protocol::Acknowledgement>& acknowledgements);

}  // namespace gleaner::service
