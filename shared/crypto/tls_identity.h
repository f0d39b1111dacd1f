// X.509 for TLS. The offline root key (Ed25519) signs the server's TLS certificate (P-256), so a client that
// knows the root key's fingerprint can trust the TLS key whatever name or address the server has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/crypto/root_key.h"

namespace gleaner::crypto {

struct TlsIdentity {
  std::string certificate_chain_pem;  // leaf, then the self-signed root certificate, if there is one
  std::string private_key_pem;        // of the leaf, P-256
};

// `names`: DNS names and IP addresses the leaf is good for. Both certificates are valid over [from, until].
[[nodiscard]] TlsIdentity make_tls_identity(const PrivateKey& root, const std::vector<std::string>& names,
                                            Timestamp from, Timestamp until);
[[nodiscard]] Result<TlsIdentity> make_tls_identity(const RootKey& root,
                                                    const std::vector<std::string>& names, Timestamp from,
                                                    Timestamp until);
// One that nobody vouches for by its chain: a relay's, whose key the project certifies by its digest
// (tls_key_digest).
[[nodiscard]] TlsIdentity make_self_signed_identity(const std::vector<std::string>& names, Timestamp from,
                                                    Timestamp until);
// The key is the certificate's, and the chain is what clients of the project trust (check_chain).
[[nodiscard]] Status check_tls_identity(const TlsIdentity& identity, std::string_view root_fingerprint,
                                        Timestamp now);

// SHA-256 of the SubjectPublicKeyInfo, in hex: how a TLS key is named when it is revoked. `certificate`: DER,
// or PEM, of which the first counts. invalid: there is none in it.
[[nodiscard]] Result<std::string> tls_key_digest(std::string_view certificate);

// Decides on a peer's chain (leaf first, DER) as a client must: accepted if it ends in a self-signed
// certificate whose Ed25519 key has `root_fingerprint` and every link and period holds at `now` (five minutes
// forgiven). The host name is not looked at: the root key vouches for the TLS key. Errors are
// ErrorKind::untrusted and say why.
[[nodiscard]] Status check_chain(const std::vector<std::string>& chain_der, std::string_view root_fingerprint,
                                 Timestamp now);

}  // namespace gleaner::crypto
