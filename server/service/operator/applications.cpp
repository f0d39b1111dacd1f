#include "server/service/operator/applications.h"

#include <fmt/format.h>

#include "server/service/core/lost_blobs.h"
#include "server/service/core/revocations.h"
#include "server/service/operator/describe.h"
#include "server/service/work/damage.h"
#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

Status keep(Transaction& tx, Application application, Result<protocol::ApplicationInfo>& info) {
  auto& row = application.row;
  if (const Status good = check_not_revoked(tx.model, application); !good.ok()) {
    info = Error{ErrorKind::conflict, good.error().message};
    return {};
  }
  for (const auto& [id, known] : tx.model.applications) {
    if (known.row.name != row.name || known.row.version != row.version) continue;
    if (known.row.archive == row.archive) {
      info = describe(known);
      return archive_is_back(tx, id);
    }
    info = Error{ErrorKind::conflict, row.name + " " + row.version +
                                          " is here already with other contents: versions never change, "
                                          "raise the version in manifest.toml"};
    return {};
  }
  row.added_at = tx.now;
  TRY_ASSIGN(row.id, tx.store.add_application(row));
  tx.effects.info(
      fmt::format("application {} {} added, signed by {}", row.name, row.version, application.signer_name));
  info = describe(application);
  const ApplicationId id = row.id;
  tx.model.applications[id] = std::move(application);
  return {};
}

}  // namespace

Result<Application> Applications::install(const protocol::AddApplication& request) {
  TRY_ASSIGN(const auto statement,
             crypto::check_application(request.application, request.signer, secrets_.root_key,
                                       secrets_.project, kernel_.clock().now()));
  TRY_ASSIGN(const auto certificate, protocol::decode<protocol::KeyCertificate>(request.signer.payload));
  if (const auto size = kernel_.blobs().size(statement.archive); !size.ok()) {
    if (size.error().kind == ErrorKind::io) return Error{ErrorKind::unavailable, size.error().message};
    return Error{ErrorKind::conflict, "upload the archive " + statement.archive + " first"};
  }
  // What was here before is not uploaded again, and may be damaged.
  const Status whole = kernel_.blobs().verify(statement.archive);
  if (!whole.ok() && !is_lost(whole)) return Error{ErrorKind::unavailable, whole.error().message};
  if (!whole.ok())
    return Error{ErrorKind::conflict, "the archive of " + statement.name + "@" + statement.version +
                                          " was damaged here and has been put away: add it once more"};
  Application added;
  const std::lock_guard lock(mutex_);  // two requests may bring the same archive
  TRY_ASSIGN(const io::Path archive, kernel_.blobs().fetch(statement.archive));
  TRY_ASSIGN(added.manifest, bundle::install_bundle(archive, statement,
                                                    kernel_.settings().directory.bundle(statement.archive),
                                                    archives::unpack_bundle));
  added.signer_name = certificate.name;
  added.signer_expires = certificate.not_after;
  auto& row = added.row;
  row.name = statement.name;
  row.version = statement.version;
  row.archive = statement.archive;
  row.archive_bytes = statement.archive_bytes;
  row.title = added.manifest.title;
  for (const auto& [platform, file] : added.manifest.kernels) row.platforms.push_back(platform);
  row.statement = request.application;
  row.signer = request.signer;
  return added;
}

void Applications::add(protocol::AddApplication request, Done<protocol::ApplicationInfo> done) {
  kernel_.on_blob_pool([this, request = std::move(request), done = std::move(done)] {
    auto application = install(request);
    if (!application.ok()) return done(application.error());
    kernel_.decide<protocol::ApplicationInfo>(
        [application = std::move(*application)](Transaction& tx, Result<protocol::ApplicationInfo>& info) {
          return keep(tx, application, info);
        },
        done);
  });
}

void Applications::list(Done<std::vector<protocol::ApplicationInfo>> done) {
  kernel_.decide<std::vector<protocol::ApplicationInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::ApplicationInfo>>& list) -> Status {
        std::vector<protocol::ApplicationInfo> all;
        for (const auto& [id, application] : tx.model.applications) all.push_back(describe(application));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Applications::show(std::string name, Done<protocol::ApplicationInfo> done) {
  kernel_.decide<protocol::ApplicationInfo>(
      [name = std::move(name)](Transaction& tx, Result<protocol::ApplicationInfo>& info) -> Status {
        const Application* application = find_application(tx.model, name);
        if (application == nullptr)
          info = no_application(name);
        else
          info = describe_with_form(*application);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
