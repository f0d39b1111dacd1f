#include "shared/transport/find_server.h"

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::transport {

namespace {

// Tells a server that refuses from one that was not reached, or is not believed.
class Noting final : public io::HttpClient {
 public:
  explicit Noting(io::HttpClient& client) : client_(client) {}
  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    auto reply = client_.send(request);
    answered_ = reply.ok();
    return reply;
  }
  [[nodiscard]] bool answered() const { return answered_; }

 private:
  io::HttpClient& client_;
  bool answered_ = false;
};

}  // namespace

io::Vouchers vouchers_of(const protocol::JoinCode& code) {
  return {code.root_fingerprint, code.certificate == protocol::Certificate::either};
}

Result<Found> find_server(const Ways& ways, const protocol::JoinCode& code, const crypto::Revocations& seen,
                          Timestamp now) {
  const Server server{code.base_url(), ""};
  if (ways.pinned) ways.pinned->set({});  // it would hide that a relay answers
  const auto document =
      understand<protocol::SignedStatement>(call(ways.http, server, get_request(server, "/v1/project")));
  if (document.ok()) {
    TRY_ASSIGN(auto trust, crypto::check_project(*document, code.root_fingerprint, now, seen));
    return Found{*document, std::move(trust), std::nullopt};
  }
  if (document.error().kind != ErrorKind::untrusted || !ways.inquiring || !ways.pinned)
    return document.error();
  const RelayAnswers answers = inquire(*ways.inquiring, server.base_url);
  const auto told = understand<protocol::SignedStatement>(answers.project);
  if (!told.ok() || !answers.relay.reply.ok()) return document.error();  // no relay of ours
  TRY_ASSIGN(auto trust, crypto::check_project(*told, code.root_fingerprint, now, seen));
  TRY_ASSIGN(auto relay, understand_relay(answers.relay, trust, now));
  ways.pinned->set(relay.certificate.tls_key);
  return Found{*told, std::move(trust), std::move(relay)};
}

protocol::SignedStatement proof_of(const protocol::EnrolRequest& request, const Found& found,
                                   const crypto::PrivateKey& key, const Bytes& nonce) {
  protocol::Enrolment enrolment;
  enrolment.project = found.trust.project;
  if (found.relay) enrolment.relay = found.relay->certificate.relay;
  enrolment.host_key = request.host_key;
  enrolment.machine = request.machine;
  if (request.relay) enrolment.tls_key = request.relay->tls_key;
  enrolment.nonce = nonce;
  return crypto::sign_statement(protocol::StatementType::enrolment, protocol::encode(enrolment), key);
}

Result<protocol::EnrolReply> enrol(const Ways& ways, const protocol::JoinCode& code, const Found& found,
                                   protocol::EnrolRequest request, const crypto::PrivateKey& key) {
  const Server server{code.base_url(), ""};
  // The proof counts once: over a kept connection that dies under it libcurl would send it again by itself.
  io::HttpRequest first = get_request(server, nonce_path);
  first.headers.emplace_back("Connection", "close");
  const auto nonce = understand<protocol::EnrolmentNonce>(call(ways.http, server, std::move(first)));
  const bool older = !nonce.ok() && (nonce.error().kind == ErrorKind::not_found ||
                                     nonce.error().kind == ErrorKind::unauthorized);
  if (older)
    return Error{ErrorKind::conflict,
                 "it cannot have a host prove its key: its version is older than this "
                 "program's; the server must be updated first"};
  if (!nonce.ok()) return nonce.error();
  request.proof = proof_of(request, found, key, nonce->nonce);
  Noting http(ways.http);
  auto reply = understand<protocol::EnrolReply>(
      call(http, server, json_request(server, "/v1/enrol", protocol::encode(request))));
  // It is the server that does not believe this computer, and not the other way round.
  if (!reply.ok() && reply.error().kind == ErrorKind::untrusted && http.answered())
    return Error{ErrorKind::conflict, reply.error().message};
  return reply;
}

std::string place_of(const protocol::JoinCode& code) {
  return code.host + ":" + std::to_string(code.port);
}

Error why_not_joined(const Error& error, const protocol::JoinCode& code) {
  switch (error.kind) {
    case ErrorKind::unavailable:
      return {error.kind, "cannot join: no valid answer from the server " + place_of(code) + " (" +
                              error.message +
                              "): check the network and that the server is running, then try again"};
    case ErrorKind::untrusted:
      return {error.kind,
              "cannot join: " + place_of(code) + " is not the server of this join code (" + error.message +
                  "): ask for the current join code; if it is current, do not trust this network"};
    case ErrorKind::unauthorized:
    case ErrorKind::forbidden:
      return {ErrorKind::forbidden, "cannot join: " + error.message};
    case ErrorKind::banned:
      return {error.kind, "cannot join: " + error.message};
    case ErrorKind::invalid:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::too_large:
    case ErrorKind::io:
    case ErrorKind::internal:
      break;
  }
  return error.within("cannot join");
}

}  // namespace gleaner::transport
