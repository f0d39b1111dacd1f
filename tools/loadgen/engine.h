// The loop: hosts that are ready are given connections that are free, in turn; answers go back to the script,
// which says when their host goes on. Hosts whose request was lost or refused as too much (429, 503) say it
// again, later as Retry-After tells and clients do, or, if they are stubborn, at once. Everything waits in
// epoll; one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/random.h"
#include "shared/base/result.h"
#include "tools/loadgen/connection.h"
#include "tools/loadgen/histogram.h"
#include "tools/loadgen/script.h"

namespace gleaner::loadgen {

struct EngineOptions {
  Endpoint server;
  std::int64_t connections = 32;
  std::int64_t networks = 1;  // loopback addresses that connections come from
  std::int64_t opening = 32;  // connections of each network that are being opened at a time
  Reconnect reconnect = Reconnect::kept;
  bool stubborn = false;
  std::uint64_t seed = 1;
  Duration answer_within = std::chrono::seconds{130};  // a server gives up after 120
};

// Of one stretch of time.
struct Counters {
  std::int64_t answers = 0;  // other than those of `busy`
  std::int64_t busy = 0;     // 429 and 503
  std::int64_t errors = 0;   // other answers than 200
  std::int64_t lost = 0;     // connections that broke with a request on them, or could not be opened
  std::int64_t resent = 0;   // requests, at once: see Connection::ended_before_answer(); not lost
  std::int64_t hung_up = 0;  // by the host itself
  std::int64_t opened = 0;   // connections
  std::int64_t bytes_up = 0, bytes_down = 0;  // of HTTP: heads and bodies
  Histogram latency;       // from the request's beginning, connecting included, to the answer's end
  Histogram busy_latency;  // the same of `busy`
};

class Engine {
 public:
  Engine(const EngineOptions& options, TlsClient& tls, Script& script);
  // Goes on until `until`, or until no host will ever speak again. Errors: io (no descriptors), untrusted
  // (another server than the join code's).
  [[nodiscard]] Status run_until(SteadyTime until);
  // Lets the requests that are under way be answered, but begins none. Errors: io.
  [[nodiscard]] Status drain(SteadyTime until);
  [[nodiscard]] bool over() const { return speaking_ == 0; }
  [[nodiscard]] Counters& counters() { return counters_; }
  // Why the last connection was lost, or what the last answer that is an error said; for people.
  [[nodiscard]] const std::string& last_trouble() const { return last_trouble_; }

 private:
  struct Timer {
    SteadyTime at;
    std::size_t host;
    bool operator>(const Timer& other) const { return at > other.at; }
  };
  void begin_ready();
  void begin(std::size_t connection, std::size_t host);
  void proceed(std::size_t connection, Connection::Progress progress);
  void answered(std::size_t connection, const Response& response);
  void lost(std::size_t connection, const std::string& reason);
  void resend(std::size_t connection);
  void later(std::size_t host, Duration after);
  void release(std::size_t connection);
  void wake(SteadyTime now);
  void give_up_silent(SteadyTime now);
  [[nodiscard]] Status wait(SteadyTime until);
  [[nodiscard]] Endpoint source_of(std::size_t connection) const;

  const EngineOptions options_;
  TlsClient& tls_;
  Script& script_;
  Random random_;
  io::Descriptor epoll_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> host_of_;         // whose request a connection carries
  std::vector<bool> hangs_up_;               // of that request
  std::vector<std::uint8_t> losses_in_row_;  // of each host
  std::deque<std::size_t> free_, ready_;     // connections, hosts
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::int64_t opening_ = 0, busy_connections_ = 0;
  std::size_t speaking_ = 0;  // hosts that will speak again
  SteadyTime looked_at_{};
  Counters counters_;
  std::string last_trouble_;
};

// Of a name or an address in text. Errors: unavailable.
[[nodiscard]] Result<Endpoint> resolve(const std::string& host, int port);

}  // namespace gleaner::loadgen
