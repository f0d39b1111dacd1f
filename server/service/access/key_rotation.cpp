#include "server/service/access/key_rotation.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/bundle/project_keys.h"
#include "shared/bundle/server_keys.h"
#include "shared/crypto/statements.h"
#include "shared/crypto/tls_identity.h"
#include "shared/io/secret_file.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

struct NewWorkKey {
  std::string pem;
  protocol::SignedStatement certificate;
};

Result<NewWorkKey> read_work_key(const io::Files& files, const io::Path& from, const Bytes& root_key,
                                 const crypto::Revocations& revocations, Timestamp now) {
  TRY_ASSIGN(const auto key, bundle::read_key_file(files, from / bundle::work_key_file));
  TRY_ASSIGN(const auto statement,
             bundle::read_certificate_file(files, from / bundle::work_certificate_file));
  auto certificate = crypto::check_key_certificate(statement, protocol::StatementType::work_key_certificate,
                                                   root_key, bundle::project_id(root_key), now);
  if (!certificate.ok()) return certificate.error().within((from / bundle::work_certificate_file).string());
  if (certificate->key != key.public_key())
    return Error{ErrorKind::untrusted, (from / bundle::work_certificate_file).string() +
                                           " is for another key than " +
                                           (from / bundle::work_key_file).string()};
  TRY(revocations.check_key(certificate->key, "work key"));
  return NewWorkKey{key.to_pem(), statement};
}

Result<crypto::TlsIdentity> read_tls_key(const io::Files& files, const io::Path& from, const Bytes& root_key,
                                         const crypto::Revocations& revocations, Timestamp now) {
  crypto::TlsIdentity identity;
  TRY_ASSIGN(identity.private_key_pem,
             io::read_secret_file(files, from / bundle::tls_key_file, key_file_bytes_max));
  TRY_ASSIGN(identity.certificate_chain_pem, files.read(from / bundle::tls_chain_file, key_file_bytes_max));
  if (const Status good = crypto::check_tls_identity(identity, crypto::fingerprint(root_key), now);
      !good.ok())
    return good.error().within((from / bundle::tls_chain_file).string());
  TRY_ASSIGN(const std::string digest, crypto::tls_key_digest(identity.certificate_chain_pem));
  TRY(revocations.check_tls_key(digest));
  return identity;
}

// The name says whose it is: to keep it twice changes nothing.
Status keep_former(io::Files& files, const ProjectDirectory& project, const Bytes& new_key) {
  if (!files.exists(project.work_certificate())) return {};
  TRY_ASSIGN(const auto before, bundle::read_certificate_file(files, project.work_certificate()));
  TRY_ASSIGN(const auto certificate, protocol::decode<protocol::KeyCertificate>(before.payload));
  if (certificate.key == new_key) return {};  // taken already
  TRY(files.make_directories(project.former_certificates()));
  return files.write(project.former_certificates() / (to_hex(certificate.key).substr(0, 32) + ".json"),
                     protocol::encode(before), io::Mode::normal);
}

}  // namespace

Result<TakenKeys> take_keys(io::Files& files, const ProjectDirectory& project, const io::Path& from,
                            Timestamp now) {
  TRY_ASSIGN(const Bytes root_key, read_root_public_key(files, project));
  crypto::Revocations revocations;
  if (files.exists(project.revocations())) {
    TRY_ASSIGN(revocations,
               bundle::read_revocations(files, project.revocations(), crypto::fingerprint(root_key)));
  }
  std::optional<NewWorkKey> work;
  std::optional<crypto::TlsIdentity> tls;
  if (files.exists(from / bundle::work_key_file)) {
    TRY_ASSIGN(work, read_work_key(files, from, root_key, revocations, now));
  }
  if (files.exists(from / bundle::tls_key_file)) {
    TRY_ASSIGN(tls, read_tls_key(files, from, root_key, revocations, now));
  }
  if (!work && !tls)
    return Error{ErrorKind::not_found, from.string() + " has neither a " + bundle::work_key_file + " nor a " +
                                           bundle::tls_key_file +
                                           ": make them with `gleaner-admin keys rotate`"};
  if (work) {
    TRY_ASSIGN(const auto certificate, protocol::decode<protocol::KeyCertificate>(work->certificate.payload));
    TRY(keep_former(files, project, certificate.key));
    TRY(files.write(project.work_certificate(), protocol::encode(work->certificate), io::Mode::normal));
    TRY(files.write(project.work_key(), work->pem, io::Mode::secret));
  }
  if (tls) {
    TRY(files.write(project.tls_chain(), tls->certificate_chain_pem, io::Mode::normal));
    TRY(files.write(project.tls_key(), tls->private_key_pem, io::Mode::secret));
  }
  return TakenKeys{work.has_value(), tls.has_value()};
}

}  // namespace gleaner::service
