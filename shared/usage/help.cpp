#include "shared/usage/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace gleaner::usage {
namespace {

constexpr double bound_shown_max = 1e9;  // more is no limit that anybody meets

// What the library knows of an option's value: a name, and what its checks say of themselves, as in
// "INT:INT in [1 - 65535]", "TEXT:{idle,normal}", "TEXT:NAME". Names may have colons, too ("NUMBER:DIGEST").
struct Value {
  std::string name;
  std::string bounds;                // "1 to 65535"; empty: none worth showing
  std::vector<std::string> choices;  // none: any value
};

bool is_library_name(const std::string& name) {
  return name == "TEXT" || name == "INT" || name == "UINT" || name == "FLOAT" || name == "BOOLEAN";
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

std::string bounds_of(const std::string& check) {
  const auto open = check.find('['), dash = check.find(" - "), close = check.find(']');
  if (open == std::string::npos || dash == std::string::npos || close == std::string::npos) return {};
  const std::string low = check.substr(open + 1, dash - open - 1);
  const std::string high = check.substr(dash + 3, close - dash - 3);
  return std::strtod(high.c_str(), nullptr) < bound_shown_max ? low + " to " + high : std::string();
}

// "seconds" of --idle-seconds.
std::string last_word(const std::string& option) {
  std::string word = option.substr(option.find_last_of('-') + 1);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
  return word;
}

Value value_of(const CLI::Option& option) {
  std::string all = option.get_type_name();
  Value value;
  if (const auto at = all.find(":{"); at != std::string::npos) {
    const std::string inside = all.substr(at + 2, all.rfind('}') - at - 2);
    value.choices = split(inside);
    all.resize(at);
  }
  for (const char* const kind : {":INT in [", ":UINT in [", ":FLOAT in ["})
    if (const auto at = all.find(kind); at != std::string::npos) {
      value.bounds = bounds_of(all.substr(at));
      all.resize(at);
    }
  for (const std::string check : {":POSITIVE", ":NONNEGATIVE", ":NUMBER"})
    if (all.ends_with(check)) all.resize(all.size() - check.size());
  const auto colon = all.find(':');
  if (colon != std::string::npos && is_library_name(all.substr(0, colon))) all.erase(0, colon + 1);
  value.name = is_library_name(all) ? last_word(option.get_name(false, false)) : all;
  return value;
}

bool mentions_all(const std::string& text, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(),
                     [&](const std::string& word) { return text.find(word) != std::string::npos; });
}

class HelpFormatter final : public CLI::Formatter {
 public:
  // Without the value that a flag stands for: --no-browser, not --no-browser{false}.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, positional);
    for (auto open = name.find('{'); open != std::string::npos; open = name.find('{'))
      name.erase(open, name.find('}', open) - open + 1);
    return name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};  // a flag
    const bool many = option->get_expected_max() == CLI::detail::expected_max_vector_size;
    const std::string dots =
        many && option->get_description().find("repeat") == std::string::npos ? "..." : "";
    const std::string name = value_of(*option).name;
    if (!option->get_positional()) return " " + name + (dots.empty() ? "" : " " + dots);
    // A positional is called by its name already.
    const std::string type = option->get_type_name();
    return (is_library_name(type.substr(0, type.find(':'))) ? "" : " " + name) +
           (dots.empty() ? "" : " " + dots);
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    const Value value = value_of(*option);
    std::vector<std::string> notes;
    if (option->get_required() && !option->get_positional()) notes.emplace_back("required");
    if (option->get_type_size() != 0) {
      if (!mentions_all(text, value.choices))
        notes.push_back(fmt::format("{}", fmt::join(value.choices, ", ")));
      if (!value.bounds.empty()) notes.push_back(value.bounds);
      if (!option->get_default_str().empty()) notes.push_back("default: " + option->get_default_str());
    }
    if (!option->get_envname().empty()) notes.push_back("environment: " + option->get_envname());
    for (const CLI::Option* other : option->get_needs()) notes.push_back("only with " + other->get_name());
    return notes.empty() ? text : fmt::format("{} ({})", text, fmt::join(notes, "; "));
  }
};

}  // namespace

void set_help_form(CLI::App& program) {
  program.formatter(std::make_shared<HelpFormatter>());
}

}  // namespace gleaner::usage
