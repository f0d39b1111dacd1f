// Desktop notifications to the owner: this computer contributes nothing to a project. Rules:
//   revoked       at once
//   held back     after an hour
//   unreachable, undelivered, no work: after a week, of which this run has tried the last hour: a computer
//                 that was switched off tries first
//   once          for each of them, until a day without it has passed; at most one notice a day
// A notice stays due until an agent has shown it. Pure: times are arguments. A clock that is set back delays
// notices. Cost: O(projects). Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/base/clock.h"

namespace gleaner::client_policy {

// The numbers are stored.
enum class Trouble : int { revoked = 1, held_back = 2, unreachable = 3, undelivered = 4, no_work = 5 };
inline constexpr int trouble_last = 5;

// What is known now of one trouble with one project. `unknown`: nothing either way, as before the first try.
struct TroubleSeen {
  enum class Holds { no, unknown, yes };
  std::string project;  // its key; empty: all of them
  std::string name;     // in words
  Trouble trouble = Trouble::revoked;
  Holds holds = Holds::unknown;
};

struct Notice {
  std::int64_t number = 0;  // of this run
  std::string title, text;
};

// What survives a restart.
struct NoticeMemory {
  struct Entry {
    std::string project;
    Trouble trouble = Trouble::revoked;
    Timestamp since{};
    bool told = false;
    std::optional<Timestamp> well_since{};  // the trouble ended after its notice
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;
  std::optional<Timestamp> shown_at;
  friend bool operator==(const NoticeMemory&, const NoticeMemory&) = default;
};

class Notices {
 public:
  void remember(NoticeMemory memory) { memory_ = std::move(memory); }
  // Takes in what holds now, and says what is to be shown. The same notice, with the same number, until it
  // was.
  [[nodiscard]] std::optional<Notice> due(const std::vector<TroubleSeen>& seen, Timestamp now,
                                          SteadyTime steady);
  // The notice of that number was shown; of another number nothing is known.
  void shown(std::int64_t number, Timestamp now);
  [[nodiscard]] const NoticeMemory& memory() const { return memory_; }

  static constexpr Duration week = std::chrono::hours{7 * 24};
  static constexpr Duration held_back_for = std::chrono::hours{1};
  static constexpr Duration tried_for = std::chrono::hours{1};
  static constexpr Duration between = std::chrono::hours{24};   // two notices
  static constexpr Duration well_for = std::chrono::hours{24};  // until the same counts anew

 private:
  using Entry = NoticeMemory::Entry;
  struct Tried {
    std::string project;
    Trouble trouble;
    SteadyTime since;
  };
  void take(const TroubleSeen& seen, Timestamp now, SteadyTime steady);
  [[nodiscard]] std::optional<SteadyTime> tried_since(const Entry& entry) const;
  [[nodiscard]] bool ripe(const Entry& entry, Timestamp now, SteadyTime steady) const;

  NoticeMemory memory_;
  std::vector<Tried> tried_;  // in this run
  struct Under {
    Notice notice;
    std::string project;
    Trouble trouble;
  };
  std::optional<Under> due_;
  std::int64_t last_number_ = 0;
};

}  // namespace gleaner::client_policy
