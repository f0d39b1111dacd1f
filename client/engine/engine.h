// The client's engine: a loop of tick() and wait_time() around slots (kernels) and the projects that they
// compute for (membership.h). The caller waits for waitables() and calls tick() when one is ready or
// wait_time() has passed. A tick runs in one direction: apply what has arrived (from servers, kernels and
// the owner), decide what runs, and tell the servers what is wanted; nothing calls back into it. Everything
// runs on the calling thread except what goes through Workers. The state on disk is complete at every
// instant: a kill loses at most the item in progress, and a power failure what the page cache held since the
// last cut.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/benchmark/measurements.h"
#include "client/engine/free_space.h"
#include "client/engine/memberships.h"
#include "client/engine/outside_watch.h"
#include "client/engine/owner_notices.h"
#include "client/engine/owner_watch.h"
#include "client/engine/project_accounts.h"
#include "client/engine/readings_meter.h"
#include "client/engine/slots.h"
#include "client/engine/traffic.h"
#include "client/policy/calendar_watch.h"
#include "client/policy/prefetch.h"
#include "client/policy/run_decision.h"
#include "client/settings/owner_settings.h"
#include "client/state/controls.h"

namespace gleaner::engine {

class Engine final {
 public:
  // REQUIRES: at least one project; no two of them with the same key.
  Engine(Services services, std::vector<Joined> projects);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Loads what an earlier run left. Call once, first.
  [[nodiscard]] Status open();
  void tick();
  // How long until tick() is needed although nothing became ready; at most ten minutes.
  [[nodiscard]] Duration wait_time() const;
  // Ready ones mean that tick() has something to do.
  [[nodiscard]] std::vector<io::Waitable> waitables() const;

  // Stops kernels and delivers what is finished, as far as the server answers; settled() says when that is
  // done.
  void stop();
  [[nodiscard]] bool settled() const;
  // A project is served by another of its places from now on: stop, and start anew.
  [[nodiscard]] bool moved() const;

  // The owner's commands (gleaner): kept over restarts.
  // `at`: at once, or each kernel when it has saved what it computes: its checkpoint, or its item.
  enum class PauseAt { once, saved };
  [[nodiscard]] Status pause(std::optional<Duration> length, PauseAt at = PauseAt::once);
  [[nodiscard]] Status resume();  // from a pause, from finish, from being switched off
  [[nodiscard]] Status finish();
  // When a pause of this length ends, by this computer's clock: "18:30", "Monday 8:00", "2026-12-24 18:00".
  [[nodiscard]] std::string end_text(Duration length) const;
  // The owner's preferences, from the start or changed; they hold from the next tick on.
  void set_owner_settings(const settings::OwnerSettings& owner_settings);
  // What kernels find on this computer from now on: told with the next request.
  void set_capabilities(std::vector<std::string> capabilities) {
    services_.settings.capabilities = std::move(capabilities);
  }
  [[nodiscard]] EngineStatus status() const;

 private:
  // What came.
  void yield_at_once(SteadyTime now);
  void note_calendar(SteadyTime now);
  void apply_answers(SteadyTime now);
  void end_at_once(Unit& unit, SteadyTime now);
  void end_forbidden(SteadyTime now);
  void apply_order(const protocol::UnitOrder& order, Unit& unit, SteadyTime now);
  // What runs.
  void decide(SteadyTime now);
  [[nodiscard]] std::vector<client_policy::Signal> signals(SteadyTime now);
  void set_terms();
  // Why nothing may be fetched or delivered; empty: it may.
  [[nodiscard]] std::string no_network() const;
  void apply_decision(SteadyTime now);
  void await_saved();
  [[nodiscard]] bool saved(const Slot& slot) const;
  void secure_before_sleep();
  void give_back(SteadyTime now);
  void start_units(SteadyTime now);
  struct Waiting {
    Membership* project = nullptr;
    Unit* unit = nullptr;
  };
  // What is left of a pause that the owner asked for; max(): until resumed.
  [[nodiscard]] std::optional<Duration> pause_left() const;
  void set_pause_end();
  // A unit that waits for this slot: the oldest of the project that is to be served next.
  [[nodiscard]] Waiting next_for(const Slot& slot) const;
  // Must its slot make room for units of other projects?
  [[nodiscard]] bool must_give_way(const Unit& unit) const;
  // What is said.
  void exchange(SteadyTime now);
  [[nodiscard]] std::vector<client_policy::PrefetchView> prefetch_views(SteadyTime now) const;
  // For each project the slots that want a unit of it now.
  [[nodiscard]] std::vector<std::vector<protocol::SlotRequest>> wanted(
      const std::vector<client_policy::PrefetchView>& views, SteadyTime now);
  [[nodiscard]] bool asked_already(const Slot& slot, SteadyTime now) const;
  [[nodiscard]] protocol::WorkRequest work_request(const Membership& project) const;
  [[nodiscard]] std::vector<protocol::UnitReport> reports(const Membership& project, SteadyTime now) const;
  // Of this computer; nothing while the project need not be told.
  [[nodiscard]] std::optional<protocol::Readings> readings(const Membership& project, SteadyTime now);
  void set_alarms(SteadyTime now);
  void limit_caches();

  Services services_;
  std::vector<transport::Workers*> workers_;  // the engine's and the projects', each once
  Memberships projects_;
  ProjectAccounts accounts_;
  Traffic traffic_;
  Slots slots_;
  state::Controls controls_;
  settings::OwnerSettings owner_settings_;
  OwnerWatch owner_;
  OwnerNotices notices_;
  OutsideWatch outside_;
  FreeSpace disk_;
  benchmark::Measurements measurements_;
  ReadingsMeter readings_meter_;
  client_policy::CalendarWatch calendar_;
  client_policy::RunDecision decision_;
  Alarm alarm_;
  bool stopping_ = false;
  bool secured_ = false;  // for this sleep
  // When a pause of some length ends at the latest, whatever is done to the calendar meanwhile.
  SteadyTime pause_end_{};
  // While a pause waits for saved points: slots that have reached none, and how many each had reached before.
  std::map<int, std::int64_t> unsaved_;
  SteadyTime opened_{};
};

}  // namespace gleaner::engine
