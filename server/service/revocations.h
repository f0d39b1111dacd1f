// What the root key has taken back (crypto::Revocations), as this server knows and publishes it. The list
// comes as a file, `keys/revocations.json`, which is looked for at the start and then once a second; the
// newest is kept in the store, so that neither a lost file nor an older one takes anything back.
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>

#include "server/service/kernel.h"

namespace gleaner::service {

// The list holds from now on, if it is newer than the one that does: it is stored, problems of revoked
// applications stop and their managers end. Writer thread, in a transaction.
[[nodiscard]] Status take_revocations(Transaction& tx, const crypto::Revocations& list);
// Problems that are not over and whose application is revoked stop. Writer thread, in a transaction.
[[nodiscard]] Status stop_revoked(Transaction& tx);
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

// Looks for a newer file. One thread at a time.
class RevocationWatch {
 public:
  RevocationWatch(Kernel& kernel, const ProjectSecrets& secrets) : kernel_(kernel), secrets_(secrets) {}

  // The file's list, if the file is there, whole, and has changed since the last call. What is wrong with it
  // is logged once, and nothing else comes of it. Of a relay: that of the document that its parent gave it.
  [[nodiscard]] std::optional<crypto::Revocations> look();
  // look(), and what it finds is taken by the writer.
  void tick();

 private:
  [[nodiscard]] std::optional<crypto::Revocations> look_above();

  Kernel& kernel_;
  const ProjectSecrets& secrets_;
  std::filesystem::file_time_type changed_{};
  std::uintmax_t size_ = 0;
  std::string document_;
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
