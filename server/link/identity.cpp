#include "server/link/identity.h"

#include <chrono>

#include "shared/crypto/tls_identity.h"
#include "shared/io/secret_file.h"

namespace gleaner::link {
namespace {

constexpr std::int64_t identity_bytes_max = 64 << 10;
// Nobody looks at it: who holds the key is let in until the file is replaced.
constexpr std::chrono::hours validity{24 * 3650};

}  // namespace

Status make_identity(io::Files& files, const io::Path& file, Timestamp now) {
  if (files.exists(file))
    return Error{ErrorKind::conflict, file.string() + " exists already: remove it first, or name another"};
  // Its issuer's key is forgotten at once: no other certificate of it will ever be.
  const auto made = crypto::make_tls_identity(crypto::PrivateKey::generate(), {},
                                              now - std::chrono::hours{24}, now + validity);
  return files.write(file, made.certificate_chain_pem + made.private_key_pem, io::Mode::secret);
}

Result<Identity> read_identity(const io::Files& files, const io::Path& file) {
  if (!files.exists(file))
    return Error{ErrorKind::not_found,
                 file.string() + " is missing: make it once with `gleaner-server link-key " + file.string() +
                     "`, and copy it to all servers and front ends of the project"};
  return io::read_secret_file(files, file, identity_bytes_max);
}

}  // namespace gleaner::link
