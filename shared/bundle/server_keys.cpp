#include "shared/bundle/server_keys.h"

#include "shared/bundle/project_keys.h"
#include "shared/crypto/tls_identity.h"
#include "shared/protocol/codec.h"

namespace gleaner::bundle {

Status create_server_keys(io::Files& files, const io::Path& directory, const crypto::RootKey& root,
                          const ServerKeyTerms& terms) {
  TRY(files.make_directories(directory));
  if (terms.work) {
    const auto key = crypto::PrivateKey::generate();
    TRY_ASSIGN(const auto certificate,
               certify_key(root, project_id(root.public_key()), protocol::StatementType::work_key_certificate,
                           key.public_key(), "work", terms.from, terms.until));
    TRY(files.write(directory / work_key_file, key.to_pem(), io::Mode::secret));
    TRY(files.write(directory / work_certificate_file, protocol::encode(certificate), io::Mode::normal));
  }
  if (!terms.tls) return {};
  std::vector<std::string> hosts = terms.hosts;
  hosts.insert(hosts.end(), {"localhost", "127.0.0.1", "::1"});
  TRY_ASSIGN(const auto identity, crypto::make_tls_identity(root, hosts, terms.from, terms.until));
  TRY(files.write(directory / tls_key_file, identity.private_key_pem, io::Mode::secret));
  return files.write(directory / tls_chain_file, identity.certificate_chain_pem, io::Mode::normal);
}

}  // namespace gleaner::bundle
