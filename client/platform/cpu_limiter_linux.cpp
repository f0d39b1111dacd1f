#include <signal.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "client/platform/cpu_limiter.h"
#include "client/policy/cpu_share.h"
#include "shared/io/process_tree.h"

namespace gleaner::platform {
namespace {

using SteadyClock = std::chrono::steady_clock;
using client_policy::CpuShare;
using client_policy::Slice;

constexpr Duration look_least_often = std::chrono::milliseconds{200};
// A kernel that uses no CPU at all is looked at less often. What it uses unseen is a debt like any other, but
// a burst: it may only have been waiting for its core.
constexpr Duration look_at_idle = std::chrono::milliseconds{40};

struct Member {
  explicit Member(double share) : controller(share) {}
  CpuShare controller;
  int threads = 1;
  bool paused = false;
  bool stopped = false;  // by the controller
  Duration cpu{0};
  SteadyClock::time_point seen;
  SteadyClock::time_point next;  // when to look again
  Duration interval = CpuShare::slice;
};

}  // namespace

CpuReader tree_cpu_reader() {
  return [clocks = std::map<int, io::TreeClock>()](int process) mutable {
    const auto clock = clocks.try_emplace(process, process).first;
    const std::optional<Duration> used = clock->second.read();
    if (!used) clocks.erase(clock);
    return used;
  };
}

struct CpuLimiter::State {
  explicit State(CpuReader reader) : read_cpu(std::move(reader)) {}

  void send(int group, int signal_number) { ::kill(-group, signal_number); }  // gone already: nothing to do

  void slice(int group, Member& member, SteadyClock::time_point now) {
    const std::optional<Duration> cpu = read_cpu(group);
    if (!cpu) {  // it ended; the engine will say remove()
      member.next = now + look_least_often;
      return;
    }
    const Duration consumed = *cpu - member.cpu;
    const Slice decision =
        member.controller.next(std::chrono::duration_cast<Duration>(now - member.seen), consumed);
    member.cpu = *cpu;
    member.seen = now;
    const bool stop = decision == Slice::stop;
    if (stop != member.stopped) send(group, stop ? SIGSTOP : SIGCONT);
    member.stopped = stop;
    if (stop) {
      member.interval = std::clamp<Duration>(member.controller.until_credit(), std::chrono::milliseconds{1},
                                             look_least_often);
    } else {
      const bool idle = consumed <= Duration{0};
      member.interval = idle ? std::min(member.interval * 2, look_at_idle) : CpuShare::slice;
    }
    member.next = now + member.interval;
  }

  [[nodiscard]] bool slicing() const {
    return share < 1 && std::any_of(members.begin(), members.end(),
                                    [](const auto& entry) { return !entry.second.paused; });
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!ending) {
      if (!slicing()) {
        wake.wait(lock, [this] { return ending || slicing(); });
        continue;
      }
      const auto now = SteadyClock::now();
      auto next = now + look_least_often;
      for (auto& [group, member] : members) {
        if (member.paused) continue;
        if (member.next <= now) slice(group, member, now);
        next = std::min(next, member.next);
      }
      wake.wait_until(lock, next);
    }
  }

  void start_counting(int group, Member& member) {
    member.cpu = read_cpu(group).value_or(Duration{0});
    member.seen = member.next = SteadyClock::now();
    member.interval = CpuShare::slice;
  }

  CpuReader read_cpu;
  std::mutex mutex;  // guards all below
  std::condition_variable wake;
  std::map<int, Member> members;
  double share = 1;
  bool ending = false;
  std::thread thread;
};

CpuLimiter::CpuLimiter(CpuReader read_cpu) : state_(std::make_unique<State>(std::move(read_cpu))) {}

CpuLimiter::~CpuLimiter() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    for (auto& [group, member] : state_->members)
      if (member.paused || member.stopped) state_->send(group, SIGCONT);
  }
  state_->wake.notify_all();
  if (state_->thread.joinable()) state_->thread.join();
}

void CpuLimiter::add(int group, int threads) {
  const std::lock_guard lock(state_->mutex);
  Member member(state_->share * threads);
  member.threads = threads;
  state_->start_counting(group, member);
  state_->members.insert_or_assign(group, member);
  state_->wake.notify_all();
}

void CpuLimiter::remove(int group) {
  const std::lock_guard lock(state_->mutex);
  state_->members.erase(group);
}

void CpuLimiter::pause(int group) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(group);
  if (found == state_->members.end()) return;
  found->second.paused = true;
  state_->send(group, SIGSTOP);
}

void CpuLimiter::resume(int group) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->members.find(group);
  if (found == state_->members.end() || !found->second.paused) return;
  found->second.paused = false;
  state_->start_counting(group, found->second);  // the time in between is neither credit nor debt
  if (!found->second.stopped) state_->send(group, SIGCONT);
  state_->wake.notify_all();
}

void CpuLimiter::set_share(double share) {
  const std::lock_guard lock(state_->mutex);
  state_->share = share;
  for (auto& [group, member] : state_->members) {
    member.controller.set_share(share * member.threads);
    if (share >= 1 && member.stopped) {
      member.stopped = false;
      if (!member.paused) state_->send(group, SIGCONT);
    }
  }
  if (share < 1 && !state_->thread.joinable()) state_->thread = std::thread([this] { state_->run(); });
  state_->wake.notify_all();
}

}  // namespace gleaner::platform
