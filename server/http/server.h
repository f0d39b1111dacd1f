// The HTTPS server: a plain Request -> Response interface over Boost.Beast's parser, Asio and OpenSSL
// (TLS 1.2 or later), which stay inside this module's server_*.cpp and tls_*.cpp. Bounded in every direction:
// header and body sizes, time for the handshake, a request and an idle connection, number of connections, in
// all and of one network.
// Keep-alive; no pipelining. What the server answers by itself (400, 413, 431, 500, 501, 503) is RFC 9457
// application/problem+json. A 503 that does not say when to come again is given a Retry-After of 4 to 8 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "server/http/feed.h"
#include "server/http/figures.h"
#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/limits.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::http {

class TicketKeys;

struct Request {
  std::string method;
  std::string path;  // decoded (valid UTF-8, no control characters), without the query
  std::map<std::string, std::string> query;    // decoded alike; '+' is a plus (RFC 3986); a key comes once
  std::map<std::string, std::string> headers;  // names in lower case; repeated ones joined by ", "
  Bytes body;
  std::string peer;     // address, for logs
  std::string network;  // whose connections count together: an IPv4 address, or an IPv6 /64
};

struct Response {
  int status = 200;
  // Server, Content-Length, Connection and Transfer-Encoding are the server's own: such entries are ignored.
  std::map<std::string, std::string> headers;
  Bytes body;  // not sent to HEAD, 204 and 304
  // Instead of body: a part of a file, streamed.
  struct FilePart {
    io::Path path;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    // How much of it went, until it is dropped. May be null.
    std::shared_ptr<std::int64_t> moved = nullptr;
  };
  std::optional<FilePart> file;
  // Instead of body: what is published from now on, for at most ServerTimeouts::follow.
  std::shared_ptr<Feed> feed = nullptr;
  std::string follower = {};  // who follows it
  // Then the connection's next request is read: who is told to come later, and asks at once, takes nothing
  // from the others.
  Duration rest{};
};

// Exactly one call of the reply is expected, from any thread, at once or later, even after stop(); dropping
// it, or a handler that throws, answers 500; a second call is logged and ignored.
using Reply = std::function<void(Response)>;
using Handler =
    std::function<void(Request, Reply)>;  // on one of the server's threads; must not block for long

struct ServerTimeouts {
  Duration handshake = std::chrono::seconds{10};
  Duration idle =
      std::chrono::seconds{limits::idle_connection_seconds_max};  // no byte of the next request yet
  Duration header = std::chrono::seconds{15};  // from a request's first byte to the end of its header
  // For a request's body, and again for its response; longer by a second for each
  // transfer_bytes_per_second_min moved, so that only a peer slower than that on average is cut off.
  Duration transfer = std::chrono::seconds{limits::request_seconds_max};
  std::int64_t transfer_bytes_per_second_min = 16 << 10;
  Duration answer = std::chrono::seconds{120};  // from the handler's call to its reply; then 503
  // Of an answer that follows a feed; who wants more asks again, and is looked at again.
  Duration follow = std::chrono::seconds{limits::follow_seconds_max};
  // Of a stop: who has a kept connection and asks meanwhile is told that it ends with the answer. Only where
  // that does not happen may a request cross the connection's end. Of use where somebody else goes on with
  // the socket.
  Duration drain{0};
  Duration linger = std::chrono::seconds{2};  // what a refused peer still sends is read away, so that it can
                                              // read why it was refused
};

// Any connection may send such a body at any time.
inline constexpr std::int64_t small_body_bytes = 64 << 10;
// A Retry-After: a whole number of seconds in [least, most], so that not all come again at once.
[[nodiscard]] std::string retry_after(std::int64_t least, std::int64_t most);

struct ServerOptions {
  std::string address = "0.0.0.0";  // "::" serves IPv6 and IPv4
  int port = 8443;                  // 0: any free one
  // A socket that is listened on already, which the server takes over; then address and port are its. -1:
  // none.
  int listening = -1;
  std::string certificate_chain_pem;
  std::string private_key_pem;
  std::shared_ptr<TicketKeys> tickets;  // null: sessions end with the server
  // Whether connections from an address come through a proxy that says whose they are (proxy_header.h): they
  // must begin with that, and those from elsewhere must not. Null: none does.
  std::function<bool(const std::string& address)> is_proxy;
  int threads = 2;
  // With one more, the connection that has been idle longest is closed; while none is idle, the new one is.
  int connections_max = 4000;
  int connections_per_network_max = 1000;  // the same, of one IPv4 address or one IPv6 /64
  // Of one network, connections that have not yet sent a whole request's header: with one more, the oldest of
  // these is closed. A handshake takes milliseconds, so honest hosts behind one address share this easily.
  int silent_per_network_max = 64;
  // Largest body by request; asked when the header is in; null: limits::json_message_bytes_max. A longer body
  // is answered 413. 0: a body is left unread, the handler gets the request without it (to answer 404 or 405)
  // and the connection is closed after that.
  std::function<std::int64_t(const Request& head)> body_bytes_max;
  // Whether the handler can use a part of such a request's body: if the connection ends within it, the
  // handler gets the request with the part that arrived, and its reply is discarded. Null: never.
  std::function<bool(const Request& head)> takes_part;
  // Gets the head of a request whose body is larger than small_body_bytes, or of unknown length, before
  // body_bytes_max is asked, which waits for an answer; what that says is not sent. Null: nobody is waited
  // for.
  Handler introduce;
  // Memory for the bodies of requests under way that are larger than small_body_bytes: as much is kept for
  // each as it announces. One network gets a quarter; who finds no room is told to come again (503).
  std::int64_t bodies_bytes_max = 512 << 20;  // 128 pieces of uploads
  ServerTimeouts timeouts;
  // Where the server counts; never null.
  std::shared_ptr<ConnectionFigures> figures = std::make_shared<ConnectionFigures>();
  // What an administrator should read (a handler that threw, no descriptors left), from any of the server's
  // threads; null: standard error.
  std::function<void(const std::string& line)> log;
};

class Server {
 public:
  // Binds and starts its threads. Errors say what to do ("port 8443 is in use: ...").
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();  // stop(0)
  [[nodiscard]] int port() const;
  // For connections from now on; those that there are keep theirs, and sessions begun with another chain are
  // not resumed. From any thread. error (invalid): which of the two is wrong; the former ones stay.
  [[nodiscard]] Status use_certificate(const std::string& chain_pem, const std::string& key_pem);
  // For ServerTimeouts::drain all goes on, but each answer is its connection's last. Then: no new
  // connections; requests that were received are answered, those of connections that have not asked anything
  // yet, too, if they come within ServerTimeouts::linger; and everything is closed, at the latest `patience`
  // after the call. Not to be called from a handler. Returns when the server's threads have ended; again:
  // does nothing.
  void stop(Duration patience);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::http
