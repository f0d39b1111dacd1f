// One connection: a coroutine on its own strand that shakes hands, then reads a request, hands it to the
// handler, and writes the response, until one side ends it. Everything it does stands under a deadline, which
// the server's sweep compares with the clock about once a second: cheaper than a timer for each. Private to
// this module.
#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/server.h"
#include "server/http/server_core.h"
#include "server/http/server_parser.h"
#include "server/http/tls_session.h"

namespace gleaner::http {

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  template <typename T>
  using Task = boost::asio::awaitable<T>;

  // Starts serving. The socket's executor is a strand of core->io. False: too many connections, it is closed.
  [[nodiscard]] static bool launch(std::shared_ptr<Core> core, Socket socket);
  Connection(std::shared_ptr<Core> core, Socket socket);

  // From any thread:
  [[nodiscard]] SteadyTime deadline() const;
  void check_deadline();  // gives up if it has passed: 503 for a handler that does not answer, else closes
  void begin_stop();      // finishes the request it is at, if any, and closes
  void close();           // at once
  void close_if_idle();   // others need the room
  void answer(std::uint64_t request_number, Response response);  // what the handler replied
  void log(const std::string& line) const { core_->log(line); }
  // Whose connections count together: an IPv4 address, or the first 64 bits of an IPv6 address.
  [[nodiscard]] const std::string& network() const { return network_; }

 private:
  enum class Phase { handshake, idle, receiving, answering, sending, closing };
  enum class Wait { readable, writable };

  Task<void> serve();
  // Of a connection through a proxy: whose it is.
  Task<bool> read_proxy_header();
  Task<bool> shake_hands();
  Task<void> answer_plain_http();
  // These return whether the connection goes on.
  Task<bool> next_request();
  Task<bool> serve_request();
  Task<bool> read_head(RequestParser& parser);
  Task<bool> read_body(RequestParser& parser);
  Task<bool> send(Response response, bool head_only, bool keep);
  Task<bool> send_file(class FileStream& stream, std::int64_t* moved);
  Task<bool> send_feed(const std::shared_ptr<Feed>& feed, const std::string& follower, bool chunked);
  Task<void> next_piece(SteadyTime until);
  void offer(std::uint64_t request_number, Feed::Piece piece);
  Task<bool> refuse(Response response);
  Task<bool> read_more();
  Task<bool> write(std::string_view bytes);
  Task<bool> wait(Wait what);
  Task<Response> ask(const Handler& handler, Request request);
  Task<void> hang_up();

  void enter(Phase phase, Duration timeout);
  void hurry();  // the server stops
  void extend_transfer(std::int64_t bytes_so_far);
  void call(const Handler& handler, Request request);
  void hand_over_part(RequestParser& parser);
  void close_now();

  const std::shared_ptr<Core> core_;  // first: destroyed last
  Socket socket_;
  TlsSession tls_;
  std::string peer_;  // these two: of the proxy, until it has said whose the connection is
  std::string network_;
  const bool proxied_;
  bool silent_ = true;  // has not sent a whole header yet
  std::atomic<std::int64_t> deadline_us_;
  SteadyTime transfer_until_{};  // without what the moved bytes add
  Phase phase_ = Phase::handshake;
  bool closed_ = false;
  bool secure_ = false;          // the handshake is done
  bool peer_may_send_ = false;   // when hanging up: unread input would make the kernel reset the connection
  std::int64_t bytes_sent_ = 0;  // of the current phase
  std::string input_;            // decrypted and not yet understood
  std::uint64_t request_number_ = 0;
  std::optional<Response> answer_;      // to request_number_
  Duration rest_{};                     // before the next request is read
  Feed::Piece piece_;                   // of a feed that the answer follows: the newest, not sent yet
  boost::asio::steady_timer answered_;  // its cancellation is the event; it expires at the end of a rest only
};

}  // namespace gleaner::http
