#include "client/program/preferences_program.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/platform/control_socket.h"
#include "client/program/exit_status.h"

namespace gleaner::program {
namespace {

int fail(const std::string& message) {
  fmt::print(stderr, "gleaner: {}\n", message);
  return exit_problem;
}

void print(const engine::PreferenceBook& book, const PreferencesCommand& command) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& line : book.lines()) {
    if (!command.key.empty() && line.key != command.key) continue;
    if (command.json) {
      all.push_back({{"key", line.key},
                     {"value", line.value},
                     {"origin", line.origin},
                     {"locked", line.locked},
                     {"meaning", line.meaning}});
    } else if (command.verb == "explain") {
      fmt::print("{} = {}\n  {}\n  From: {}{}.\n", line.key, line.value, line.meaning, line.origin,
                 line.locked ? " (locked by the administrator)" : "");
    } else {
      fmt::print("{:<19} = {:<18} # {}{}\n", line.key, line.value, line.origin,
                 line.locked ? ", locked" : "");
    }
  }
  if (command.json) fmt::print("{}\n", all.dump(2));
}

// The client that runs, if one does, reads them again. Its answer matters only if it is a refusal.
int tell_client(const PreferencesCommand& command) {
  const nlohmann::json request = {{"version", 1}, {"command", "reload"}};
  const auto reply = platform::ask_daemon(command.state.socket(), request.dump());
  if (!reply.ok())
    return reply.error().kind == ErrorKind::not_found ? exit_ok
                                                      : fail("saved, but: " + reply.error().message);
  const auto parsed = nlohmann::json::parse(*reply, nullptr, false);
  if (parsed.is_object() && parsed.value("ok", false)) return exit_ok;
  return fail("saved, but the client did not take them over");
}

}  // namespace

engine::PreferenceFiles preference_files(const engine::StateDirectory& state) {
  const char* const locked = std::getenv("GLEANER_LOCKED_PREFERENCES");
  return {state.root / "preferences.toml", locked != nullptr ? locked : "/etc/gleaner-client/locked.d"};
}

int run_preferences(const PreferencesCommand& command) {
  io::Files& files = io::real_files();
  auto book = engine::PreferenceBook::load(files, preference_files(command.state));
  if (!book.ok()) return fail(book.error().message);
  if (command.verb == "set") {
    if (const Status set = book->set(files, command.key, command.value); !set.ok())
      return fail(set.error().message);
    return tell_client(command);
  }
  bool known = command.key.empty();
  for (const auto& line : book->lines()) known = known || line.key == command.key;
  if (!known) return fail("there is no preference \"" + command.key + "\": `gleaner prefs show` lists them");
  print(*book, command);
  return exit_ok;
}

}  // namespace gleaner::program
