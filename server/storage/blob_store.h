// Blobs: bytes by their digest, for archives, inputs, segments and results. One that is there is complete and
// never changes. They are in files of the project's directory (file_blobs.h) or in an object store
// (object_blobs.h); uploads in progress are files in either case, and survive a restart. Thread-safe:
// different digests never wait for each other. Every call may block, those of an object store for long: never
// on the writer's thread.
//
// Errors of all: io: the disk fails or is full, or the object store is away or its answers cannot be
// believed: nothing is lost, try again later. That a blob is not_found or untrusted (damaged) is said only
// for good.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// Of an object store, since the server started.
struct BlobFigures {
  std::int64_t requests = 0, failures = 0;
  std::int64_t sent_bytes = 0, received_bytes = 0;
  std::int64_t wrong_answers = 0;  // other bytes than a digest says, or none where there should be some
  std::int64_t cached_bytes = 0;   // in files here
};

class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // Once, before all others. `project`: whose blobs these are; an object store that has another's is invalid.
  // One that is away is no error.
  [[nodiscard]] virtual Status open(const std::string& project) = 0;
  [[nodiscard]] static bool is_digest(std::string_view text);  // 64 lower-case hex digits

  // Durable on success; returns the digest. Present already: success at once.
  [[nodiscard]] virtual Result<std::string> put(std::string_view bytes) = 0;
  // The same for a file, which is copied (or linked) in.
  [[nodiscard]] virtual Result<std::string> put_file(const io::Path& path) = 0;
  [[nodiscard]] virtual bool has(const std::string& digest) = 0;
  // A file with it, brought here if need be: never to be changed; it stays for an hour at least.
  [[nodiscard]] virtual Result<io::Path> fetch(const std::string& digest) = 0;
  // Where that file is, or would be.
  [[nodiscard]] virtual io::Path path(const std::string& digest) const = 0;
  [[nodiscard]] virtual Result<std::int64_t> size(const std::string& digest) = 0;  // not_found
  [[nodiscard]] virtual Result<Bytes> read(const std::string& digest, std::int64_t bytes_max) = 0;

  // Reads all of it, piece by piece, and compares its digest. untrusted: it is not what its name says, or
  // cannot be read; it was put aside (damaged/), so that the same bytes can be stored anew. not_found. After
  // success fetch() needs nothing but the disk.
  [[nodiscard]] virtual Status verify(const std::string& digest) = 0;
  // The same in steps of at most `bytes_max`, for whoever has time (or a file that is too large for one go),
  // of where it is kept for good. Answers how many bytes were read; 0: all were, and it is what its name
  // says, which is remembered of a file here.
  struct Verification {
    std::string digest;
    std::int64_t offset = 0;
    crypto::Sha256 sum = {};
    FileIdentity file = {};  // as it was at the first step
  };
  [[nodiscard]] virtual Result<std::int64_t> verify_step(Verification& verification, std::int64_t bytes_max,
                                                         SteadyTime now) = 0;
  // verify(), for somebody who refers to nothing and will read the file: remembered, too. Its size.
  [[nodiscard]] virtual Result<std::int64_t> confirm(const std::string& digest, SteadyTime now) = 0;
  // It was verified since then, and nobody has touched the file after that.
  [[nodiscard]] virtual bool verified_since(const std::string& digest, SteadyTime time) const = 0;

  // Resumable uploads, of each sender (a word; empty: nobody in particular) by itself: who sends other bytes
  // under the same digest spoils nothing. append() takes bytes at exactly the present offset (conflict
  // otherwise, with the offset in the message); finish() checks size and digest (untrusted, and the upload
  // starts over, if it does not match).
  [[nodiscard]] virtual Result<protocol::UploadState> upload_state(const std::string& digest,
                                                                   std::string_view sender = {}) = 0;
  [[nodiscard]] virtual Result<protocol::UploadState> append(const std::string& digest, std::int64_t offset,
                                                             std::string_view bytes, std::int64_t bytes_max,
                                                             std::string_view sender = {}) = 0;
  [[nodiscard]] virtual Status finish(const std::string& digest, std::string_view sender = {}) = 0;

  // Deletes the blob and the sender's upload if they are untouched since `before`. Was something there?
  [[nodiscard]] virtual Result<bool> discard(const std::string& digest, Timestamp before,
                                             std::string_view sender = {}) = 0;
  // Deletes blobs not in `keep` and uploads, both only if untouched for `stale`: has(), size(), read(), put()
  // and finish() touch a blob, so that one that is about to be referred to stays. Returns how many went.
  [[nodiscard]] virtual Result<std::int64_t> collect(const std::vector<std::string>& keep, Timestamp now,
                                                     Duration stale) = 0;

  // Where hosts can have a blob without this server, for `valid`; empty: nowhere. Nothing is asked.
  [[nodiscard]] virtual std::string address(const std::string& digest, Duration valid) const;
  // Where the sender can put what its upload of `bytes` still lacks; not_found: only here. upload_state() and
  // finish() know of what was put so. Blocks.
  [[nodiscard]] virtual Result<std::vector<protocol::PartAddress>> put_addresses(const std::string& digest,
                                                                                 std::int64_t bytes,
                                                                                 Duration valid,
                                                                                 std::string_view sender);

  // Whether calls may wait for another machine.
  [[nodiscard]] virtual bool remote() const { return false; }
  // Why blobs can neither be stored nor fetched just now, in words for a person.
  [[nodiscard]] virtual Status health() const { return {}; }
  // Asks a store that was away whether it is back, if it is time to; blocks. wants_probe(): it is.
  [[nodiscard]] virtual bool wants_probe() const { return false; }
  virtual void probe() {}
  [[nodiscard]] virtual std::optional<BlobFigures> figures() const { return {}; }
};

}  // namespace gleaner::storage
