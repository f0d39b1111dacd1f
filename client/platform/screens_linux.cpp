// Who is logged in at a screen, by logind (sd-login(3), org.freedesktop.login1(5)). A desktop that never sets
// the idle hint leaves the question open; one that does, or locks, answers it. Where there is no logind, X
// servers are counted.
#include <sys/stat.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include <cstdlib>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

// Takes over a string that the library allocated.
std::string taken(char* text) {
  const std::string copy = text == nullptr ? "" : text;
  ::free(text);
  return copy;
}

std::optional<unsigned> owner_of(const io::Path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return std::nullopt;
  return facts.st_uid;
}

}  // namespace

// Without logind nobody can be asked: each X server is a screen of which nothing is known.
std::vector<Screen> x_servers(const io::Path& sockets) {
  std::vector<Screen> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(sockets, error), end; !error && entry != end;
       entry.increment(error))
    if (const std::string name = entry->path().filename(); name.size() > 1 && name[0] == 'X')
      found.push_back(
          {"X display :" + name.substr(1), {}, owner_of(entry->path()), {}, ":" + name.substr(1)});
  return found;
}

std::vector<Screen> logind_screens(SystemBus& bus, SteadyTime now) {
  char** sessions = nullptr;
  if (sd_get_sessions(&sessions) < 0 || ::access("/run/systemd/seats", F_OK) != 0)
    return x_servers("/tmp/.X11-unix");
  std::vector<Screen> found;
  for (char** at = sessions; at != nullptr && *at != nullptr; ++at) {
    const std::string session = taken(*at);
    char* text = nullptr;
    const std::string type = sd_session_get_type(session.c_str(), &text) >= 0 ? taken(text) : "";
    text = nullptr;
    const std::string kind = sd_session_get_class(session.c_str(), &text) >= 0 ? taken(text) : "user";
    // Terminals are seen by their own times; the login screen is nobody.
    if ((type != "x11" && type != "wayland" && type != "mir") || kind != "user") continue;
    text = nullptr;
    const std::string seat = sd_session_get_seat(session.c_str(), &text) >= 0 ? taken(text) : "remote";
    Screen screen{seat + ", " + type, bus.idle_of(session, now), {}, session, {}};
    uid_t user = 0;
    if (sd_session_get_uid(session.c_str(), &user) >= 0) screen.user = user;
    text = nullptr;
    if (sd_session_get_display(session.c_str(), &text) >= 0) screen.display = taken(text);
    found.push_back(std::move(screen));
  }
  ::free(sessions);
  bus.settle();
  for (Screen& screen : found) screen.idle = bus.idle_of(screen.session, now);
  return found;
}

}  // namespace gleaner::platform
