#include "server/http/server_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <exception>

#include "server/http/proxy_header.h"
#include "server/http/server_response.h"

namespace gleaner::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::int64_t drained_bytes_max = 8 << 20;  // of what a refused peer still sends

// One for each thread: a connection between two reads owns no buffer.
std::array<char, 16 << 10>& read_buffer() {
  alignas(64) static thread_local std::array<char, 16 << 10> buffer;
  return buffer;
}

std::string name_of_peer(const Connection::Socket& socket) {
  error_code ec;
  const auto endpoint = socket.remote_endpoint(ec);
  if (ec) return "unknown";
  const auto address = endpoint.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address.to_string();
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
}

std::string network_of_peer(const std::string& peer) {
  error_code ec;
  const auto address = asio::ip::make_address(peer, ec);
  if (ec || address.is_v4()) return peer;
  auto bytes = address.to_v6().to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::make_address_v6(bytes).to_string() + "/64";
}

}  // namespace

Connection::Connection(std::shared_ptr<Core> core, Socket socket)
    : core_(std::move(core)),
      socket_(std::move(socket)),
      tls_(*core_->tls(), socket_.native_handle()),
      peer_(name_of_peer(socket_)),
      network_(network_of_peer(peer_)),
      proxied_(core_->options.is_proxy && core_->options.is_proxy(peer_)),
      deadline_us_(0),
      answered_(socket_.get_executor()) {
  // A proxy's connections are of many networks, which are not known yet.
  if (proxied_) network_ = "proxy " + std::to_string(socket_.native_handle());
  enter(Phase::handshake, core_->options.timeouts.handshake);
}

bool Connection::launch(std::shared_ptr<Core> core, Socket socket) {
  error_code ec;
  socket.non_blocking(true, ec);
  if (ec) return true;                                   // lost already
  socket.set_option(asio::ip::tcp::no_delay(true), ec);  // a failure costs speed only
  const auto connection = std::make_shared<Connection>(core, std::move(socket));
  if (!core->enter(connection)) return false;
  asio::co_spawn(connection->socket_.get_executor(), connection->serve(),
                 [connection](std::exception_ptr failure) {
                   connection->close_now();
                   try {
                     if (failure) std::rethrow_exception(failure);
                   } catch (const std::exception& exception) {
                     connection->log(std::string("a connection failed: ") + exception.what());
                   }
                   connection->core_->leave(connection.get());
                 });
  if (core->stopping()) connection->begin_stop();
  return true;
}

SteadyTime Connection::deadline() const {
  return SteadyTime(Duration(deadline_us_.load(std::memory_order_relaxed)));
}

void Connection::check_deadline() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (system_clock().steady() < self->deadline()) return;  // moved meanwhile
    if (self->phase_ != Phase::answering) return self->close_now();
    self->log("a handler did not answer in time");
    self->answer(self->request_number_,
                 problem(503, "the server takes too long for this request: try again later"));
  });
}

void Connection::begin_stop() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    // Who has come just now asks once: where another server follows on the same socket, no request is lost.
    if (self->silent_) return self->hurry();
    error_code ec;
    // It looks once more for a request that came in the meantime.
    if (self->phase_ == Phase::idle && !self->closed_) self->socket_.cancel(ec);
    if (self->phase_ == Phase::idle) self->answered_.cancel();     // who rests
    if (self->phase_ == Phase::sending) self->answered_.cancel();  // who follows a feed has its answer's end
  });
}

void Connection::close() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] { self->close_now(); });
}

void Connection::close_if_idle() {
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->phase_ == Phase::idle) self->close_now();
  });
}

void Connection::answer(std::uint64_t request_number, Response response) {
  // A weak pointer: after stop() nobody runs or drops what is posted here before the io_context goes.
  asio::dispatch(socket_.get_executor(),
                 [weak = weak_from_this(), request_number, response = std::move(response)]() mutable {
                   const auto self = weak.lock();
                   if (!self || self->request_number_ != request_number || self->answer_) return;
                   self->answer_ = std::move(response);
                   self->answered_.cancel();
                 });
}

void Connection::enter(Phase phase, Duration timeout) {
  phase_ = phase;
  const SteadyTime until = system_clock().steady() + timeout;
  transfer_until_ = until;
  bytes_sent_ = 0;
  deadline_us_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
}

void Connection::hurry() {
  const auto soon = (system_clock().steady() + core_->options.timeouts.linger).time_since_epoch().count();
  if (soon < deadline_us_) deadline_us_ = soon;
}

void Connection::extend_transfer(std::int64_t bytes_so_far) {
  const Duration earned(bytes_so_far * 1'000'000 / core_->options.timeouts.transfer_bytes_per_second_min);
  deadline_us_.store((transfer_until_ + earned).time_since_epoch().count(), std::memory_order_relaxed);
}

void Connection::close_now() {
  closed_ = true;
  error_code ec;
  // A peer that does not read must not leave megabytes in the kernel, nor take a part for the whole.
  if (phase_ == Phase::sending) socket_.set_option(asio::socket_base::linger(true, 0), ec);
  socket_.close(ec);
  answered_.cancel();
}

Connection::Task<void> Connection::serve() {
  bool goes_on = true;
  if (proxied_) goes_on = co_await read_proxy_header();
  if (goes_on) goes_on = co_await shake_hands();
  while (goes_on) {
    goes_on = co_await next_request();
    if (goes_on) goes_on = co_await serve_request();
  }
  co_await hang_up();
}

Connection::Task<bool> Connection::read_proxy_header() {
  std::string header;
  std::optional<ProxyHeader> parsed;
  while (!parsed) {
    const bool woken = co_await wait(Wait::readable);
    if (!woken) co_return false;
    auto& buffer = read_buffer();
    const ssize_t seen = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), MSG_PEEK);
    if (seen < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (seen <= 0) co_return false;
    const std::string_view more(buffer.data(), static_cast<std::size_t>(seen));
    const auto result = parse_proxy_header(header + std::string(more));
    if (!result.ok()) {
      log("the proxy at " + peer_ + ": " + result.error().message);
      co_return false;
    }
    parsed = *result;
    // What follows the header is TLS, which OpenSSL reads for itself.
    const std::size_t taken = parsed ? parsed->bytes - header.size() : more.size();
    header.append(more.substr(0, taken));
    if (::recv(socket_.native_handle(), buffer.data(), taken, 0) != static_cast<ssize_t>(taken))
      co_return false;
  }
  if (parsed->peer.empty()) co_return true;
  co_return core_->moves(shared_from_this(), [this, &parsed] {
    peer_ = parsed->peer;
    network_ = network_of_peer(peer_);
  });
}

Connection::Task<bool> Connection::shake_hands() {
  const bool woken = co_await wait(Wait::readable);
  if (!woken) co_return false;
  char first = 0;
  if (::recv(socket_.native_handle(), &first, 1, MSG_PEEK) == 1 && first >= 'A' && first <= 'Z') {
    co_await answer_plain_http();  // a TLS record never starts with a letter
    co_return false;
  }
  while (true) {
    const TlsSession::Outcome outcome = tls_.shake_hands();
    if (outcome == TlsSession::Outcome::done) break;
    if (outcome != TlsSession::Outcome::want_read && outcome != TlsSession::Outcome::want_write)
      co_return false;
    const bool again =
        co_await wait(outcome == TlsSession::Outcome::want_read ? Wait::readable : Wait::writable);
    if (!again) co_return false;
  }
  secure_ = true;
  co_return true;
}

Connection::Task<void> Connection::answer_plain_http() {
  const std::string text = plain_http_answer();  // fits a fresh socket's buffer
  peer_may_send_ = true;
  if (::send(socket_.native_handle(), text.data(), text.size(), MSG_NOSIGNAL) < 0) close_now();
  co_return;
}

Connection::Task<bool> Connection::wait(Wait what) {
  error_code ec;
  co_await socket_.async_wait(what == Wait::readable ? Socket::wait_read : Socket::wait_write,
                              asio::redirect_error(asio::use_awaitable, ec));
  co_return !closed_ &&
      (!ec || ec == asio::error::operation_aborted);  // aborted: begin_stop() wants attention
}

Connection::Task<bool> Connection::read_more() {
  while (!closed_) {
    auto& buffer = read_buffer();
    const TlsSession::Transfer transfer = tls_.read(buffer.data(), buffer.size());
    Wait what = Wait::readable;
    switch (transfer.outcome) {
      case TlsSession::Outcome::done:
        input_.append(buffer.data(), transfer.bytes);
        co_return true;
      case TlsSession::Outcome::want_read:
        break;
      case TlsSession::Outcome::want_write:
        what = Wait::writable;
        break;
      case TlsSession::Outcome::closed:
      case TlsSession::Outcome::failed:
        co_return false;
    }
    if (phase_ == Phase::idle && core_->stopping() && !silent_) co_return false;
    const bool again = co_await wait(what);
    if (!again) co_return false;
  }
  co_return false;
}

Connection::Task<bool> Connection::write(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const TlsSession::Transfer transfer = tls_.write(bytes);
    if (transfer.outcome == TlsSession::Outcome::done) {
      bytes.remove_prefix(transfer.bytes);
      bytes_sent_ += static_cast<std::int64_t>(transfer.bytes);
      extend_transfer(bytes_sent_);
      continue;
    }
    const bool blocked = transfer.outcome == TlsSession::Outcome::want_write;
    if (!blocked && transfer.outcome != TlsSession::Outcome::want_read) co_return false;
    const bool again = co_await wait(blocked ? Wait::writable : Wait::readable);
    if (!again) co_return false;
  }
  co_return bytes.empty();
}

Connection::Task<void> Connection::hang_up() {
  if (closed_) co_return;
  enter(Phase::closing, core_->options.timeouts.linger);
  if (secure_) tls_.say_goodbye();
  error_code ec;
  socket_.shutdown(Socket::shutdown_send, ec);
  std::int64_t drained = 0;
  bool more = peer_may_send_ && !ec;
  while (more && !closed_ && drained < drained_bytes_max) {
    auto& buffer = read_buffer();
    const ssize_t got = ::recv(socket_.native_handle(), buffer.data(), buffer.size(), 0);
    if (got > 0) drained += got;
    more = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    if (got < 0 && more) more = co_await wait(Wait::readable);
  }
  close_now();
}

}  // namespace gleaner::http
