// One HTTPS connection to the server that never waits: it is told to send a request and, whenever epoll says
// that something happened, goes on. One request at a time. One thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "shared/base/clock.h"
#include "shared/io/descriptor.h"
#include "tools/loadgen/response_parser.h"
#include "tools/loadgen/tls_client.h"

namespace gleaner::loadgen {

// How connections are used.
enum class Reconnect : int {
  kept = 1,     // one connection for all requests
  resumed = 2,  // a new one for each, with the ticket of the one before
  full = 3,     // a new one for each, with a whole handshake
};

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
};

class Connection {
 public:
  enum class Progress { waiting, answered, lost };

  Connection(TlsClient& tls, const Endpoint& server, Reconnect reconnect)
      : tls_(tls), server_(server), reconnect_(reconnect) {}
  Connection(Connection&&) = default;

  // Opens the connection first where there is none; `source`: the address to come from, or none (length 0).
  // `epoll`, `number`: where and as what its events are to be told. REQUIRES: idle().
  Progress send(std::string request, const Endpoint& source, int epoll, std::uint64_t number);
  // Something happened to it.
  Progress advance();
  // REQUIRES: advance() or send() said answered.
  [[nodiscard]] Response take_response();
  void close();

  [[nodiscard]] bool idle() const { return state_ == State::closed || state_ == State::idle; }
  [[nodiscard]] bool open() const { return state_ != State::closed; }
  [[nodiscard]] bool opening() const { return state_ == State::connecting || state_ == State::handshaking; }
  [[nodiscard]] bool has_sent() const { return state_ == State::receiving; }
  [[nodiscard]] SteadyTime begun_at() const { return begun_at_; }
  // Lost while it was kept, before any of the answer came: HTTP has the request sent again on a new
  // connection (RFC 9112, 9.3.1), as libcurl and browsers do, because servers may end kept connections at any
  // time.
  [[nodiscard]] bool ended_before_answer() const { return was_kept_ && !answer_begun_; }
  // Why it was lost.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  enum class State { closed, connecting, handshaking, sending, receiving, idle };
  [[nodiscard]] bool connect(const Endpoint& source, int epoll, std::uint64_t number);
  // Each goes as far as it can; false: it has to wait (or is lost, and the state is closed).
  [[nodiscard]] bool finish_connecting();
  [[nodiscard]] bool shake_hands();
  [[nodiscard]] bool send_rest();
  [[nodiscard]] bool receive();
  void watch_idle();
  [[nodiscard]] bool must_wait(int result);
  void lose(const std::string& reason);

  TlsClient& tls_;
  const Endpoint& server_;
  Reconnect reconnect_;
  State state_ = State::closed;
  io::Descriptor socket_;
  SslOwner ssl_;
  SessionOwner session_;
  std::string request_;
  std::size_t sent_ = 0;
  ResponseParser parser_;
  bool was_kept_ = false;  // this request is not its first
  bool answer_begun_ = false;
  SteadyTime begun_at_{};
  std::string reason_;
};

}  // namespace gleaner::loadgen
