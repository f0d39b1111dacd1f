// Reads one request from a stream of bytes (RFC 9112), with Boost.Beast's parser behind it. Strict where
// leniency has let attackers smuggle requests: one Host, no Transfer-Encoding but "chunked", no
// Content-Length beside it. Memory is bounded by limits::header_bytes_max and the body's limit. No I/O. One
// thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "server/http/server.h"

namespace gleaner::http {

class RequestParser {
 public:
  enum class Step {
    need_more,  // all of the input was looked at: append more
    head,       // the header is complete (told once): set the body's limit, and feed on unless complete()
    complete,   // the request is complete; what is left in the input belongs to the next one
    refused,    // see refusal(); the rest of the connection cannot be understood
  };

  RequestParser();
  ~RequestParser();

  // Takes from the front of `input` what it understood. REQUIRES: not complete, not refused.
  [[nodiscard]] Step feed(std::string& input);
  [[nodiscard]] bool complete() const;

  // From Step::head on:
  [[nodiscard]] const Request& request() const;
  [[nodiscard]] Request take();
  [[nodiscard]] std::int64_t announced_bytes() const;  // Content-Length, 0 if unknown; saturated
  [[nodiscard]] bool expects_continue() const;
  [[nodiscard]] bool keeps_alive() const;
  // A longer body makes feed() refuse with 413; feed() counts from here on.
  void limit_body(std::int64_t bytes_max);

  [[nodiscard]] const Response& refusal() const;  // 400, 413, 431 or 501 as problem

 private:
  struct State;
  Step refuse(int status, const std::string& detail);
  Step check_head();
  [[nodiscard]] std::size_t bytes_held(std::size_t waiting) const;

  std::unique_ptr<State> state_;
};

}  // namespace gleaner::http
