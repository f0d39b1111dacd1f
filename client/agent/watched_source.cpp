#include "client/agent/watched_source.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>

namespace gleaner::agent {
namespace {

constexpr Duration remake_pause = std::chrono::seconds{1};
constexpr Duration end_patience = std::chrono::milliseconds{200};

// True if the bell rang before `until` and before there was something else to read.
bool rings(const io::Wakeup& bell, io::Waitable other, Duration wait) {
  const std::array both = {bell.waitable(), other};
  return io::wait_any(both, wait) == 0;
}

}  // namespace

struct WatchedSource::Shared {
  io::Wakeup news, stop;
  std::mutex mutex;
  std::condition_variable told;
  // The rest under the mutex.
  SessionReport said;
  SteadyTime said_at{};  // and therefore there
  SteadyTime due{};      // the next word, at the latest
  bool opened = false;
  std::optional<Error> over;
  bool ended = false;  // the thread

  // Of the thread alone: when the word last changed, and when to probe.
  SteadyTime changed_at{}, probe_at = SteadyTime::max();

  explicit Shared(SteadyTime now) : said_at(now) { changed(now); }
  void changed(SteadyTime now) {
    changed_at = now;
    probe_at = std::min(probe_at, now + probe_interval_min);
    due = probe_at + answer_patience;
  }
  void probed(SteadyTime now) {
    const auto held = std::chrono::duration_cast<Duration>(now - changed_at);
    const bool waits = !said.missing.empty();
    probe_at = now + (waits ? probe_interval_min : std::clamp(held, probe_interval_min, probe_interval_max));
  }
  void publish(SessionReport report, SteadyTime now) {
    const std::lock_guard lock(mutex);
    const bool is_news = !opened || now > due || differ(said, report);
    said = std::move(report);
    said_at = now;
    opened = true;
    due = probe_at + answer_patience;
    if (is_news) changed(now);
    told.notify_all();
    if (is_news) news.ring();
  }
  void end(std::optional<Error> why) {
    const std::lock_guard lock(mutex);
    over = std::move(why);
    ended = true;
    told.notify_all();
    news.ring();
  }
};

WatchedSource::WatchedSource(std::string what, Make make, Clock& clock)
    : what_(std::move(what)), shared_(std::make_shared<Shared>(clock.steady())) {
  thread_ = std::thread(
      [shared = shared_, what = what_, make = std::move(make), &clock] { watch(shared, what, make, clock); });
}

WatchedSource::~WatchedSource() {
  shared_->stop.ring();
  std::unique_lock lock(shared_->mutex);
  const bool ended = shared_->told.wait_for(lock, end_patience, [this] { return shared_->ended; });
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();
}

// One that has ended may be there anew, as a bus that stood still for too long.
void WatchedSource::watch(const std::shared_ptr<Shared>& shared, const std::string& what, const Make& make,
                          Clock& clock) {
  while (true) {
    const auto source = make(clock.steady());
    if (!source.ok()) return shared->end(source.error());
    Status served;
    while (served.ok()) {
      const SteadyTime now = clock.steady();
      SessionReport report;
      (*source)->say(report, now);
      shared->publish(std::move(report), now);
      const SteadyTime until = std::min((*source)->wait_until(), shared->probe_at);
      if (rings(shared->stop, (*source)->waitable(),
                std::chrono::duration_cast<Duration>(until - clock.steady())))
        return shared->end({});
      const SteadyTime then = clock.steady();
      const Probe probe = then >= shared->probe_at ? Probe::yes : Probe::no;
      served = (*source)->serve(then, probe);
      if (probe == Probe::yes) shared->probed(then);
    }
    SessionReport none;
    none.missing.push_back(what + " is gone");
    shared->publish(std::move(none), clock.steady());
    if (rings(shared->stop, {}, remake_pause)) return shared->end({});
  }
}

io::Waitable WatchedSource::waitable() const {
  return shared_->news.waitable();
}

void WatchedSource::heard() {
  (void)shared_->news.take();
}

SteadyTime WatchedSource::wait_until(SteadyTime now) const {
  const std::lock_guard lock(shared_->mutex);
  const SteadyTime at = shared_->due + std::chrono::milliseconds{1};
  return at > now ? at : SteadyTime::max();
}

void WatchedSource::await(Duration patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->told.wait_for(lock, patience, [this] { return shared_->opened || shared_->over; });
}

std::optional<Error> WatchedSource::over() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->over;
}

void WatchedSource::say(SessionReport& report, SteadyTime now) const {
  const std::lock_guard lock(shared_->mutex);
  const SessionReport& said = shared_->said;
  const auto age = std::chrono::duration_cast<Duration>(now - shared_->said_at);
  const bool silent = now > shared_->due;
  if (silent) report.missing.push_back(what_ + " does not answer");
  for (SessionReport::Input input : said.inputs) {
    if (silent) break;
    if (!input.active) input.idle += std::max(age, Duration{0});
    report.inputs.push_back(std::move(input));
  }
  if (!silent && said.locked) report.locked = said.locked;
  report.busy.insert(report.busy.end(), said.busy.begin(), said.busy.end());
  if (!silent) report.missing.insert(report.missing.end(), said.missing.begin(), said.missing.end());
}

bool differ(SessionReport one, SessionReport other) {
  for (SessionReport* report : {&one, &other})
    for (auto& input : report->inputs) input.idle = Duration{0};
  return one != other;
}

}  // namespace gleaner::agent
