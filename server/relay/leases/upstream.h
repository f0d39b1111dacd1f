// What a relay has of its parent and owes it: a part of the model, null at a project's server. How a relay
// decides is the business of policy::Relay, one for each stage; this is what the live relay adds: which
// statements grant what it leases, whose signed results wait, and what the project answered to them. Writer
// thread. [server/policy/relay/RELAYS.md]
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/policy/dispatch/terms.h"
#include "server/policy/relay/relay.h"
#include "server/policy/relay/service_order.h"
#include "server/service/core/model.h"
#include "server/service/core/transaction.h"
#include "server/storage/store.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

// What is answered to a result is found by this: what its Delivery says of it.
using ResultName = std::tuple<HostId, UnitId, std::int64_t, std::int64_t, std::string>;

[[nodiscard]] ResultName name_of(const storage::DeliveryRow& row);

// A result that the project has not answered.
struct Owed {
  storage::DeliveryRow row;
  Timestamp held_since;     // by the parent, which is a relay; 0: it is not, as far as is known
  Duration patience{0};     // after which it is sent again
  bool with_grant = false;  // the project refused it, and may have lost the lease in a restore
  // Its bytes as they came, compressed. Null: they are read from the store, or from a blob.
  std::shared_ptr<const Bytes> packed = {};
};

using policy::FromHere;

// Where a relay's items come from.
struct Upstream final : Origin {
  Status load(storage::Store& store, Model& model, Timestamp now) override;
  bool plans() const override { return false; }
  void forget(ProblemId problem) override;
  Status drop_quiet(Transaction& tx) override;
  Result<CommitPlace> find_place(Transaction& tx, HostId host, PreparedCommit delivered) override;
  Status take_results(Transaction& tx, HostId host, const std::vector<PreparedCommit>& commits,
                      WorkOutcome& outcome) override;
  std::vector<protocol::SignedStatement> answers(Transaction& tx, HostId host, std::size_t most) override;
  Status has_room(const Settings& settings) const override;
  void note_offer(HostId host, const protocol::WorkRequest& request, Timestamp now) override;
  void note_measured(HostId host) override { measured.insert(host); }
  void note_missed() override;
  std::vector<ProblemId> awaited() const override;
  Status grant(Transaction& tx, const protocol::WorkRequest& request, const policy::SlotGrant& granted,
               WorkOutcome& outcome) override;
  std::string why_nothing() const override;
  Duration wait_of(const Transaction& tx, const Host& host, const protocol::WorkRequest& request,
                   const WorkOutcome& outcome) const override;
  Status serve_waiting(Transaction& tx, planning::ServingRule& rule,
                       const std::vector<WaitingRequest>& waiting, SteadyTime now,
                       std::vector<EndedWait>& ended) override;
  Status describe(Transaction& tx, protocol::RelayStatus& status) override;

  std::map<ProblemId, policy::Relay> relays;   // of problems with a stage
  std::map<UnitId, storage::LeaseRow> leases;  // of those problems
  // What their rows say above a grant, read when the first unit of each is granted.
  struct Chain {
    protocol::LeaseChain statements;
    std::string digest;  // of the first one's payload
  };
  std::map<UnitId, Chain> chains;
  std::map<SegmentId, Owed> owed;
  std::map<ResultName, SegmentId> by_name;  // of these
  std::set<SegmentId> to_send;              // of these: no message has brought them up yet
  std::int64_t owed_bytes = 0;              // of these
  std::int64_t packed_bytes = 0;            // in memory (Owed::packed)
  bool full = false;                        // it said that it holds no more results
  // Answers for hosts, until they were told them so many times, in ever longer intervals: a reply may be
  // lost.
  struct Answer {
    protocol::SignedStatement statement;
    ProblemId problem;
    int told = 0;
    Timestamp again = {};  // not before
  };
  std::map<HostId, std::vector<Answer>> to_tell;
  std::map<HostId, policy::HostOffer> offers;  // of hosts, with their last requests since the start
  std::map<HostId, double> performances;       // of relays among them, as they said
  bool missed = false;                         // a host found nothing, and there may be no stage to say so
  Timestamp asks_at;                           // not before, while there is no stage
  Timestamp sends_at;                          // what is to be sent, after it was in vain
  Timestamp tells_at;                          // of failures, after that was in vain
  std::map<ProblemId, Timestamp> quiet_since;  // nothing is here of them (upstream_quiet.cpp)
  std::string trouble;                         // why it is not heard; empty: it is
  std::string unable;                          // why nothing can be stored here; empty: it can
  Timestamp says_unable_at;                    // not before
  std::set<HostId> measured;                   // hosts whose figures the parent has not been told
  Timestamp tells_measured_at;                 // not before
  // Of the latest items that came and went: their inputs, their results, and what they took to compute. 0:
  // not known yet.
  double item_down_bytes = 0, item_up_bytes = 0, item_seconds = 0;
  std::map<HostId, FromHere> from_here = {};
  protocol::HostSpeeds link = {};  // its own, as the uplink measures it
  Bytes work_key;                  // the project's present one, as the uplink knows it; empty: not known yet
};

[[nodiscard]] std::unique_ptr<Origin> make_leased_items();
// REQUIRES: this is a relay's.
[[nodiscard]] inline Upstream& upstream_of(Model& model) {
  return static_cast<Upstream&>(*model.origin);
}
[[nodiscard]] inline const Upstream& upstream_of(const Model& model) {
  return static_cast<const Upstream&>(*model.origin);
}

// The parent has not answered it from now on. `packed`: its bytes, compressed, which are kept in memory while
// there are few; empty: they are not at hand.
void owe(Upstream& upstream, storage::DeliveryRow row, Bytes packed = {});
// It has. REQUIRES: it is owed.
[[nodiscard]] storage::DeliveryRow settle(Upstream& upstream, SegmentId segment);
// Hosts do not take what a former work key signed.
[[nodiscard]] bool is_outdated(const Upstream& upstream, const protocol::SignedStatement& answer);
// As much is owed as this relay's disk is to hold, or more.
[[nodiscard]] bool is_full(const Upstream& upstream, const Settings& settings);
// What the lease's row says above a grant. Error: it cannot be read.
[[nodiscard]] Result<const Upstream::Chain*> chain_of(Upstream& upstream, const storage::LeaseRow& lease);
// The lease that these items are a part of, or were: the latest that is open, else any. Null: there is none.
[[nodiscard]] const storage::LeaseRow* find_lease(const Upstream& upstream, ProblemId problem, int stage,
                                                  Range range);

}  // namespace gleaner::service
