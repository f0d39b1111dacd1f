// What a relay has of its parent and owes it: a part of the model, null at a project's server. How a relay
// decides is the business of policy::Relay, one for each stage; this is what the live relay adds: which
// statements grant what it leases, whose signed results wait, and what the project answered to them. Writer
// thread. [server/policy/relay/RELAYS.md]
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "server/policy/dispatch/terms.h"
#include "server/policy/relay/relay.h"
#include "server/policy/relay/service_order.h"
#include "server/service/core/settings.h"
#include "server/storage/store.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

// What is answered to a result is found by this: what its Delivery says of it.
using ResultName = std::tuple<HostId, UnitId, std::int64_t, std::int64_t, std::string>;

[[nodiscard]] ResultName name_of(const storage::DeliveryRow& row);

// A result that the project has not answered.
struct Owed {
  storage::DeliveryRow row;
  Timestamp held_since;  // by the parent, which is a relay; 0: it is not, as far as is known
  Duration patience{0};  // after which it is sent again
};

using policy::FromHere;

struct Upstream {
  std::map<ProblemId, policy::Relay> relays;   // of problems with a stage
  std::map<UnitId, storage::LeaseRow> leases;  // of those problems
  std::map<SegmentId, Owed> owed;
  std::map<ResultName, SegmentId> by_name;  // of these
  std::set<SegmentId> to_send;              // of these: no message has brought them up yet
  std::int64_t owed_bytes = 0;              // of these
  bool full = false;                        // it said that it holds no more results
  // Answers for hosts, until they were told them so many times, in ever longer intervals: a reply may be
  // lost.
  struct Answer {
    protocol::SignedStatement statement;
    ProblemId problem;
    int told = 0;
    Timestamp again = {};  // not before
  };
  std::map<HostId, std::vector<Answer>> answers;
  std::map<HostId, policy::HostOffer> offers;  // of hosts, with their last requests since the start
  std::map<HostId, double> performances;       // of relays among them, as they said
  bool missed = false;                         // a host found nothing, and there may be no stage to say so
  Timestamp asks_at;                           // not before, while there is no stage
  Timestamp sends_at;                          // what is to be sent, after it was in vain
  Timestamp tells_at;                          // of failures, after that was in vain
  std::map<ProblemId, Timestamp> quiet_since;  // nothing is here of them (upstream_quiet.h)
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

// Under which name the store has an application's manifest: a relay has no bundles.
[[nodiscard]] inline std::string manifest_value(const std::string& archive) {
  return "manifest " + archive;
}

// Once: units of this relay have numbers that no other relay gives, nor this one after it lost its store, for
// a host is told of both. In the store's open transaction.
[[nodiscard]] Status number_units(storage::Store& store, HostId relay);
// The parent has not answered it from now on.
void owe(Upstream& upstream, storage::DeliveryRow row);
// It has. REQUIRES: it is owed.
[[nodiscard]] storage::DeliveryRow settle(Upstream& upstream, SegmentId segment);
// Hosts do not take what a former work key signed.
[[nodiscard]] bool is_outdated(const Upstream& upstream, const protocol::SignedStatement& answer);
// As much is owed as this relay's disk is to hold, or more.
[[nodiscard]] bool is_full(const Upstream& upstream, const Settings& settings);
// Nothing of it stays here. REQUIRES: nothing is owed of it. Its stage may still be there.
void forget(Upstream& upstream, ProblemId problem);
// Of that stage: what its parent leases to it now, for restoring the stage.
[[nodiscard]] Result<std::vector<Range>> leased_ranges(storage::Store& store, const storage::StageRow& row);

// The lease that these items are a part of, or were: the latest that is open, else any. Null: there is none.
[[nodiscard]] const storage::LeaseRow* find_lease(const Upstream& upstream, ProblemId problem, int stage,
                                                  Range range);
// Of problems that may get more from above, what is free is all that hosts get.
[[nodiscard]] std::vector<ProblemId> problems_that_wait(const Upstream& upstream);
// A host asked, for slots that are idle, and found nothing.
void note_missed(Upstream& upstream);
void note_offer(Upstream& upstream, HostId host, const protocol::WorkRequest& request, Timestamp now);

}  // namespace gleaner::service
