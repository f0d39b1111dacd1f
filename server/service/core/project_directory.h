// The server's directory: every path the server may create has a function here, and `init` makes a new
// project.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/service/core/configuration.h"
#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/root_key.h"
#include "shared/io/files.h"
#include "shared/protocol/join_code.h"
#include "shared/protocol/messages.h"

namespace gleaner::service {

// Any file of keys, certificates or tokens.
inline constexpr std::int64_t key_file_bytes_max = 64 << 10;

class ProjectDirectory {
 public:
  explicit ProjectDirectory(io::Path root) : root_(std::move(root)) {}

  [[nodiscard]] const io::Path& root() const { return root_; }
  [[nodiscard]] io::Path configuration() const { return root_ / "server.toml"; }
  [[nodiscard]] io::Path root_public_key() const { return root_ / "keys" / "root.public"; }
  [[nodiscard]] io::Path work_key() const { return root_ / "keys" / "work.key"; }
  [[nodiscard]] io::Path work_certificate() const { return root_ / "keys" / "work.certificate.json"; }
  [[nodiscard]] io::Path revocations() const { return root_ / "keys" / "revocations.json"; }
  [[nodiscard]] io::Path former_certificates() const { return root_ / "keys" / "former"; }
  [[nodiscard]] io::Path tls_key() const { return root_ / "keys" / "tls.key"; }
  [[nodiscard]] io::Path tls_chain() const { return root_ / "keys" / "tls.pem"; }
  [[nodiscard]] io::Path ticket_keys() const { return root_ / "keys" / "tickets"; }
  [[nodiscard]] io::Path link_key() const { return root_ / "keys" / "link.pem"; }
  [[nodiscard]] io::Path enrolment_secret() const { return root_ / "keys" / "enrolment.secret"; }
  [[nodiscard]] io::Path admin_profile() const { return root_ / "admin" / "admin.json"; }
  [[nodiscard]] io::Path admin_token() const { return root_ / "admin" / "token"; }
  [[nodiscard]] io::Path audit_head() const { return root_ / "admin" / "audit.head"; }
  [[nodiscard]] io::Path bundle(const std::string& digest) const { return root_ / "bundles" / digest; }
  [[nodiscard]] io::Path decisions() const { return root_ / "decisions" / "project.jsonl"; }
  [[nodiscard]] io::Path problem(ProblemId id) const { return root_ / "problems" / std::to_string(id.value); }

 private:
  io::Path root_;
};

inline constexpr std::size_t enrolment_secret_bytes = 16;

// What the server shows to whoever connects; it may be renewed while it runs.
struct TlsFiles {
  std::string chain_pem;
  std::string key_pem;
};
[[nodiscard]] Result<TlsFiles> read_tls(io::Files& files, const ProjectDirectory& directory);

// What the server reads at start. The offline keys are not among it.
struct ProjectSecrets {
  std::string project;  // id: hex fingerprint of the root key
  Bytes root_key;       // public, 32 bytes
  crypto::PrivateKey work_key;
  protocol::SignedStatement work_certificate;
  Timestamp work_certificate_expires;
  std::vector<protocol::SignedStatement> former_work_certificates;  // that still hold
  std::string tls_chain_pem;
  std::string tls_key_pem;
  Bytes enrolment_secret;    // of the code "default"; empty: that was rotated or withdrawn (codes.h)
  Bytes admin_token_digest;  // SHA-256
};
// Errors name the file and say how to mend it (an expired work certificate: certify it again with the root
// key).
[[nodiscard]] Result<ProjectSecrets> read_secrets(io::Files& files, const ProjectDirectory& directory,
                                                  Timestamp now);

[[nodiscard]] Result<Bytes> read_root_public_key(io::Files& files, const ProjectDirectory& directory);

struct InitOptions {
  io::Path directory;
  io::Path offline;                          // where root and signer keys go
  std::optional<crypto::RootKey> root = {};  // one that is there already, say in a hardware token
  Configuration configuration;
  int days = 730;  // validity of the work key and TLS certificates
};
struct InitReport {
  std::string join_code;
  std::string project;
};
// Refuses a directory that already holds a project.
[[nodiscard]] Result<InitReport> init_project(io::Files& files, const InitOptions& options, Timestamp now);

[[nodiscard]] protocol::JoinCode join_code(const Configuration& configuration, const Bytes& root_key,
                                           const Bytes& enrolment_secret, int port);

// The certificates in keys/former that still hold, newest first, at most as many as a document may carry.
[[nodiscard]] std::vector<protocol::SignedStatement> read_former_certificates(io::Files& files,
                                                                              const ProjectDirectory& project,
                                                                              const Bytes& root_key,
                                                                              Timestamp now);

}  // namespace gleaner::service
