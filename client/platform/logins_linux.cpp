// Who is logged in at a terminal or over SSH, by utmp(5). The list says who and since when; the terminal's
// time of last access says when they typed last, to the eight seconds of terminals_linux.cpp.
#include <sys/stat.h>
#include <utmpx.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "client/agent/report/report.h"
#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr int records_max = 4096;  // as many as are looked at

// A field of a record: not always ended by a zero.
template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, ::strnlen(field, size)};
}

// "pts/3", "tty2", and nothing that leads elsewhere.
bool is_terminal(const std::string& line) {
  return !line.empty() && line.find("..") == std::string::npos && line[0] != '/' &&
         std::all_of(line.begin(), line.end(), [](unsigned char c) { return std::isalnum(c) || c == '/'; });
}

std::optional<Observation> observe_login(const utmpx& record, const io::Path& dev, Timestamp now) {
  const std::string line = text_of(record.ut_line);
  if (record.ut_type != USER_PROCESS || !is_terminal(line)) return std::nullopt;
  std::string who = text_of(record.ut_user) + " at " + line;
  if (const std::string host = text_of(record.ut_host); !host.empty()) who += " from " + host;
  Observation seen{Observation::Kind::input, agent::printable(who), Duration{0}, {}, 0};
  struct stat facts {};
  if (::stat((dev / line).c_str(), &facts) == 0) {
    // Who logs in is there, although nothing was read from the terminal yet.
    for (const std::int64_t used : {std::int64_t{facts.st_atim.tv_sec}, std::int64_t{record.ut_tv.tv_sec}})
      if (const auto age = client_policy::age_of(Timestamp{std::chrono::seconds{used}}, now))
        seen.idle = std::min(*age, seen.idle.value_or(*age));
    seen.note = seen.idle ? "by its terminal" : "its times lie in the future";
  } else if (errno == ENOENT) {
    return std::nullopt;
  } else {
    seen.kind = Observation::Kind::screen;  // somebody, of whom nothing is known
  }
  return seen;
}

}  // namespace

std::vector<Observation> observe_logins(const io::Path& utmp, const io::Path& dev) {
  std::vector<Observation> found;
  std::ifstream file(utmp, std::ios::binary);
  const Timestamp now = system_clock().now();
  utmpx record{};
  for (int i = 0; i < records_max && file.read(reinterpret_cast<char*>(&record), sizeof record); ++i)
    if (auto one = observe_login(record, dev, now)) found.push_back(std::move(*one));
  std::stable_sort(found.begin(), found.end(), [](const Observation& a, const Observation& b) {
    return a.idle.value_or(Duration{0}) < b.idle.value_or(Duration{0});  // what is not known first
  });
  if (found.size() > logins_max) found.resize(logins_max);
  return found;
}

}  // namespace gleaner::platform
