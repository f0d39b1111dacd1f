// What each preference means, as its file, `gleaner prefs` and the owner's page say it.
#pragma once

#include <span>
#include <string>

namespace gleaner::settings {

struct DescribedPreference {
  const char* key;
  const char* meaning;
};

// In the order in which they are shown and written.
[[nodiscard]] std::span<const DescribedPreference> described_preferences();
// REQUIRES: it is one of them.
[[nodiscard]] const char* meaning_of(const std::string& key);

}  // namespace gleaner::settings
