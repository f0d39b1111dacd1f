// The server's side of one TLS connection over a non-blocking socket. It never waits: an operation that
// cannot go on says what to wait for. A third of asio::ssl's memory, because OpenSSL talks to the socket
// itself (16 kB against 75 kB a connection, measured). Never raises SIGPIPE. One thread at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "server/http/tls_context.h"

struct ssl_st;

namespace gleaner::http {

class TlsSession {
 public:
  enum class Outcome {
    done,
    want_read,   // call again when the socket is readable
    want_write,  // call again when the socket is writable, a write with the same bytes
    closed,      // the peer said good-bye: nothing more to read
    failed,      // the connection is lost or broke the protocol: only close the socket
  };
  struct Transfer {
    Outcome outcome = Outcome::failed;
    std::size_t bytes = 0;  // > 0 exactly if done
  };

  // `descriptor` is the caller's, non-blocking, and outlives this. Throws std::bad_alloc.
  TlsSession(const TlsContext& context, int descriptor);

  [[nodiscard]] Outcome shake_hands();
  [[nodiscard]] Transfer read(char* to, std::size_t bytes_max);
  // May write a part. REQUIRES: not empty.
  [[nodiscard]] Transfer write(std::string_view bytes);
  // Tells the peer that nothing follows, if that goes at once.
  void say_goodbye();

 private:
  struct Free {
    void operator()(ssl_st* session) const;
  };
  [[nodiscard]] Outcome outcome_of(int result);

  std::unique_ptr<ssl_st, Free> session_;
  bool broken_ = false;  // OpenSSL forbids further calls after a fatal error
};

}  // namespace gleaner::http
