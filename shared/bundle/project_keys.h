// A project's offline keys and the files they live in: `root.key` and `signer.key` (PEM, mode 0600) and
// `signer.certificate.json` (an encoded protocol::SignedStatement of a KeyCertificate). gleaner-admin and
// gleaner-server init make them; a running server never reads them. Thread-safe.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/revocations.h"
#include "shared/crypto/root_key.h"
#include "shared/io/files.h"
#include "shared/protocol/messages.h"

namespace gleaner::bundle {

inline constexpr const char* root_key_file = "root.key";
inline constexpr const char* signer_key_file = "signer.key";
inline constexpr const char* revocations_file = "revocations.json";
inline constexpr const char* signer_certificate_file = "signer.certificate.json";

struct OfflineKeys {
  crypto::RootKey root;
  crypto::PrivateKey signer;
  protocol::SignedStatement signer_certificate;
  std::string project;  // the project's id
};

struct SignerTerms {
  std::string name = "signer";
  Duration validity = std::chrono::hours{24 * 1095};  // clients refuse applications once it has run out
};

// Hex of the root key's fingerprint: a project is its root key.
[[nodiscard]] std::string project_id(std::string_view root_public_key);

// Makes both keys and the certificate, and writes them to `directory` (made if need be). Errors: conflict if
// one of the files is there already: keys are never overwritten.
[[nodiscard]] Result<OfflineKeys> create_offline_keys(io::Files& files, const io::Path& directory,
                                                      Timestamp now, const SignerTerms& terms = {});
// The same with a root key that is there already, and stays where it is.
[[nodiscard]] Result<OfflineKeys> create_signer(io::Files& files, const io::Path& directory,
                                                const crypto::RootKey& root, Timestamp now,
                                                const SignerTerms& terms = {});

// "This key may act for the project": `type` is work_key_certificate or signer_certificate, `key` 32 raw
// bytes.
[[nodiscard]] Result<protocol::SignedStatement> certify_key(const crypto::RootKey& root,
                                                            const std::string& project,
                                                            protocol::StatementType type,
                                                            std::string_view key, const std::string& name,
                                                            Timestamp from, Timestamp until);

// conflict: the file is there already, and keys are never overwritten.
[[nodiscard]] Status check_absent(const io::Files& files, const io::Path& path);

// A key that only its owner may read. Errors: forbidden if its mode lets others in.
[[nodiscard]] Result<crypto::PrivateKey> read_key_file(const io::Files& files, const io::Path& path);
[[nodiscard]] Result<protocol::SignedStatement> read_certificate_file(const io::Files& files,
                                                                      const io::Path& path);
// The list in a file, of the project whose root key has this fingerprint.
[[nodiscard]] Result<crypto::Revocations> read_revocations(const io::Files& files, const io::Path& path,
                                                           std::string_view root_fingerprint);

}  // namespace gleaner::bundle
