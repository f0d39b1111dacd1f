#include "server/service/work/own_items.h"

#include "server/service/core/prepared_commit.h"
#include "server/service/core/transaction.h"
#include "server/service/core/work_outcome.h"
#include "server/service/work/accept.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/waiting_requests.h"
#include "shared/base/check.h"

namespace gleaner::service {
namespace {

class OwnItems final : public Origin {
 public:
  Status load(storage::Store& /*store*/, Model& /*model*/, Timestamp /*now*/) override { return {}; }
  bool plans() const override { return true; }
  void forget(ProblemId /*problem*/) override {}
  Status drop_quiet(Transaction& /*tx*/) override { return {}; }

  Result<CommitPlace> find_place(Transaction& tx, HostId host, PreparedCommit delivered) override {
    return find_own_place(tx, host, std::move(delivered));
  }
  Status take_results(Transaction& tx, HostId host, const std::vector<PreparedCommit>& commits,
                      WorkOutcome& outcome) override {
    return apply_commits(tx, host, commits, outcome.acknowledgements);
  }
  // Each is said at once, and again whenever its result comes again.
  std::vector<protocol::SignedStatement> answers(Transaction& /*tx*/, HostId /*host*/,
                                                 std::size_t /*most*/) override {
    return {};
  }
  Status has_room(const Settings& /*settings*/) const override { return {}; }

  void note_offer(HostId /*host*/, const protocol::WorkRequest& /*request*/, Timestamp /*now*/) override {}
  void note_measured(HostId /*host*/) override {}
  void note_missed() override {}
  std::vector<ProblemId> awaited() const override { return {}; }
  Status grant(Transaction& tx, const protocol::WorkRequest& request, const policy::SlotGrant& granted,
               WorkOutcome& outcome) override {
    return grant_unit(tx, request, granted, outcome);
  }
  std::string why_nothing() const override { return {}; }
  Duration wait_of(const Transaction& /*tx*/, const Host& /*host*/, const protocol::WorkRequest& /*request*/,
                   const WorkOutcome& /*outcome*/) const override {
    return {};
  }
  Status serve_waiting(Transaction& /*tx*/, planning::ServingRule& /*rule*/,
                       const std::vector<WaitingRequest>& waiting, SteadyTime /*now*/,
                       std::vector<EndedWait>& /*ended*/) override {
    CHECK_TRUE(waiting.empty());
    return {};
  }
  Status describe(Transaction& /*tx*/, protocol::RelayStatus& /*status*/) override {
    return Error{ErrorKind::not_found, "this is the project's server, and no relay"};
  }
};

}  // namespace

std::unique_ptr<Origin> make_own_items() {
  return std::make_unique<OwnItems>();
}

}  // namespace gleaner::service
