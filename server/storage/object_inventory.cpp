#include "server/storage/object_inventory.h"

#include <utility>

#include "server/storage/blob_store.h"
#include "server/storage/object_keys.h"

namespace gleaner::storage {

Result<ObjectInventory> ObjectInventory::open(const io::Files& files, const BlobPlace& place, Clock& clock) {
  TRY_ASSIGN(auto bucket, make_bucket(files, place, clock));
  return ObjectInventory(std::move(bucket));
}

Result<std::string> ObjectInventory::owner() const {
  return read_owner(*bucket_);
}

Result<BlobInventory> ObjectInventory::list(const std::function<void(std::int64_t)>& listed) const {
  BlobInventory inventory;
  const std::string prefix = "blobs/";
  std::string from;
  do {
    TRY_ASSIGN(const auto page, bucket_->list(prefix, from));
    for (const auto& object : page.objects) {
      const std::string name = object.key.substr(prefix.size());
      if (BlobStore::is_digest(name))
        inventory.blobs.emplace(name, object.bytes);
      else
        inventory.strangers.emplace_back(object.key);
    }
    if (listed) listed(static_cast<std::int64_t>(inventory.blobs.size()));
    from = page.next;
  } while (!from.empty());
  return inventory;
}

Result<std::string> ObjectInventory::read(
    const std::string& digest, const std::function<Status(std::int64_t offset, const Bytes&)>& take) const {
  crypto::Sha256 sum;
  for (std::int64_t offset = 0;;) {
    TRY_ASSIGN(const auto piece, bucket_->get(key_of(digest), offset, objects::piece_bytes));
    if (piece.bytes.empty()) return sum.finish_hex();
    sum.update(piece.bytes);
    TRY(take(offset, piece.bytes));
    offset += static_cast<std::int64_t>(piece.bytes.size());
    if (offset >= piece.all) return sum.finish_hex();
  }
}

Result<std::string> ObjectInventory::digest_of(const std::string& digest,
                                               const std::function<void(std::int64_t)>& read_bytes) const {
  return read(digest, [&](std::int64_t, const Bytes& bytes) {
    if (read_bytes) read_bytes(static_cast<std::int64_t>(bytes.size()));
    return Status{};
  });
}

Status ObjectInventory::copy(io::Files& files, const std::string& digest, const io::Path& to) const {
  constexpr int tries = 3;
  for (int left = tries; left > 0; --left) {
    TRY(files.write_at(to, 0, ""));  // an empty one is a file, too
    const auto found = read(
        digest, [&](std::int64_t offset, const Bytes& bytes) { return files.write_at(to, offset, bytes); });
    if (found.ok() && *found == digest) return {};
    TRY(files.remove(to));
    TRY(found);
  }
  return Error{ErrorKind::untrusted, "the object of blob " + digest + " is damaged"};
}

}  // namespace gleaner::storage
