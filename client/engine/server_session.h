// The session with one project's server on the control queue: one exchange at a time, the most urgent first.
// When it sends what is client/policy/session_pacing.h's to say; it is otherwise passive: its owner asks
// which exchange is due(), sends it, and collects the results with take_events() when it suits; the session
// calls nobody. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/engine/services.h"
#include "client/engine/session_events.h"
#include "client/engine/trust.h"
#include "client/policy/prefetch.h"
#include "client/policy/relay_silence.h"
#include "client/policy/session_pacing.h"
#include "client/state/identity.h"
#include "shared/transport/server_call.h"

namespace gleaner::engine {

using client_policy::Exchange;
using client_policy::Outgoing;

class ServerSession {
 public:
  // `relay`: that the server is; invalid: it is none. `unheard`: since when it has not answered, as an
  // earlier run left it.
  ServerSession(Services& services, transport::Workers& workers, transport::Server server, Trust& trust,
                HostId relay = {}, std::optional<Timestamp> unheard = {})
      : services_(services),
        workers_(workers),
        server_(std::move(server)),
        trust_(trust),
        relay_(relay),
        silence_(unheard) {}

  // Which exchange is to be made now; `alarm`: when to ask again, if none is. `outgoing.project`: whether its
  // document is in doubt.
  [[nodiscard]] Exchange due(const Outgoing& outgoing, SteadyTime now, Alarm& alarm) const;
  // REQUIRES, each of them: it is due(). Of a relay its certificate, too: as both are signed by the project,
  // anybody who answers may be asked, and a relay with a new TLS key is found again.
  void fetch_project(SteadyTime now);
  // `relay`: because the relay is gone, where this is one more try to reach it; else the next try is up to
  // the pacing.
  enum class Because { relay, identity };
  void move(state::Move move, const std::string& why, Because because);
  void send(protocol::FailureReport report);
  void send(protocol::WorkRequest request);
  void send(protocol::HeartbeatRequest request, SteadyTime now);
  // What came since the last call, oldest first.
  [[nodiscard]] std::vector<SessionEvent> take_events() { return std::exchange(events_, {}); }

  void heartbeat_soon(SteadyTime now) { pacing_.heartbeat_soon(now); }
  // Says nothing to the server for so long, and a little more by chance.
  void be_silent(Duration time, SteadyTime now);
  // The client cannot use a grant now, through no fault of the application: it requests work later.
  void back_off(const Error& why, SteadyTime now);
  // The project's document is known to have been replaced: it is what is said next.
  void fetch_project_soon() { project_wanted_ = true; }
  // After a suspend or a change of networks: old waits mean nothing.
  void forget_waits(SteadyTime now) { pacing_.forget_waits(now); }

  [[nodiscard]] bool busy() const { return busy_since_.has_value(); }
  // Could the server be asked for work, as soon as what is being said is said? `urgent`: for an idle slot.
  [[nodiscard]] bool askable(SteadyTime now, bool urgent) const;
  // Is the server being asked for a unit of that slot? Not after answer_due(): then slots ask elsewhere.
  [[nodiscard]] bool asks(int slot, SteadyTime now) const;
  [[nodiscard]] std::size_t asked() const { return asked_.size(); }
  [[nodiscard]] SteadyTime answer_due() const { return *busy_since_ + answer_patience; }  // REQUIRES: busy()
  // It had nothing for an idle slot when it was asked last.
  [[nodiscard]] bool refused() const { return pacing_.work().refused(); }

  static constexpr Duration answer_patience = std::chrono::seconds{2};
  [[nodiscard]] Duration round_trip() const { return round_trip_.value(); }
  // No slot is asked for before, by what the server said of work; nor because exchanges failed.
  [[nodiscard]] SteadyTime work_at() const { return pacing_.work().idle_at(); }
  [[nodiscard]] SteadyTime silent_until() const { return pacing_.silent_until(); }
  [[nodiscard]] double slowest_performance() const { return slowest_performance_; }
  [[nodiscard]] const std::string& no_work_reason() const { return no_work_reason_; }
  // Why the last exchange failed; empty: it did not.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] const client_policy::RelaySilence& silence() const { return silence_; }
  [[nodiscard]] std::optional<SteadyTime> last_contact() const { return last_contact_; }
  [[nodiscard]] std::int64_t work_requests() const { return work_requests_; }

 private:
  // Notes the answer; an error if it was not what the protocol says, which counts as a failed exchange.
  [[nodiscard]] static protocol::Instance new_instance();
  using Handler = std::function<Status(const transport::Answer&, SteadyTime)>;
  void exchange(io::HttpRequest request, Handler handler);
  void fetch_from_relay();
  [[nodiscard]] Status take_project(const transport::Answer& answer, const transport::Answer* relay,
                                    SteadyTime at);
  void note_silence(const Status& outcome, SteadyTime now);
  void after_exchange(const transport::Answer& answer, const Status& outcome, SteadyTime now);
  [[nodiscard]] protocol::Instance next_instance() { return {instance_.id, ++instance_.sequence}; }
  void note_instance(std::optional<protocol::InstanceOrder> order);
  void note_work(const protocol::WorkReply& reply, bool urgent, Duration took, SteadyTime now);

  Services& services_;
  transport::Workers& workers_;
  transport::Server server_;
  Trust& trust_;
  HostId relay_;
  client_policy::RelaySilence silence_;
  std::vector<SessionEvent> events_;
  protocol::Instance instance_ = new_instance();
  std::optional<SteadyTime> busy_since_;
  std::vector<protocol::SlotRequest> asked_;
  client_policy::SessionPacing pacing_;
  SteadyTime project_at_{};      // a doubted document is fetched no sooner
  bool project_wanted_ = false;  // until one that holds has come
  bool relay_doubted_ = false;   // until its certificate has been seen again
  // The server said that it does not know this host: does it still do so with a document that holds?
  enum class UnknownHost { no, said, confirmed } unknown_host_ = UnknownHost::no;
  bool project_fetched_ = false;  // by the exchange that has just ended
  std::optional<SteadyTime> last_contact_;
  client_policy::RecentMean round_trip_{client_policy::round_trip_weight};
  double slowest_performance_ = 0;
  std::int64_t work_requests_ = 0;
  std::string no_work_reason_;
  std::string trouble_;
};

}  // namespace gleaner::engine
