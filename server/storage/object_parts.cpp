#include "server/storage/object_parts.h"

#include <openssl/evp.h>

#include <algorithm>

#include "shared/base/check.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

using objects::Bucket;
using objects::Part;
using objects::piece_bytes;

Bytes md5(std::string_view bytes) {
  Bytes out(16, '\0');
  unsigned length = 0;
  // Not for safety: a checksum that stores tell. Where the library has none (FIPS), everything is read back.
  if (EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(out.data()), &length, EVP_md5(),
                 nullptr) != 1)
    return {};
  return out;
}

// What was begun for this key and not completed, the newest; absent: nothing.
Result<std::string> open_upload(Bucket& bucket, const std::string& key) {
  TRY_ASSIGN(const auto uploads, bucket.uploads(key));
  const objects::OpenUpload* newest = nullptr;
  for (const auto& each : uploads)
    if (each.key == key && (newest == nullptr || newest->begun <= each.begun)) newest = &each;
  if (newest != nullptr) return newest->id;
  return bucket.begin_upload(key);
}

Result<std::string> send_parts(Bucket& bucket, const io::Files& files, const io::Path& path,
                               const std::string& key, const Outline& outline) {
  TRY_ASSIGN(const std::string id, open_upload(bucket, key));
  const auto there = bucket.parts(key, id);
  std::vector<Part> parts;
  for (int number = 1; std::cmp_less_equal(number, outline.parts.size()); ++number) {
    const std::string& sum = outline.parts[static_cast<std::size_t>(number - 1)];
    const std::int64_t offset = (number - 1) * piece_bytes;
    const std::int64_t bytes = std::min(piece_bytes, outline.bytes - offset);
    Part part{number, bytes, sum};
    const bool sent =
        there.ok() && std::any_of(there->begin(), there->end(), [&](const Part& each) {
          return each.number == number && each.bytes == bytes && each.etag == sum && !sum.empty();
        });
    if (!sent) {
      TRY_ASSIGN(const Bytes piece, files.read_range(path, offset, bytes));
      TRY_ASSIGN(part.etag, bucket.put_part(key, id, number, piece));
    }
    parts.push_back(std::move(part));
  }
  return bucket.complete(key, id, parts);
}

}  // namespace

Result<Outline> outline_file(const io::Files& files, const io::Path& path) {
  Outline outline;
  crypto::Sha256 digest;
  Bytes sums;
  for (;;) {
    TRY_ASSIGN(const Bytes piece, files.read_range(path, outline.bytes, piece_bytes));
    if (piece.empty() && outline.bytes > 0) break;
    digest.update(piece);
    const Bytes sum = md5(piece);
    sums += sum;
    outline.parts.push_back(to_hex(sum));
    outline.bytes += static_cast<std::int64_t>(piece.size());
    if (piece.empty()) break;
  }
  outline.digest = digest.finish_hex();
  const std::size_t count = outline.parts.size();
  outline.etag = count == 1 ? outline.parts.front() : to_hex(md5(sums)) + "-" + std::to_string(count);
  return outline;
}

Result<std::string> send_file(Bucket& bucket, const io::Files& files, const io::Path& path,
                              const std::string& key, const Outline& outline) {
  if (outline.parts.size() > 1) return send_parts(bucket, files, path, key, outline);
  TRY_ASSIGN(const Bytes bytes, files.read_range(path, 0, std::max<std::int64_t>(outline.bytes, 1)));
  return bucket.put(key, bytes);
}

}  // namespace gleaner::storage
