// A client's part in one project: the host's identity, trust, units on disk, their preparation and delivery,
// and the session with the server. Slots belong to the engine, which says what they want and carries out
// what answers ask of them. Runs on the engine's thread except for what goes through its own Workers, so
// that a stalled server holds up no other project. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/deliveries.h"
#include "client/engine/grant_contexts.h"
#include "client/engine/server_session.h"
#include "client/engine/speed_reporter.h"
#include "client/engine/status.h"
#include "client/engine/unit_preparation.h"
#include "client/state/identity.h"
#include "client/state/projects.h"
#include "shared/transport/link_meter.h"

namespace gleaner::engine {

// One project to serve, as given to the engine. `workers` are this project's own, and outlive the engine.
struct Joined {
  state::ProjectDirectory directory;
  state::Identity identity;
  transport::Workers* workers;
  std::shared_ptr<const transport::LinkMeter> link = {};  // of its transfers; none: nobody measures
  std::shared_ptr<io::RefusedTlsKeys> refused = {};  // that its connections obey; none: they obey nothing
  std::shared_ptr<io::PinnedTlsKey> pinned = {};  // of the relay that its connections take; none: of no relay
  state::Move move = {};        // to where the join code says when its relay is gone; none: it says nothing
  state::Move join_again = {};  // when the server does not know this host; none: it stays so
  state::Move part = {};        // to a number of its own, when it is a copy; none: it stays one
};

// What this host is to its project.
enum class Standing {
  served,
  unknown,  // the server does not know it: it joins again
  copy,     // another computer uses its identity: deliver finished results, then join as a new host
  revoked,  // only a person helps
};

// What a server's answers ask of slots.
struct SlotOrders {
  std::vector<protocol::UnitOrder> units;
  bool end_kernels = false;  // the project no longer knows this host
  // What the root key has taken back: they end at once, and with them all kernels that wait for a unit.
  std::vector<UnitId> revoked;
  bool end_idle_kernels = false;
};

// What the owner allows a project.
struct OwnerTerms {
  double share = 1;        // of this computer, beside the others'; 0: no new work
  bool suspended = false;  // nothing is computed; results are still delivered
  std::string no_network;  // why nothing may be fetched or uploaded; empty: it may
  std::int64_t bytes_left = transport::TransferAllowance::any;  // that may cross the line
  // With a relay that does not answer.
  Duration relay_patience = std::chrono::hours{72};
};

class Membership {
 public:
  // `slots`: how many the engine has.
  Membership(Services& services, Joined joined, int slots);

  // Loads what an earlier run left; its units go to the slots from `next_slot` on, in turn. Call once, first.
  [[nodiscard]] Status open(int& next_slot);

  // The parts of a tick, in order. Applies what the server answered.
  [[nodiscard]] SlotOrders apply_answers(SteadyTime now);
  void prepare(SteadyTime now, Alarm& alarm);
  // Until `piggyback_until` a last result waits for a work request to go with.
  void deliver(SteadyTime now, SteadyTime piggyback_until, Closing closing, Alarm& alarm);
  // What is to be said to the server now. REQUIRES of all that follow: it is what is due.
  [[nodiscard]] Exchange due(bool work_wanted, SteadyTime now, Alarm& alarm) const;
  // `request` says all but the commits and saved items that go along, and of speeds all but the link's.
  void request_work(protocol::WorkRequest request, SteadyTime now);
  void send_heartbeat(protocol::HeartbeatRequest request, SteadyTime now);
  // Is it time to report this computer's readings again?
  [[nodiscard]] bool readings_due(SteadyTime now) const { return now >= readings_at_; }
  void send(Exchange other, SteadyTime now);

  void secure_units();  // all that was computed is durable after
  void set_terms(OwnerTerms terms);
  void set_cache(std::int64_t cache_bytes_max, std::int64_t free_bytes_min);
  void heartbeat_soon(SteadyTime now) { session_.heartbeat_soon(now); }
  void forget_waits(SteadyTime now) { session_.forget_waits(now); }

  [[nodiscard]] const state::ProjectNames& names() const { return names_; }
  [[nodiscard]] const state::Identity& identity() const { return identity_; }
  [[nodiscard]] UnitBook& units() { return units_; }
  [[nodiscard]] const UnitBook& units() const { return units_; }
  [[nodiscard]] bool holds(const Unit& unit) const;
  // Is a certificate that the unit needs not valid yet, by this computer's clock? REQUIRES: trusted().
  [[nodiscard]] bool clock_is_early(const Unit& unit) const;
  // Again at every start: a certificate may have run out, the disk may have been changed.
  [[nodiscard]] Status check(const Unit& unit) const;
  // Is there a project document that holds? Without, nothing is started.
  [[nodiscard]] bool trusted() const { return trust_.knows_project(); }
  [[nodiscard]] const ServerSession& session() const { return session_; }
  [[nodiscard]] const Deliveries& deliveries() const { return deliveries_; }
  [[nodiscard]] Standing standing() const { return standing_; }
  [[nodiscard]] const OwnerTerms& terms() const { return terms_; }
  // Another place of the project serves this host: nothing more is said here, a new start is due.
  [[nodiscard]] bool moved() const { return moved_; }
  [[nodiscard]] bool settled() const;
  [[nodiscard]] Duration preparation() const { return preparation_.mean(); }
  [[nodiscard]] std::optional<transport::TransferProgress::View> fetching() const {
    return preparation_.fetching();
  }

  // May a slot ask for its next unit here now?
  [[nodiscard]] bool askable(SteadyTime now, bool urgent) const;
  // That the server told of last.
  [[nodiscard]] const std::vector<ProblemStatus>& problems() const { return problems_; }
  // Over its link, in both directions, since the client started.
  [[nodiscard]] std::int64_t moved_bytes() const { return link_ ? link_->moved() : 0; }

 private:
  void load_units(int& next_slot);
  void take(ProjectRenewed& event, SlotOrders& orders, SteadyTime now);
  void take(FailureAnswered& event, SlotOrders& orders, SteadyTime now);
  void take(WorkAnswered& event, SlotOrders& orders, SteadyTime now);
  void take(HeartbeatAnswered& event, SlotOrders& orders, SteadyTime now);
  // Was it said to the host that this was, since it has just joined anew? Then it starts anew, too.
  [[nodiscard]] bool joined_anew() const;
  void take(HostRevoked& event, SlotOrders& orders, SteadyTime now);
  void take(HostUnknown& event, SlotOrders& orders, SteadyTime now);
  void take(HostCopied& event, SlotOrders& orders, SteadyTime now);
  void end_all(SlotOrders& orders);
  void take(Moved& event, SlotOrders& orders, SteadyTime now);
  void save_silence();
  [[nodiscard]] bool must_move(SteadyTime now) const;
  void send_move();
  void take_relay(transport::Relay relay);
  void take_grant(const Granted& granted, int slot, SteadyTime now);
  void take_acknowledgement(const protocol::SignedStatement& statement, SteadyTime now);
  // By a work key that the project's document does not know: that is fetched, once for each key, before what
  // the key signed is judged.
  [[nodiscard]] bool must_wait_for_key(const Bytes& key);
  [[nodiscard]] bool must_wait_for_keys(const Granted& granted);  // REQUIRES: the project is known
  void refuse(UnitId unit, protocol::FailureKind kind, const std::string& message);
  void give_back(UnitId unit, const Error& disk);
  void hear_of_revocations(std::optional<std::int64_t> number);
  void take_revocations(SlotOrders& orders);
  void take_progress(const std::vector<protocol::ProblemProgress>& progress);
  [[nodiscard]] std::vector<protocol::SavedItem> take_saved();
  [[nodiscard]] bool relay_to_be_renewed() const;
  void plan_relay_renewal();

  Services& services_;
  int slots_;
  state::ProjectDirectory directory_;
  state::Identity identity_;
  state::ProjectNames names_;
  Trust trust_;
  UnitBook units_;
  GrantContexts contexts_;
  transport::TransferAllowance allowance_;
  Deliveries deliveries_;
  UnitPreparation preparation_;
  ServerSession session_;
  SpeedReporter speeds_;
  SteadyTime readings_at_{};  // reported again from then on
  std::shared_ptr<const transport::LinkMeter> link_;
  std::shared_ptr<io::RefusedTlsKeys> refused_;
  std::shared_ptr<io::PinnedTlsKey> pinned_;
  state::Move move_, join_again_, part_;
  bool moved_ = false;
  OwnerTerms terms_;
  std::vector<ProblemStatus> problems_;
  std::optional<Timestamp> relay_renewal_;  // not before; none: the server is no relay
  Bytes doubted_key_;                       // the last that was not known
  bool awaits_document_ = false;
  std::vector<std::pair<Granted, int>> doubted_grants_;  // of the last answer; their slots
  bool gives_back_ = false;  // the server is to be told what is held, since a unit that it gave is not
  Standing standing_ = Standing::served;
};

}  // namespace gleaner::engine
