// `gleaner prefs`: shows, explains and changes the owner's preferences; a running client applies them at
// once.
#pragma once

#include <optional>
#include <string>

#include "client/settings/preferences.h"
#include "client/state/state_directory.h"

namespace gleaner::program {

// preferences.toml in the state directory; drop-ins in $GLEANER_LOCKED_PREFERENCES, else
// /etc/gleaner-client/locked.d.
[[nodiscard]] settings::PreferenceFiles preference_files(const state::StateDirectory& state);

struct PreferencesCommand {
  state::StateDirectory state;
  std::string verb;  // show, explain, set, unset
  std::string key;
  std::string value;
  bool json = false;
};

// Returns the exit status.
[[nodiscard]] int run_preferences(const PreferencesCommand& command);

// The same for other front ends: all of them as `gleaner prefs show --json`, and one changed, or without a
// value unset; a client that runs obeys at once.
[[nodiscard]] Result<std::string> preferences_json(const state::StateDirectory& state);
[[nodiscard]] Status change_preference(const state::StateDirectory& state, const io::Path& socket,
                                       const std::string& key, const std::optional<std::string>& value);
// The same for a page. forbidden: what protects the computer is changed in a terminal only.
[[nodiscard]] Status change_preference_on_page(const state::StateDirectory& state, const io::Path& socket,
                                               const std::string& key,
                                               const std::optional<std::string>& value);

}  // namespace gleaner::program
