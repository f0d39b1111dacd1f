// Takes a new list of revocations: from the file `keys/revocations.json`, which is looked for at the start
// and then once a second, or, at a relay, from its parent's document.
#pragma once

#include <filesystem>
#include <optional>

#include "server/service/core/kernel.h"
#include "server/service/core/revocations.h"

namespace gleaner::service {

// The list holds from now on, if it is newer than the one that does: it is stored, problems of revoked
// applications stop and their managers end. Writer thread, in a transaction.
[[nodiscard]] Status take_revocations(Transaction& tx, const crypto::Revocations& list);
// Problems that are not over and whose application is revoked stop. Writer thread, in a transaction.
[[nodiscard]] Status stop_revoked(Transaction& tx);

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

}  // namespace gleaner::service
