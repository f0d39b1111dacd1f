// All that belongs to one project: who this host is to it, what is believed of it, its units on disk, what
// they need, their deliveries and the conversation with its server. Slots are everybody's: the engine lends
// them (SlotKeeper). Runs on the engine's thread but for what goes through its own Workers, so that a server
// that stalls keeps no other waiting. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/deliveries.h"
#include "client/engine/identity.h"
#include "client/engine/link_meter.h"
#include "client/engine/projects.h"
#include "client/engine/slot.h"
#include "client/engine/status.h"
#include "client/engine/talk.h"
#include "client/policy/run_decision.h"

namespace gleaner::engine {

class Membership;

// What a membership asks of the engine.
class SlotKeeper {
 public:
  virtual ~SlotKeeper() = default;
  // Slots that want a unit of this project now.
  [[nodiscard]] virtual std::vector<protocol::SlotRequest> slots_for(const Membership& project,
                                                                     SteadyTime now) = 0;
  // Fills in what the host is and proposes.
  virtual void describe(protocol::WorkRequest& request, const Membership& project) = 0;
  [[nodiscard]] virtual Slot* slot_of(const Unit& unit) const = 0;
  [[nodiscard]] virtual int slot_count() const = 0;
  [[nodiscard]] virtual const client_policy::RunDecision& decision() const = 0;
  // Ends the kernels of a project that no longer knows this host.
  virtual void stop_kernels(const Membership& project, SteadyTime now) = 0;
  virtual void orders_came(SteadyTime now) = 0;  // units may have to hold, or to go on
  virtual void units_came(SteadyTime now) = 0;   // some may be ready for their kernels
};

// One project to serve, as given to the engine. `workers` are this project's own, and outlive the engine.
struct Joined {
  ProjectDirectory directory;
  Identity identity;
  Workers* workers;
  std::shared_ptr<const LinkMeter> link = {};  // of its transfers; none: nobody measures
};

class Membership final : private TalkOwner {
 public:
  Membership(Services& services, Joined joined, SlotKeeper& keeper);

  // Loads what an earlier run left; its units go to the slots from `next_slot` on, in turn. Call once, first.
  [[nodiscard]] Status open(int& next_slot);
  void prepare_units(SteadyTime now, Alarm& alarm);
  // Delivers and talks. `ride`: until then a last result waits for a work request.
  void tick(SteadyTime now, SteadyTime ride, Closing closing, Alarm& alarm);
  void secure_units();  // all that was computed is durable after

  // The owner's word: 0: no new work; suspended: nothing is computed, results are still delivered.
  void set_share(double share, bool suspended);
  void set_cache(std::int64_t cache_bytes_max, std::int64_t free_bytes_min);
  // Why nothing may be fetched or uploaded; empty: it may.
  void set_no_network(const std::string& why) { no_network_ = why; }

  [[nodiscard]] const std::string& key() const { return names_.key; }
  [[nodiscard]] const ProjectNames& names() const { return names_; }
  [[nodiscard]] const Identity& identity() const { return identity_; }
  [[nodiscard]] UnitBook& units() { return units_; }
  [[nodiscard]] const UnitBook& units() const { return units_; }
  [[nodiscard]] bool holds(const Unit& unit) const;
  // Again at every start: a certificate may have run out, the disk may have been changed.
  [[nodiscard]] Status check(const Unit& unit) const;
  [[nodiscard]] Talk& talk() { return talk_; }
  [[nodiscard]] const Talk& talk() const { return talk_; }
  [[nodiscard]] const Deliveries& deliveries() const { return deliveries_; }
  [[nodiscard]] const std::optional<std::string>& revoked() const { return revoked_; }
  [[nodiscard]] double share() const { return share_; }
  [[nodiscard]] bool suspended() const { return suspended_; }
  [[nodiscard]] bool settled() const;
  [[nodiscard]] Duration preparation() const { return preparation_; }

  // May a slot ask for its next unit here now?
  [[nodiscard]] bool askable(SteadyTime now, bool urgent) const;
  // Does it have work, as far as is known?
  [[nodiscard]] bool contends() const;
  // Core-seconds that units in hand will take, and those that are being asked for, as others took.
  [[nodiscard]] double ahead() const;
  [[nodiscard]] double unit_seconds() const { return unit_seconds_; }
  // Core-seconds computed since the last call.
  [[nodiscard]] double take_used();

  // In words: why it is not asked for work; why what is in hand is not computed; empty: nothing of the kind.
  [[nodiscard]] std::string unreachable() const;
  [[nodiscard]] std::string waiting_for() const;
  [[nodiscard]] std::string without_work(SteadyTime now) const;
  [[nodiscard]] ProjectStatus status() const;  // but for what only the engine knows
  // That the server told of last.
  [[nodiscard]] const std::vector<ProblemStatus>& problems() const { return problems_; }

 private:
  // TalkOwner
  std::vector<protocol::SlotRequest> wanted(SteadyTime now) override;
  std::vector<protocol::UnitReport> reports(SteadyTime now) override;
  std::vector<protocol::SavedItem> take_saved() override;
  void describe(protocol::WorkRequest& request, SteadyTime now) override;
  void take_grants(const protocol::WorkReply& reply, SteadyTime now) override;
  void take_orders(const std::vector<protocol::UnitOrder>& orders, SteadyTime now) override;
  void revoked(const std::string& reason) override;
  void project_known(const protocol::SignedStatement& statement) override;

  void load_units(int& next_slot);
  void take_grant(const protocol::SignedStatement& statement, int slot, SteadyTime now);
  void take_order(Unit& unit, const protocol::UnitOrder& order, SteadyTime now);
  void take_progress(const std::vector<protocol::ProblemProgress>& progress);
  void submit_preparation(Unit& unit, TrustedGrant trusted);
  void prepared(UnitId id, Result<Prepared> outcome, SteadyTime now);
  [[nodiscard]] std::optional<Prepared> prepared_already(const Unit& unit) const;

  Services& services_;
  Workers& workers_;
  SlotKeeper& keeper_;
  ProjectDirectory directory_;
  Identity identity_;
  ProjectNames names_;
  Server server_;
  Trust trust_;
  UnitBook units_;
  Warehouse warehouse_;  // used on the data lane only
  Deliveries deliveries_;
  Talk talk_;
  std::shared_ptr<const LinkMeter> link_;
  protocol::HostSpeeds told_speeds_, offered_speeds_;  // that the server has; that it was sent last
  std::vector<ProblemStatus> problems_;
  std::optional<std::string> revoked_;
  std::string no_network_;
  double share_ = 1;
  bool suspended_ = false;
  Duration preparation_{0};  // recent mean, from grant to ready
  double unit_seconds_ = 1;  // recent mean, of core-seconds
};

}  // namespace gleaner::engine
