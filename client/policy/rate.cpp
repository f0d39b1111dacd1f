#include "client/policy/rate.h"

#include <algorithm>

namespace gleaner::client_policy {
namespace {

constexpr std::size_t stretches_max = 32;
constexpr Duration piece_length = std::chrono::seconds{1};  // shorter neighbours are merged
constexpr double mean_weight = 0.3;                         // of the newest item

double overlap_seconds(SteadyTime from, SteadyTime to, SteadyTime begin) {
  return to > begin ? to_seconds(to - std::max(from, begin)) : 0;
}

}  // namespace

void LastMinuteRate::start_unit(SteadyTime now, double item_cost, First first) {
  if (!measured_) first_ = now;
  measured_ = true;
  in_unit_ = true;
  running_ = true;
  item_cost_ = item_cost > 0 ? item_cost : 1;
  forget_fraction();
  begun_ = first == First::begun;
  unit_started_ = now;
  stretch_started_ = now;
  stretches_.clear();
}

void LastMinuteRate::close_stretch(SteadyTime now) {
  if (!running_) return;
  if (stretches_.size() >= stretches_max) stretches_.erase(stretches_.begin());  // older than matters
  stretches_.push_back({stretch_started_, now, 0});
  running_ = false;
}

void LastMinuteRate::pause(SteadyTime now) {
  close_stretch(now);
}

void LastMinuteRate::resume(SteadyTime now) {
  if (!in_unit_ || running_) return;
  running_ = true;
  stretch_started_ = now;
}

void LastMinuteRate::add_piece(SteadyTime from, SteadyTime to, double cost) {
  while (!pieces_.empty() && pieces_.front().to < to - window) pieces_.pop_front();
  if (!pieces_.empty() && pieces_.back().to == from && to - pieces_.back().from <= piece_length) {
    pieces_.back().to = to;
    pieces_.back().cost += cost;
  } else {
    pieces_.push_back({from, to, cost});
  }
}

void LastMinuteRate::finish_item(SteadyTime now) {
  if (!in_unit_) return;
  const bool was_running = running_;
  const double cost = item_cost_ * (1 - first_fraction_);  // what was done of it here
  close_stretch(now);
  double total = 0;
  for (const Piece& stretch : stretches_) total += to_seconds(stretch.to - stretch.from);
  if (total <= 0) {
    // Several items arrived together: this one was computed in the time already counted for the one before.
    if (pieces_.empty()) pieces_.push_back({now, now, 0});
    pieces_.back().cost += cost;
  } else {
    for (const Piece& stretch : stretches_)
      add_piece(stretch.from, stretch.to, cost * to_seconds(stretch.to - stretch.from) / total);
  }
  if (!begun_)
    mean_seconds_ = mean_seconds_ ? *mean_seconds_ + mean_weight * (total - *mean_seconds_) : total;
  stretches_.clear();
  forget_fraction();
  stretch_started_ = now;
  running_ = was_running;
}

void LastMinuteRate::forget_fraction() {
  fraction_ = fraction_seconds_ = first_fraction_ = first_seconds_ = 0;
  begun_ = false;
}

void LastMinuteRate::progress(SteadyTime now, double fraction) {
  if (!in_unit_) return;
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  fraction_seconds_ = to_seconds(running_on_item(now));
  if (!begun_ || first_fraction_ > 0) return;
  first_fraction_ = fraction_;
  first_seconds_ = fraction_seconds_;
}

// A kernel that has said nothing for as long as it took until it said something may stand anywhere by now.
double LastMinuteRate::fraction_done(SteadyTime now) const {
  if (!in_unit_ || to_seconds(running_on_item(now)) > 2 * fraction_seconds_) return 0;
  return fraction_;
}

void LastMinuteRate::end_unit(SteadyTime now) {
  close_stretch(now);
  stretches_.clear();
  in_unit_ = false;
}

Duration LastMinuteRate::running_on_item(SteadyTime now) const {
  Duration total{0};
  for (const Piece& stretch : stretches_) total += stretch.to - stretch.from;
  if (running_) total += now - stretch_started_;
  return total;
}

// How long all of the item in progress takes: what the kernel says, else the mean of the others, but never
// less than it has had already; for the very first one, twice that.
double LastMinuteRate::whole_seconds(double spent) const {
  if (!begun_ && fraction_ > 0) return spent / fraction_;
  if (fraction_ > first_fraction_)
    return (fraction_seconds_ - first_seconds_) / (fraction_ - first_fraction_);
  return std::max(mean_seconds_ ? *mean_seconds_ : 2 * spent, spent);
}

double LastMinuteRate::rest_seconds(double spent) const {
  const double whole = whole_seconds(spent);
  if (!begun_ || fraction_ <= first_fraction_) return std::max(0.0, whole - spent);
  return std::max(0.0, fraction_seconds_ + whole * (1 - fraction_) - spent);
}

double LastMinuteRate::rate(SteadyTime now) const {
  if (!measured_ || now <= first_) return 0;
  const SteadyTime begin = std::max(first_, now - window);
  double cost = 0;
  for (const Piece& piece : pieces_) {
    const double length = to_seconds(piece.to - piece.from);
    if (piece.to <= begin) continue;
    cost += length > 0 ? piece.cost * overlap_seconds(piece.from, piece.to, begin) / length : piece.cost;
  }
  const double expected = in_unit_ ? whole_seconds(to_seconds(running_on_item(now))) : 0;
  if (expected > 0) {
    double inside = running_ ? overlap_seconds(stretch_started_, now, begin) : 0;
    for (const Piece& stretch : stretches_) inside += overlap_seconds(stretch.from, stretch.to, begin);
    cost += item_cost_ * inside / expected;
  }
  return cost / to_seconds(now - begin);
}

Duration LastMinuteRate::on_item(SteadyTime now) const {
  return in_unit_ ? running_on_item(now) : Duration{0};
}

Duration LastMinuteRate::on_unit(SteadyTime now) const {
  return in_unit_ ? now - unit_started_ : Duration{0};
}

std::optional<Duration> LastMinuteRate::remaining(SteadyTime now, std::int64_t items) const {
  if (!in_unit_ || items <= 0) return Duration{0};
  const double spent = to_seconds(running_on_item(now));
  if (!mean_seconds_ && fraction_ <= 0) return std::nullopt;
  const double mean = mean_seconds_.value_or(whole_seconds(spent));
  return from_seconds(rest_seconds(spent) + mean * static_cast<double>(items - 1));
}

}  // namespace gleaner::client_policy
