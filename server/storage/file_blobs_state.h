// What FileBlobs keeps, and its steps on files. Private to this module. Thread-safe where file_blobs.h says
// so: what changes a digest's files takes that digest's Turn first.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "server/storage/file_blobs.h"
#include "server/storage/turns.h"

namespace gleaner::storage {

inline constexpr std::size_t digest_length = 64;
inline constexpr std::string_view upload_suffix = ".part";
inline constexpr std::string_view copy_suffix = ".copy";  // being copied in: worthless after a restart

struct FileBlobs::State {
  State(io::Files& files_used, io::Path directory)
      : files(files_used),
        blobs(directory / "blobs"),
        uploads(directory / "uploads"),
        damaged(directory / "damaged") {}

  // Serialises the changes of one digest; others are never waited for.
  struct Turn : Turns::Turn {
    Turn(State& state, std::string digest) : Turns::Turn(state.turns, std::move(digest)) {}
  };

  // One of blobs/00 ... blobs/ff, made when first needed.
  struct Shelf {
    std::mutex mutex;
    std::atomic<bool> ready = false;
  };

  [[nodiscard]] io::Path blob(const std::string& digest) const {
    return blobs / digest.substr(0, 2) / digest;
  }
  [[nodiscard]] io::Path upload(const std::string& digest, std::string_view sender) const;
  // There and durable. In a Turn, or it may be about to become so.
  [[nodiscard]] bool present(const std::string& digest) const;
  // The same, in a Turn of its own, for somebody who is about to refer to the blob: collect() spares it a
  // while.
  [[nodiscard]] bool claim(const std::string& digest);

  [[nodiscard]] Status make_shelf(const std::string& digest);
  // Answers `outcome` of the step that should have made the blob, and remembers whether the blob can be
  // believed: after a rename whose directory could not be synced it is there without being durable.
  [[nodiscard]] Status settle(const std::string& digest, Status outcome);
  // A complete file beside becomes the blob.
  [[nodiscard]] Status move_in(const io::Path& from, const std::string& digest);
  // Written to `to` while the digest is computed, so that a source that changes meanwhile cannot deceive.
  [[nodiscard]] Result<std::string> copy(const io::Path& from, const io::Path& to) const;
  // A damaged blob is no blob any more. In its Turn.
  void put_aside(const std::string& digest);
  // What seems damaged may have been replaced meanwhile: nobody touches it while it is looked at again. As
  // verify().
  [[nodiscard]] Status look_again(const std::string& digest);
  // It was read as `file` and is what its name says.
  void remember(const std::string& digest, const FileIdentity& file, SteadyTime now);

  // How many files went that nobody keeps and nobody touched since `before`.
  [[nodiscard]] Result<std::int64_t> collect_shelf(const std::string& shelf,
                                                   const std::unordered_set<std::string_view>& keep,
                                                   Timestamp before);
  [[nodiscard]] Result<std::int64_t> collect_uploads(Timestamp before);

  io::Files& files;
  const io::Path blobs;
  const io::Path uploads;
  const io::Path damaged;
  std::array<Shelf, 256> shelves;
  std::atomic<std::uint64_t> copies = 0;
  Turns turns;
  mutable std::mutex mutex;  // guards what follows; never held during input or output
  std::set<std::string> doubtful;
  struct Verified {
    FileIdentity file;
    SteadyTime at{};
  };
  std::unordered_map<std::string, Verified> verified;
};

[[nodiscard]] Error no_such_blob(const std::string& digest);
// Of nothing where there is no file.
[[nodiscard]] FileIdentity identity_of(const io::Path& path);

// Renews the time that collect() looks at.
void touch(const io::Path& path);
[[nodiscard]] bool older_than(const io::Path& path, Timestamp time);

}  // namespace gleaner::storage
