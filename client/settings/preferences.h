// The owner's preferences: one commented TOML file, on top of the preset's values, and overridden by what an
// administrator locked in drop-in files. Every value knows where it comes from. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/policy/core_choice.h"
#include "client/settings/owner_settings.h"
#include "shared/io/files.h"

namespace gleaner::settings {

struct OwnerPreferences {
  std::string preset = "only-when-idle";
  std::string run = "when-idle";
  double idle_minutes = 5;
  double pause_minutes_min = 1;
  bool when_watching = false;
  double load_max = 0.5;
  double load_grace_seconds = 0;
  std::vector<std::string> hours;
  std::vector<std::string> expensive_hours;
  std::vector<std::string> levels;
  std::vector<std::string> night_hours;
  double cpu_share = 1;
  double watts_per_core = 0;
  std::int64_t cores = 0;
  std::string core_kind = "any";
  double memory_share = 0.5;
  double give_back_minutes = 10;
  bool on_battery = false;
  double battery_percent_min = 30;
  double temperature_max = 85;
  std::int64_t fan_rpm_max = 0;
  std::vector<std::string> applications;
  std::vector<std::string> project_shares;
  std::vector<std::string> projects_suspended;
  std::vector<std::string> exclusive;
  std::string outside_signal;
  double outside_minutes = 1;
  bool on_metered = false;
  std::vector<std::string> network_hours;
  double relay_patience_hours = 72;
  std::string notifications = "on";
  std::int64_t download_kilobytes = 0;
  std::int64_t upload_kilobytes = 0;
  std::int64_t traffic_megabytes_day = 0;
  std::int64_t traffic_megabytes_month = 0;
  std::int64_t disk_megabytes = 2048;
  std::int64_t disk_free_megabytes = 200;
  std::string sandbox = "on";

  [[nodiscard]] client_policy::CoreChoice core_choice() const;
  // `memory_bytes`: this computer's.
  [[nodiscard]] OwnerSettings owner_settings(std::int64_t memory_bytes) const;
};

struct PreferenceFiles {
  io::Path own;      // absent: all defaults
  io::Path drop_in;  // a directory; its *.toml files, in order of their names, cannot be overruled
};

class PreferenceBook {
 public:
  // invalid, with file, line and key, if a file is wrong: then nothing of what was before changes.
  [[nodiscard]] static Result<PreferenceBook> load(const io::Files& files, PreferenceFiles places);

  [[nodiscard]] const OwnerPreferences& values() const { return values_; }
  // "default", "preset gentle", or the file's name.
  [[nodiscard]] const std::string& origin(const std::string& key) const { return origins_.at(key); }
  // In the order of the file: key, value as written in TOML, where from, what it means.
  struct Line {
    std::string key, value, origin, meaning;
    bool locked = false;
  };
  [[nodiscard]] std::vector<Line> lines() const;
  // Writes one value into the own file; `value` as in TOML, or a bare word. forbidden if it is locked,
  // not_found if there is no such key, invalid if the value is not one of that key.
  [[nodiscard]] Status set(io::Files& files, const std::string& key, const std::string& value);
  // Takes the value out of the own file: the preset's or the default holds again. Errors as set()'s.
  [[nodiscard]] Status unset(io::Files& files, const std::string& key);
  // Keys of the own file whose values are not the preset's: what the preset does not decide.
  [[nodiscard]] std::vector<std::string> beside_preset() const;

 private:
  PreferenceFiles places_;
  OwnerPreferences values_;
  std::map<std::string, std::string> origins_;
  std::map<std::string, std::string> locked_;
  std::map<std::string, std::string> own_;  // key: value as in TOML

  [[nodiscard]] Status check_changeable(const std::string& key) const;
  [[nodiscard]] Status write(io::Files& files, const std::map<std::string, std::string>& own);
};

}  // namespace gleaner::settings
