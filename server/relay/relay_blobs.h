// Blobs of a relay. What its hosts deliver is its own, in files, until its parent has it. All else that
// somebody asks for is its parent's: brought here once for any number who ask at the same time, compared with
// its digest, and kept in a cache, of which goes what was not used for longest. A download that was cut off
// goes on where it was, after a restart, too. Thread-safe; calls that bring something block until all of it
// is here.
//
// Layout of the directory: as of FileBlobs, and the same again under cache/.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "server/storage/file_blobs.h"
#include "server/storage/turns.h"
#include "shared/base/clock.h"

namespace gleaner::relay {

// Of a blob, as its parent has it.
struct BlobPiece {
  Bytes bytes;
  std::optional<std::int64_t> all;  // bytes of the whole blob; none: the connection broke off, and some came
};

class RelayBlobs final : public storage::BlobStore {
 public:
  // At most `bytes_max` from `offset` on. not_found: the parent has no such blob; unavailable: try again.
  // Called from several threads, each for another digest.
  using Parent = std::function<Result<BlobPiece>(const std::string& digest, std::int64_t offset,
                                                 std::int64_t bytes_max)>;
  // `cache_bytes`: more is deleted, but for what was used within the hour.
  RelayBlobs(io::Files& files, const io::Path& directory, Parent parent, const Clock& clock,
             std::int64_t cache_bytes);

  Status open(const std::string& project) override;
  Result<std::string> put(std::string_view bytes) override { return own_.put(bytes); }
  Result<std::string> put_file(const io::Path& path) override { return own_.put_file(path); }
  bool has(const std::string& digest) override;
  Result<io::Path> fetch(const std::string& digest) override;
  [[nodiscard]] io::Path path(const std::string& digest) const override;
  Result<std::int64_t> size(const std::string& digest) override;
  Result<Bytes> read(const std::string& digest, std::int64_t bytes_max) override;
  Status verify(const std::string& digest) override;
  // A blob that the cache lacks, or that was damaged there and is put aside, is no error: it is brought when
  // somebody asks for it. A result that is gone is noticed when it is to go up.
  Result<std::int64_t> verify_step(Verification& verification, std::int64_t bytes_max,
                                   SteadyTime now) override;
  Result<std::int64_t> confirm(const std::string& digest, SteadyTime now) override;
  [[nodiscard]] bool verified_since(const std::string& digest, SteadyTime time) const override;
  Result<protocol::UploadState> upload_state(const std::string& digest, std::string_view sender) override {
    return own_.upload_state(digest, sender);
  }
  Result<protocol::UploadState> append(const std::string& digest, std::int64_t offset, std::string_view bytes,
                                       std::int64_t bytes_max, std::string_view sender) override {
    return own_.append(digest, offset, bytes, bytes_max, sender);
  }
  Status finish(const std::string& digest, std::string_view sender) override {
    return own_.finish(digest, sender);
  }
  Result<bool> discard(const std::string& digest, Timestamp before, std::string_view sender) override {
    return own_.discard(digest, before, sender);
  }
  // Of its own as ever; then the cache.
  Result<std::int64_t> collect(const std::vector<std::string>& keep, Timestamp now, Duration stale) override;
  [[nodiscard]] bool remote() const override { return true; }
  // Bytes that were brought from the parent, and how often it was asked, since the start.
  [[nodiscard]] std::optional<storage::BlobFigures> figures() const override;

 private:
  [[nodiscard]] bool is_own(const std::string& digest) const { return own_.bytes_of(digest).ok(); }
  // In the digest's turn: it is in the cache afterwards.
  [[nodiscard]] Status bring(const std::string& digest);
  [[nodiscard]] Status download(const std::string& digest);
  [[nodiscard]] storage::FileBlobs& place(const std::string& digest) {
    return is_own(digest) ? own_ : cache_;
  }
  void use(const std::string& digest);
  [[nodiscard]] Status trim(Timestamp now, std::int64_t& removed);

  io::Files& files_;
  const io::Path cache_directory_;
  storage::FileBlobs own_, cache_;
  const Parent parent_;
  const Clock& clock_;
  const std::int64_t cache_bytes_;
  storage::Turns turns_;
  std::atomic<std::int64_t> asked_ = 0, failed_ = 0, brought_ = 0, wrong_ = 0;
  std::mutex mutex_;  // guards what follows; never held during input or output
  std::unordered_map<std::string, Timestamp> used_;
};

}  // namespace gleaner::relay
