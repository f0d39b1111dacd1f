// The source of a server's items. A project's server plans them itself (service/work/own_items.h); a relay
// leases them from its parent (server/relay/leases). It is a part of the model. No other code asks which of
// the two a server is. Writer thread; errors are the store's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/policy/dispatch/terms.h"
#include "server/service/core/settings.h"
#include "server/storage/store.h"
#include "shared/planning/serving.h"
#include "shared/protocol/messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

struct CommitPlace;     // prepared_commit.h
struct EndedWait;       // work_outcome.h
struct Host;            // model.h
struct Model;           // model.h
struct PreparedCommit;  // prepared_commit.h
struct Transaction;     // transaction.h
struct WaitingRequest;  // work/waiting_requests.h
struct WorkOutcome;     // work_outcome.h

class Origin {
 public:
  virtual ~Origin() = default;

  // Reads its own state from the store. The rest of the model has been read.
  [[nodiscard]] virtual Status load(storage::Store& store, Model& model, Timestamp now) = 0;
  // True: this server plans, begins and ends stages. False: its parent says when.
  [[nodiscard]] virtual bool plans() const = 0;
  // The problem is deleted.
  virtual void forget(ProblemId problem) = 0;
  // Deletes problems, from model and store, that the parent has let go silently.
  [[nodiscard]] virtual Status drop_quiet(Transaction& tx) = 0;

  // ---- Results
  // What the pool needs to know to check a result that `host` delivers, or why it is refused. `delivered`:
  // the request, and what is known of it already.
  [[nodiscard]] virtual Result<CommitPlace> find_place(Transaction& tx, HostId host,
                                                       PreparedCommit delivered) = 0;
  // Results of one request that were checked, and what is said to them.
  [[nodiscard]] virtual Status take_results(Transaction& tx, HostId host,
                                            const std::vector<PreparedCommit>& commits,
                                            WorkOutcome& outcome) = 0;
  // Acknowledgements of earlier results that `host`, or a host under it, has not received: `most` of them.
  [[nodiscard]] virtual std::vector<protocol::SignedStatement> answers(Transaction& tx, HostId host,
                                                                       std::size_t most) = 0;
  // unavailable: it takes no further results now.
  [[nodiscard]] virtual Status has_room(const Settings& settings) const = 0;

  // ---- Work
  // The request says what `host` offers.
  virtual void note_offer(HostId host, const protocol::WorkRequest& request, Timestamp now) = 0;
  // The host has sent new measurements.
  virtual void note_measured(HostId host) = 0;
  // An idle slot got no unit.
  virtual void note_missed() = 0;
  // Problems that may get more items than there are.
  [[nodiscard]] virtual std::vector<ProblemId> awaited() const = 0;
  // Adds the grant of the unit to the outcome.
  [[nodiscard]] virtual Status grant(Transaction& tx, const protocol::WorkRequest& request,
                                     const policy::SlotGrant& granted, WorkOutcome& outcome) = 0;
  // Why hosts may get no work now. Empty: for no special reason.
  [[nodiscard]] virtual std::string why_nothing() const = 0;
  // How long the server holds the answer to an idle host that got nothing. 0: it answers at once.
  [[nodiscard]] virtual Duration wait_of(const Transaction& tx, const Host& host,
                                         const protocol::WorkRequest& request,
                                         const WorkOutcome& outcome) const = 0;
  // Serves requests that are held, and returns in `ended` those to answer: they got a unit, no more can come,
  // or their time is up.
  [[nodiscard]] virtual Status serve_waiting(Transaction& tx, planning::ServingRule& rule,
                                             const std::vector<WaitingRequest>& waiting, SteadyTime now,
                                             std::vector<EndedWait>& ended) = 0;

  // Fills in what it holds of its parent. not_found: it is the project's server.
  [[nodiscard]] virtual Status describe(Transaction& tx, protocol::RelayStatus& status) = 0;
};

}  // namespace gleaner::service
