#include "client/program/preferences_program.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "client/platform/control_socket.h"
#include "client/platform/machine_facts.h"
#include "client/program/control_text.h"
#include "client/program/exit_status.h"
#include "client/settings/preference_texts.h"
#include "shared/base/figures.h"
#include "shared/json/text.h"
#include "shared/terminal/print.h"

namespace gleaner::program {
namespace {

int fail(const std::string& message) {
  terminal::print(stderr, "gleaner: {}\n", message);
  return exit_problem;
}

int cores_here() {
  return platform::make_machine()->cores();
}

json::Value to_json(const settings::PreferenceBook::Line& line) {
  const auto& described = settings::described(line.key);
  json::Value words = json::Value::array();
  for (const char* const word : described.words) words.push_back(word);
  return {{"key", line.key},
          {"value", line.value},
          {"origin", line.origin},
          {"locked", line.locked},
          {"protects", described.protects},
          {"meaning", line.meaning},
          {"group", described.group},
          {"label", described.label},
          {"kind", settings::name_of(described.kind)},
          {"low", described.low},
          {"high", line.key == "cores" ? static_cast<double>(cores_here()) : described.high},
          {"words", words}};
}

void print(const settings::PreferenceBook& book, const PreferencesCommand& command) {
  json::Value all = json::Value::array();
  for (const auto& line : book.lines()) {
    if (!command.key.empty() && line.key != command.key) continue;
    if (command.json) {
      all.push_back(to_json(line));
    } else if (command.verb == "explain") {
      terminal::print("{} = {}\n  {}\n  From: {}{}.\n", line.key, line.value, line.meaning, line.origin,
                      line.locked ? " (locked by the administrator)" : "");
    } else {
      terminal::print("{:<23} = {:<18} # {}{}\n", line.key, line.value, line.origin,
                      line.locked ? ", locked" : "");
    }
  }
  if (command.json) terminal::print("{}\n", json::write(all, {2, true}));
}

// The client that runs, if one does, reads them again. Its answer matters only if it is a refusal.
Status tell_client(const io::Path& socket) {
  const json::Value request = {{"version", 1}, {"command", "reload"}};
  const auto reply = platform::ask_daemon(socket, json::write(request, {-1, true}));
  if (!reply.ok()) {
    if (reply.error().kind == ErrorKind::not_found) return {};
    return reply.error().within("saved, but");
  }
  if (is_set(json::parse_or_null(*reply), "ok")) return {};
  return Error{ErrorKind::io, "saved, but the client did not take them over"};
}

}  // namespace

settings::PreferenceFiles preference_files(const state::StateDirectory& state) {
  const char* const locked = std::getenv("GLEANER_LOCKED_PREFERENCES");
  return {state.root / "preferences.toml", locked != nullptr ? locked : "/etc/gleaner-client/locked.d"};
}

namespace {

// A value that the file may have, as another computer's, but that means nothing on this one.
Status check_for_this_computer(const state::StateDirectory& state, const std::string& key,
                               const std::string& value) {
  const bool disk = key == "disk_megabytes" || key == "disk_free_megabytes";
  if (key != "cores" && !disk) return {};
  std::int64_t wanted = 0;
  const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), wanted);
  if (failed != std::errc{} || end != value.data() + value.size()) return {};  // the book says what it may be
  if (disk) {
    std::error_code error;
    const auto space = std::filesystem::space(state.root, error);
    const auto megabytes = static_cast<std::int64_t>(space.capacity >> 20);
    if (error || wanted <= megabytes) return {};
    return Error{ErrorKind::invalid, "the disk has " + count_text(megabytes) + " MiB in all"};
  }
  const int present = cores_here();
  if (wanted <= present) return {};
  return Error{ErrorKind::invalid, "this computer has " + counted(present, "core") + "; 0 means all of them"};
}

}  // namespace

Status change_preference(const state::StateDirectory& state, const io::Path& socket, const std::string& key,
                         const std::optional<std::string>& value) {
  io::Files& files = io::real_files();
  if (value) TRY(check_for_this_computer(state, key, *value));
  TRY_ASSIGN(auto book, settings::PreferenceBook::load(files, preference_files(state)));
  TRY(value ? book.set(files, key, *value) : book.unset(files, key));
  return tell_client(socket);
}

Status change_preference_on_page(const state::StateDirectory& state, const io::Path& socket,
                                 const std::string& key, const std::optional<std::string>& value) {
  for (const settings::DescribedPreference& one : settings::described_preferences())
    if (key == one.key && one.protects)
      return Error{ErrorKind::forbidden, "a page cannot change " + key + ": use `gleaner prefs set " + key +
                                             " VALUE` in a terminal"};
  return change_preference(state, socket, key, value);
}

Result<std::string> preferences_json(const state::StateDirectory& state) {
  TRY_ASSIGN(const auto book, settings::PreferenceBook::load(io::real_files(), preference_files(state)));
  json::Value all = json::Value::array();
  for (const auto& line : book.lines()) all.push_back(to_json(line));
  return json::write(all, {-1, true});
}

namespace {

int change(const PreferencesCommand& command) {
  const bool set = command.verb == "set";
  const Status done = change_preference(command.state, command.state.socket(), command.key,
                                        set ? std::optional(command.value) : std::nullopt);
  if (!done.ok()) return fail(done.error().message);
  const auto changed = settings::PreferenceBook::load(io::real_files(), preference_files(command.state));
  if (!changed.ok()) return fail(changed.error().message);
  for (const auto& line : changed->lines())
    if (line.key == command.key)
      terminal::print("{} = {}{}\n", line.key, line.value, set ? "" : " (" + line.origin + ")");
  const auto beside = changed->beside_preset();
  if (command.key != "preset" || beside.empty()) return exit_ok;
  std::string keys;
  for (const std::string& key : beside) keys += (keys.empty() ? "" : ", ") + key;
  terminal::print(
      "You set these yourself, and they stay as you set them: {}.\n"
      "`gleaner prefs unset KEY` gives one back to the preset.\n",
      keys);
  return exit_ok;
}

}  // namespace

int run_preferences(const PreferencesCommand& command) {
  const auto book = settings::PreferenceBook::load(io::real_files(), preference_files(command.state));
  if (!book.ok()) return fail(book.error().message);
  if (command.verb == "set" || command.verb == "unset") return change(command);
  bool known = command.key.empty();
  for (const auto& line : book->lines()) known = known || line.key == command.key;
  if (!known) return fail("there is no preference \"" + command.key + "\": `gleaner prefs show` lists them");
  print(*book, command);
  return exit_ok;
}

}  // namespace gleaner::program
