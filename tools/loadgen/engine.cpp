#include "tools/loadgen/engine.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/check.h"

namespace gleaner::loadgen {
namespace {

constexpr int events_at_once = 512;
constexpr Duration first_backoff = std::chrono::milliseconds{100};
constexpr int backoff_doublings_max = 6;  // 6.4 seconds: a server that starts again is found soon
constexpr Duration stubborn_pause = std::chrono::milliseconds{10};
constexpr double retry_seconds_unsaid = 5;
constexpr Duration look_interval = std::chrono::seconds{1};
constexpr int trouble_length_max = 300;
constexpr std::uint32_t loopback = 0x7f000001;

}  // namespace

Engine::Engine(const EngineOptions& options, TlsClient& tls, Script& script)
    : options_(options),
      tls_(tls),
      script_(script),
      random_(options.seed),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      host_of_(static_cast<std::size_t>(options.connections)),
      hangs_up_(static_cast<std::size_t>(options.connections)),
      losses_in_row_(script.hosts()),
      speaking_(script.hosts()) {
  CHECK_TRUE(epoll_.valid());
  connections_.reserve(host_of_.size());
  for (std::size_t i = 0; i < host_of_.size(); ++i) {
    connections_.emplace_back(tls_, options_.server, options_.reconnect);
    free_.push_back(i);
  }
  for (std::size_t i = 0; i < script.hosts(); ++i) ready_.push_back(i);
}

Status Engine::run_until(SteadyTime until) {
  while (!over()) {
    const SteadyTime now = system_clock().steady();
    if (now >= until) return {};
    wake(now);
    begin_ready();
    TRY(wait(until));
    if (!tls_.refusal().empty()) return Error{ErrorKind::untrusted, tls_.refusal()};
  }
  return {};
}

Status Engine::drain(SteadyTime until) {
  while (busy_connections_ > 0 && system_clock().steady() < until) TRY(wait(until));
  return {};
}

void Engine::wake(SteadyTime now) {
  for (; !timers_.empty() && timers_.top().at <= now; timers_.pop()) ready_.push_back(timers_.top().host);
  if (now - looked_at_ < look_interval) return;
  looked_at_ = now;
  give_up_silent(now);
}

void Engine::give_up_silent(SteadyTime now) {
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    if (connection.idle() || now - connection.begun_at() < options_.answer_within) continue;
    opening_ -= connection.opening() ? 1 : 0;
    connection.close();
    lost(i, "no answer came");
  }
}

void Engine::begin_ready() {
  while (!ready_.empty() && !free_.empty()) {
    const std::size_t connection = free_.front();
    if (!connections_[connection].open() && opening_ >= options_.opening * options_.networks) return;
    free_.pop_front();
    const std::size_t host = ready_.front();
    ready_.pop_front();
    begin(connection, host);
  }
}

void Engine::begin(std::size_t number, std::size_t host) {
  Request request = script_.request(host);
  host_of_[number] = host;
  hangs_up_[number] = request.manner == Manner::hang_up;
  counters_.bytes_up += static_cast<std::int64_t>(request.text.size());
  ++busy_connections_;
  Connection& connection = connections_[number];
  const bool opens = !connection.open();
  counters_.opened += opens ? 1 : 0;
  opening_ += opens ? 1 : 0;  // taken back below, if it is open already
  const auto progress = connection.send(std::move(request.text), source_of(number), epoll_.get(), number);
  if (opens && !connection.opening()) --opening_;
  proceed(number, progress);
}

void Engine::proceed(std::size_t number, Connection::Progress progress) {
  Connection& connection = connections_[number];
  switch (progress) {
    case Connection::Progress::answered:
      return answered(number, connection.take_response());
    case Connection::Progress::lost:
      return connection.ended_before_answer() ? resend(number) : lost(number, connection.reason());
    case Connection::Progress::waiting:
      if (!hangs_up_[number] || !connection.has_sent()) return;
      connection.close();
      ++counters_.hung_up;
      release(number);
      return later(host_of_[number], first_backoff);
  }
}

void Engine::answered(std::size_t number, const Response& response) {
  const std::size_t host = host_of_[number];
  const Duration latency = system_clock().steady() - connections_[number].begun_at();
  release(number);
  losses_in_row_[host] = 0;
  counters_.bytes_down += response.bytes;
  if (response.status == 503 || response.status == 429) {
    ++counters_.busy;
    counters_.busy_latency.add(latency);
    const double told =
        response.retry_after_seconds > 0 ? response.retry_after_seconds : retry_seconds_unsaid;
    return later(host, options_.stubborn ? Duration{0} : from_seconds(told * (0.5 + random_.uniform())));
  }
  ++counters_.answers;
  counters_.latency.add(latency);
  if (response.status != 200) {
    ++counters_.errors;
    last_trouble_ = std::to_string(response.status) + ": " + response.body.substr(0, trouble_length_max);
  }
  const Next next = script_.answered(host, response);
  if (next.ever)
    later(host, next.after);
  else
    --speaking_;
}

void Engine::lost(std::size_t number, const std::string& reason) {
  const std::size_t host = host_of_[number];
  release(number);
  ++counters_.lost;
  last_trouble_ = reason;
  auto& in_row = losses_in_row_[host];
  const double backoff = to_seconds(first_backoff) * static_cast<double>(1 << in_row);
  if (in_row < backoff_doublings_max) ++in_row;
  later(host, options_.stubborn ? stubborn_pause : from_seconds(backoff * (0.5 + random_.uniform())));
}

void Engine::resend(std::size_t number) {
  release(number);
  ++counters_.resent;
  ready_.push_front(host_of_[number]);
}

void Engine::release(std::size_t number) {
  free_.push_back(number);
  --busy_connections_;
}

void Engine::later(std::size_t host, Duration after) {
  if (after <= Duration{0})
    ready_.push_back(host);
  else
    timers_.push({system_clock().steady() + after, host});
}

Status Engine::wait(SteadyTime until) {
  std::array<epoll_event, events_at_once> events;
  const SteadyTime now = system_clock().steady();
  SteadyTime wanted = std::min(until, now + look_interval);
  if (!timers_.empty()) wanted = std::min(wanted, timers_.top().at);
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(std::max(Duration{0}, wanted - now));
  const int got =
      ::epoll_wait(epoll_.get(), events.data(), events_at_once, static_cast<int>(milliseconds.count()));
  if (got < 0 && errno != EINTR)
    return Error{ErrorKind::io, std::string("cannot wait: ") + std::strerror(errno)};
  for (int i = 0; i < got; ++i) {
    const auto number = static_cast<std::size_t>(events[static_cast<std::size_t>(i)].data.u64);
    Connection& connection = connections_[number];
    if (connection.idle()) {
      static_cast<void>(connection.advance());
      continue;
    }
    const bool opening = connection.opening();
    const auto progress = connection.advance();
    if (opening && !connection.opening()) --opening_;
    proceed(number, progress);
  }
  return {};
}

// Loopback has sixteen million addresses, and to the server each is a network of its own.
Endpoint Engine::source_of(std::size_t number) const {
  Endpoint source;
  if (options_.networks < 2 || options_.server.address.ss_family != AF_INET) return source;
  auto& address = reinterpret_cast<sockaddr_in&>(source.address);
  address.sin_family = AF_INET;
  const auto network = static_cast<std::uint32_t>(number % static_cast<std::size_t>(options_.networks));
  address.sin_addr.s_addr = htonl(loopback + network);
  source.length = sizeof address;
  return source;
}

Result<Endpoint> resolve(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (result != 0 || found == nullptr)
    return Error{ErrorKind::unavailable,
                 "no address of the server " + host + " is known: " + ::gai_strerror(result)};
  Endpoint endpoint;
  endpoint.length = found->ai_addrlen;
  std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return endpoint;
}

}  // namespace gleaner::loadgen
