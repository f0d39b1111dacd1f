// `gleaner prefs`: shows, explains and sets the owner's preferences; a running client takes them over at
// once.
#pragma once

#include <string>

#include "client/engine/preferences.h"
#include "client/engine/state_directory.h"

namespace gleaner::program {

// preferences.toml in the state directory; drop-ins in $GLEANER_LOCKED_PREFERENCES, else
// /etc/gleaner-client/locked.d.
[[nodiscard]] engine::PreferenceFiles preference_files(const engine::StateDirectory& state);

struct PreferencesCommand {
  engine::StateDirectory state;
  std::string verb;  // show, explain, set
  std::string key;
  std::string value;
  bool json = false;
};

// Returns the exit status.
[[nodiscard]] int run_preferences(const PreferencesCommand& command);

// The same for other front ends: all of them as `gleaner prefs show --json`, and one changed; a client that
// runs obeys at once.
[[nodiscard]] Result<std::string> preferences_json(const engine::StateDirectory& state);
[[nodiscard]] Status change_preference(const engine::StateDirectory& state, const io::Path& socket,
                                       const std::string& key, const std::string& value);

}  // namespace gleaner::program
