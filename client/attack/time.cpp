// Processor time that its owner did not give: while it is stopped, and on more processors than agreed.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "client/attack/attacks.h"

namespace gleaner::attack {
namespace {

constexpr double held_seconds = 1.5;   // how long an attack waits for what is stopped
constexpr double pause_seconds = 2.0;  // as gleaner-client sandbox answers "log pause"
constexpr double noticed = 0.1;        // less is the moment until a stop is seen

double seconds_of(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double now() {
  return seconds_of(CLOCK_MONOTONIC);
}

void sleep_for(double seconds) {
  ::usleep(static_cast<useconds_t>(1e6 * seconds));
}

[[noreturn]] void spin() {
  for (volatile long turns = 0;;) turns = turns + 1;
}

// SIGCONT every 10 ms if a timer can send it.
bool continue_by_timer() {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  itimerspec often{};
  often.it_interval.tv_nsec = often.it_value.tv_nsec = 10'000'000;
  int timer = 0;
  return ::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 &&
         ::syscall(SYS_timer_settime, timer, 0, &often, nullptr) == 0;
}

void die_in(double seconds) {
  itimerval once{};
  once.it_value.tv_usec = static_cast<suseconds_t>(1e6 * seconds);
  (void)::setitimer(ITIMER_REAL, &once, nullptr);
}

// A process with a pipe on which it can tell the numbers of others.
struct Child {
  pid_t pid = -1;
  int told = -1;
};

template <typename Run>
Child start(const Run& run) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    run(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

// How long `watched` runs although it and `others` were stopped.
std::string stop_and_watch(pid_t watched, const std::vector<pid_t>& others) {
  clockid_t clock{};
  if (watched <= 0 || ::clock_getcpuclockid(watched, &clock) != 0) return "held: nothing could be started";
  for (const pid_t one : others) ::kill(one, SIGSTOP);
  ::kill(watched, SIGSTOP);
  sleep_for(0.05);
  const double before = seconds_of(clock);
  sleep_for(held_seconds);
  const double used = seconds_of(clock) - before;
  for (const pid_t one : others) ::kill(one, SIGKILL);
  ::kill(watched, SIGKILL);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f s of %.1f while it was stopped", used, held_seconds);
  return (used <= noticed ? "held: " : "open: ") + std::string(text);
}

std::string wake_by_timers(const Target&) {
  const Child child = start([](int) {
    for (const int number : {SIGALRM, SIGVTALRM, SIGPROF}) ::signal(number, [](int) {});
    itimerval often{};
    often.it_interval.tv_usec = often.it_value.tv_usec = 10'000;
    for (const int kind : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) (void)::setitimer(static_cast<__itimer_which_t>(kind), &often, nullptr);
    (void)continue_by_timer();
    spin();
  });
  sleep_for(0.1);
  return stop_and_watch(child.pid, {});
}

// What ends while it is stopped, by a timer, sends its parent the signal that clone() was told.
std::string wake_by_child(const Target&) {
  const Child parent = start([](int tell) {
    for (const int signal : {SIGCONT, SIGCHLD, 0}) {
      const long child = ::syscall(SYS_clone, signal, 0, 0, 0, 0);
      if (child == 0) {
        die_in(0.6);
        spin();
      }
      const pid_t told = static_cast<pid_t>(child);
      if (child > 0 && ::write(tell, &told, sizeof told) != sizeof told) break;
    }
    ::close(tell);
    spin();
  });
  std::vector<pid_t> children;
  for (pid_t child = 0; ::read(parent.told, &child, sizeof child) == sizeof child;) children.push_back(child);
  return stop_and_watch(parent.pid, children);
}

// And its children the signal that they asked for.
std::string wake_by_parent(const Target&) {
  const Child parent = start([](int tell) {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGCONT);
      if (::getppid() == self && ::write(tell, &self, 1) == 1) ::close(tell);
      spin();
    }
    if (::write(tell, &child, sizeof child) != sizeof child) return;
    ::close(tell);
    die_in(0.6);
    spin();
  });
  // The child's number, and the byte that says that it is ready, in any order: closed when both are there.
  char bytes[16] = {};
  std::size_t all = 0;
  for (ssize_t got = 0; all < sizeof bytes && (got = ::read(parent.told, bytes + all, sizeof bytes - all)) > 0;)
    all += static_cast<std::size_t>(got);
  return all == 0 ? "held: nothing could be started" : "held: 0";
}

}  // namespace
}  // namespace gleaner::attack
