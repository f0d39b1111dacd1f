// The client's engine: a loop of tick() and wait_time() around slots (kernels) and the projects that they
// compute for (membership.h). The owner polls descriptors() and calls tick() when one is
// readable or wait_time() is over. Everything runs on the calling thread but what goes through Workers. State
// on disk is complete at every instant: a kill loses at most the item in progress and what a power cut takes
// from the page cache since the last cut.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/controls.h"
#include "client/engine/measurements.h"
#include "client/engine/membership.h"
#include "client/engine/wishes.h"
#include "client/policy/owner.h"
#include "client/policy/prefetch.h"
#include "client/policy/project_shares.h"

namespace gleaner::engine {

class Engine final : private SlotKeeper {
 public:
  // REQUIRES: at least one project; no two of them with the same key.
  Engine(Services services, std::vector<Joined> projects);
  ~Engine() override;

  // Loads what an earlier run left. Call once, first.
  [[nodiscard]] Status open();
  void tick();
  // How long until tick() is needed although nothing became readable; at most ten minutes.
  [[nodiscard]] Duration wait_time() const;
  // Readable ones mean that tick() has something to do.
  [[nodiscard]] std::vector<int> descriptors() const;

  // Stops kernels and delivers what is finished, as far as the server answers; settled() says when that is
  // done.
  void stop();
  [[nodiscard]] bool settled() const;

  // The owner's wishes (gleaner): kept over restarts.
  [[nodiscard]] Status pause(std::optional<Duration> length);
  [[nodiscard]] Status resume();  // from a pause, from finish, from being switched off
  [[nodiscard]] Status finish();
  // The owner's preferences, from the start or changed; they hold from the next tick on.
  void set_wishes(const Wishes& wishes);
  [[nodiscard]] EngineStatus status() const;

 private:
  // SlotKeeper
  std::vector<protocol::SlotRequest> slots_for(const Membership& project, SteadyTime now) override;
  void describe(protocol::WorkRequest& request, const Membership& project) override;
  Slot* slot_of(const Unit& unit) const override;
  int slot_count() const override { return static_cast<int>(slots_.size()); }
  const client_policy::RunDecision& decision() const override { return decision_; }
  void stop_kernels(const Membership& project, SteadyTime now) override;
  void orders_came(SteadyTime now) override { apply_decision(now); }
  void units_came(SteadyTime now) override;

  void decide(SteadyTime now);
  void apply_decision(SteadyTime now);
  void yield_at_once(SteadyTime now);
  void give_back(SteadyTime now);
  void check_disk(SteadyTime now);
  void limit_caches();
  void share_out();
  void charge_projects(SteadyTime now);
  void save_shares(SteadyTime now);
  void talk(SteadyTime now);
  void start_units(SteadyTime now);
  void note_calendar(SteadyTime now);
  [[nodiscard]] client_policy::PrefetchView prefetch_view(const Slot& slot, SteadyTime now) const;
  // A unit that waits for this slot: the oldest of the project that is to be served next.
  struct Waiting {
    Membership* project = nullptr;
    Unit* unit = nullptr;
  };
  [[nodiscard]] Waiting next_for(const Slot& slot) const;
  [[nodiscard]] Membership& owner_of(const Unit& unit) const;
  // Must its slot make room for units of other projects?
  [[nodiscard]] bool must_give_way(const Unit& unit) const;
  [[nodiscard]] bool several() const { return projects_.size() > 1; }
  [[nodiscard]] bool nothing_in_hand() const;
  [[nodiscard]] int cores_in_use() const;
  [[nodiscard]] std::string explain(SteadyTime now) const;
  [[nodiscard]] std::string computing() const;
  // With the project's name before it, if there are several.
  [[nodiscard]] std::string told(const Membership& project, const std::string& text) const;
  [[nodiscard]] std::string state_of(const Membership& project, SteadyTime now) const;
  [[nodiscard]] SlotStatus status_of(const Slot& slot, SteadyTime now) const;
  void add_project(EngineStatus& status, const Membership& project, SteadyTime now) const;
  [[nodiscard]] bool all_revoked() const;
  [[nodiscard]] std::vector<client_policy::Signal> signals() const;
  void ask_owner(std::vector<client_policy::Signal>& signals, SteadyTime now);

  Services services_;
  std::vector<Workers*> workers_;  // the engine's and the projects', each once
  std::vector<std::unique_ptr<Membership>> projects_;
  client_policy::ProjectShares shares_;
  SteadyTime shares_saved_{};
  std::vector<std::unique_ptr<Slot>> slots_;
  Controls controls_;
  Wishes wishes_;
  client_policy::OwnerPolicy owner_;
  std::vector<std::string> observed_;  // in words
  std::string no_network_;             // why nothing may be fetched or delivered; empty: it may
  client_policy::RunDecision decision_;
  Alarm alarm_;
  std::optional<std::string> disk_low_;
  SteadyTime disk_checked_{};
  bool stopping_ = false;
  Measurements measurements_;
  bool before_sleep_ = false;
  bool secured_ = false;  // for this sleep
  struct Leap {
    Duration by;
    SteadyTime at;
  };
  std::optional<Leap> leap_;  // of the calendar: the last one
  Timestamp calendar_;
  SteadyTime calendar_at_{};
  SteadyTime opened_{};
};

}  // namespace gleaner::engine
