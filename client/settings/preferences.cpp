#include "client/settings/preferences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <sstream>
#include <tuple>

#include "client/policy/outside.h"
#include "client/settings/preference_texts.h"
#include "shared/base/clean_text.h"
#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/io/settings.h"
#include "shared/io/settings_text.h"
#include "shared/json/text.h"

namespace gleaner::settings {
namespace {

constexpr std::int64_t preferences_bytes_max = 64 << 10;
constexpr std::size_t shown_max = 63;  // of a wrong value
constexpr std::size_t names_max = limits::applications_permitted_max;
constexpr const char* no_sandbox = "off: I accept that kernels run with my rights";
constexpr const char* weak_sandbox = "weak: I accept that kernels see names, sizes and times of my files";

// `old`: words that are taken, and not offered.
std::function<Status(const std::string&)> one_of(std::vector<std::string> words,
                                                 std::vector<std::string> old = {}) {
  return [words = std::move(words), old = std::move(old)](const std::string& value) -> Status {
    for (const auto* const some : {&words, &old})
      if (std::find(some->begin(), some->end(), value) != some->end()) return {};
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "\"" : ", \"") + word + "\"";
    return Error{ErrorKind::invalid, "expected one of " + all};
  };
}

Status check_outside(const std::string& where) {
  if (where.empty() || client_policy::is_outside_program(where) || client_policy::is_outside_server(where))
    return {};
  return Error{ErrorKind::invalid,
               "expected the path of a program, or an address of this computer like "
               "\"http://127.0.0.1:8123/power\""};
}

io::Settings settings_of(OwnerPreferences& values) {
  io::Settings all;
  const auto word = [&all](const char* key, std::string* value) {
    const auto& [words, old] = std::tie(described(key).words, described(key).old_words);
    all.add(key, value, described(key).meaning,
            one_of({words.begin(), words.end()}, {old.begin(), old.end()}));
  };
  const auto number = [&all](const char* key, double* value) {
    all.add(key, value, described(key).low, described(key).high, described(key).meaning);
  };
  const auto count = [&all](const char* key, std::int64_t* value) {
    all.add(key, value, static_cast<std::int64_t>(described(key).low),
            static_cast<std::int64_t>(described(key).high), described(key).meaning);
  };
  const auto flag = [&all](const char* key, bool* value) { all.add(key, value, described(key).meaning); };
  const auto list = [&all](const char* key, std::vector<std::string>* value) {
    all.add(key, value, described(key).meaning);
  };
  word("preset", &values.preset);
  word("run", &values.run);
  number("idle_minutes", &values.idle_minutes);
  number("pause_minutes_min", &values.pause_minutes_min);
  flag("when_watching", &values.when_watching);
  number("load_max", &values.load_max);
  number("load_grace_seconds", &values.load_grace_seconds);
  list("hours", &values.hours);
  list("expensive_hours", &values.expensive_hours);
  list("levels", &values.levels);
  list("night_hours", &values.night_hours);
  number("cpu_share", &values.cpu_share);
  number("watts_per_core", &values.watts_per_core);
  count("cores", &values.cores);
  word("core_kind", &values.core_kind);
  number("memory_share", &values.memory_share);
  number("give_back_minutes", &values.give_back_minutes);
  flag("on_battery", &values.on_battery);
  number("battery_percent_min", &values.battery_percent_min);
  number("temperature_max", &values.temperature_max);
  count("fan_rpm_max", &values.fan_rpm_max);
  list("applications", &values.applications);
  list("project_shares", &values.project_shares);
  list("projects_suspended", &values.projects_suspended);
  list("exclusive", &values.exclusive);
  all.add("outside_signal", &values.outside_signal, described("outside_signal").meaning, check_outside);
  number("outside_minutes", &values.outside_minutes);
  flag("on_metered", &values.on_metered);
  list("network_hours", &values.network_hours);
  number("relay_patience_hours", &values.relay_patience_hours);
  word("notifications", &values.notifications);
  count("download_kilobytes", &values.download_kilobytes);
  count("upload_kilobytes", &values.upload_kilobytes);
  count("traffic_megabytes_day", &values.traffic_megabytes_day);
  count("traffic_megabytes_month", &values.traffic_megabytes_month);
  count("disk_megabytes", &values.disk_megabytes);
  count("disk_free_megabytes", &values.disk_free_megabytes);
  all.add("sandbox", &values.sandbox, described("sandbox").meaning, one_of({"on", weak_sandbox, no_sandbox}));
  return all;
}

// "NAME=NUMBER"; names may have '=' in them.
std::optional<ShareSetting> parse_project_share(const std::string& text) {
  constexpr double share_max = 1000;
  const auto equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const char* const begin = text.c_str() + equals + 1;
  char* end = nullptr;
  const double share = std::strtod(begin, &end);
  // So small a share that its inverse is of no use is none.
  if (end == begin || *end != '\0' || !(share == 0 || (share >= 0.001 && share <= share_max)))
    return std::nullopt;
  return ShareSetting{text.substr(0, equals), share};
}

Status check_lists(const OwnerPreferences& values) {
  const auto refusal = [](const std::string& text) { return Error{ErrorKind::invalid, text}; };
  const std::pair<const char*, const std::vector<std::string>*> all[] = {
      {"hours", &values.hours},
      {"expensive_hours", &values.expensive_hours},
      {"night_hours", &values.night_hours},
      {"network_hours", &values.network_hours}};
  for (const auto& [key, texts] : all)
    for (const std::string& text : *texts)
      if (!client_policy::parse_hours(text))
        return refusal(std::string(key) + ": \"" + text +
                       "\" is not like \"mon-fri 18:00-08:00\", \"sat,sun\" or \"22-6\"");
  for (const std::string& text : values.levels)
    if (!client_policy::parse_level(text))
      return refusal("levels: \"" + text +
                     "\" is not like \"used 1 core 25% 60C\", \"night 1200rpm\" or \"battery off\"");
  for (const std::string& text : values.project_shares)
    if (!parse_project_share(text))
      return refusal("project_shares: \"" + text + "\" is not like \"NAME=2\", with a number from 0 to 1000");
  if (values.project_shares.size() > names_max || values.projects_suspended.size() > names_max)
    return refusal("project_shares, projects_suspended: at most " + std::to_string(names_max) + " projects");
  for (const std::string& name : values.applications)
    if (name.empty() || name.size() > static_cast<std::size_t>(limits::name_length_max) || !is_clean(name))
      return refusal("applications: \"" + clean_line(name, shown_max) +
                     "\" is no application's name; several are a list like [\"a\", \"b\"]");
  if (values.exclusive.size() > names_max || values.applications.size() > names_max)
    return refusal("exclusive, applications: at most " + std::to_string(names_max) + " names");
  return {};
}

// The values of what io::Settings rendered, a line each.
std::map<std::string, std::string> keys_of(const std::string& text) {
  std::map<std::string, std::string> keys;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t");
    const auto equals = line.find('=');
    if (begin == std::string::npos || line[begin] == '#' || equals == std::string::npos) continue;
    const auto end = line.find_last_not_of(" \t", equals - 1);
    const auto value = line.find_first_not_of(" \t", equals + 1);
    keys[line.substr(begin, end - begin + 1)] = value == std::string::npos ? "" : line.substr(value);
  }
  return keys;
}

OwnerPreferences preset_values(const std::string& preset) {
  OwnerPreferences values;
  values.preset = preset;
  if (preset == "quiet" || preset == "gentle") {
    values.idle_minutes = 15;
    values.cpu_share = 0.5;
    values.temperature_max = 70;
    values.load_max = 0.25;
    values.memory_share = 0.25;
  } else if (preset == "lab") {
    values.idle_minutes = 2;
    values.give_back_minutes = 2;
    values.notifications = "off";
  } else if (preset == "balanced") {
    values.levels = {"used 1 core 25%"};
  } else if (preset == "everything" || preset == "dedicated") {
    values.run = "always";
    values.on_battery = values.when_watching = true;
    values.load_max = 1;
    values.memory_share = 0.9;
  }
  return values;
}

bool is_key(const std::string& key) {
  return std::any_of(described_preferences().begin(), described_preferences().end(),
                     [&key](const DescribedPreference& one) { return key == one.key; });
}

// The value of `key` that the TOML `as` is, as the file has it. It is read alone, and written anew: whatever
// else `as` holds goes nowhere.
Result<std::string> read_alone(const std::string& key, const std::string& as) {
  OwnerPreferences alone;
  if (const Status read = settings_of(alone).parse(key + " = " + as + "\n", ""); !read.ok()) {
    const std::string& message = read.error().message;  // without the line
    return Error{ErrorKind::invalid, message.substr(std::min(message.find(key + ": "), message.size()))};
  }
  TRY(check_lists(alone));
  return keys_of(settings_of(alone).render())[key];
}

// Never 1e+08.
std::string number_text(double number) {
  return number >= 1000 ? fmt::format("{:.0f}", number) : fmt::format("{:g}", number);
}

// What is wrong with it, for who typed it.
Error objection(const std::string& key, const std::string& value) {
  using enum PreferenceKind;
  const DescribedPreference& one = described(key);
  const bool numeric = one.kind == count || one.kind == share || one.kind == number;
  const auto read = json::parse(value);
  const bool fits = read.ok() && (one.kind == count ? read->is_integer() : read->is_number());
  std::string words;
  for (const char* word : one.words) words += (words.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  std::string wrong = "\"" + clean_line(value, shown_max) + "\" is not ";
  if (numeric && fits) wrong = clean_line(value, shown_max) + " is not ";
  if (numeric && !fits) wrong += one.kind == count ? "a whole number " : "a number ";
  if (numeric) wrong += "from " + number_text(one.low) + " to " + number_text(one.high);
  if (one.kind == share) wrong += ", or like 50%";
  if (one.kind == flag) wrong += "true or false, yes or no";
  if (one.kind == choice) wrong += "one of " + words;
  return {ErrorKind::invalid, key + ": " + wrong};
}

// How people say it: 50% of a share, yes to a question.
std::string as_toml(const std::string& key, const std::string& value) {
  const PreferenceKind kind = described(key).kind;
  if (kind == PreferenceKind::flag && (value == "yes" || value == "on")) return "true";
  if (kind == PreferenceKind::flag && (value == "no" || value == "off")) return "false";
  if (kind != PreferenceKind::share || !value.ends_with('%')) return value;
  const auto percent = json::parse(value.substr(0, value.size() - 1));
  return percent.ok() && percent->is_number() ? fmt::format("{}", percent->number() / 100) : value;
}

// As TOML, as a bare word, or as the only one of a list.
Result<std::string> value_of(const std::string& key, const std::string& value) {
  using enum PreferenceKind;
  if (!is_clean(value))
    return Error{ErrorKind::invalid, key + ": expected one line without invisible characters"};
  auto read = read_alone(key, as_toml(key, value));
  if (read.ok()) return read;
  const PreferenceKind kind = described(key).kind;
  const bool is_list = kind == hours || kind == names || kind == levels;
  if (is_list && value.starts_with('[')) return read;  // meant as a list, and none
  const std::string quoted = io::toml_string(value);
  auto as_word = read_alone(key, quoted);
  if (as_word.ok()) return as_word;
  auto as_list = read_alone(key, value.empty() ? "[]" : "[" + quoted + "]");
  if (as_list.ok() || is_list) return as_list;
  return kind == PreferenceKind::text ? as_word.error() : objection(key, value);
}

}  // namespace

client_policy::CoreChoice OwnerPreferences::core_choice() const {
  using enum client_policy::CoreChoice;
  if (core_kind == "physical") return physical;
  if (core_kind == "performance") return performance;
  return core_kind == "efficiency" ? efficiency : any;
}

OwnerSettings OwnerPreferences::owner_settings(std::int64_t memory) const {
  const auto spans_of = [](const std::vector<std::string>& texts) {
    std::vector<client_policy::Hours> all;
    for (const std::string& text : texts)
      if (const auto spans = client_policy::parse_hours(text))
        all.insert(all.end(), spans->begin(), spans->end());
    return all;
  };
  OwnerSettings owner_settings;
  client_policy::OwnerRules& owner = owner_settings.owner;
  owner.run = run == "always"  ? client_policy::RunWhen::always
              : run == "never" ? client_policy::RunWhen::never
                               : client_policy::RunWhen::idle;
  owner.idle_after = from_seconds(60 * idle_minutes);
  owner.dwell = from_seconds(60 * pause_minutes_min);
  owner.when_watching = when_watching;
  owner.load_max = load_max;
  owner.load_grace = from_seconds(load_grace_seconds);
  owner.hours = spans_of(hours);
  owner.expensive_hours = spans_of(expensive_hours);
  owner.night_hours = spans_of(night_hours);
  for (const std::string& text : levels)
    if (const auto level = client_policy::parse_level(text))
      owner.levels.of[static_cast<std::size_t>(level->situation)] = level->level;
  owner.on_battery = on_battery;
  owner.battery_percent_min = battery_percent_min;
  owner.temperature_max = temperature_max;
  if (fan_rpm_max > 0) owner.fan_rpm_max = static_cast<double>(fan_rpm_max);
  owner.on_metered = on_metered;
  owner.network_hours = spans_of(network_hours);
  owner_settings.cpu_share = cpu_share;
  owner_settings.watts_per_core = watts_per_core;
  owner_settings.cores = static_cast<int>(cores);
  owner_settings.memory_bytes = static_cast<std::int64_t>(memory_share * static_cast<double>(memory));
  owner_settings.applications = applications;
  for (const std::string& text : project_shares)
    if (const auto setting = parse_project_share(text)) owner_settings.shares.push_back(*setting);
  owner_settings.suspended = projects_suspended;
  owner_settings.exclusive = exclusive;
  owner_settings.give_back_after = from_seconds(60 * give_back_minutes);
  owner_settings.relay_patience = from_seconds(3600 * relay_patience_hours);
  owner_settings.notifications = notifications == "on";
  owner_settings.download_bytes_per_second = download_kilobytes * 1000;
  owner_settings.upload_bytes_per_second = upload_kilobytes * 1000;
  owner_settings.outside_signal = outside_signal;
  owner_settings.outside_interval = from_seconds(60 * outside_minutes);
  owner_settings.traffic = {traffic_megabytes_day << 20, traffic_megabytes_month << 20};
  owner_settings.cache_bytes_max = disk_megabytes << 20;
  owner_settings.free_bytes_min = disk_free_megabytes << 20;
  return owner_settings;
}

Result<PreferenceBook> PreferenceBook::load(const io::Files& files, PreferenceFiles places) {
  struct Layer {
    std::string name, text;
    bool locked;
  };
  std::vector<Layer> layers;
  if (files.exists(places.own)) {
    TRY_ASSIGN(const Bytes text, files.read(places.own, preferences_bytes_max));
    layers.push_back({utf8_text(places.own), text, false});
  }
  if (const auto names = files.list(places.drop_in); names.ok()) {
    std::vector<std::string> sorted(*names);
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& name : sorted) {
      if (!name.ends_with(".toml")) continue;
      TRY_ASSIGN(const Bytes text, files.read(places.drop_in / utf8_path(name), preferences_bytes_max));
      layers.push_back({utf8_text(places.drop_in / utf8_path(name)), text, true});
    }
  }
  PreferenceBook book;
  book.places_ = std::move(places);
  // First for the preset alone, then its values under everything else.
  OwnerPreferences named;
  for (const Layer& layer : layers) TRY(settings_of(named).parse(layer.text, layer.name));
  book.values_ = preset_values(named.preset);
  for (const DescribedPreference& one : described_preferences()) book.origins_[one.key] = "default";
  if (named.preset != OwnerPreferences{}.preset)
    for (const DescribedPreference& one : described_preferences())
      book.origins_[one.key] = "preset " + named.preset;
  for (const Layer& layer : layers) {
    TRY(settings_of(book.values_).parse(layer.text, layer.name));
    if (const Status fit = check_lists(book.values_); !fit.ok()) return fit.error().within(layer.name);
    OwnerPreferences alone;
    io::Settings settings = settings_of(alone);
    TRY(settings.parse(layer.text, layer.name));
    const auto written = keys_of(settings.render());
    for (const std::string& key : settings.named()) {
      book.origins_[key] = layer.name;
      (layer.locked ? book.locked_ : book.own_)[key] = layer.locked ? layer.name : written.at(key);
    }
  }
  return book;
}

std::vector<PreferenceBook::Line> PreferenceBook::lines() const {
  OwnerPreferences copy = values_;
  const auto written = keys_of(settings_of(copy).render());
  std::vector<Line> all;
  for (const DescribedPreference& one : described_preferences()) {
    const auto value = written.find(one.key);
    all.push_back({one.key, value == written.end() ? "" : value->second, origins_.at(one.key), one.meaning,
                   locked_.contains(one.key)});
  }
  return all;
}

Status PreferenceBook::check_changeable(const std::string& key) const {
  if (!is_key(key))
    return Error{ErrorKind::not_found,
                 "there is no preference \"" + key + "\": `gleaner prefs show` lists them"};
  if (const auto locked = locked_.find(key); locked != locked_.end())
    return Error{ErrorKind::forbidden, key + " is locked by the administrator in " + locked->second};
  return {};
}

Status PreferenceBook::set(io::Files& files, const std::string& key, const std::string& value) {
  TRY(check_changeable(key));
  auto own = own_;
  TRY_ASSIGN(own[key], value_of(key, value));
  return write(files, own);
}

Status PreferenceBook::unset(io::Files& files, const std::string& key) {
  TRY(check_changeable(key));
  auto own = own_;
  own.erase(key);
  return write(files, own);
}

std::vector<std::string> PreferenceBook::beside_preset() const {
  OwnerPreferences of_preset = preset_values(values_.preset), standard;
  const auto wanted = keys_of(settings_of(of_preset).render());
  const auto defaults = keys_of(settings_of(standard).render());
  std::vector<std::string> keys;
  for (const auto& [key, value] : own_)
    if (key != "preset" && wanted.at(key) != defaults.at(key) && wanted.at(key) != value) keys.push_back(key);
  return keys;
}

Status PreferenceBook::write(io::Files& files, const std::map<std::string, std::string>& own) {
  std::string text =
      "# Preferences of the Gleaner client; `gleaner prefs show` lists all. Changes take effect at once.\n";
  for (const DescribedPreference& one : described_preferences())
    if (own.contains(one.key))
      text += "\n# " + std::string(one.meaning) + "\n" + one.key + " = " + own.at(one.key) + "\n";
  TRY(files.write(places_.own, text, io::Mode::normal));
  Result<PreferenceBook> again = load(files, places_);
  if (!again.ok()) return again.error();
  *this = std::move(again).value();
  return {};
}

}  // namespace gleaner::settings
