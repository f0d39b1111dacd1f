#include "client/platform/cpu_limiter.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "client/platform/kernel_control.h"
#include "client/policy/cpu_share.h"
#include "client/policy/cpu_turns.h"
#include "shared/io/standstill.h"

namespace gleaner::platform {
namespace {

using SteadyClock = std::chrono::steady_clock;
using client_policy::CpuShare;
using client_policy::Slice;
using client_policy::SlicedKernel;
using io::Standstill;

constexpr auto never = SteadyClock::time_point::max();
// Below a full share: a kernel that uses no CPU at all is looked at less often. What it uses unseen is a debt
// like any other, but a burst: it may only have been waiting for its core.
constexpr Duration look_at_idle = std::chrono::milliseconds{40};
constexpr Duration look_at_stopped = std::chrono::milliseconds{200};
// At a full share: one that keeps to its processors.
constexpr Duration look_at_honest = std::chrono::seconds{1};
// Readings are up to a tick late for each processor, and a kernel that just fills its processors is not
// sliced for that.
constexpr Duration tolerance = std::chrono::milliseconds{10};

struct Member {
  Member(const host::KernelTree& kernel, double share)
      : control(kernel), controller(share * kernel.threads), threads(kernel.threads) {}
  [[nodiscard]] bool held() const { return paused || stopped; }

  KernelControl control;
  CpuShare controller;
  Standstill standstill;
  int threads;
  bool paused = false;
  bool stopped = false;         // by the controller
  bool waits = false;           // for its turn
  std::string offence;          // it was killed for it
  std::optional<Duration> cpu;  // at the last look, if there was one
  SteadyClock::time_point seen;
  SteadyClock::time_point next = never;  // when to look again
  Duration interval = CpuShare::slice;
};

}  // namespace

struct CpuLimiter::State {
  // What every kernel may use altogether without being looked at.
  const double processors = processors_online();

  [[nodiscard]] bool needs_looks(const Member& member) const {
    if (!member.offence.empty()) return false;
    return member.paused ? !member.control.frozen() : share * member.threads < processors;
  }

  // Pauses or stops begin and end here only.
  static void hold(Member& member, bool& reason, bool wanted) {
    const bool before = member.held();
    reason = wanted;
    if (member.held() == before) return;
    if (!wanted) return member.control.resume();
    member.control.stop();
    member.standstill.begin(member.threads);
  }

  // What was used until the next look is neither credit nor debt. That look is the thread's: the caller has
  // no time to lose.
  void start_counting(Member& member) {
    member.cpu.reset();
    member.waits = false;
    member.next = never;
    if (!needs_looks(member)) return;
    member.interval = member.paused ? Standstill::interval_min : CpuShare::slice;
    member.next = SteadyClock::now() + (member.paused ? member.interval : Duration{0});
    if (!thread.joinable()) thread = std::thread([this] { run(); });
    wake.notify_all();
  }

  void look(Member& member, SteadyClock::time_point now) {
    const std::optional<Duration> before = member.cpu;
    member.cpu = member.control.used();
    if (!member.cpu) {  // it ended; the engine will say remove()
      member.next = now + look_at_stopped;
      return;
    }
    const SteadyClock::time_point seen = std::exchange(member.seen, now);
    member.next = now + member.interval;
    if (!before) return member.control.forget();
    const auto elapsed = std::chrono::duration_cast<Duration>(now - seen);
    // A wrong reading must not stop it for ever.
    const Duration possible = from_seconds(processors * to_seconds(elapsed)) + tolerance;
    const Duration consumed = std::min(*member.cpu - *before, possible);
    if (member.held() && !member.control.frozen()) check_standstill(member, consumed);
    if (!member.held()) member.standstill.ran(elapsed);
    if (!member.offence.empty()) {
      member.next = never;
      return;
    }
    if (member.paused) {
      member.interval = std::min<Duration>(member.interval * 2, Standstill::interval_max);
    } else {
      const Duration lost = member.stopped ? Duration{0} : member.control.lost(elapsed);
      slice(member, elapsed, consumed + lost);
    }
    member.next = now + member.interval;
  }

  static void check_standstill(Member& member, Duration consumed) {
    switch (member.standstill.look(consumed)) {
      case Standstill::Verdict::still:
        return;
      case Standstill::Verdict::stop_again:
        return member.control.stop();
      case Standstill::Verdict::end:
        member.offence = member.standstill.words();
        return member.control.end();
    }
  }

  // Those that are not paused, and their places in `found`.
  [[nodiscard]] std::vector<SlicedKernel> sliced(std::vector<Member*>& found) {
    std::vector<SlicedKernel> all;
    for (auto& [tree, member] : members) {
      if (member.paused || !member.offence.empty()) continue;
      all.push_back({member.threads, !member.stopped, member.waits, member.controller.balance()});
      found.push_back(&member);
    }
    return all;
  }

  [[nodiscard]] bool waits_for_turn(Member& beginner) {
    std::vector<Member*> found;
    const std::vector<SlicedKernel> all = sliced(found);
    const auto place = std::ranges::find(found, &beginner) - found.begin();
    return client_policy::must_wait(all, static_cast<std::size_t>(place), share);
  }

  void begin_next() {
    std::vector<Member*> found;
    if (const auto next = client_policy::next_turn(sliced(found)))
      found[*next]->next = SteadyClock::time_point::min();
  }

  void slice(Member& member, Duration elapsed, Duration consumed) {
    const bool full = share >= 1;
    Slice decision = member.controller.next(elapsed, consumed);
    if (full && !member.stopped && member.controller.balance() > -tolerance) decision = Slice::run;
    const bool stop = decision == Slice::stop;
    const bool begins = member.stopped && !stop;
    member.waits = begins && waits_for_turn(member);
    if (member.waits) {
      member.interval = CpuShare::slice;
      return;
    }
    const bool ends = stop && !member.stopped;
    hold(member, member.stopped, stop);
    if (ends) begin_next();
    if (stop) {
      member.interval = std::clamp<Duration>(member.controller.until_credit(), std::chrono::milliseconds{1},
                                             look_at_stopped);
      return;
    }
    const Duration longest = full ? look_at_honest : look_at_idle;
    const bool rarely = !begins && (full || consumed <= Duration{0});
    member.interval =
        rarely ? std::clamp<Duration>(member.interval * 2, CpuShare::slice, longest) : CpuShare::slice;
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!ending) {
      const auto now = SteadyClock::now();
      auto next = never;
      for (auto& [tree, member] : members)
        if (member.next <= now) look(member, now);
      for (const auto& [tree, member] : members) next = std::min(next, member.next);
      if (next == never)
        wake.wait(lock);
      else
        wake.wait_until(lock, next);
    }
  }

  mutable std::mutex mutex;  // guards all below
  std::condition_variable wake;
  std::map<io::TreeHandle, Member> members;
  double share = 1;
  bool ending = false;
  std::thread thread;
};

CpuLimiter::CpuLimiter() : state_(std::make_unique<State>()) {}

CpuLimiter::~CpuLimiter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    for (auto& [tree, member] : state_->members)
      if (member.held()) member.control.resume();
  }
  state_->wake.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void CpuLimiter::add(const host::KernelTree& kernel) {
  const std::lock_guard lock(state_->mutex);
  state_->members.erase(kernel.tree);
  Member& member = state_->members.try_emplace(kernel.tree, kernel, state_->share).first->second;
  state_->start_counting(member);
}

void CpuLimiter::remove(io::TreeHandle tree) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(tree);
  if (found == state_->members.end()) return;
  found->second.control.thaw();  // what joins the control group next is to run
  state_->members.erase(found);
}

void CpuLimiter::pause(io::TreeHandle tree) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(tree);
  if (found == state_->members.end() || found->second.paused) return;
  State::hold(found->second, found->second.paused, true);
  state_->start_counting(found->second);
}

void CpuLimiter::resume(io::TreeHandle tree) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(tree);
  if (found == state_->members.end() || !found->second.paused) return;
  State::hold(found->second, found->second.paused, false);
  state_->start_counting(found->second);
}

void CpuLimiter::set_share(double share) {
  const std::lock_guard lock(state_->mutex);
  if (share == state_->share) return;
  state_->share = share;
  for (auto& [tree, member] : state_->members) {
    member.controller = CpuShare(share * member.threads);
    State::hold(member, member.stopped, false);
    state_->start_counting(member);
  }
}

std::string CpuLimiter::offence(io::TreeHandle tree) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(tree);
  return found == state_->members.end() ? std::string() : found->second.offence;
}

}  // namespace gleaner::platform
