// Who is logged in at a screen, by logind (sd-login(3), org.freedesktop.login1(5)). A desktop that never sets
// the idle hint leaves the question open; one that does, or locks, answers it. Where there is no logind, X
// servers are counted.
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-login.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "client/platform/activity_monitor.h"

namespace gleaner::platform {
namespace {

constexpr std::uint64_t answer_microseconds = 200'000;

// Takes over a string that the library allocated.
std::string taken(char* text) {
  const std::string copy = text == nullptr ? "" : text;
  ::free(text);
  return copy;
}

bool property(sd_bus* bus, const char* path, const char* name, char type, void* value) {
  return sd_bus_get_property_trivial(bus, "org.freedesktop.login1", path, "org.freedesktop.login1.Session",
                                     name, nullptr, type, value) >= 0;
}

std::optional<Duration> idle_of(sd_bus* bus, const std::string& session) {
  char* path = nullptr;
  if (bus == nullptr || sd_bus_path_encode("/org/freedesktop/login1/session", session.c_str(), &path) < 0)
    return std::nullopt;
  const std::string object = taken(path);
  int hint = 0;
  int locked = 0;
  std::uint64_t since = 0;
  (void)property(bus, object.c_str(), "LockedHint", 'b', &locked);
  const bool known = property(bus, object.c_str(), "IdleHint", 'b', &hint) &&
                     property(bus, object.c_str(), "IdleSinceHintMonotonic", 't', &since);
  if (locked != 0) return std::chrono::hours{1};  // whoever locks a screen leaves it
  if (!known || hint == 0) return std::nullopt;
  timespec now{};
  if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) return std::nullopt;
  const auto microseconds = static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
  return Duration{std::max<std::int64_t>(0, microseconds - static_cast<std::int64_t>(since))};
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

std::vector<Screen> logind_screens() {
  char** sessions = nullptr;
  if (sd_get_sessions(&sessions) < 0 || ::access("/run/systemd/seats", F_OK) != 0)
    return x_servers("/tmp/.X11-unix");
  std::vector<Screen> found;
  sd_bus* bus = nullptr;
  bool tried = false;
  for (char** at = sessions; at != nullptr && *at != nullptr; ++at) {
    const std::string session = taken(*at);
    char* text = nullptr;
    const std::string type = sd_session_get_type(session.c_str(), &text) >= 0 ? taken(text) : "";
    text = nullptr;
    const std::string kind = sd_session_get_class(session.c_str(), &text) >= 0 ? taken(text) : "user";
    // Terminals are seen by their own times; the login screen is nobody.
    if ((type != "x11" && type != "wayland" && type != "mir") || kind != "user") continue;
    if (!tried && sd_bus_open_system(&bus) >= 0) sd_bus_set_method_call_timeout(bus, answer_microseconds);
    tried = true;
    text = nullptr;
    const std::string seat = sd_session_get_seat(session.c_str(), &text) >= 0 ? taken(text) : "remote";
    Screen screen{seat + ", " + type, idle_of(bus, session), {}, session, {}};
    uid_t user = 0;
    if (sd_session_get_uid(session.c_str(), &user) >= 0) screen.user = user;
    text = nullptr;
    if (sd_session_get_display(session.c_str(), &text) >= 0) screen.display = taken(text);
    found.push_back(std::move(screen));
  }
  ::free(sessions);
  sd_bus_flush_close_unref(bus);
  return found;
}

}  // namespace gleaner::platform
