#include "shared/transport/relay.h"

namespace gleaner::transport {

RelayAnswers inquire(io::HttpClient& inquiring, const std::string& base_url) {
  const Server anybody{base_url, ""};
  return {call(inquiring, anybody, get_request(anybody, "/v1/project")),
          call(inquiring, anybody, get_request(anybody, "/v1/relay"))};
}

Result<Relay> understand_relay(const Answer& answer, const crypto::ProjectTrust& trust, Timestamp now) {
  Relay relay;
  TRY_ASSIGN(relay.statement, understand<protocol::SignedStatement>(answer));
  TRY_ASSIGN(relay.certificate, crypto::check_relay_certificate(relay.statement, trust, now));
  if (answer.reply->tls_key != relay.certificate.tls_key)
    return Error{ErrorKind::untrusted, "the certificate of relay \"" + relay.certificate.name +
                                           "\" is for another TLS key than was shown: somebody may be in "
                                           "between, or the relay is set up wrongly"};
  return relay;
}

}  // namespace gleaner::transport
