// A terminal's time of last access is that of its last input (a program's output only changes the other one);
// the system rounds it to eight seconds. Terminals are all pseudo-terminals and the consoles, whoever's they
// are: SSH, tmux, xterm.
#include <sys/stat.h>

#include <cctype>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

void look_at(const io::Path& path, const std::string& name, std::optional<Observation>& latest) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return;
  // A time in the future was written by a clock that was wrong: the next input says when that was.
  const auto idle =
      client_policy::age_of(Timestamp{std::chrono::seconds{facts.st_atim.tv_sec}}, system_clock().now());
  if (!idle || (latest && *latest->idle <= *idle)) return;
  latest = Observation{Observation::Kind::input, "terminal " + name, Duration{0}, idle, 0};
}

}  // namespace

std::vector<Observation> observe_terminals(const io::Path& dev) {
  std::optional<Observation> latest;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(dev / "pts", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (is_number(name)) look_at(entry->path(), "pts/" + name, latest);
  }
  for (int console = 1; console <= 12; ++console) {
    const std::string name = "tty" + std::to_string(console);
    look_at(dev / name, name, latest);
  }
  if (!latest) return {};
  return {*latest};
}

}  // namespace gleaner::platform
