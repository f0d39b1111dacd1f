// A slot for one kernel: combines the process (kernel_process.h), the unit being computed, its checkpoints
// (checkpoints.h), its rate and its accounting (computing_time.h). Not thread-safe.
#pragma once

#include <optional>
#include <string>

#include "client/engine/checkpoints.h"
#include "client/engine/computing_time.h"
#include "client/engine/kernel_process.h"
#include "client/engine/talk.h"
#include "client/policy/rate.h"

namespace gleaner::engine {

class Slot {
 public:
  Slot(Services& services, int number)
      : services_(services),
        number_(number),
        kernel_(services_, number),
        checkpoints_(services_.files, kernel_.directory()) {}

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] Unit* unit() const { return unit_; }
  [[nodiscard]] io::Waitable output_waitable() const { return kernel_.output_waitable(); }  // of its kernel
  [[nodiscard]] int threads() const { return kernel_.threads(); }
  [[nodiscard]] const client_policy::LastMinuteRate& rate() const { return rate_; }
  [[nodiscard]] SteadyTime start_at() const { return start_at_; }  // no unit before: the kernel failed lately

  // Gives the unit to a kernel: the running one if it serves that problem, else a new one. The caller has
  // verified the chain. On an error the unit has been failed. REQUIRES: unit() == nullptr,
  // unit.wants_kernel().
  [[nodiscard]] Status start(Unit& unit, SteadyTime now);
  // Stops the kernel, and does nothing else: pause() follows.
  void hold();
  void pause(SteadyTime now);
  void resume(SteadyTime now);
  [[nodiscard]] bool paused() const { return paused_at_.has_value(); }
  [[nodiscard]] SteadyTime paused_at() const { return *paused_at_; }  // REQUIRES: paused()
  // How often what is computed became safe: an item finished, or its checkpoint was kept.
  [[nodiscard]] std::int64_t saves() const { return saves_; }
  // Asks a running kernel that offers checkpoints for one.
  void save_soon(SteadyTime now);
  // Lets a paused kernel that offers checkpoints go on for just as long as it takes to save its item, before
  // take_away(); the next start() goes on from there. True while that is under way.
  [[nodiscard]] bool saving(SteadyTime now);
  // Somebody came meanwhile: it stands still at once, and is paused as if from now.
  void put_off_saving(SteadyTime now);
  // Takes the unit away at once; the kernel process ends. The unit stays as it is on disk.
  void take_away(SteadyTime now);
  // The same, but the kernel may end its item first, so that the process can be kept; see ready().
  void let_go(SteadyTime now);
  void trim(std::int64_t end);
  void end_kernel();
  // Can start() be called now?
  [[nodiscard]] bool ready(SteadyTime now);
  // When ready() or anything else of this slot must be looked at again, without the kernel saying anything.
  void set_alarm(Alarm& alarm) const;

  // Of the item in progress done, where that tells how fast it is computed here; 0: unknown.
  [[nodiscard]] double item_fraction(SteadyTime now) const {
    return continued_ ? 0 : rate_.fraction_done(now);
  }

  // The last that the kernel said which is no result; empty if none runs.
  [[nodiscard]] std::string output() const;

  // Moves bytes and handles what the kernel said. A finished or failed unit is handed back: unit() is null
  // after.
  void pump(SteadyTime now);
  // Every second: hang, memory, processes, disk use.
  void watch(SteadyTime now);
  [[nodiscard]] std::optional<Duration> remaining(SteadyTime now) const;

  static constexpr Duration let_go_patience = std::chrono::seconds{1};
  static constexpr Duration save_patience = std::chrono::seconds{2};
  static constexpr Duration idle_patience =
      std::chrono::minutes{1};  // a kernel without work gives its memory back
  // Of one item's kernels: how often the system or a person may kill one, or this computer fail to start one,
  // before others get the item.
  static constexpr int kills_tolerated = 2;

 private:
  [[nodiscard]] Status start_kernel(const Unit& unit, const Checkpoint& checkpoint, SteadyTime now);
  void save_now_and_then(SteadyTime now);
  void keep_checkpoint(std::int64_t item, SteadyTime now);
  void handle(const contract::KernelEvent& event, SteadyTime now);
  void finish_item(const contract::KernelEvent& event, SteadyTime now);
  void finish_unit(std::int64_t item, SteadyTime now);
  void handle_failure(const contract::KernelEvent& event, SteadyTime now);
  void try_again(const contract::KernelEvent& event, SteadyTime now);
  void fail_unit(protocol::FailureKind kind, const std::string& message, SteadyTime now);
  void account(SteadyTime now);  // CPU and running time go to the unit
  Unit& release(SteadyTime now);

  Services& services_;
  int number_;
  KernelProcess kernel_;
  Checkpoints checkpoints_;
  ComputingTime time_;
  Talk talk_;
  client_policy::LastMinuteRate rate_;
  Unit* unit_ = nullptr;
  std::optional<SteadyTime> paused_at_;
  enum class Saving { no, asked, ended } saving_ = Saving::no;  // before it is taken away
  SteadyTime saving_until_{};
  std::int64_t saves_ = 0;
  bool continued_ = false;                    // the item in progress goes on from where it was saved here
  std::optional<SteadyTime> draining_until_;  // the kernel still works on a unit that was let go
  std::int64_t memory_kills_ = 0;             // of the system, when the kernel was started
  client_policy::Backoff failures_;
  SteadyTime idle_since_{};
  SteadyTime start_at_{};
};

}  // namespace gleaner::engine
