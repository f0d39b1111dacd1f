// Where the items come from that a server hands out: a project's server plans them itself
// (service/work/own_items.h), a relay leases them from its parent (server/relay/leases). A part of the model,
// read with it; nobody else asks which of the two it is. Writer thread; errors are the store's.
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

  // What it has beside the rest of the model, which is read.
  [[nodiscard]] virtual Status load(storage::Store& store, Model& model, Timestamp now) = 0;
  // Whether problems and their stages are planned, begun and ended here; else somebody above says when.
  [[nodiscard]] virtual bool plans() const = 0;
  // The problem is deleted.
  virtual void forget(ProblemId problem) = 0;
  // Problems that are over as far as can be seen here without a word from above: from model and store.
  [[nodiscard]] virtual Result<std::vector<ProblemId>> drop_quiet(Transaction& tx) = 0;

  // ---- Results
  // What the pool needs to know to check a result that `host` delivers, or why it is refused.
  [[nodiscard]] virtual Result<CommitPlace> find_place(Transaction& tx, HostId host,
                                                       protocol::CommitRequest request) = 0;
  // Results of one request that were checked, and what is said to them.
  [[nodiscard]] virtual Status take_results(Transaction& tx, HostId host,
                                            const std::vector<PreparedCommit>& commits,
                                            WorkOutcome& outcome) = 0;
  // What was said to earlier results of `host`, and of those under it, and is to be told: `most` of them.
  [[nodiscard]] virtual std::vector<protocol::SignedStatement> answers(Transaction& tx, HostId host,
                                                                       std::size_t most) = 0;
  // unavailable: no more of them is taken just now.
  [[nodiscard]] virtual Status has_room(const Settings& settings) const = 0;

  // ---- Work
  // `host` offers this.
  virtual void note_offer(HostId host, const protocol::WorkRequest& request, Timestamp now) = 0;
  // It has measured itself anew.
  virtual void note_measured(HostId host) = 0;
  // A slot is idle, and nothing was there for it.
  virtual void note_missed() = 0;
  // Problems that may get more items than there are.
  [[nodiscard]] virtual std::vector<ProblemId> awaited() const = 0;
  // The unit as it is granted, into the outcome.
  [[nodiscard]] virtual Status grant(Transaction& tx, const protocol::WorkRequest& request,
                                     const policy::SlotGrant& granted, WorkOutcome& outcome) = 0;
  // Why there may be nothing that hosts could get. Empty: no particular reason.
  [[nodiscard]] virtual std::string why_nothing() const = 0;
  // How long an idle host that got nothing waits for its answer. 0: not at all.
  [[nodiscard]] virtual Duration wait_of(const Transaction& tx, const Host& host,
                                         const protocol::WorkRequest& request,
                                         const WorkOutcome& outcome) const = 0;
  // Of those that wait, whose wait is over: they got something, nothing more may come, or their time is up.
  [[nodiscard]] virtual Status serve_waiting(Transaction& tx, planning::ServingRule& rule,
                                             const std::vector<WaitingRequest>& waiting, SteadyTime now,
                                             std::vector<EndedWait>& ended) = 0;

  // What it has of a parent; REQUIRES: it has one.
  [[nodiscard]] virtual Status describe(Transaction& tx, protocol::RelayStatus& status) = 0;
};

}  // namespace gleaner::service
