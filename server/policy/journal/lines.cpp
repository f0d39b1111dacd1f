#include "server/policy/journal/lines.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "server/policy/journal/fields.h"
#include "server/policy/journal/restorable.h"

namespace gleaner::policy {
namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 2;
constexpr std::int64_t items_max = 1'000'000'000'000;
constexpr std::int64_t whole_max = 1'000'000'000'000'000;
constexpr int enumeration_max = 99;
const char* const event_names[] = {"restore",   "request",  "report",  "commit", "give_back", "host_left",
                                   "tick",      "dispute",  "resolve", "reject", "enough",    "sizing",
                                   "straggler", "remember", "save",    "expect"};
static_assert(std::size(event_names) == std::variant_size_v<StageEvent>);

template <typename T>
struct IsId : std::false_type {};
template <typename Tag>
struct IsId<StrongId<Tag>> : std::true_type {};
template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

class Writer {
 public:
  template <typename T>
  void operator()(const char* key, T& value) {
    object[key] = json_of(value);
  }
  template <typename T>
  void added(const char* key, T& value, const T&) {
    (*this)(key, value);
  }
  Json object = Json::object();

 private:
  template <typename T>
  static Json json_of(T& value) {
    if constexpr (IsId<T>::value) {
      return value.value;
    } else if constexpr (IsOptional<T>::value) {
      return value ? json_of(*value) : Json();
    } else if constexpr (IsVector<T>::value) {
      Json list = Json::array();
      for (auto& element : value) list.push_back(json_of(element));
      return list;
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return to_microseconds(value);
    } else if constexpr (std::is_same_v<T, Range>) {
      return Json::array({value.begin, value.end});
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      Writer inner;
      fields(inner, value);
      return inner.object;
    } else {
      return value;
    }
  }
};

// Reads what is there; the first mistake is kept.
class Reader {
 public:
  Reader(const Json& object, std::int64_t items, std::string& mistake, std::string path = "")
      : object_(object), items_(items), mistake_(mistake), path_(std::move(path)) {}

  template <typename T>
  void operator()(const char* key, T& value) {
    if (!mistake_.empty()) return;
    const auto found = object_.find(key);
    if (found == object_.end()) {
      mistake_ = fmt::format("{}{}: is missing", path_, key);
      return;
    }
    read(path_ + key, *found, value);
  }
  // Logs from before there was such a key mean `before`.
  template <typename T>
  void added(const char* key, T& value, const T& before) {
    if (object_.contains(key))
      (*this)(key, value);
    else
      value = before;
  }

 private:
  void expected(const std::string& key, const char* what, const Json& json) {
    constexpr std::size_t shown_max = 60;
    std::string shown = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (shown.size() > shown_max) shown = shown.substr(0, shown_max) + "...";
    mistake_ = fmt::format("{}: expected {}, got {}", key, what, shown);
  }
  [[nodiscard]] static bool whole(const Json& json, std::int64_t low, std::int64_t high) {
    return json.is_number_integer() &&
           !(json.is_number_unsigned() && json.get<std::uint64_t>() > whole_max * 10) &&
           json.get<std::int64_t>() >= low && json.get<std::int64_t>() <= high;
  }

  template <typename T>
  void read(const std::string& key, const Json& json, T& value) {
    if constexpr (IsId<T>::value) {
      if (!whole(json, 0, whole_max)) return expected(key, "a number from 0 on", json);
      value.value = json.get<std::int64_t>();
    } else if constexpr (IsOptional<T>::value) {
      if (json.is_null()) return;
      read(key, json, value.emplace());
    } else if constexpr (IsVector<T>::value) {
      if (!json.is_array()) return expected(key, "a list", json);
      for (const Json& element : json) {
        typename T::value_type one{};
        read(key, element, one);
        if (!mistake_.empty()) return;
        value.push_back(std::move(one));
      }
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      if (!whole(json, -whole_max * 10, whole_max * 10))
        return expected(key, "microseconds since 1970", json);
      value = from_microseconds(json.get<std::int64_t>());
    } else if constexpr (std::is_same_v<T, Range>) {
      if (!json.is_array() || json.size() != 2 || !whole(json[0], 0, items_) ||
          !whole(json[1], json[0].get<std::int64_t>(), items_))
        return expected(key, "[begin, end] within the stage's items", json);
      value = {json[0].get<std::int64_t>(), json[1].get<std::int64_t>()};
    } else if constexpr (std::is_enum_v<T>) {
      if (!whole(json, 1, enumeration_max)) return expected(key, "the number of a kind or state", json);
      value = static_cast<T>(json.get<int>());
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return expected(key, "true or false", json);
      value = json.get<bool>();
    } else if constexpr (std::is_same_v<T, double>) {
      if (!json.is_number()) return expected(key, "a number", json);
      value = json.get<double>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!json.is_string()) return expected(key, "a text", json);
      value = json.get<std::string>();
    } else if constexpr (std::is_integral_v<T>) {
      const std::int64_t high = sizeof(T) < 8 ? 1'000'000'000 : whole_max;
      if (!whole(json, 0, high)) return expected(key, "a whole number from 0 on", json);
      value = static_cast<T>(json.get<std::int64_t>());
    } else {
      if (!json.is_object()) return expected(key, "an object", json);
      Reader inner(json, items_, mistake_, key + ".");
      fields(inner, value);
    }
  }

  const Json& object_;
  std::int64_t items_;
  std::string& mistake_;
  std::string path_;
};

template <std::size_t I = 0>
StageEvent make_event(std::size_t index, Reader& reader) {
  if constexpr (I < std::variant_size_v<StageEvent>) {
    if (index != I) return make_event<I + 1>(index, reader);
    std::variant_alternative_t<I, StageEvent> event;
    fields(reader, event);
    return event;
  }
  return TickEvent{};
}

Error invalid(std::string message) {
  return {ErrorKind::invalid, std::move(message)};
}

Result<Json> object_of(std::string_view line) {
  Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return invalid("expected one JSON object on the line");
  return json;
}

// What the stage itself takes for granted of its caller.
std::string impossible(const StageEvent& event, std::int64_t items) {
  if (const auto* request = std::get_if<RequestEvent>(&event)) {
    const Requester& requester = request->requester;
    if (!requester.host.valid() || !requester.unit.valid())
      return "host and unit: expected numbers from 1 on";
    if (requester.slots < 1 || requester.slots > 100'000) return "slots: expected 1 to 100000";
  } else if (const auto* give_back = std::get_if<GiveBackEvent>(&event)) {
    if (give_back->item >= items) return "item: expected one of the stage's";
  } else if (const auto* restore = std::get_if<RestoreEvent>(&event)) {
    return impossible(*restore, items);
  } else if (const auto* remember = std::get_if<RememberEvent>(&event)) {
    return impossible(*remember, items);
  } else if (const auto* save = std::get_if<SaveEvent>(&event)) {
    if (save->item >= items) return "item: expected one of the stage's";
  } else if (const auto* expect = std::get_if<ExpectEvent>(&event)) {
    for (const IdleHost& host : expect->hosts) {
      if (!host.host.valid() || host.slots < 1 || host.slots > 100'000)
        return "hosts: expected numbers from 1 on, with 1 to 100000 slots";
    }
  } else if (const auto* dispute = std::get_if<DisputeEvent>(&event)) {
    if (dispute->hosts.size() < 2) return "hosts: expected two or more";
  }
  return {};
}

}  // namespace

std::string setup_line(const StageSetup& setup) {
  Json json{{"gleaner_stage_log", version}, {"items", setup.items}};
  if (!setup.costs.empty()) json["costs"] = setup.costs;
  json["strategy"] = setup.sizing;
  json["straggler"] = name_of(setup.straggler);
  json["may_split"] = setup.may_split;
  EndgameRules rules = setup.rules;
  Writer writer;
  fields(writer, rules);
  json["rules"] = writer.object;
  json["benchmark_worth"] = setup.benchmark_worth;
  return json.dump();
}

Result<StageSetup> read_setup_line(std::string_view line) {
  TRY_ASSIGN(const Json json, object_of(line));
  const auto found = json.find("gleaner_stage_log");
  if (found != json.end() && *found == 1)
    return invalid(
        "gleaner_stage_log: this log is of version 1, whose rules decided differently: replay it with the "
        "gleaner-sim of "
        "that time");
  if (found == json.end() || *found != version)
    return invalid(fmt::format("gleaner_stage_log: expected {}: is this a stage's log?", version));
  StageSetup setup;
  std::string mistake, straggler;
  Reader reader(json, items_max, mistake);
  reader("items", setup.items);
  if (json.contains("costs")) reader("costs", setup.costs);
  reader("strategy", setup.sizing);
  reader("straggler", straggler);
  reader("may_split", setup.may_split);
  reader("rules", setup.rules);
  reader("benchmark_worth", setup.benchmark_worth);
  if (!mistake.empty()) return invalid(mistake);
  if (setup.items < 1 || setup.items > items_max) return invalid("items: expected a whole number from 1 on");
  if (!setup.costs.empty() && static_cast<std::int64_t>(setup.costs.size()) != setup.items)
    return invalid(fmt::format("costs: expected {}, one an item, got {}", setup.items, setup.costs.size()));
  for (const double cost : setup.costs) {
    if (!std::isfinite(cost) || cost <= 0) return invalid("costs: expected numbers above 0");
  }
  const auto sizing = make_sizing(setup.sizing);
  if (!sizing.ok()) return invalid("strategy: " + sizing.error().message);
  const auto rule = straggler_from(straggler);
  if (!rule.ok()) return invalid("straggler: " + rule.error().message);
  setup.straggler = *rule;
  return setup;
}

std::string entry_line(const JournalEntry& entry) {
  Json json{{"at", to_microseconds(entry.at)}, {"event", event_names[entry.event.index()]}};
  Writer writer;
  StageEvent event = entry.event;
  std::visit([&](auto& one) { fields(writer, one); }, event);
  json.update(writer.object);
  if (!entry.answer.answer.empty()) json["answer"] = entry.answer.answer;
  if (!entry.answer.decisions.empty()) json["decisions"] = entry.answer.decisions;
  return json.dump();
}

Result<JournalEntry> read_entry_line(std::string_view line, std::int64_t items) {
  TRY_ASSIGN(const Json json, object_of(line));
  JournalEntry entry;
  std::string mistake, name;
  Reader reader(json, items, mistake);
  reader("at", entry.at);
  reader("event", name);
  if (!mistake.empty()) return invalid(mistake);
  const auto* const found = std::find(std::begin(event_names), std::end(event_names), name);
  if (found == std::end(event_names)) {
    return invalid(fmt::format("event: expected one of {}, got \"{}\"", fmt::join(event_names, ", "), name));
  }
  entry.event = make_event(static_cast<std::size_t>(found - std::begin(event_names)), reader);
  if (json.contains("answer")) reader("answer", entry.answer.answer);
  if (json.contains("decisions")) reader("decisions", entry.answer.decisions);
  if (mistake.empty()) mistake = impossible(entry.event, items);
  if (!mistake.empty()) return invalid(mistake);
  return entry;
}

}  // namespace gleaner::policy
