#include "server/service/access/relay_certificates.h"

#include <utility>

#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {

protocol::SignedStatement unsigned_certificate(const storage::HostRow& row, const std::string& project,
                                               Timestamp now) {
  protocol::SignedStatement statement;
  statement.type = protocol::StatementType::relay_certificate;
  statement.payload =
      protocol::encode(protocol::RelayCertificate{project, row.id, row.name, row.public_key, row.tls_key,
                                                  row.children, now, now + relay_certificate_valid});
  return statement;
}

void sign(protocol::SignedStatement& statement, const crypto::PrivateKey& work_key) {
  statement = crypto::sign_statement(statement.type, std::move(statement.payload), work_key);
}

Status check_relay_keys(const crypto::Revocations& revocations, const protocol::EnrolRequest& request) {
  if (!request.relay) return {};
  return check_relay_keys(revocations, request.host_key, request.relay->tls_key);
}

Status check_relay_keys(const crypto::Revocations& revocations, const Bytes& host_key,
                        const std::string& tls_key) {
  TRY(revocations.check_key(host_key, "relay"));
  return revocations.check_tls_key(tls_key);
}

}  // namespace gleaner::service
