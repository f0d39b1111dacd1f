#include "server/service/work/downloads.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "server/service/work/damage.h"

namespace gleaner::service {
namespace {

constexpr std::chrono::hours believed_for{24};  // no bit of a disk changes a file's times

Error lost(const std::string& digest) {
  return {ErrorKind::unavailable, "blob " + digest +
                                      " is damaged or gone here and is not given out: the server's log says "
                                      "what is done about it; try again later"};
}

}  // namespace

void Downloads::open(const std::string& digest, const Done<Download>& done) {
  if (!storage::BlobStore::is_digest(digest))
    return done(Error{ErrorKind::invalid, "expected a SHA-256 digest as 64 lower-case hex digits"});
  if (kernel_.blobs().verified_since(digest, kernel_.clock().steady() - believed_for))
    return done(ready(digest));
  {
    const std::lock_guard lock(mutex_);
    auto& waiting = waiting_[digest];
    waiting.push_back(done);
    if (waiting.size() > 1) return;
  }
  kernel_.on_blob_pool([this, digest] { verify(digest); });
}

Result<Download> Downloads::ready(const std::string& digest) const {
  TRY_ASSIGN(const io::Path path, kernel_.blobs().fetch(digest));
  TRY_ASSIGN(const std::int64_t bytes, kernel_.files().size(path));
  return Download{path, bytes};
}

void Downloads::verify(const std::string& digest) {
  const auto read = kernel_.blobs().confirm(digest, kernel_.clock().steady());
  if (read.ok()) return answer(digest, ready(digest));
  if (read.error().kind == ErrorKind::io) {  // it is asked again, and nothing is given up
    spdlog::warn("{}", read.error().message);
    return answer(digest, Error{ErrorKind::unavailable,
                                "the server cannot read blob " + digest + " just now: try again later"});
  }
  const bool damaged = read.error().kind != ErrorKind::not_found;
  if (damaged) spdlog::warn("{}", read.error().message);
  kernel_.decide<bool>(
      [digest, damaged](Transaction& tx, Result<bool>& needed) -> Status {
        needed = damaged || is_fetched(tx.model, digest);
        return *needed ? take_damage(tx, {digest}) : Status{};
      },
      [this, digest, error = read.error()](const Result<bool>& needed) {
        answer(digest, needed.ok() && !*needed ? error : lost(digest));
      });
}

void Downloads::answer(const std::string& digest, const Result<Download>& download) {
  std::vector<Done<Download>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting = std::move(waiting_.extract(digest).mapped());
  }
  for (const auto& done : waiting) done(download);
}

}  // namespace gleaner::service
