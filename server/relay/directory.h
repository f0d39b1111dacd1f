// A relay's directory: its settings, its keys, and who it is to its project (parent/). Files with secrets are
// of mode 0600; what is written is durable. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/service/core/project_directory.h"
#include "shared/crypto/revocations.h"
#include "shared/crypto/tls_identity.h"
#include "shared/protocol/join_code.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::relay {

class RelayDirectory {
 public:
  explicit RelayDirectory(io::Path root) : project_(std::move(root)) {}

  [[nodiscard]] const io::Path& root() const { return project_.root(); }
  // What a relay has where a server has it: TLS identity, tickets, secret of the join code, admin profile.
  [[nodiscard]] const service::ProjectDirectory& project() const { return project_; }
  [[nodiscard]] io::Path settings() const { return root() / "relay.toml"; }
  [[nodiscard]] io::Path host_key() const { return root() / "keys" / "host.key"; }
  [[nodiscard]] io::Path parent() const { return root() / "parent"; }

 private:
  service::ProjectDirectory project_;
};

// The present settings; the defaults where there are none yet.
[[nodiscard]] Result<service::Configuration> read_settings(const io::Files& files,
                                                           const RelayDirectory& directory);
[[nodiscard]] Status write_settings(io::Files& files, const RelayDirectory& directory,
                                    const service::Configuration& configuration);

// Made before the project is told of them, and the same from then on, whatever is joined.
struct RelayKeys {
  crypto::PrivateKey host;   // it is known by this; it signs leases
  crypto::TlsIdentity tls;   // self-signed: the project certifies its digest
  std::string tls_digest;    // crypto::tls_key_digest
  Bytes enrolment_secret;    // of the code that its children join with
  Bytes admin_token_digest;  // SHA-256 of the token in admin/, which may look at everything
};
[[nodiscard]] Result<RelayKeys> load_or_make_keys(io::Files& files, const RelayDirectory& directory,
                                                  const std::vector<std::string>& names, Timestamp now);

// Who it is to its project. Statements are as they were received: to be checked before use.
struct Membership {
  protocol::JoinCode code;  // where its parent is
  HostId host;
  std::string token;
  std::string machine;                                      // digest when it joined
  protocol::SignedStatement project;                        // its document
  protocol::SignedStatement certificate;                    // that it is a relay
  std::optional<protocol::SignedStatement> above = {};      // the parent is a relay: its certificate
  crypto::Revocations revocations = crypto::Revocations();  // the newest list ever seen of this project
};
// not_found: it has not joined (says what to do); untrusted: others may read its secrets.
[[nodiscard]] Result<Membership> load_membership(const io::Files& files, const RelayDirectory& directory);
// Its last file is written last: with it, the relay has joined.
[[nodiscard]] Status save_membership(io::Files& files, const RelayDirectory& directory,
                                     const Membership& membership);
// Of a relay that joined again with the same code: the project knows neither leases nor hosts of the former
// membership. At any moment one of the two is stored, so that a relay that is killed meanwhile joins again.
[[nodiscard]] Status replace_membership(io::Files& files, const RelayDirectory& directory,
                                        const Membership& membership);
// The statements and the list alone, as they are renewed.
[[nodiscard]] Status save_statements(io::Files& files, const RelayDirectory& directory,
                                     const Membership& membership);
// Another relay runs with this one's identity, and the project serves that one: this one does not run again.
[[nodiscard]] Status mark_copy(io::Files& files, const RelayDirectory& directory);
// conflict: it is marked as a copy, and what to do.
[[nodiscard]] Status check_no_copy(const io::Files& files, const RelayDirectory& directory);
// Nothing of the membership stays: identity, store, blobs. Keys and settings do, for another joining.
[[nodiscard]] Status forget_membership(io::Files& files, const RelayDirectory& directory);

// What the service stands on. untrusted: the keys are not those that the project certified.
[[nodiscard]] Result<service::ProjectSecrets> secrets_of(const RelayKeys& keys, const Membership& membership);

}  // namespace gleaner::relay
