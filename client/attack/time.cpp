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

bool set_timer(int signal, double first, double then) {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = signal;
  itimerspec when{};
  when.it_value.tv_nsec = static_cast<long>(1e9 * first);
  when.it_interval.tv_nsec = static_cast<long>(1e9 * then);
  int timer = 0;
  return ::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0 &&
         ::syscall(SYS_timer_settime, timer, 0, &when, nullptr) == 0;
}

// SIGCONT every 10 ms if a timer can send it. With a handler: the system forgets timers whose signal is
// ignored.
void continue_by_timer() {
  ::signal(SIGCONT, [](int) {});
  (void)set_timer(SIGCONT, 0.01, 0.01);
}

// Also while it is stopped, if a timer can send SIGKILL.
void die_in(double seconds) {
  if (set_timer(SIGKILL, seconds, 0)) return;
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
  if (::kill(watched, SIGSTOP) != 0) return "held: nothing can be stopped";
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
  const Child child = start([](int tell) {
    for (const int number : {SIGALRM, SIGVTALRM, SIGPROF}) ::signal(number, [](int) {});
    itimerval often{};
    often.it_interval.tv_usec = often.it_value.tv_usec = 10'000;
    for (const int kind : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF})
      (void)::setitimer(static_cast<__itimer_which_t>(kind), &often, nullptr);
    continue_by_timer();
    const pid_t self = ::getpid();
    if (::write(tell, &self, sizeof self) == sizeof self) spin();
  });
  pid_t ready = -1;
  if (::read(child.told, &ready, sizeof ready) != sizeof ready) return "held: nothing could be started";
  return stop_and_watch(child.pid, {});
}

// What ends while it is stopped, by a timer, sends its parent the signal that clone() was told.
std::string wake_by_child(const Target&) {
  const Child parent = start([](int tell) {
    for (const int signal : {SIGCONT, SIGCHLD, 0}) {
      const long child = ::syscall(SYS_clone, signal, 0, 0, 0, 0);
      if (child == 0) {
        die_in(0.6);
        const pid_t self = ::getpid();
        if (::write(tell, &self, sizeof self) == sizeof self) ::close(tell);
        spin();
      }
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
    die_in(0.6);
    if (::fork() == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGCONT);
      const pid_t child = ::getpid();
      if (::getppid() == self && ::write(tell, &child, sizeof child) == sizeof child) ::close(tell);
      spin();
    }
    ::close(tell);
    spin();
  });
  pid_t child = -1;
  if (::read(parent.told, &child, sizeof child) != sizeof child) return "held: nothing could be started";
  return stop_and_watch(child, {parent.pid});
}

// The whole of it is paused from outside, while its processes continue each other in every way. Each tells by
// its exit status whether it stood still. On a busy computer the pause comes late: each waits for it long.
std::string run_in_pause(const Target&) {
  constexpr int processes = 3;
  constexpr double gap = 0.2;  // shorter ones are other programs' turns
  // `last`: before anybody could know that it looks, since the pause may begin in that very moment.
  const auto stands_still = [](double last, const auto& meanwhile) {
    double still = 0;  // one may wake another for a moment before it is stopped itself
    for (const double end = last + 5 * pause_seconds; last < end;) {
      meanwhile();
      const double next = now();
      if (next - last > gap) still += next - last;
      if (still > pause_seconds / 2) return true;
      last = next;
    }
    return false;
  };
  Child children[processes];
  for (int number = 0; number < processes; ++number) {
    children[number] = start([&](int tell) {
      if (number == 0) continue_by_timer();
      if (number == 1) (void)::prctl(PR_SET_PDEATHSIG, SIGCONT);
      const double begun = now();
      if (::write(tell, "r", 1) != 1) ::_exit(1);
      const bool stood = stands_still(begun, [number] {
        if (number == 2) (void)::kill(0, SIGCONT);
      });
      ::_exit(stood ? 0 : 1);
    });
  }
  for (const Child& child : children) {  // none may sleep through the pause before it looks
    char ready = 0;
    if (child.pid > 0) (void)!::read(child.told, &ready, 1);
  }
  const double begun = now();
  std::cout << "log pause" << std::endl;
  int stood = stands_still(begun, [] {}) ? 1 : 0;
  for (const Child& child : children) {
    int status = 0;
    if (child.pid < 0 || (::waitpid(child.pid, &status, 0) == child.pid && status == 0)) ++stood;
  }
  return (stood == 1 + processes ? "held: " : "open: ") + std::to_string(stood) + " of " +
         std::to_string(1 + processes) + " processes stood still in a pause";
}

// Four processes for one processor; then four that start one after the other, and ignore their ends: nobody
// but a control group counts what they used.
std::string take_processors(const Target&) {
  constexpr double allowed = 1.25;
  constexpr double seconds = 3;
  std::string text = "held: ";
  for (const bool waited_for : {true, false}) {
    int ends[2];
    if (::pipe(ends) != 0) return "held: no pipe";
    if (!waited_for) ::signal(SIGCHLD, SIG_IGN);
    const double begin = now();
    for (int number = 0; number < 4; ++number) {
      if (::fork() != 0) continue;
      const double life = waited_for ? seconds : 0.02;
      do {
        int over[2];
        if (::pipe(over) != 0) ::_exit(1);
        const pid_t worker = waited_for ? 0 : ::fork();
        if (worker == 0) {
          for (const double end = now() + life; now() < end;) {
          }
          const double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
          ::_exit(::write(ends[1], &used, sizeof used) == sizeof used ? 0 : 1);
        }
        ::close(over[1]);
        char none = 0;
        if (worker > 0 && ::read(over[0], &none, 1) != 0) ::_exit(1);
        ::close(over[0]);
      } while (now() - begin < seconds);
      ::_exit(0);
    }
    ::close(ends[1]);
    double used = 0;
    for (double one = 0; ::read(ends[0], &one, sizeof one) == sizeof one;) used += one;
    ::close(ends[0]);
    const double passed = now() - begin;
    char words[80];
    std::snprintf(words, sizeof words, "%.2f processors%s", used / passed,
                  waited_for ? ", and " : " by short-lived processes");
    if (used / passed > allowed) text.replace(0, 4, "open");
    text += words;
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  ::signal(SIGCHLD, SIG_DFL);
  return text;
}

}  // namespace

std::vector<Attack> attacks_on_time() {
  return {{"continue itself by a timer", false, wake_by_timers},
          {"be continued by a child that ends", false, wake_by_child},
          {"be continued by a parent that ends", false, wake_by_parent},
          {"run in a pause", true, run_in_pause},
          {"use more processors than agreed", false, take_processors}};
}

}  // namespace gleaner::attack
