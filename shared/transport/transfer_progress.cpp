#include "shared/transport/transfer_progress.h"

#include <algorithm>
#include <cmath>

#include "shared/base/figures.h"

namespace gleaner::transport {
namespace {

constexpr Duration mark_interval = std::chrono::seconds{1};
constexpr Duration silence_told = std::chrono::seconds{10};

}  // namespace

void TransferProgress::begin(std::int64_t done, std::int64_t all) {
  const std::lock_guard lock(mutex_);
  under_way_ = true;
  done_ = done;
  all_ = all;
  moved_at_ = clock_.steady();
  marks_ = {{clock_.steady(), done}};
}

void TransferProgress::reach(std::int64_t done) {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = clock_.steady();
  total_ += std::max<std::int64_t>(0, done - done_);
  moved_at_ = now;
  done_ = done;
  if (marks_.empty() || now - marks_.back().at >= mark_interval) marks_.push_back({now, done});
  // One is kept from before the window, so that it is whole.
  while (marks_.size() > 2 && now - marks_[1].at > window) marks_.pop_front();
}

void TransferProgress::end() {
  const std::lock_guard lock(mutex_);
  under_way_ = false;
}

std::optional<TransferProgress::View> TransferProgress::view() const {
  const std::lock_guard lock(mutex_);
  if (!under_way_) return std::nullopt;
  const SteadyTime now = clock_.steady();
  View view{done_, all_, 0, std::chrono::duration_cast<Duration>(now - moved_at_)};
  // The last mark before the window, so that it is whole.
  auto first = marks_.begin();
  while (std::next(first) != marks_.end() && now - std::next(first)->at > window) ++first;
  const double seconds = to_seconds(now - first->at);
  if (seconds > 0) view.bytes_per_second = static_cast<double>(done_ - first->done) / seconds;
  return view;
}

std::int64_t TransferProgress::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

std::string text_of(const TransferProgress::View& view) {
  const double all = static_cast<double>(view.all);
  const double part = view.all > 0 ? 100 * static_cast<double>(view.done) / all : 100;
  const std::string how_far = std::to_string(static_cast<int>(part)) + " % of " + bytes_text(view.all);
  if (view.silent >= silence_told)
    return how_far + ", nothing for " + std::to_string(view.silent / std::chrono::seconds{1}) + " s";
  if (view.bytes_per_second <= 0) return how_far;
  return how_far + " at " + bytes_text(std::llround(view.bytes_per_second)) + "/s";
}

}  // namespace gleaner::transport
