#include "shared/bundle/project_keys.h"

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/crypto/statements.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"

namespace gleaner::bundle {
namespace {

constexpr std::int64_t key_file_bytes_max = 16 << 10;          // an Ed25519 key in PEM has 119 bytes
constexpr std::int64_t certificate_file_bytes_max = 64 << 10;  // a certificate has about 600

}  // namespace

Status check_absent(const io::Files& files, const io::Path& path) {
  if (!files.exists(path)) return {};
  return Error{ErrorKind::conflict, utf8_text(path) +
                                        " is there already, and keys are never overwritten: choose " +
                                        "another directory, or move the old keys away first"};
}

std::string project_id(std::string_view root_public_key) {
  return to_hex(crypto::fingerprint(root_public_key));
}

Result<protocol::SignedStatement> certify_key(const crypto::RootKey& root, const std::string& project,
                                              protocol::StatementType type, std::string_view key,
                                              const std::string& name, Timestamp from, Timestamp until) {
  protocol::KeyCertificate certificate;
  certificate.project = project;
  certificate.key = std::string(key);
  certificate.name = name;
  certificate.not_before = from;
  certificate.not_after = until;
  return crypto::sign_statement(type, protocol::encode(certificate), root);
}

Result<OfflineKeys> create_signer(io::Files& files, const io::Path& directory, const crypto::RootKey& root,
                                  Timestamp now, const SignerTerms& terms) {
  for (const char* name : {signer_key_file, signer_certificate_file})
    TRY(check_absent(files, directory / name));
  TRY(files.make_directories(directory));
  const crypto::PrivateKey signer = crypto::PrivateKey::generate();
  const std::string project = project_id(root.public_key());
  TRY_ASSIGN(const auto certificate, certify_key(root, project, protocol::StatementType::signer_certificate,
                                                 signer.public_key(), terms.name, now, now + terms.validity));
  TRY(files.write(directory / signer_key_file, signer.to_pem(), io::Mode::secret));
  TRY(files.write(directory / signer_certificate_file, protocol::encode(certificate) + "\n",
                  io::Mode::normal));
  return OfflineKeys{root, signer, certificate, project};
}

Result<OfflineKeys> create_offline_keys(io::Files& files, const io::Path& directory, Timestamp now,
                                        const SignerTerms& terms) {
  for (const char* name : {root_key_file, signer_key_file, signer_certificate_file})
    TRY(check_absent(files, directory / name));
  TRY(files.make_directories(directory));
  const crypto::PrivateKey root = crypto::PrivateKey::generate();
  TRY(files.write(directory / root_key_file, root.to_pem(), io::Mode::secret));
  return create_signer(files, directory, root, now, terms);
}

Result<crypto::PrivateKey> read_key_file(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(const Bytes pem, io::read_secret_file(files, path, key_file_bytes_max));
  auto key = crypto::PrivateKey::from_pem(pem);
  if (!key.ok()) return key.error().within(utf8_text(path));
  return key;
}

Result<protocol::SignedStatement> read_certificate_file(const io::Files& files, const io::Path& path) {
  TRY_ASSIGN(const Bytes text, files.read(path, certificate_file_bytes_max));
  auto statement = protocol::decode<protocol::SignedStatement>(text);
  if (!statement.ok()) return statement.error().within(utf8_text(path));
  return statement;
}

Result<crypto::Revocations> read_revocations(const io::Files& files, const io::Path& path,
                                             std::string_view root_fingerprint) {
  TRY_ASSIGN(const Bytes text, files.read(path, limits::json_message_bytes_max));
  const auto statement = protocol::decode<protocol::SignedStatement>(text);
  if (!statement.ok()) return statement.error().within(utf8_text(path));
  auto list = crypto::Revocations::from(*statement, root_fingerprint);
  if (!list.ok()) return list.error().within(utf8_text(path));
  return list;
}

}  // namespace gleaner::bundle
