// The keys that a server works with, as files: `work.key`, `work.certificate.json`, `tls.key` and `tls.pem`
// (the root key certifies both). Made where the root key is, by gleaner-server init and gleaner-admin keys
// rotate. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/result.h"
#include "shared/crypto/root_key.h"
#include "shared/io/files.h"

namespace gleaner::bundle {

inline constexpr const char* work_key_file = "work.key";
inline constexpr const char* work_certificate_file = "work.certificate.json";
inline constexpr const char* tls_key_file = "tls.key";
inline constexpr const char* tls_chain_file = "tls.pem";

struct ServerKeyTerms {
  bool work = true;
  bool tls = true;
  std::vector<std::string>
      hosts;  // DNS names and addresses in the TLS certificate, besides this machine's own
  Timestamp from, until;
};

// Into `directory`, made if need be; what is there is replaced.
[[nodiscard]] Status create_server_keys(io::Files& files, const io::Path& directory,
                                        const crypto::RootKey& root, const ServerKeyTerms& terms);

}  // namespace gleaner::bundle
