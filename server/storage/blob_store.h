// Files by digest: archives, inputs, segments, results. Written, synced, renamed; only then may a row refer
// to them. A blob that is there is complete and never changes. Uploads in progress live beside them and
// survive a restart. Thread-safe: different digests never wait for each other.
//
// Layout under the directory: blobs/ab/abcdef… (first two digits), uploads/abcdef….part (of a sender with a
// name: abcdef…-NAME.part), damaged/abcdef…
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/encoding.h"
#include "shared/base/result.h"
#include "shared/crypto/keys.h"
#include "shared/io/files.h"
#include "shared/protocol/messages.h"

namespace gleaner::storage {

// Which file, and as of when: a file that is as it was has the same.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  std::int64_t bytes = 0, written = 0, changed = 0;  // nanoseconds since 1970

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

class BlobStore {
 public:
  BlobStore(io::Files& files, io::Path directory);
  ~BlobStore();

  [[nodiscard]] Status open();                                 // creates the directories
  [[nodiscard]] static bool is_digest(std::string_view text);  // 64 lower-case hex digits

  // Durable on success; returns the digest. Present already: success at once.
  [[nodiscard]] Result<std::string> put(std::string_view bytes);
  // The same for a file, which is copied (or linked) in.
  [[nodiscard]] Result<std::string> put_file(const io::Path& path);
  [[nodiscard]] bool has(const std::string& digest) const;
  [[nodiscard]] io::Path path(const std::string& digest) const;
  [[nodiscard]] Result<std::int64_t> size(const std::string& digest) const;  // not_found
  // The same for a reader, who refers to nothing: collect() does not spare it.
  [[nodiscard]] Result<std::int64_t> bytes_of(const std::string& digest) const;
  [[nodiscard]] Result<Bytes> read(const std::string& digest, std::int64_t bytes_max) const;
  [[nodiscard]] Result<Bytes> read_range(const std::string& digest, std::int64_t offset,
                                         std::int64_t bytes) const;

  // Reads all of it, piece by piece, and compares its digest. untrusted: it is not what its name says, or
  // cannot be read; it was put aside (damaged/), so that the same bytes can be stored anew. not_found.
  [[nodiscard]] Status verify(const std::string& digest);
  // The same in steps of at most `bytes_max`, for whoever has time (or a file that is too large for one go).
  // Answers how many bytes were read; 0: all were, and it is what its name says, which is remembered.
  struct Verification {
    std::string digest;
    std::int64_t offset = 0;
    crypto::Sha256 sum = {};
    FileIdentity file = {};  // as it was at the first step
  };
  [[nodiscard]] Result<std::int64_t> verify_step(Verification& verification, std::int64_t bytes_max,
                                                 SteadyTime now);
  // It was verified since then by steps, and nobody has touched the file after that.
  [[nodiscard]] bool verified_since(const std::string& digest, SteadyTime time) const;

  // Resumable uploads, of each sender (a word; empty: nobody in particular) by itself: who sends other bytes
  // under the same digest spoils nothing. append() takes bytes at exactly the present offset (conflict
  // otherwise, with the offset in the message); finish() checks size and digest (untrusted, and the upload
  // starts over, if it does not match).
  [[nodiscard]] Result<protocol::UploadState> upload_state(const std::string& digest,
                                                           std::string_view sender = {}) const;
  [[nodiscard]] Result<protocol::UploadState> append(const std::string& digest, std::int64_t offset,
                                                     std::string_view bytes, std::int64_t bytes_max,
                                                     std::string_view sender = {});
  [[nodiscard]] Status finish(const std::string& digest, std::string_view sender = {});

  // Deletes the blob and the sender's upload if they are untouched since `before`. Was something there?
  [[nodiscard]] Result<bool> discard(const std::string& digest, Timestamp before,
                                     std::string_view sender = {});
  // Deletes blobs not in `keep` and uploads, both only if untouched for `stale`: has(), size(), read(), put()
  // and finish() touch a blob, so that one that is about to be referred to stays. Returns how many files
  // went.
  [[nodiscard]] Result<std::int64_t> collect(const std::vector<std::string>& keep, Timestamp now,
                                             Duration stale);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gleaner::storage
