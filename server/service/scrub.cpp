#include "server/service/scrub.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "server/service/damage.h"
#include "shared/base/encoding.h"

namespace gleaner::service {
namespace {

constexpr const char* value_name = "scrub";
constexpr std::chrono::hours round_every{24};
constexpr std::chrono::seconds kept_every{60};
constexpr std::int64_t step_bytes_max = 1 << 20;
constexpr std::int64_t file_bytes = 64 << 10;  // what a file costs besides its bytes: a seek

}  // namespace

Status Scrub::restore(storage::Store& store) {
  TRY_ASSIGN(const auto text, store.get_value(value_name));
  std::istringstream words(text.value_or(""));
  std::string next;
  std::int64_t begun = 0, finished = 0;
  if (!(words >> next >> begun >> finished)) return {};  // it begins anew
  const std::lock_guard lock(mutex_);
  begun_ = from_microseconds(begun);
  finished_ = from_microseconds(finished);
  if (storage::BlobStore::is_digest(next)) resume_at_ = next;
  return {};
}

void Scrub::tick() {
  const std::int64_t bytes = kernel_.settings().configuration.scrub_megabytes_per_second << 20;
  if (bytes == 0 || busy_.exchange(true)) return;
  if (!blobs_.empty()) {
    kernel_.start_job([this, bytes] {
      step(bytes);
      busy_ = false;
    });
    return;
  }
  Timestamp begun;
  {
    const std::lock_guard lock(mutex_);
    begun = begun_;
  }
  const Timestamp now = kernel_.clock().now();
  if (resume_at_.empty() && now < begun + round_every && now > begun - round_every) {
    busy_ = false;
    return;
  }
  begin_round();
}

void Scrub::begin_round() {
  kernel_.decide<std::vector<std::string>>(
      [](Transaction& tx, Result<std::vector<std::string>>& digests) -> Status {
        TRY_ASSIGN(digests, tx.store.referenced_blobs());
        return {};
      },
      [this](const Result<std::vector<std::string>>& digests) {
        if (digests.ok()) {
          for (const auto& digest : *digests) {
            const auto bytes = from_hex(digest);
            if (!bytes || bytes->size() != Digest{}.size()) continue;
            std::copy(bytes->begin(), bytes->end(), blobs_.emplace_back().begin());
          }
          const auto from = std::lower_bound(digests->begin(), digests->end(), resume_at_);
          const std::lock_guard lock(mutex_);
          if (resume_at_.empty()) begun_ = kernel_.clock().now();
          all_ = blobs_.size();
          next_ = std::min(static_cast<std::size_t>(from - digests->begin()), all_);
          if (all_ == 0) finished_ = begun_;
          resume_at_.clear();
        }
        busy_ = false;
      });
}

void Scrub::step(std::int64_t bytes) {
  storage::BlobStore& blobs = kernel_.blobs();
  std::vector<std::string> damaged, gone;
  while (bytes > 0 && next_ < blobs_.size()) {
    const Digest& digest = blobs_[next_];
    if (!reading_) {
      reading_.emplace().digest = to_hex({digest.data(), digest.size()});
      bytes -= file_bytes;
    }
    const auto read = blobs.verify_step(
        *reading_, std::clamp<std::int64_t>(bytes, file_bytes, step_bytes_max), kernel_.clock().steady());
    if (read.ok() && *read > 0) {
      bytes -= *read;
      continue;
    }
    if (!read.ok()) (read.error().kind == ErrorKind::not_found ? gone : damaged).push_back(reading_->digest);
    reading_.reset();
    const std::lock_guard lock(mutex_);
    ++next_;
  }
  if (!damaged.empty() || !gone.empty()) tell(std::move(damaged), std::move(gone));
  const bool over = next_ >= blobs_.size();
  if (over) {
    const std::lock_guard lock(mutex_);
    finished_ = kernel_.clock().now();
    next_ = all_ = 0;
    blobs_ = {};
  }
  keep(over);
}

void Scrub::tell(std::vector<std::string> damaged, std::vector<std::string> gone) {
  for (const auto& digest : damaged) spdlog::warn("the scrub found blob {} damaged", digest);
  *lost_ += static_cast<std::int64_t>(damaged.size());
  kernel_.writer().submit_surely(
      [lost_so_far = lost_, damaged = std::move(damaged), gone = std::move(gone)](Transaction& tx) -> Status {
        std::vector<std::string> lost = damaged;
        if (!gone.empty()) {  // or deleted with its problem since the round began
          TRY_ASSIGN(const auto named, tx.store.referenced_blobs());
          const std::unordered_set<std::string_view> needed(named.begin(), named.end());
          for (const auto& digest : gone) {
            if (!needed.contains(digest)) continue;
            tx.effects.warn(fmt::format("the scrub found blob {} gone", digest));
            lost.push_back(digest);
            ++*lost_so_far;
          }
        }
        return take_damage(tx, lost);
      });
}

void Scrub::keep(bool now) {
  const SteadyTime steady = kernel_.clock().steady();
  if (!now && steady < kept_at_ + kept_every) return;
  kept_at_ = steady;
  const std::string next =
      next_ < blobs_.size() ? to_hex({blobs_[next_].data(), blobs_[next_].size()}) : std::string("-");
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    text = fmt::format("{} {} {}", next, to_microseconds(begun_), to_microseconds(finished_));
  }
  kernel_.writer().submit([text](Transaction& tx) { return tx.store.set_value(value_name, text); },
                          [](Status) { return Writer::Answer{}; });  // or with the next one
}

std::string Scrub::text() const {
  if (kernel_.settings().configuration.scrub_megabytes_per_second == 0)
    return "not read again (store.scrub_megabytes_per_second is 0)";
  const std::lock_guard lock(mutex_);
  std::string text = finished_ == Timestamp{} ? "not yet read again in whole"
                                              : "last read again in whole on " + to_rfc3339(finished_);
  if (all_ > 0) text += fmt::format(", now {} of {} files", next_, all_);
  if (lost() > 0) text += fmt::format("; {} damaged or gone since the server started", lost());
  return text;
}

}  // namespace gleaner::service
