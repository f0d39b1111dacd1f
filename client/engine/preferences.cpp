#include "client/engine/preferences.h"

#include <algorithm>
#include <functional>
#include <sstream>

#include "shared/io/settings.h"

namespace gleaner::engine {
namespace {

constexpr std::int64_t preferences_bytes_max = 64 << 10;
constexpr const char* no_sandbox = "off: I accept that kernels run with my rights";

std::function<Status(const std::string&)> one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& value) -> Status {
    if (std::find(words.begin(), words.end(), value) != words.end()) return {};
    std::string all;
    for (const std::string& word : words) all += (all.empty() ? "\"" : ", \"") + word + "\"";
    return Error{ErrorKind::invalid, "expected one of " + all};
  };
}

struct Described {
  const char* key;
  const char* meaning;
};

constexpr Described described[] = {
    {"preset", "What is not said below: only-when-idle, gentle, lab or dedicated."},
    {"run", "when-idle: while nobody uses this computer; always: beside them; never."},
    {"idle_minutes", "How long nobody must have used it."},
    {"hours", "Only then, for example [\"mon-fri 18:00-08:00\", \"sat,sun\"]; empty: at any hour."},
    {"cpu_share", "Of each core, over 0 to 1."},
    {"on_battery", "Also while a battery is being discharged?"},
    {"temperature_max", "Degrees Celsius at which it pauses."},
    {"sandbox",
     "on; or, for kernels without one, the words \"off: I accept that kernels run with my rights\"."}};

io::Settings settings_of(OwnerPreferences& values) {
  io::Settings all;
  all.add("preset", &values.preset, described[0].meaning,
          one_of({"only-when-idle", "gentle", "lab", "dedicated"}));
  all.add("run", &values.run, described[1].meaning, one_of({"when-idle", "always", "never"}));
  all.add("idle_minutes", &values.idle_minutes, 0.1, 1440, described[2].meaning);
  all.add("hours", &values.hours, described[3].meaning);
  all.add("cpu_share", &values.cpu_share, 0.01, 1, described[4].meaning);
  all.add("on_battery", &values.on_battery, described[5].meaning);
  all.add("temperature_max", &values.temperature_max, 30, 110, described[6].meaning);
  all.add("sandbox", &values.sandbox, described[7].meaning, one_of({"on", no_sandbox}));
  return all;
}

Status check_hours(const OwnerPreferences& values, const std::string& file) {
  for (const std::string& text : values.hours)
    if (!client_policy::parse_hours(text))
      return Error{ErrorKind::invalid, file + ": hours: \"" + text +
                                           "\" is not like \"mon-fri 18:00-08:00\", \"sat,sun\" or \"22-6\""};
  return {};
}

// "key = value" lines, comments and tables left out: this file has no tables.
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
  if (preset == "gentle") {
    values.idle_minutes = 15;
    values.cpu_share = 0.5;
    values.temperature_max = 70;
  } else if (preset == "lab") {
    values.idle_minutes = 2;
  } else if (preset == "dedicated") {
    values.run = "always";
    values.on_battery = true;
  }
  return values;
}

bool is_key(const std::string& key) {
  return std::any_of(std::begin(described), std::end(described),
                     [&key](const Described& one) { return key == one.key; });
}

}  // namespace

client_policy::OwnerWishes OwnerPreferences::wishes() const {
  client_policy::OwnerWishes wishes;
  wishes.run = run == "always"  ? client_policy::RunWhen::always
               : run == "never" ? client_policy::RunWhen::never
                                : client_policy::RunWhen::idle;
  wishes.idle_after = from_seconds(60 * idle_minutes);
  wishes.on_battery = on_battery;
  wishes.temperature_max = temperature_max;
  for (const std::string& text : hours)
    if (const auto spans = client_policy::parse_hours(text))
      wishes.hours.insert(wishes.hours.end(), spans->begin(), spans->end());
  return wishes;
}

Result<PreferenceBook> PreferenceBook::load(const io::Files& files, PreferenceFiles places) {
  struct Layer {
    std::string name, text;
    bool locked;
  };
  std::vector<Layer> layers;
  if (files.exists(places.own)) {
    TRY_ASSIGN(const Bytes text, files.read(places.own, preferences_bytes_max));
    layers.push_back({places.own.string(), text, false});
  }
  if (const auto names = files.list(places.drop_in); names.ok()) {
    std::vector<std::string> sorted(*names);
    std::sort(sorted.begin(), sorted.end());
    for (const std::string& name : sorted) {
      if (!name.ends_with(".toml")) continue;
      TRY_ASSIGN(const Bytes text, files.read(places.drop_in / name, preferences_bytes_max));
      layers.push_back({(places.drop_in / name).string(), text, true});
    }
  }
  PreferenceBook book;
  book.places_ = std::move(places);
  // First for the preset alone, then its values under everything else.
  OwnerPreferences named;
  for (const Layer& layer : layers) TRY(settings_of(named).parse(layer.text, layer.name));
  book.values_ = preset_values(named.preset);
  for (const Described& one : described) book.origins_[one.key] = "default";
  if (named.preset != OwnerPreferences{}.preset)
    for (const Described& one : described) book.origins_[one.key] = "preset " + named.preset;
  for (const Layer& layer : layers) {
    TRY(settings_of(book.values_).parse(layer.text, layer.name));
    TRY(check_hours(book.values_, layer.name));
    for (const auto& [key, value] : keys_of(layer.text)) {
      book.origins_[key] = layer.name;
      (layer.locked ? book.locked_ : book.own_)[key] = layer.locked ? layer.name : value;
    }
  }
  return book;
}

std::vector<PreferenceBook::Line> PreferenceBook::lines() const {
  OwnerPreferences copy = values_;
  const auto written = keys_of(settings_of(copy).render());
  std::vector<Line> all;
  for (const Described& one : described) {
    const auto value = written.find(one.key);
    all.push_back({one.key, value == written.end() ? "" : value->second, origins_.at(one.key), one.meaning,
                   locked_.contains(one.key)});
  }
  return all;
}

Status PreferenceBook::set(io::Files& files, const std::string& key, const std::string& value) {
  if (!is_key(key))
    return Error{ErrorKind::not_found,
                 "there is no preference \"" + key + "\": `gleaner prefs show` lists them"};
  if (const auto locked = locked_.find(key); locked != locked_.end())
    return Error{ErrorKind::forbidden, key + " is locked by the administrator in " + locked->second};
  const auto own = own_;
  std::string text;
  const auto attempt = [&](const std::string& as) {
    std::map<std::string, std::string> next = own;
    next[key] = as;
    text =
        "# Preferences of the Gleaner client; `gleaner prefs show` lists all. Changes take effect at once.\n";
    for (const Described& one : described)
      if (next.contains(one.key))
        text += "\n# " + std::string(one.meaning) + "\n" + one.key + " = " + next[one.key] + "\n";
    OwnerPreferences trial;
    if (const Status parsed = settings_of(trial).parse(text, "preferences"); !parsed.ok()) return parsed;
    return check_hours(trial, "preferences");
  };
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  quoted += '"';
  Status checked = attempt(value);
  if (!checked.ok()) {
    const Status as_word = attempt(quoted);
    const Status as_list = as_word.ok() ? as_word : attempt(quoted == "\"\"" ? "[]" : "[" + quoted + "]");
    if (!as_list.ok()) {
      const bool text_key = key == "preset" || key == "run" || key == "sandbox";
      return (text_key ? as_word : key == "hours" ? as_list : checked).error();
    }
  }
  TRY(files.write(places_.own, text, io::Mode::normal));
  Result<PreferenceBook> again = load(files, places_);
  if (!again.ok()) return again.error();
  *this = std::move(again).value();
  return {};
}

}  // namespace gleaner::engine
