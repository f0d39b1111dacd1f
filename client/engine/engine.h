// The client's engine: a loop of tick() and wait_time() around slots (kernels), units on disk, preparations,
// deliveries and the conversation with the server. The owner polls descriptors() and calls tick() when one is
// readable or wait_time() is over. Everything runs on the calling thread but what goes through Workers. State
// on disk is complete at every instant: a kill loses at most the item in progress and what a power cut takes
// from the page cache since the last cut.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/controls.h"
#include "client/engine/deliveries.h"
#include "client/engine/identity.h"
#include "client/engine/slot.h"
#include "client/engine/status.h"
#include "client/engine/talk.h"
#include "client/engine/wishes.h"
#include "client/policy/owner.h"
#include "client/policy/prefetch.h"
#include "client/policy/run_decision.h"

namespace gleaner::engine {

class Engine final : private TalkOwner {
 public:
  Engine(Services services, Identity identity);
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
  // TalkOwner
  std::vector<protocol::SlotRequest> wanted(SteadyTime now) override;
  std::vector<protocol::UnitReport> reports(SteadyTime now) override;
  void describe(protocol::WorkRequest& request, SteadyTime now) override;
  void take_grants(const protocol::WorkReply& reply, SteadyTime now) override;
  void take_orders(const std::vector<protocol::UnitOrder>& orders, SteadyTime now) override;
  void revoked(const std::string& reason) override;
  void project_known(const protocol::SignedStatement& statement) override;

  void take_progress(const std::vector<protocol::ProblemProgress>& progress);
  void take_grant(const protocol::SignedStatement& statement, int slot, SteadyTime now);
  void take_order(Unit& unit, const protocol::UnitOrder& order, SteadyTime now);
  void load_units();
  void decide(SteadyTime now);
  void apply_decision(SteadyTime now);
  void yield_at_once(SteadyTime now);
  void give_back(SteadyTime now);
  void secure_units();
  void prepare_units(SteadyTime now);
  void submit_preparation(Unit& unit, TrustedGrant trusted);
  void prepared(UnitId id, Result<Prepared> outcome, SteadyTime now);
  [[nodiscard]] std::optional<Prepared> prepared_already(const Unit& unit) const;
  void start_units(SteadyTime now);
  void note_calendar(SteadyTime now);
  void start_benchmark(SteadyTime now);
  [[nodiscard]] client_policy::PrefetchView prefetch_view(const Slot& slot, SteadyTime now) const;
  [[nodiscard]] Slot* slot_of(const Unit& unit) const;
  [[nodiscard]] Unit* next_for(const Slot& slot) const;
  [[nodiscard]] int cores_in_use() const;
  [[nodiscard]] std::string explain(SteadyTime now) const;
  [[nodiscard]] std::vector<client_policy::Signal> signals() const;
  void ask_owner(std::vector<client_policy::Signal>& signals, SteadyTime now);

  Services services_;
  Identity identity_;
  Trust trust_;
  UnitBook units_;
  Warehouse warehouse_;  // used on the data lane only
  Deliveries deliveries_;
  Talk talk_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<ProblemStatus> problems_;  // that the server told of last
  Controls controls_;
  Wishes wishes_;
  client_policy::OwnerPolicy owner_;
  std::vector<std::string> observed_;  // in words
  std::string no_network_;             // why nothing may be fetched or delivered; empty: it may
  client_policy::RunDecision decision_;
  Alarm alarm_;
  std::optional<std::string> revoked_;
  std::optional<std::string> disk_low_;
  SteadyTime disk_checked_{};
  bool stopping_ = false;
  std::optional<protocol::Benchmark> benchmark_;
  bool benchmark_running_ = false;
  SteadyTime benchmark_at_{};
  double foreign_unloaded_ = 0;
  Duration preparation_{0};  // recent mean, from grant to ready
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
