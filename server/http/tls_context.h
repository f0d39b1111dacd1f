// What all TLS connections of a server share: certificate, key and the rules. TLS 1.2 and 1.3; forward
// secrecy only (ECDHE); no compression, no renegotiation; sessions resume by stateless tickets, which hold
// for this certificate chain only; buffers are given back while a connection is idle. Thread-safe once made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "server/http/ticket_keys.h"
#include "shared/base/result.h"

struct ssl_ctx_st;

namespace gleaner::http {

class TlsContext {
 public:
  // PEM texts; the chain has the leaf first. Errors (invalid) say which of the two is wrong and how.
  // Without `tickets` sessions are sealed with keys of the context's own.
  [[nodiscard]] static Result<TlsContext> make(const std::string& certificate_chain_pem,
                                               const std::string& private_key_pem,
                                               std::shared_ptr<TicketKeys> tickets = {});
  [[nodiscard]] ssl_ctx_st* get() const { return context_.get(); }
  // Until when the leaf is valid: seconds since 1970; 0: it says that in a way that OpenSSL does not read.
  [[nodiscard]] std::int64_t not_after() const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::shared_ptr<TicketKeys> tickets_;  // first: the context points to them
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace gleaner::http
