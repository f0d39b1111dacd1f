// The bytes of one connection, on a unix socket or under TLS 1.3. One strand's. Private to this module.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "server/link/identity.h"

namespace gleaner::link {

using Socket = boost::asio::generic::stream_protocol::socket;
using ErrorCode = boost::system::error_code;

class Stream {
 public:
  using Done = std::function<void(const ErrorCode&, std::size_t)>;
  enum class Side { server, client };
  virtual ~Stream() = default;
  // Before anything else.
  virtual void shake_hands(Side side, std::function<void(const ErrorCode&)> done) = 0;
  virtual void read_some(char* to, std::size_t bytes, Done done) = 0;
  virtual void write(std::string_view bytes, Done done) = 0;
  // What is under way fails.
  virtual void close() = 0;
};

// invalid: the identity is none. Null: there is none, and none is needed.
[[nodiscard]] Result<std::shared_ptr<boost::asio::ssl::context>> tls_context(const Identity& identity);
// `context`: null for a unix socket.
[[nodiscard]] std::unique_ptr<Stream> make_stream(Socket socket,
                                                  std::shared_ptr<boost::asio::ssl::context> context);
// Of TCP: small frames leave at once, and a peer that is gone is noticed.
void tune(Socket& socket);

}  // namespace gleaner::link
