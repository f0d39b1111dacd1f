#include "shared/transport/find_server.h"

#include "shared/crypto/statements.h"

namespace gleaner::transport {

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
                                   const crypto::PrivateKey& key, Timestamp now) {
  const protocol::Enrolment enrolment{found.trust.project, found.relay->certificate.relay, request.host_key,
                                      request.machine, now};
  return crypto::sign_statement(protocol::StatementType::enrolment, protocol::encode(enrolment), key);
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
