// One source in a thread of its own. The thread may block on an X server, compositor or bus that has stopped;
// the caller never blocks. The thread asks the other side whether it is there 10 seconds after its word has
// changed, and then after as long again as the word has held, at most a minute: so what was said of calm is
// checked soon after somebody begins to rely on it, and a computer at rest is seldom woken. It asks every 10
// seconds while something is missing. The system itself says that the other side is gone, at once. A source
// that has not answered 5 seconds after that is missing until its thread reports again. All calls from one
// thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "client/agent/source.h"

namespace gleaner::agent {

class WatchedSource {
 public:
  using Make = std::function<Result<std::unique_ptr<Source>>(SteadyTime now)>;
  // `what`: its other side: "the X server :0". `make` is called in the thread, again when a source has ended.
  WatchedSource(std::string what, Make make, Clock& clock);
  // Does not wait for a thread that stands still: that ends with the program.
  ~WatchedSource();
  WatchedSource(const WatchedSource&) = delete;
  WatchedSource& operator=(const WatchedSource&) = delete;

  // Ready until heard() is called: it knows something new, or is over.
  [[nodiscard]] io::Waitable waitable() const;
  void heard();
  // When it will have been silent for too long, if it says nothing.
  [[nodiscard]] SteadyTime wait_until(SteadyTime now) const;
  // Waits until it is there or over, at most so long.
  void await(Duration patience);
  // Why there is none, or none any more; nothing: it is being watched.
  [[nodiscard]] std::optional<Error> over() const;
  void say(SessionReport& report, SteadyTime now) const;

  static constexpr Duration probe_interval_min = std::chrono::seconds{10};
  static constexpr Duration probe_interval_max = std::chrono::minutes{1};

 private:
  struct Shared;
  static void watch(const std::shared_ptr<Shared>& shared, const std::string& what, const Make& make,
                    Clock& clock);

  std::string what_;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

// Is there more news than that idle times have grown?
[[nodiscard]] bool differ(SessionReport one, SessionReport other);

}  // namespace gleaner::agent
