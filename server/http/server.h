// The HTTPS server: a plain Request -> Response interface over Boost.Beast and OpenSSL (TLS 1.2 or later), which stay
// inside one .cpp. Bounded in every direction: header and body sizes, time for the handshake, a request and an idle
// connection, number of connections. Keep-alive; no pipelining.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/io/files.h"

namespace gleaner::http {

struct Request {
  std::string method;
  std::string path;                            // decoded, without the query
  std::map<std::string, std::string> query;    // decoded
  std::map<std::string, std::string> headers;  // names in lower case
  Bytes body;
  std::string peer;                            // address, for logs
};

struct Response {
  int status = 200;
  std::map<std::string, std::string> headers;
  Bytes body;
  // Instead of body: a part of a file, streamed.
  struct FilePart {
    io::Path path;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  std::optional<FilePart> file;
};

// Exactly one call of the reply is expected, from any thread, at once or later; dropping it answers 500.
using Reply = std::function<void(Response)>;
using Handler = std::function<void(Request, Reply)>;  // on one of the server's threads; must not block for long

struct ServerOptions {
  std::string address = "0.0.0.0";
  int port = 8443;                      // 0: any free one
  std::string certificate_chain_pem;
  std::string private_key_pem;
  int threads = 2;
  int connections_max = 4000;
  // Largest body by request; asked when the header is in. 0 refuses the request (404 is then up to the handler).
  std::function<std::int64_t(const Request& head)> body_bytes_max;
};

class Server {
 public:
  // Binds and starts its threads. Errors say what to do ("port 8443 is in use: ...").
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();  // stop()
  [[nodiscard]] int port() const;
  // No new connections; requests that were received are answered (at most `patience`), then everything is closed.
  void stop(Duration patience);

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::http
