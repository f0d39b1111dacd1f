#include "server/service/work/scrub.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "server/service/work/damage.h"
#include "server/service/work/stored_segments.h"
#include "shared/base/encoding.h"
#include "shared/base/figures.h"

namespace gleaner::service {
namespace {

constexpr const char* value_name = "scrub";
constexpr std::chrono::hours round_every{24};
constexpr std::chrono::seconds kept_every{60};
constexpr std::int64_t step_bytes_max = 1 << 20;
constexpr std::int64_t file_bytes = 64 << 10;  // what a file costs besides its bytes: a seek
constexpr std::int64_t row_bytes = 4 << 10;    // what a segment in the store costs besides: a page
constexpr int rows_max = 256;                  // asked for at once
constexpr std::string_view segment_mark = "segment:";

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
  if (storage::BlobStore::is_digest(next) || next.starts_with(segment_mark)) resume_at_ = next;
  return {};
}

void Scrub::tick() {
  const std::int64_t bytes = kernel_.settings().configuration.scrub_megabytes_per_second << 20;
  if (bytes == 0 || busy_.exchange(true)) return;
  if (part_ != Part::none) {
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
        if (digests.ok()) enter_blobs(*digests);
        busy_ = false;
      });
}

void Scrub::enter_blobs(const std::vector<std::string>& digests) {
  for (const auto& digest : digests) {
    const auto bytes = from_hex(digest);
    if (!bytes || bytes->size() != Digest{}.size()) continue;
    std::copy(bytes->begin(), bytes->end(), blobs_.emplace_back().begin());
  }
  const bool in_segments = resume_at_.starts_with(segment_mark);
  const std::string number = in_segments ? resume_at_.substr(segment_mark.size()) : "0";
  segment_ = SegmentId{std::strtoll(number.c_str(), nullptr, 10)};  // nonsense: from the first
  const auto from = std::lower_bound(digests.begin(), digests.end(), resume_at_);
  const std::lock_guard lock(mutex_);
  if (resume_at_.empty()) begun_ = kernel_.clock().now();
  all_ = blobs_.size();
  next_ = in_segments ? all_ : std::min(static_cast<std::size_t>(from - digests.begin()), all_);
  part_ = Part::blobs;
  resume_at_.clear();
}

void Scrub::step(std::int64_t bytes) {
  Found found;
  if (part_ == Part::blobs) read_blobs(bytes, found);
  if (part_ == Part::segments) read_segments(bytes, found);
  if (!found.empty()) tell(std::move(found));
  keep(part_ == Part::none);
}

void Scrub::read_blobs(std::int64_t& bytes, Found& found) {
  storage::BlobStore& blobs = kernel_.blobs();
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
    if (!read.ok() && read.error().kind == ErrorKind::io) {  // its store is away: once more, in a while
      reading_.reset();
      return;
    }
    if (!read.ok())
      (read.error().kind == ErrorKind::not_found ? found.gone : found.damaged).push_back(reading_->digest);
    reading_.reset();
    const std::lock_guard lock(mutex_);
    ++next_;
  }
  if (next_ < blobs_.size()) return;
  const std::lock_guard lock(mutex_);
  part_ = Part::segments;
  next_ = all_ = 0;
  blobs_ = {};
}

void Scrub::read_segments(std::int64_t& bytes, Found& found) {
  while (bytes > 0) {
    const auto rows = kernel_.store().kept_segments(segment_, rows_max);
    if (!rows.ok()) spdlog::error("the scrub ends early: {}", rows.error().message);
    if (!rows.ok() || rows->empty()) {
      const std::lock_guard lock(mutex_);
      if (rows.ok()) finished_ = kernel_.clock().now();
      part_ = Part::none;
      segment_ = {};
      return;
    }
    for (const auto& row : *rows) {
      if (bytes <= 0) return;
      const auto read = read_segment(kernel_, row);
      if (!read.ok())
        (read.error().kind == ErrorKind::not_found ? found.lost : found.segments).push_back(row);
      bytes -= row.bytes + row_bytes;
      segment_ = row.id;
    }
  }
}

void Scrub::tell(Found found) {
  for (const auto& digest : found.damaged) spdlog::warn("the scrub found blob {} damaged", digest);
  for (const auto& row : found.segments)
    spdlog::warn("the scrub found segment {} of problem {} damaged", row.id.value, row.problem.value);
  *lost_ += static_cast<std::int64_t>(found.damaged.size() + found.segments.size());
  kernel_.writer().submit_surely([lost_so_far = lost_, found = std::move(found)](Transaction& tx) -> Status {
    std::vector<std::string> lost = found.damaged;
    for (const auto& row : found.segments) lost.push_back(row.digest);
    // What is gone may have been deleted with its problem meanwhile.
    if (!found.gone.empty()) {
      TRY_ASSIGN(const auto named, tx.store.referenced_blobs());
      const std::unordered_set<std::string_view> needed(named.begin(), named.end());
      for (const auto& digest : found.gone) {
        if (!needed.contains(digest)) continue;
        tx.effects.warn(fmt::format("the scrub found blob {} gone", digest));
        lost.push_back(digest);
        ++*lost_so_far;
      }
    }
    for (const auto& row : found.lost) {
      TRY_ASSIGN(const auto there, tx.store.segments_over(row.problem, row.stage, row.range));
      if (std::none_of(there.begin(), there.end(), [&](const auto& other) { return other.id == row.id; }))
        continue;
      tx.effects.warn(
          fmt::format("the scrub found segment {} of problem {} gone", row.id.value, row.problem.value));
      lost.push_back(row.digest);
      ++*lost_so_far;
    }
    return take_damage(tx, lost);
  });
}

void Scrub::keep(bool now) {
  const SteadyTime steady = kernel_.clock().steady();
  if (!now && steady < kept_at_ + kept_every) return;
  kept_at_ = steady;
  const std::string next = part_ == Part::segments
                               ? std::string(segment_mark) + std::to_string(segment_.value)
                           : next_ < blobs_.size() ? to_hex({blobs_[next_].data(), blobs_[next_].size()})
                                                   : std::string("-");
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
    return "not verified (store.scrub_megabytes_per_second is 0)";
  const std::lock_guard lock(mutex_);
  std::string text = finished_ == Timestamp{} ? "not yet verified in full"
                                              : "last verified in full on " + utc_text(finished_);
  if (part_ == Part::segments) text += ", now results in the store";
  if (all_ > 0) text += fmt::format(", now {} of {} files", next_, all_);
  if (lost() > 0) text += fmt::format("; {} damaged or gone since the server started", lost());
  return text;
}

}  // namespace gleaner::service
