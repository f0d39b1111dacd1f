// What each preference means, as its file, `gleaner prefs` and the owner's page say it.
#pragma once

#include <string>
#include <vector>

namespace gleaner::settings {

// How a page lets people set it.
enum class PreferenceKind : int { flag, share, number, count, choice, hours, names, text, levels };
[[nodiscard]] const char* name_of(PreferenceKind kind);

struct DescribedPreference {
  const char* key;
  const char* group;  // under which a page shows it
  const char* label;
  const char* meaning;
  PreferenceKind kind;
  double low = 0, high = 0;                 // of share, number and count
  std::vector<const char*> words = {};      // of choice
  std::vector<const char*> old_words = {};  // names that files may still have, and nobody is offered
  // It loosens what protects this computer from kernels: a page shows it and cannot set it.
  bool protects = false;
};

// In the order in which they are shown and written.
[[nodiscard]] const std::vector<DescribedPreference>& described_preferences();
// REQUIRES: it is one of them.
[[nodiscard]] const DescribedPreference& described(const std::string& key);

}  // namespace gleaner::settings
