// Which lines of a log are written, and which are only counted: of lines that say the same of other numbers
// ("unit 7: ..." and "unit 8: ...") some a minute are written, and of all lines a number that no good minute
// has; how many more there were is written when the minute is over. Pure; `now` in. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gleaner::logging {

// As many as a person reads; a stage with short units, or a hundred hosts that join at once, say no more by
// more.
inline constexpr std::int64_t lines_a_minute = 20;
// Of all kinds, so that who says something else each time does not fill the disk: at 200 bytes a line these
// are 7 MB in an hour of nothing else.
inline constexpr std::int64_t lines_in_all_a_minute = 600;
// Besides these, of errors, which no stranger's words cause and none shall hide.
inline constexpr std::int64_t errors_a_minute = 60;
inline constexpr int error_level = 4;  // spdlog::level::err
// Kinds of lines that are counted at a time. A daemon has some hundred; a stranger's words may make more of
// them.
inline constexpr std::size_t shapes_max = 512;

class Repeats {
 public:
  using Time = std::chrono::system_clock::time_point;  // the log's own; it may jump

  // What a minute had more of than was written.
  struct Counted {
    int level = 0;
    std::string line;  // the last of them
    std::int64_t count = 0;
    bool alike = true;  // false: lines of all kinds
  };

  // Is it to be written? Else it is counted.
  [[nodiscard]] bool admit(int level, std::string_view line, Time now);
  // Of the minutes that are over; each is returned once.
  [[nodiscard]] std::vector<Counted> take_due(Time now);
  // "unit 8: ..., and 312 more like it in the last minute"
  [[nodiscard]] static std::string text(const Counted& counted);

 private:
  struct Window {
    Time begin;
    std::int64_t written = 0;
    Counted counted;
  };
  // Whether one line more has its place in this minute.
  [[nodiscard]] bool admit_any(int level, std::string_view line, Time now);
  [[nodiscard]] Window& all(int level) { return level >= error_level ? errors_ : others_; }
  void close_oldest();

  std::map<std::string, Window> windows_;  // by shape
  Window others_{}, errors_{};             // of all shapes
  std::vector<Counted> closed_;            // before their minute was over
};

}  // namespace gleaner::logging
