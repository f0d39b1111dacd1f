// One core's place for a kernel: the process, the unit it computes, how fast. The process serves unit after
// unit of the same problem. Not thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/engine/services.h"
#include "client/engine/unit.h"
#include "client/policy/backoff.h"
#include "client/policy/rate.h"
#include "shared/contract/kernel_session.h"

namespace gleaner::engine {

class Slot {
 public:
  Slot(Services& services, int number) : services_(services), number_(number) {}
  ~Slot() { end_kernel(); }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] Unit* unit() const { return unit_; }
  [[nodiscard]] bool has_kernel() const { return session_ != nullptr; }
  [[nodiscard]] int output_descriptor() const;  // -1 without a kernel
  [[nodiscard]] int threads() const { return threads_; }
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
  [[nodiscard]] bool paused() const { return paused_; }
  [[nodiscard]] SteadyTime paused_at() const { return paused_at_; }  // REQUIRES: paused()
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
  [[nodiscard]] double item_share(SteadyTime now) const { return continued_ ? 0 : rate_.share(now); }

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
  static constexpr Duration watch_interval = std::chrono::seconds{1};

 private:
  // What was saved of a unit's next item: here, in checkpoint_of() the unit, or by the host that began the
  // unit's first item.
  struct Saved {
    enum class Where { nowhere, here, elsewhere } where = Where::nowhere;
    Bytes data;  // from elsewhere

    [[nodiscard]] bool any() const { return where != Where::nowhere; }
  };
  [[nodiscard]] Saved saved(const Unit& unit) const;
  [[nodiscard]] Status start_kernel(const Unit& unit, const Saved& saved);
  [[nodiscard]] io::Path checkpoint_of(const Unit& unit) const;
  [[nodiscard]] Status lay_out(const Unit& unit, const Saved& saved);  // where the kernel finds it
  void save_now_and_then(SteadyTime now);
  void keep_checkpoint(std::int64_t item, SteadyTime now);
  [[nodiscard]] Status move_checkpoint(const io::Path& to);
  [[nodiscard]] bool is_whole(const io::Path& checkpoint) const;
  void handle(const contract::KernelEvent& event, SteadyTime now);
  // What the kernel takes beyond what it may; empty if nothing.
  [[nodiscard]] std::string excess(const io::TreeUse& use) const;
  void fail_unit(protocol::FailureKind kind, const std::string& message, SteadyTime now);
  void account(SteadyTime now);  // CPU and running time go to the unit
  void release(SteadyTime now);

  Services& services_;
  int number_;
  std::unique_ptr<contract::KernelSession> session_;
  KernelLaunch launch_;         // of the running kernel; its bundle is its project's own
  ProblemId problem_;           // that it serves
  io::Path problem_directory_;  // told to it last
  int group_ = 0;
  int threads_ = 1;
  Unit* unit_ = nullptr;
  bool paused_ = false;
  SteadyTime paused_at_{};
  enum class Saving { no, asked, ended } saving_ = Saving::no;
  SteadyTime saving_until_{};
  bool continued_ = false;   // the item in progress goes on from where it was saved here
  bool save_asked_ = false;  // of a kernel that goes on
  SteadyTime saved_at_{};
  std::optional<io::Path> kept_;              // the unit's latest
  std::optional<SteadyTime> draining_until_;  // the kernel still works on a unit that was let go
  client_policy::LastMinuteRate rate_;
  client_policy::Backoff failures_;
  SteadyTime idle_since_{};
  SteadyTime start_at_{};
  SteadyTime accounted_{};
  Duration cpu_accounted_{0};
  Duration cpu_at_item_{0};
  Duration cpu_watched_{0};
  SteadyTime watched_{};
  Duration asleep_{0};
};

}  // namespace gleaner::engine
