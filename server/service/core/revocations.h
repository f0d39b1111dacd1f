// What the root key has taken back (crypto::Revocations), as this server knows and publishes it. The newest
// list is kept in the store, so that neither a lost file nor an older one takes anything back.
#pragma once

#include <mutex>

#include "server/service/core/model.h"

namespace gleaner::service {

// Why nothing may be computed with the application; ok: it may.
[[nodiscard]] Status check_not_revoked(const Model& model, const Application& application);
// From the store. What is there was checked when it came.
[[nodiscard]] Result<crypto::Revocations> stored_revocations(storage::Store& store);
[[nodiscard]] Status store_revocations(storage::Store& store, const crypto::Revocations& list);

// What answers name and the project's document carries. Thread-safe.
class PublishedRevocations {
 public:
  void set(const crypto::Revocations& list);
  [[nodiscard]] crypto::Revocations present() const;

 private:
  mutable std::mutex mutex_;
  crypto::Revocations list_;
};

// The server's own keys must not be on it: with them nothing that it signs is believed.
struct OwnKeys {
  Bytes work_key;       // public
  std::string tls_key;  // digest
};
[[nodiscard]] Result<OwnKeys> own_keys(const ProjectSecrets& secrets);
[[nodiscard]] Status check_own_keys(const crypto::Revocations& list, const OwnKeys& keys);
[[nodiscard]] Status check_own_keys(const crypto::Revocations& list, const ProjectSecrets& secrets);

}  // namespace gleaner::service
