#include "server/service/core/bundles.h"

#include <fmt/format.h>

#include "shared/archive/bundle_archive.h"
#include "shared/bundle/bundle.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {

Result<std::vector<std::string>> restore_bundles(storage::Store& store, storage::BlobStore& blobs,
                                                 const ProjectDirectory& directory) {
  std::vector<std::string> lines;
  TRY_ASSIGN(const auto applications, store.applications());
  for (const auto& row : applications) {
    const io::Path into = directory.bundle(row.archive);
    if (bundle::read_bundle(into).ok() || !blobs.verify(row.archive).ok()) continue;
    TRY_ASSIGN(const auto statement, protocol::decode<protocol::ApplicationStatement>(row.statement.payload));
    TRY(io::real_files().remove_all(into));
    TRY_ASSIGN(const io::Path archive, blobs.fetch(row.archive));
    const auto manifest = bundle::install_bundle(archive, statement, into, archives::unpack_bundle);
    lines.push_back(manifest.ok() ? fmt::format("{}@{} is unpacked again: bundles/{} was not whole", row.name,
                                                row.version, row.archive)
                                  : fmt::format("{}@{} cannot be unpacked again: {}", row.name, row.version,
                                                manifest.error().message));
  }
  return lines;
}

}  // namespace gleaner::service
