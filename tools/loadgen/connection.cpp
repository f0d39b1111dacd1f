#include "tools/loadgen/connection.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "shared/base/check.h"

namespace gleaner::loadgen {
namespace {

std::array<char, 32 << 10>& read_buffer() {
  alignas(64) static thread_local std::array<char, 32 << 10> buffer;
  return buffer;
}

std::string words_of(int error) {
  return std::strerror(error);  // NOLINT(concurrency-mt-unsafe): one thread
}

const sockaddr* address_of(const Endpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

}  // namespace

Connection::Progress Connection::send(std::string request, const Endpoint& source, int epoll,
                                      std::uint64_t number) {
  CHECK_TRUE(idle());
  request_ = std::move(request);
  sent_ = 0;
  parser_.reset();
  begun_at_ = system_clock().steady();
  was_kept_ = state_ == State::idle;
  answer_begun_ = false;
  if (state_ == State::idle) {
    state_ = State::sending;
  } else if (!connect(source, epoll, number)) {
    return Progress::lost;
  }
  return advance();
}

Connection::Progress Connection::advance() {
  if (state_ == State::idle) {
    watch_idle();
    return Progress::waiting;
  }
  if (state_ == State::closed) return Progress::waiting;  // an event of before it was closed
  const bool answered = (state_ != State::connecting || finish_connecting()) &&
                        (state_ != State::handshaking || shake_hands()) &&
                        (state_ != State::sending || send_rest()) && receive();
  if (answered) return Progress::answered;
  return state_ == State::closed ? Progress::lost : Progress::waiting;
}

Response Connection::take_response() {
  Response response = parser_.finish();
  state_ = State::idle;
  if (reconnect_ != Reconnect::kept || response.closes) {
    SSL_shutdown(ssl_.get());
    close();
  }
  return response;
}

void Connection::close() {
  // A session of a connection that OpenSSL thinks broken is no longer resumed.
  if (ssl_) SSL_set_quiet_shutdown(ssl_.get(), 1), SSL_shutdown(ssl_.get());
  ssl_.reset();
  socket_.reset();
  ERR_clear_error();
  state_ = State::closed;
}

void Connection::lose(const std::string& reason) {
  close();
  reason_ = reason;
}

bool Connection::connect(const Endpoint& source, int epoll, std::uint64_t number) {
  socket_ =
      io::Descriptor(::socket(server_.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) {
    lose("cannot open a socket: " + words_of(errno));
    return false;
  }
  const int on = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (source.length > 0) {
    // The port is chosen when it connects, so that each pair of addresses has all of them.
    ::setsockopt(socket_.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (::bind(socket_.get(), address_of(source), source.length) != 0) {
      lose("cannot use a source address: " + words_of(errno));
      return false;
    }
  }
  if (::connect(socket_.get(), address_of(server_), server_.length) != 0 && errno != EINPROGRESS) {
    lose("cannot connect: " + words_of(errno));
    return false;
  }
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = number;
  CHECK_TRUE(::epoll_ctl(epoll, EPOLL_CTL_ADD, socket_.get(), &event) == 0);
  state_ = State::connecting;
  return true;
}

bool Connection::finish_connecting() {
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) {
    lose("cannot connect: " + words_of(error));
    return false;
  }
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&peer), &length) != 0)
    return false;  // not yet
  ssl_ = tls_.make(socket_.get(), &session_);
  if (reconnect_ == Reconnect::resumed && session_) SSL_set_session(ssl_.get(), session_.get());
  state_ = State::handshaking;
  return true;
}

bool Connection::must_wait(int result) {
  const int why = SSL_get_error(ssl_.get(), result);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return true;
  const char* words = ERR_reason_error_string(ERR_peek_last_error());
  if (!tls_.refusal().empty())
    lose(tls_.refusal());
  else
    lose(why == SSL_ERROR_ZERO_RETURN || words == nullptr ? "the server closed the connection"
                                                          : std::string("TLS failed: ") + words);
  return false;
}

bool Connection::shake_hands() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) {
    static_cast<void>(must_wait(result));
    return false;
  }
  state_ = State::sending;
  return true;
}

bool Connection::send_rest() {
  while (sent_ < request_.size()) {
    std::size_t written = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(ssl_.get(), request_.data() + sent_, request_.size() - sent_, &written);
    if (result != 1) {
      static_cast<void>(must_wait(result));
      return false;
    }
    sent_ += written;
  }
  request_ = {};
  state_ = State::receiving;
  return true;
}

bool Connection::receive() {
  while (true) {
    std::size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(ssl_.get(), read_buffer().data(), read_buffer().size(), &got);
    if (result != 1) {
      static_cast<void>(must_wait(result));
      return false;
    }
    answer_begun_ = true;
    const auto complete = parser_.take({read_buffer().data(), got});
    if (!complete.ok()) {
      lose(complete.error().message);
      return false;
    }
    if (*complete) return true;
  }
}

// Nothing is expected: tickets, or its end.
void Connection::watch_idle() {
  std::size_t got = 0;
  ERR_clear_error();
  const int result = SSL_read_ex(ssl_.get(), read_buffer().data(), read_buffer().size(), &got);
  if (result == 1 || !must_wait(result)) close();
}

}  // namespace gleaner::loadgen
