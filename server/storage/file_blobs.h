// Blobs as files of the project's directory: written, synced, renamed; only then may a row refer to them.
//
// Layout: blobs/ab/abcdef... (first two digits), uploads/abcdef....part (of a sender with a name:
// abcdef...-NAME.part), damaged/abcdef...
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server/storage/blob_store.h"

namespace gleaner::storage {

class FileBlobs final : public BlobStore {
 public:
  FileBlobs(io::Files& files, io::Path directory);
  ~FileBlobs() override;

  Status open(const std::string& project = {}) override;  // creates the directories
  [[nodiscard]] Status open_files();  // the same, wherever blobs.place says that blobs are
  Result<std::string> put(std::string_view bytes) override;
  Result<std::string> put_file(const io::Path& path) override;
  bool has(const std::string& digest) override;
  Result<io::Path> fetch(const std::string& digest) override;
  [[nodiscard]] io::Path path(const std::string& digest) const override;
  Result<std::int64_t> size(const std::string& digest) override;
  // The same for a reader, who refers to nothing: collect() does not spare it.
  [[nodiscard]] Result<std::int64_t> bytes_of(const std::string& digest) const;
  Result<Bytes> read(const std::string& digest, std::int64_t bytes_max) override;
  [[nodiscard]] Result<Bytes> read_range(const std::string& digest, std::int64_t offset,
                                         std::int64_t bytes) const;
  Status verify(const std::string& digest) override;
  Result<std::int64_t> verify_step(Verification& verification, std::int64_t bytes_max,
                                   SteadyTime now) override;
  Result<std::int64_t> confirm(const std::string& digest, SteadyTime now) override;
  [[nodiscard]] bool verified_since(const std::string& digest, SteadyTime time) const override;
  Result<protocol::UploadState> upload_state(const std::string& digest,
                                             std::string_view sender = {}) override;
  Result<protocol::UploadState> append(const std::string& digest, std::int64_t offset, std::string_view bytes,
                                       std::int64_t bytes_max, std::string_view sender = {}) override;
  Status finish(const std::string& digest, std::string_view sender = {}) override;
  Result<bool> discard(const std::string& digest, Timestamp before, std::string_view sender = {}) override;
  Result<std::int64_t> collect(const std::vector<std::string>& keep, Timestamp now, Duration stale) override;
  // Uploads alone, as collect().
  [[nodiscard]] Result<std::int64_t> collect_uploads(Timestamp before);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::storage
