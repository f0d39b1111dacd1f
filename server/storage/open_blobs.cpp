#include "server/storage/open_blobs.h"

#include <thread>

#include "server/storage/file_blobs.h"
#include "server/storage/object_blobs.h"
#include "shared/base/version.h"
#include "shared/io/plain_client.h"

namespace gleaner::storage {

Status check_public_url(const std::string& url) {
  if (!url.empty()) TRY(objects::parse_origin(url));
  return {};
}

Status check_blob_url(const std::string& url) {
  if (!url.empty()) TRY(objects::parse_place(url));
  return {};
}

Result<std::unique_ptr<objects::Bucket>> make_bucket(const io::Files& files, const BlobPlace& place,
                                                     Clock& clock) {
  TRY_ASSIGN(auto parsed, objects::parse_place(place.url));
  TRY_ASSIGN(auto credentials, objects::read_credentials(files, place.keys, place.region));
  return std::make_unique<objects::Bucket>(
      std::move(parsed), std::move(credentials),
      objects::Bucket::Outside{
          [] { return io::make_plain_client(std::string("gleaner-server/") + version_text); }, clock,
          [](Duration pause) { std::this_thread::sleep_for(pause); }, place.leads});
}

Result<std::unique_ptr<ObjectBlobs>> make_object_blobs(io::Files& files, const io::Path& directory,
                                                       const BlobPlace& place, Clock& clock) {
  TRY_ASSIGN(auto bucket, make_bucket(files, place, clock));
  std::string origin;
  if (!place.public_url.empty()) {
    TRY_ASSIGN(origin, objects::parse_origin(place.public_url));
  }
  return std::make_unique<ObjectBlobs>(
      files, directory, std::move(bucket), clock, place.cache_bytes, std::move(origin),
      place.leads ? ObjectBlobs::Servers::several : ObjectBlobs::Servers::one);
}

Result<std::unique_ptr<BlobStore>> make_blobs(io::Files& files, const io::Path& directory,
                                              const BlobPlace& place, Clock& clock) {
  if (place.url.empty()) return std::unique_ptr<BlobStore>(std::make_unique<FileBlobs>(files, directory));
  TRY_ASSIGN(auto objects, make_object_blobs(files, directory, place, clock));
  return std::unique_ptr<BlobStore>(std::move(objects));
}

}  // namespace gleaner::storage
