#include "shared/bundle/problem_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "shared/base/limits.h"
#include "shared/json/text.h"
#include "shared/protocol/text.h"

namespace gleaner::bundle {
namespace {

constexpr std::array<const char*, 6> type_names{"integer", "number", "boolean", "text", "choice", "json"};
constexpr std::size_t shown_length = 40;

std::string shown(const json::Value& value) {
  const std::string text = json::write(value, {-1, false, true});
  return text.size() > shown_length ? text.substr(0, shown_length - 3) + "..." : text;
}

std::string shown(double number) {
  const bool whole = std::abs(number) < 1e15 && number == std::floor(number);
  return whole ? fmt::format("{:.0f}", number) : fmt::format("{}", number);
}

// A number, or its text, as numbers of many digits are given.
std::optional<double> number_of(const json::Value& value) {
  if (value.is_number()) return std::isfinite(value.number()) ? std::optional(value.number()) : std::nullopt;
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.string();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  // Too small for a double, as deep views are, is a number still; too large is beyond every bound.
  if (error == std::errc::result_out_of_range)
    return text.find_first_of("eE") != std::string::npos && text[text.find_first_of("eE") + 1] == '-'
               ? std::optional(0.0)
               : std::nullopt;
  return error == std::errc() && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool is_line(const std::string& text, int length_max) {
  return std::cmp_less_equal(text.size(), length_max) && is_clean(text);
}

// One table of the manifest, with the mistakes in it.
class Table {
 public:
  Table(const json::Value& table, const std::string& kind, std::size_t index, std::string& mistakes)
      : table_(table), mistakes_(mistakes), called_(kind + " " + std::to_string(index + 1)) {
    name_ = text("name", limits::name_length_max);
    if (name_.empty()) mistake("name", "missing");
    if (!name_.empty()) called_ = kind + " " + name_;
  }
  [[nodiscard]] const std::string& name() const { return name_; }

  std::string text(const char* key, int length_max) {
    const json::Value* value = table_.find(key);
    if (value == nullptr) return {};
    if (value->is_string() && is_line(value->string(), length_max)) return value->string();
    mistake(key, fmt::format("expected one line of at most {} bytes, got {}", length_max, shown(*value)));
    return {};
  }
  bool boolean(const char* key) {
    const json::Value* value = table_.find(key);
    if (value != nullptr && !value->is_boolean())
      mistake(key, "expected true or false, got " + shown(*value));
    return value != nullptr && value->is_boolean() && value->boolean();
  }
  std::optional<double> number(const char* key) {
    const json::Value* value = table_.find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number() && std::abs(value->number()) <= limits::declared_bound_max) return value->number();
    mistake(key, "expected a number, got " + shown(*value));
    return std::nullopt;
  }
  std::int64_t whole(const char* key, std::int64_t high) {
    const json::Value* value = table_.find(key);
    if (value == nullptr) return 0;
    if (value->is_integer() && value->integer() > 0 && value->integer() <= high) return value->integer();
    mistake(key, fmt::format("expected a whole number from 1 to {}, got {}", high, shown(*value)));
    return 0;
  }
  std::vector<std::string> texts(const char* key) {
    const json::Value* value = table_.find(key);
    if (value == nullptr) return {};
    std::vector<std::string> all;
    bool good = value->is_array() && value->size() <= limits::declared_choices_max;
    for (const json::Value& each : value->elements()) {
      good = good && each.is_string() && is_line(each.string(), limits::name_length_max);
      if (good) all.push_back(each.string());
    }
    if (good && !all.empty()) return all;
    mistake(key, fmt::format("expected a list of at most {} short texts, got {}",
                             limits::declared_choices_max, shown(*value)));
    return {};
  }
  [[nodiscard]] const json::Value* find(const char* key) const { return table_.find(key); }

  void mistake(const std::string& key, const std::string& text) {
    mistakes_ += (mistakes_.empty() ? "" : "\n") + called_ + ": " + key + ": " + text;
  }

 private:
  const json::Value& table_;
  std::string& mistakes_;
  std::string called_;
  std::string name_;
};

ParameterType type_of(const std::string& name) {
  const auto* const found = std::find(type_names.begin(), type_names.end(), name);
  return found == type_names.end() ? ParameterType::json
                                   : static_cast<ParameterType>(1 + (found - type_names.begin()));
}

void read_default(Table& table, ParameterDeclaration& parameter) {
  const json::Value* value = table.find("default");
  if (value == nullptr) return;
  if (parameter.required) return table.mistake("default", "what must be given has none");
  if (const std::string mistake = mistake_in(parameter, *value); !mistake.empty())
    return table.mistake("default", mistake);
  parameter.default_value = json::write(*value);
  if (parameter.default_value.size() > limits::default_length_max)
    table.mistake("default", fmt::format("expected at most {} bytes", limits::default_length_max));
}

ParameterDeclaration read_parameter(Table& table) {
  ParameterDeclaration parameter;
  parameter.name = table.name();
  const std::string type = table.text("type", limits::name_length_max);
  if (type.empty()) table.mistake("type", "missing: integer, number, boolean, text, choice or json");
  parameter.type = type_of(type);
  parameter.meaning = table.text("meaning", limits::meaning_length_max);
  parameter.required = table.boolean("required");
  parameter.low = table.number("low");
  parameter.high = table.number("high");
  parameter.length = table.whole("length", limits::parameters_bytes_max);
  parameter.choices = table.texts("choices");
  if (parameter.low && parameter.high && *parameter.low > *parameter.high)
    table.mistake("high", "is below low");
  if (parameter.type == ParameterType::choice && parameter.choices.empty())
    table.mistake("choices", "missing: what a choice is made of");
  read_default(table, parameter);
  return parameter;
}

// " from 1 to 9", and what is said where a bound is missing.
std::string within(const ParameterDeclaration& parameter) {
  if (parameter.low && parameter.high)
    return " from " + shown(*parameter.low) + " to " + shown(*parameter.high);
  if (parameter.low) return " of at least " + shown(*parameter.low);
  return parameter.high ? " of at most " + shown(*parameter.high) : "";
}

bool within(const ParameterDeclaration& parameter, double number) {
  return !(parameter.low && number < *parameter.low) && !(parameter.high && number > *parameter.high);
}

bool fits(const ParameterDeclaration& parameter, const json::Value& value) {
  switch (parameter.type) {
    case ParameterType::integer:
      return value.is_number() && !value.is_fraction() && within(parameter, value.number());
    case ParameterType::number: {
      const auto number = number_of(value);
      return number && within(parameter, *number);
    }
    case ParameterType::boolean:
      return value.is_boolean();
    case ParameterType::text:
      return value.is_string() &&
             (parameter.length == 0 || std::cmp_less_equal(value.string().size(), parameter.length));
    case ParameterType::choice:
      return value.is_string() && std::find(parameter.choices.begin(), parameter.choices.end(),
                                            value.string()) != parameter.choices.end();
    case ParameterType::json:
      return true;
  }
  return true;
}

std::string unknown_name(const ProblemForm& form) {
  std::string names;
  for (const ParameterDeclaration& each : form.parameters) names += (names.empty() ? "" : ", ") + each.name;
  return "there is no such parameter; there are " + names;
}

// All mistakes in one sentence that fits a message.
class Mistakes {
 public:
  void add(const std::string& name, const std::string& text) {
    if (full_) return;
    full_ = all_.size() + name.size() + text.size() > limits::message_length_max - 32;
    all_ += (all_.empty() ? "" : "; ") + (full_ ? "and more" : name + ": " + text);
  }
  [[nodiscard]] Status status() const {
    return all_.empty() ? Status() : Status(Error{ErrorKind::invalid, all_});
  }

 private:
  std::string all_;
  bool full_ = false;
};

}  // namespace

const char* name_of(ParameterType type) {
  return type_names.at(static_cast<std::size_t>(type) - 1);
}

Result<ProblemForm> read_form(const std::vector<json::Value>& parameters,
                              const std::vector<json::Value>& inputs) {
  ProblemForm form;
  std::string mistakes;
  const auto unique = [](Table& table, const auto& known) {
    for (const auto& each : known)
      if (each.name == table.name()) table.mistake("name", "is here twice");
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    Table table(parameters[i], "parameter", i, mistakes);
    unique(table, form.parameters);
    form.parameters.push_back(read_parameter(table));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Table table(inputs[i], "input", i, mistakes);
    unique(table, form.inputs);
    form.inputs.push_back(
        {table.name(), table.text("meaning", limits::meaning_length_max), table.boolean("required")});
  }
  if (!mistakes.empty()) return Error{ErrorKind::invalid, mistakes};
  return form;
}

std::string expected_of(const ParameterDeclaration& parameter) {
  switch (parameter.type) {
    case ParameterType::integer:
      return "a whole number" + within(parameter);
    case ParameterType::number:
      return "a number" + within(parameter);
    case ParameterType::boolean:
      return "true or false";
    case ParameterType::text:
      return parameter.length == 0 ? "a text" : fmt::format("a text of at most {} bytes", parameter.length);
    case ParameterType::choice:
      return fmt::format("one of \"{}\"", fmt::join(parameter.choices, "\", \""));
    case ParameterType::json:
      return "any value";
  }
  return {};
}

std::string mistake_in(const ParameterDeclaration& parameter, const json::Value& value) {
  return fits(parameter, value) ? "" : "must be " + expected_of(parameter) + ", not " + shown(value);
}

Status check_problem(const ProblemForm& form, const json::Value& parameters,
                     const std::vector<std::string>& inputs) {
  Mistakes mistakes;
  for (const ParameterDeclaration& each : form.parameters) {
    const json::Value* value = parameters.find(each.name);
    if (value == nullptr) {
      if (each.required) mistakes.add(each.name, "must be given: " + expected_of(each));
    } else if (const std::string mistake = mistake_in(each, *value); !mistake.empty()) {
      mistakes.add(each.name, mistake);
    }
  }
  for (const auto& [name, value] : parameters.members()) {
    const auto named = [&wanted = name](const ParameterDeclaration& each) { return each.name == wanted; };
    if (!form.parameters.empty() && std::none_of(form.parameters.begin(), form.parameters.end(), named))
      mistakes.add(protocol::clean_line(name, limits::name_length_max), unknown_name(form));
  }
  for (const InputDeclaration& each : form.inputs)
    if (each.required && std::find(inputs.begin(), inputs.end(), each.name) == inputs.end())
      mistakes.add("input " + each.name, "must be given" + (each.meaning.empty() ? "" : ": " + each.meaning));
  return mistakes.status();
}

}  // namespace gleaner::bundle
