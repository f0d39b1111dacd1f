// The conversation with the server over the control lane: one exchange at a time, the most urgent first.
// Decides when to speak (intervals, Retry-After, back-off, riding); what to say and what to do with the
// answer is the owner's part (TalkOwner). Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/deliveries.h"
#include "client/engine/server_call.h"
#include "client/engine/services.h"
#include "client/engine/trust.h"

namespace gleaner::engine {

class TalkOwner {
 public:
  virtual ~TalkOwner() = default;
  // Slots that want a unit now; empty also while none may be taken.
  [[nodiscard]] virtual std::vector<protocol::SlotRequest> wanted(SteadyTime now) = 0;
  [[nodiscard]] virtual std::vector<protocol::UnitReport> reports(SteadyTime now) = 0;
  // Items in progress that other hosts may go on with; told once.
  [[nodiscard]] virtual std::vector<protocol::SavedItem> take_saved() = 0;
  // Fills in what the host is and proposes.
  virtual void describe(protocol::WorkRequest& request, SteadyTime now) = 0;
  virtual void take_grants(const protocol::WorkReply& reply, SteadyTime now) = 0;
  virtual void take_orders(const std::vector<protocol::UnitOrder>& orders, SteadyTime now) = 0;
  virtual void revoked(const std::string& reason) = 0;
  virtual void project_known(const protocol::SignedStatement& statement) = 0;
};

class Talk {
 public:
  Talk(Services& services, Workers& workers, Server server, Trust& trust, Deliveries& deliveries,
       TalkOwner& owner)
      : services_(services),
        workers_(workers),
        server_(std::move(server)),
        trust_(trust),
        deliveries_(deliveries),
        owner_(owner) {}

  void tick(SteadyTime now, Alarm& alarm);

  void heartbeat_soon(SteadyTime now) { heartbeat_at_ = now; }
  // After a suspend or a change of networks: old waits mean nothing.
  void forget_waits(SteadyTime now);
  // Also sent when no unit is in hand: for a host that says it stops.
  void report_failure(protocol::FailureReport report);

  [[nodiscard]] bool busy() const { return busy_; }
  // Could the server be asked for work, as soon as what is being said is said? `urgent`: for an idle slot.
  [[nodiscard]] bool askable(SteadyTime now, bool urgent) const;
  // Is the server being asked for a unit of that slot? Not after answer_due(): then slots ask elsewhere.
  [[nodiscard]] bool asks(int slot, SteadyTime now) const;
  [[nodiscard]] std::size_t asked() const { return asked_.size(); }
  [[nodiscard]] SteadyTime answer_due() const { return busy_since_ + answer_patience; }  // REQUIRES: busy()
  // It had nothing for an idle slot when it was asked last.
  [[nodiscard]] bool refused() const { return refused_; }

  static constexpr Duration answer_patience = std::chrono::seconds{2};
  [[nodiscard]] Duration round_trip() const { return round_trip_; }
  [[nodiscard]] SteadyTime work_at() const { return work_at_; }            // no work request before
  [[nodiscard]] SteadyTime silent_until() const { return silent_until_; }  // back-off
  [[nodiscard]] double slowest_performance() const { return slowest_performance_; }
  [[nodiscard]] const std::string& no_work_reason() const { return no_work_reason_; }
  [[nodiscard]] const std::string& trouble() const {
    return trouble_;
  }  // why the last exchange failed; empty: fine
  [[nodiscard]] std::optional<SteadyTime> last_contact() const { return last_contact_; }
  [[nodiscard]] SteadyTime last_heartbeat() const { return last_heartbeat_; }
  [[nodiscard]] std::int64_t work_requests() const { return work_requests_; }

 private:
  // Takes the answer; an error if it was not what the protocol says, which counts as a failed exchange.
  using Handler = std::function<Status(const Answer&, SteadyTime)>;
  void exchange(io::HttpRequest request, Handler handler);
  void after_exchange(const Answer& answer, const Status& outcome, SteadyTime now);
  bool fetch_project(SteadyTime now);
  bool send_failure(SteadyTime now);
  bool send_work(SteadyTime now);
  bool send_heartbeat(SteadyTime now);
  bool send_commit(SteadyTime now);
  [[nodiscard]] double patience(const protocol::WorkReply& reply, std::size_t asked);
  void take_work(const protocol::WorkReply& reply, std::size_t asked, bool urgent, SteadyTime now);
  void set_interval(double seconds, SteadyTime now);

  Services& services_;
  Workers& workers_;
  Server server_;
  Trust& trust_;
  Deliveries& deliveries_;
  TalkOwner& owner_;
  bool busy_ = false;
  SteadyTime busy_since_{};
  std::vector<protocol::SlotRequest> asked_;
  bool refused_ = false;
  client_policy::Backoff backoff_;
  int empty_replies_ = 0;                // in a row, of a project without work
  client_policy::Backoff work_backoff_;  // of a server that gives nothing and names no time
  SteadyTime silent_until_{};
  SteadyTime work_at_{};      // nothing is asked for before
  SteadyTime prefetch_at_{};  // nor for slots that still compute
  SteadyTime heartbeat_at_{};
  SteadyTime last_heartbeat_{};
  SteadyTime project_at_{};  // fetch the project's document no sooner
  std::optional<SteadyTime> last_contact_;
  Duration round_trip_{0};
  double slowest_performance_ = 0;
  std::int64_t work_requests_ = 0;
  std::string no_work_reason_;
  std::string trouble_;
  std::vector<protocol::FailureReport> failures_;  // of units that are not in the book
};

}  // namespace gleaner::engine
