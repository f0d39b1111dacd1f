#include "server/storage/blob_inventory.h"

#include "server/storage/blob_store.h"
#include "shared/crypto/keys.h"

namespace gleaner::storage {
namespace {

constexpr std::int64_t read_bytes = 1 << 20;

Result<std::int64_t> count_files(const io::Files& files, const io::Path& directory) {
  if (!files.exists(directory)) return 0;
  TRY_ASSIGN(const auto names, files.list(directory));
  return static_cast<std::int64_t>(names.size());
}

}  // namespace

Result<BlobInventory> list_blobs(const io::Files& files, const io::Path& directory) {
  BlobInventory inventory;
  const io::Path blobs = directory / "blobs";
  if (files.exists(blobs)) {
    TRY_ASSIGN(const auto shelves, files.list(blobs));
    for (const auto& shelf : shelves) {
      const auto names = files.list(blobs / shelf);
      if (!names.ok()) {  // no directory
        inventory.strangers.push_back(blobs / shelf);
        continue;
      }
      for (const auto& name : *names) {
        const io::Path path = blobs / shelf / name;
        const auto bytes = files.size(path);
        if (!BlobStore::is_digest(name) || !name.starts_with(shelf) || shelf.size() != 2 || !bytes.ok())
          inventory.strangers.push_back(path);
        else
          inventory.blobs[name] = *bytes;
      }
    }
  }
  TRY_ASSIGN(inventory.uploads, count_files(files, directory / "uploads"));
  TRY_ASSIGN(inventory.damaged, count_files(files, directory / "damaged"));
  return inventory;
}

Result<std::string> digest_of_file(const io::Files& files, const io::Path& path,
                                   const std::function<void(std::int64_t)>& read) {
  crypto::Sha256 digest;
  for (std::int64_t offset = 0;;) {
    TRY_ASSIGN(const Bytes bytes, files.read_range(path, offset, read_bytes));
    if (bytes.empty()) return digest.finish_hex();
    digest.update(bytes);
    offset += static_cast<std::int64_t>(bytes.size());
    if (read) read(static_cast<std::int64_t>(bytes.size()));
  }
}

}  // namespace gleaner::storage
