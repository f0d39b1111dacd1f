// Blobs in an object store (server/objects), by keys "blobs/DIGEST". The project's directory has uploads in
// progress, and files of what was stored or fetched lately: a cache, which may be deleted while no server
// runs. What hosts put there themselves waits under "sent/HOST/DIGEST", where it spoils nothing, until
// finish() has found it right.
//
// Nothing that the store says is believed. What it was given is there once it names the checksum (the ETag,
// an MD5) of these bytes, or else gives them back. What it gives is compared with its digest. If it has other
// bytes, or says that it has none, that is asked again, and told as io: only if it is so for an hour, and the
// store is in its right mind (it gives back the object "owner" as that was written), a blob is damaged or
// gone.
//
// Where several servers take turns (open_blobs.h), one that was fenced off may still have a removal under
// way: of an object that nobody named when it looked, untouched for a day. So for three quarters of an hour a
// server refers to no object of before that is as old as that: who wants to is told to come again (io). What
// it stores itself is young, and no removal of it can be under way.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "server/objects/bucket.h"
#include "server/storage/file_blobs.h"
#include "server/storage/turns.h"

namespace gleaner::storage {

class ObjectBlobs final : public BlobStore {
 public:
  enum class Servers { one, several };
  // `cache_bytes`: more is deleted, but for what was used within the hour. `origin`: where hosts reach the
  // store (objects/place.h); empty: they do not.
  ObjectBlobs(io::Files& files, io::Path directory, std::unique_ptr<objects::Bucket> bucket,
              const Clock& clock, std::int64_t cache_bytes, std::string origin = {},
              Servers servers = Servers::one);

  Status open(const std::string& project) override;
  // The same for who moves blobs here or away (move_blobs.h), who alone then cares for blobs.place. io: it is
  // away.
  [[nodiscard]] Status open_to_move(const std::string& project);
  // A file that is here already becomes an object.
  [[nodiscard]] Status send(const std::string& digest);
  [[nodiscard]] std::string shown() const { return bucket_->place().shown(); }
  Result<std::string> put(std::string_view bytes) override;
  Result<std::string> put_file(const io::Path& path) override;
  bool has(const std::string& digest) override;
  Result<io::Path> fetch(const std::string& digest) override;
  [[nodiscard]] io::Path path(const std::string& digest) const override;
  Result<std::int64_t> size(const std::string& digest) override;
  Result<Bytes> read(const std::string& digest, std::int64_t bytes_max) override;
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
  // Uploads and the cache each time; the bucket, which has to be listed, every six hours.
  Result<std::int64_t> collect(const std::vector<std::string>& keep, Timestamp now, Duration stale) override;
  // Of the files here those go that were not used for longest, if they are too many.
  [[nodiscard]] Status collect_cache(Timestamp now);
  [[nodiscard]] std::string address(const std::string& digest, Duration valid) const override;
  Result<std::vector<protocol::PartAddress>> put_addresses(const std::string& digest, std::int64_t bytes,
                                                           Duration valid, std::string_view sender) override;
  [[nodiscard]] bool remote() const override { return true; }
  [[nodiscard]] Status health() const override;
  [[nodiscard]] bool wants_probe() const override { return bucket_->wants_probe(); }
  void probe() override;
  [[nodiscard]] std::optional<BlobFigures> figures() const override;

 private:
  enum class Wrong { bytes, absent };
  struct Doubt {
    SteadyTime since{};
    Wrong wrong = Wrong::bytes;
  };
  using Turn = Turns::Turn;

  // Is the bucket this project's? Asked until it is known; written into an empty one. own(): all errors as
  // io.
  [[nodiscard]] Status claim();
  [[nodiscard]] Status own();
  [[nodiscard]] Result<std::string> owner();

  // In the digest's turn:
  [[nodiscard]] Status push(const std::string& digest);   // the file here becomes an object
  [[nodiscard]] Status bring(const std::string& digest);  // the object becomes a file here
  [[nodiscard]] Status download(const std::string& digest);
  [[nodiscard]] Result<bool> present(const std::string& digest);  // at the store, as far as it says so
  [[nodiscard]] Status is_kept(const std::string& digest);        // read back
  [[nodiscard]] Status doubt(const std::string& digest, Wrong wrong);
  // May somebody refer to this object that is there? io: not yet.
  [[nodiscard]] Status may_refer(const std::string& digest);
  void trust(const std::string& digest);  // it is at the store

  // What a host put there itself (object_blobs_sent.cpp).
  struct Sent {
    std::string key;
    std::int64_t bytes = 0;
    std::string upload;  // in these parts, to be completed; empty: it is complete, or not there
    std::vector<objects::Part> parts;
  };
  [[nodiscard]] Result<Sent> sent(const std::string& digest, std::string_view sender);
  // Becomes an upload of the sender's here, if there is none. Was there anything?
  [[nodiscard]] Result<bool> take_sent(const std::string& digest, std::string_view sender);
  [[nodiscard]] Status drop_sent(const std::string& digest, std::string_view sender, Timestamp before);
  [[nodiscard]] Result<std::int64_t> collect_sent(Timestamp before);

  void use(const std::string& digest);
  [[nodiscard]] bool used_since(const std::string& digest, Timestamp time) const;
  [[nodiscard]] Result<std::int64_t> collect_objects(const std::unordered_set<std::string_view>& keep,
                                                     Timestamp before);

  io::Files& files_;
  const io::Path directory_;
  FileBlobs local_;
  const std::unique_ptr<objects::Bucket> bucket_;
  const Clock& clock_;
  const std::int64_t cache_bytes_;
  const std::string origin_;
  const Servers servers_;
  const SteadyTime waits_until_;  // for removals of another server
  Turns turns_;
  std::mutex collecting_;
  Timestamp collected_at_{};  // guarded by it
  std::mutex owning_;
  mutable std::mutex mutex_;  // guards what follows; never held during input or output
  std::string project_;
  bool owned_ = false, moving_ = false;
  std::optional<Error> wrong_owner_;
  std::unordered_map<std::string, Timestamp> used_;
  std::unordered_set<std::string> known_;  // at the store, as this process saw
  std::unordered_set<std::string> young_;  // of before, but no removal of it is under way
  std::unordered_set<std::string> lost_;   // damaged or gone there, for good
  std::map<std::string, Doubt> doubts_;
  std::int64_t wrong_answers_ = 0, cached_bytes_ = 0;
};

}  // namespace gleaner::storage
