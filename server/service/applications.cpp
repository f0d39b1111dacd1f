// Applications: signed bundles that an administrator adds. The server checks the whole chain before it keeps
// one.
#include <spdlog/spdlog.h>

#include "server/service/service.h"
#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {

protocol::ApplicationInfo Service::describe(const Application& application) const {
  const auto& row = application.row;
  return {row.name,
          row.version,
          row.title,
          row.archive,
          row.archive_bytes,
          row.platforms,
          application.signer_name,
          row.added_at};
}

void Service::add_application(protocol::AddApplication request, Done<protocol::ApplicationInfo> done) {
  on_pool([this, request = std::move(request), done = std::move(done)]() mutable {
    auto application = [&]() -> Result<Application> {
      TRY_ASSIGN(const auto statement, crypto::check_application(request.application, request.signer,
                                                                 secrets_.root_key, secrets_.project, now()));
      TRY_ASSIGN(const auto certificate, protocol::decode<protocol::KeyCertificate>(request.signer.payload));
      if (!blobs_.has(statement.archive))
        return Error{ErrorKind::conflict, "upload the archive " + statement.archive + " first"};
      Application added;
      const std::lock_guard lock(install_mutex_);  // two requests may bring the same archive
      TRY_ASSIGN(added.manifest,
                 bundle::install_bundle(blobs_.path(statement.archive), statement,
                                        directory_.bundle(statement.archive), archives::unpack_bundle));
      added.signer_name = certificate.name;
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
    }();
    if (!application.ok()) return done(application.error());
    decide<protocol::ApplicationInfo>(
        [this,
         application = std::move(*application)](Result<protocol::ApplicationInfo>& info) mutable -> Status {
          for (const auto& [id, known] : model_.applications) {
            if (known.row.name != application.row.name || known.row.version != application.row.version)
              continue;
            if (known.row.archive == application.row.archive) {
              info = describe(known);
              return {};
            }
            info =
                Error{ErrorKind::conflict, application.row.name + " " + application.row.version +
                                               " is here already with other contents: versions never change, "
                                               "raise the version in manifest.toml"};
            return {};
          }
          application.row.added_at = now();
          TRY_ASSIGN(application.row.id, store_->add_application(application.row));
          spdlog::info("application {} {} added, signed by {}", application.row.name, application.row.version,
                       application.signer_name);
          info = describe(application);
          model_.applications[application.row.id] = std::move(application);
          return {};
        },
        std::move(done));
  });
}

void Service::applications(Done<std::vector<protocol::ApplicationInfo>> done) {
  decide<std::vector<protocol::ApplicationInfo>>(
      [this](Result<std::vector<protocol::ApplicationInfo>>& list) -> Status {
        std::vector<protocol::ApplicationInfo> all;
        for (const auto& [id, application] : model_.applications) all.push_back(describe(application));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
