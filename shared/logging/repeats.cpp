#include "shared/logging/repeats.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gleaner::logging {
namespace {

constexpr auto minute = std::chrono::minutes{1};
constexpr std::size_t shape_length_max = 80;  // what strangers said stands behind it

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Of lines that differ in numbers only, or in what stands far behind, the same.
std::string shape_of(int level, std::string_view line) {
  std::string shape(1, static_cast<char>('A' + level));
  for (std::size_t at = 0; at < line.size() && shape.size() < shape_length_max; ++at) {
    if (!is_digit(line[at]))
      shape += line[at];
    else if (shape.back() != '#')
      shape += '#';
  }
  return shape;
}

// A minute that began then; the clock may have been set back.
bool is_over(Repeats::Time begin, Repeats::Time now) {
  return now < begin || now - begin >= minute;
}

}  // namespace

bool Repeats::admit(int level, std::string_view line, Time now) {
  const std::string shape = shape_of(level, line);
  auto found = windows_.find(shape);
  if (found == windows_.end()) {
    if (windows_.size() >= shapes_max) close_oldest();
    found = windows_.emplace(shape, Window{now, 0, {}}).first;
  }
  Window& window = found->second;
  if (window.written < lines_a_minute) {
    ++window.written;
    return admit_any(level, line, now);
  }
  window.counted = {level, std::string(line), window.counted.count + 1};
  return false;
}

bool Repeats::admit_any(int level, std::string_view line, Time now) {
  Window& window = all(level);
  if (is_over(window.begin, now)) {
    if (window.counted.count > 0) closed_.push_back(std::move(window.counted));
    window = {now, 0, {}};
  }
  if (window.written < (level >= error_level ? errors_a_minute : lines_in_all_a_minute)) {
    ++window.written;
    return true;
  }
  window.counted = {level, std::string(line), window.counted.count + 1, false};
  return false;
}

// Room for another shape: the oldest gets its word in early.
void Repeats::close_oldest() {
  const auto oldest = std::min_element(windows_.begin(), windows_.end(), [](const auto& a, const auto& b) {
    return a.second.begin < b.second.begin;
  });
  if (oldest->second.counted.count > 0) closed_.push_back(std::move(oldest->second.counted));
  windows_.erase(oldest);
}

std::vector<Repeats::Counted> Repeats::take_due(Time now) {
  std::vector<Counted> due = std::exchange(closed_, {});
  for (Window* const window : {&others_, &errors_})
    if (is_over(window->begin, now) && window->counted.count > 0) {
      due.push_back(std::move(window->counted));
      *window = {};
    }
  for (auto entry = windows_.begin(); entry != windows_.end();) {
    Window& window = entry->second;
    const bool over = is_over(window.begin, now);
    if (over && window.counted.count > 0) due.push_back(std::move(window.counted));
    entry = over ? windows_.erase(entry) : std::next(entry);
  }
  return due;
}

std::string Repeats::text(const Counted& counted) {
  return counted.line + ", and " + std::to_string(counted.count) +
         (counted.alike ? " more like it in the last minute" : " more lines of all kinds in the last minute");
}

}  // namespace gleaner::logging
