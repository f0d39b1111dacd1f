#include "client/policy/outside.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "shared/base/clean_text.h"

namespace gleaner::client_policy {
namespace {

constexpr std::size_t reason_max = 200;
constexpr std::array<const char*, 3> own_hosts = {"http://127.0.0.1", "http://localhost", "http://[::1]"};

}  // namespace

std::optional<OutsideAnswer> parse_outside(const std::string& text) {
  const std::string line = clean_line(text.substr(0, text.find('\n')), reason_max);
  const auto begin = line.find_first_not_of(' ');
  if (begin == std::string::npos) return std::nullopt;
  const auto end = std::min(line.find(' ', begin), line.size());
  const std::string word = line.substr(begin, end - begin);
  const auto reason = line.find_first_not_of(' ', end);
  OutsideAnswer answer{1, reason == std::string::npos ? "" : line.substr(reason)};
  if (word == "yes") return answer;
  answer.share = 0;
  if (word == "no") return answer;
  double percent = 0;
  const char* const last = word.data() + word.size() - 1;
  const auto [at, failed] = std::from_chars(word.data(), last, percent);
  if (*last != '%' || failed != std::errc{} || at != last || !(percent >= 0 && percent <= 100))
    return std::nullopt;
  answer.share = percent / 100;
  return answer;
}

OutsideVerdict judge_outside(const OutsideView& view) {
  OutsideVerdict verdict;
  const std::string name = "the outside signal (" + view.where + ")";
  verdict.detail = "outside signal: " + view.where;
  const Duration holds = std::max(outside_holds_min, outside_intervals * view.interval);
  if (!view.answer || view.now - view.answered_at > holds) {
    const std::string why = view.trouble.empty() ? "it is being asked" : view.trouble;
    verdict.detail += ": no answer: " + why;
    verdict.signal = Signal{
        "outside", RunMode::pause,
        name + " gives no answer: " + why +
            (view.trouble.empty() ? "" : "; `gleaner prefs set outside_signal \"\"` computes without it")};
    return verdict;
  }
  const OutsideAnswer& answer = *view.answer;
  const std::string reason = answer.reason.empty() ? "" : ": " + answer.reason;
  const std::string said = answer.share <= 0   ? "no"
                           : answer.share >= 1 ? "yes"
                                               : std::to_string(std::lround(100 * answer.share)) + " %";
  verdict.detail += ": " + said + reason + (view.trouble.empty() ? "" : "; since then: " + view.trouble);
  if (answer.share >= 1) return verdict;
  verdict.signal =
      Signal{"outside", answer.share > 0 ? RunMode::run : RunMode::pause, name + " says " + said + reason};
  if (answer.share > 0) verdict.signal->share_max = answer.share;
  return verdict;
}

bool is_outside_program(const std::string& where) {
  return where.starts_with('/') && is_clean(where);
}

bool is_outside_server(const std::string& where) {
  return is_clean(where) && where.find(' ') == std::string::npos &&
         std::any_of(own_hosts.begin(), own_hosts.end(),
                     [&where](const std::string& host) {
                       if (!where.starts_with(host)) return false;
                       const std::string rest = where.substr(host.size());
                       return rest.empty() || rest.front() == ':' || rest.front() == '/';
                     }) &&
         where.find('@') == std::string::npos;
}

}  // namespace gleaner::client_policy
