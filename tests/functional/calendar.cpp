// Another date for a program that is started with this library preloaded: GLEANER_CALENDAR names a file that
// holds a number of seconds, which are added to the real time of day, and which may change while the program
// runs. Steady clocks, timers and the times of files stay as they are. (libfaketime, which does more, calls
// its allocator before it knows the time, and jemalloc asks for the time before it allocates.)
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>
#include <cstdlib>

namespace {

// Called from allocators and in signal handlers: nothing here allocates or locks.
long offset() {
  const char* path = ::getenv("GLEANER_CALENDAR");
  if (path == nullptr) return 0;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32] = {};
  const ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  return length > 0 ? ::strtol(text, nullptr, 10) : 0;
}

int now(clockid_t clock, timespec* time) {
  const long outcome = ::syscall(SYS_clock_gettime, clock, time);
  if (outcome == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
  return static_cast<int>(outcome);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  return now(clock, time);
}

int gettimeofday(timeval* time, void*) noexcept {
  timespec exact = {};
  const int outcome = now(CLOCK_REALTIME, &exact);
  *time = {exact.tv_sec, exact.tv_nsec / 1000};
  return outcome;
}

time_t time(time_t* into) noexcept {
  timespec exact = {};
  now(CLOCK_REALTIME, &exact);
  if (into != nullptr) *into = exact.tv_sec;
  return exact.tv_sec;
}

}  // extern "C"
