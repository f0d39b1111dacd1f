#include "server/service/core/revocations.h"

#include <utility>

#include "shared/crypto/tls_identity.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

constexpr const char* stored_name = "revocations";

}  // namespace

Status check_not_revoked(const Model& model, const Application& application) {
  return model.revocations.check_signed_application(application.row.statement);
}

Result<crypto::Revocations> stored_revocations(storage::Store& store) {
  TRY_ASSIGN(const auto text, store.get_value(stored_name));
  if (!text) return crypto::Revocations();
  TRY_ASSIGN(const auto statement, protocol::decode<protocol::SignedStatement>(*text));
  return crypto::Revocations::from(statement, crypto::fingerprint(statement.key));
}

Status store_revocations(storage::Store& store, const crypto::Revocations& list) {
  return store.set_value(stored_name, protocol::encode(list.statement()));
}

void PublishedRevocations::set(const crypto::Revocations& list) {
  const std::lock_guard lock(mutex_);
  list_ = list;
}

crypto::Revocations PublishedRevocations::present() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

Result<OwnKeys> own_keys(const ProjectSecrets& secrets) {
  TRY_ASSIGN(std::string digest, crypto::tls_key_digest(secrets.tls_chain_pem));
  return OwnKeys{secrets.work_key.public_key(), std::move(digest)};
}

Status check_own_keys(const crypto::Revocations& list, const ProjectSecrets& secrets) {
  TRY_ASSIGN(const OwnKeys keys, own_keys(secrets));
  return check_own_keys(list, keys);
}

Status check_own_keys(const crypto::Revocations& list, const OwnKeys& keys) {
  const std::string what_to_do =
      "no client trusts this server any more; make new keys with `gleaner-admin keys rotate` and take them "
      "with `gleaner-server take-keys`";
  if (const Status work = list.check_key(keys.work_key, "work key"); !work.ok())
    return work.error().within("this server's own key: " + what_to_do);
  if (const Status tls = list.check_tls_key(keys.tls_key); !tls.ok())
    return tls.error().within("this server's own key: " + what_to_do);
  return {};
}

}  // namespace gleaner::service
