// Things that are to be looked at when their time has come, by time and key (Thing::deadline_key(), which
// stays as it is while it waits). Most deadlines are put off again
// and again before they come, so putting off costs nothing: a thing is looked up when its first deadline has
// come, and waits on if it was put off since. A wheel of seconds whose lists are sorted when their second
// begins, which touches no thing that was put off: an ordered map missed the processor's cache at each step.
// Cost: O(1) a change, O(log n) for what comes in the same second. Value type. Internal to the module.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::policy {

// Where a thing waits; kept by whoever added it.
using DeadlinePlace = std::uint32_t;
inline constexpr DeadlinePlace no_deadline = std::numeric_limits<DeadlinePlace>::max();

template <typename Key, typename Thing>
class Deadlines {
 public:
  [[nodiscard]] std::size_t size() const { return entries_.size() - vacant_.size() - removed_; }

  // It waits until `at`, or is put off or brought forward to then.
  void set(DeadlinePlace& place, Thing& thing, Timestamp at) {
    if (place != no_deadline) {
      Entry& entry = entries_[place];
      entry.at = at;
      if (at >= entry.looked_up) return;
      remove(place);
    }
    if (vacant_.empty()) {
      // By an eighth: what is reserved for things that never come is memory of every host.
      if (entries_.size() == entries_.capacity())
        entries_.reserve(entries_.size() + entries_.size() / 8 + 16);
      vacant_.push_back(static_cast<DeadlinePlace>(entries_.size()));
      entries_.emplace_back();
    }
    place = vacant_.back();
    vacant_.pop_back();
    entries_[place] = {at, at, &thing};
    insert(place);
  }
  // It waits no more.
  void remove(DeadlinePlace& place) {
    if (place == no_deadline) return;
    entries_[place].thing = nullptr;  // the place is vacant when its turn comes
    ++removed_;
    place = no_deadline;
  }
  // The first whose time has come by `now`, by time and key; it waits no more. Null: none.
  [[nodiscard]] Thing* next(Timestamp now) {
    begin_seconds(second_of(now));
    while (!soon_.empty() && std::get<Timestamp>(soon_.front()) <= now) {
      std::pop_heap(soon_.begin(), soon_.end(), std::greater<>());
      const DeadlinePlace place = std::get<DeadlinePlace>(soon_.back());
      soon_.pop_back();
      Entry& entry = entries_[place];
      if (entry.thing != nullptr && entry.at != entry.looked_up) {
        entry.looked_up = entry.at;
        insert(place);
        continue;
      }
      vacant_.push_back(place);
      if (entry.thing != nullptr) return entry.thing;
      --removed_;
    }
    return nullptr;
  }

 private:
  struct Entry {
    Timestamp at, looked_up;
    Thing* thing = nullptr;
  };
  static constexpr std::int64_t seconds_around = 128;  // more than two heartbeats; beyond it goes round again

  static std::int64_t second_of(Timestamp time) {
    return std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  }
  std::vector<DeadlinePlace>& list(std::int64_t second) {
    return wheel_[static_cast<std::size_t>((second % seconds_around + seconds_around) % seconds_around)];
  }
  void insert(DeadlinePlace place) {
    const Entry& entry = entries_[place];
    const std::int64_t second = second_of(entry.looked_up);
    if (second >= next_second_)
      return list(std::min(second, next_second_ + seconds_around - 1)).push_back(place);
    soon_.emplace_back(entry.looked_up, entry.thing->deadline_key(), place);
    std::push_heap(soon_.begin(), soon_.end(), std::greater<>());
  }
  void begin_seconds(std::int64_t last) {
    const std::int64_t first = next_second_, count = std::min(last - first + 1, seconds_around);
    if (count <= 0) return;
    next_second_ = last + 1;
    for (std::int64_t second = first; second < first + count; ++second) {
      const std::vector<DeadlinePlace> turn = std::exchange(list(second), {});
      for (const DeadlinePlace place : turn) {
        Entry& entry = entries_[place];
        if (entry.thing != nullptr) {
          entry.looked_up = entry.at;
          insert(place);
        } else {
          vacant_.push_back(place);
          --removed_;
        }
      }
    }
  }

  std::vector<Entry> entries_;  // by place
  std::vector<DeadlinePlace> vacant_;
  std::size_t removed_ = 0;  // places not vacant yet
  std::array<std::vector<DeadlinePlace>, seconds_around> wheel_;
  std::int64_t next_second_ = 0;                                 // that has not begun
  std::vector<std::tuple<Timestamp, Key, DeadlinePlace>> soon_;  // a heap, of the seconds that have begun
};

}  // namespace gleaner::policy
