// Which units the slots of an asking host get, and how long it waits if none. Writer thread only; one object
// a request, used once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/mapping.h"
#include "server/service/transaction.h"
#include "server/service/work_outcome.h"

namespace gleaner::service {

class Dispatch {
 public:
  Dispatch(Transaction& tx, Host& host, const protocol::WorkRequest& request, WorkOutcome& outcome)
      : tx_(tx), host_(host), request_(request), outcome_(outcome) {}
  // A unit for each slot that can get one, and for the rest when to ask again and why.
  [[nodiscard]] Status hand_out();

 private:
  [[nodiscard]] std::vector<ProblemId> problems_in_order() const;
  [[nodiscard]] Status serve(const protocol::SlotRequest& slot, const std::vector<ProblemId>& order);
  // Absent: another problem's turn; otherwise the problem to ask and, if a plan says so, for which range.
  struct Choice {
    ProblemId problem;
    std::optional<Planned> planned;
  };
  [[nodiscard]] std::optional<Choice> choose(ProblemId next, const protocol::SlotRequest& slot,
                                             std::set<std::string>& asked);
  // True if the slot got a unit.
  [[nodiscard]] Result<bool> request_unit(const Choice& choice, const protocol::SlotRequest& slot);
  [[nodiscard]] policy::Requester requester(const Choice& choice, const protocol::SlotRequest& slot) const;
  [[nodiscard]] Status granted(Problem& problem, const policy::Unit& unit, const protocol::SlotRequest& slot);
  void nothing_to_do();
  void wait(double seconds, const std::string& reason);
  // `waited`: seconds since the host last got nothing; 0: it had work.
  void note_waiting(double waited);

  Transaction& tx_;
  Host& host_;
  const protocol::WorkRequest& request_;
  WorkOutcome& outcome_;
};

[[nodiscard]] bool can_compute(const Problem& problem, const protocol::WorkRequest& request);
[[nodiscard]] protocol::Grant make_grant(const Transaction& tx, const Problem& problem,
                                         const policy::Unit& unit);
// Who waits for work, and what it draws by its owner's word, for stages that begin.
[[nodiscard]] std::vector<policy::IdleHost> waiting_hosts(const Model& model, Timestamp now);

}  // namespace gleaner::service
