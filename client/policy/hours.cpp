// Hours as people write them; see owner.h.
#include <algorithm>
#include <array>
#include <charconv>

#include "client/policy/owner.h"

namespace gleaner::client_policy {
namespace {

constexpr std::array<const char*, 7> days = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
constexpr int minutes_per_day = 24 * 60;

int day_of(const std::string& word) {
  const auto found = std::find(days.begin(), days.end(), word);
  return found == days.end() ? -1 : static_cast<int>(found - days.begin());
}

// "18", "18:30"; 24:00 is the end of the day. -1 if it is none.
int minute_of(const std::string& word) {
  int hour = 0;
  int minute = 0;
  const char* const end = word.data() + word.size();
  auto at = std::from_chars(word.data(), end, hour);
  if (at.ec != std::errc{}) return -1;
  if (at.ptr != end) {
    if (*at.ptr != ':') return -1;
    at = std::from_chars(at.ptr + 1, end, minute);
    if (at.ec != std::errc{} || at.ptr != end) return -1;
  }
  const int total = hour * 60 + minute;
  return hour < 0 || minute < 0 || minute > 59 || total > minutes_per_day ? -1 : total;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// "mon-fri,sun"; empty if it is none.
std::vector<int> days_of(const std::string& text) {
  std::vector<int> all;
  for (const std::string& part : split(text, ',')) {
    const auto ends = split(part, '-');
    const int first = day_of(ends.front());
    const int last = day_of(ends.back());
    if (first < 0 || last < 0 || ends.size() > 2) return {};
    for (int day = first;; day = (day + 1) % 7) {
      all.push_back(day);
      if (day == last) break;
    }
  }
  return all;
}

}  // namespace

std::optional<std::vector<Hours>> parse_hours(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string& word : split(text, ' '))
    if (!word.empty()) words.push_back(word);
  if (words.empty() || words.size() > 2) return std::nullopt;
  std::vector<int> on = days_of(words.front());
  const bool days_given = !on.empty();
  if (!days_given) on = {0, 1, 2, 3, 4, 5, 6};
  int begin = 0;
  int end = minutes_per_day;
  if (words.size() == 2 || !days_given) {
    if (words.size() == 2 && !days_given) return std::nullopt;
    const auto ends = split(words.back(), '-');
    if (ends.size() != 2) return std::nullopt;
    begin = minute_of(ends.front());
    end = minute_of(ends.back());
    if (begin < 0 || end < 0 || begin == end) return std::nullopt;
  }
  std::vector<Hours> all;
  for (const int day : on) {
    const int from = day * minutes_per_day + begin;
    const int to = day * minutes_per_day + end + (end < begin ? minutes_per_day : 0);
    // The end of the week itself stays in it: a span up to Sunday 24:00 does not wrap.
    all.push_back({from % minutes_per_week, to > minutes_per_week ? to - minutes_per_week : to});
  }
  return all;
}

}  // namespace gleaner::client_policy
