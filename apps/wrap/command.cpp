#include "apps/wrap/command.h"

#include <algorithm>

#include "apps/kit/problem.h"
#include "shared/base/encoding.h"
#include "shared/json/text.h"

namespace gleaner::wrap {
namespace {

constexpr std::int64_t command_bytes_max = 256 << 10;

// Calls `text` for what stands as it is, `word` for what stands in braces.
Status take_apart(const std::string& argument, const std::function<void(char)>& text,
                  const std::function<Status(const std::string&)>& word) {
  for (std::size_t at = 0; at < argument.size(); ++at) {
    const char c = argument[at];
    const bool doubled = at + 1 < argument.size() && argument[at + 1] == c;
    if ((c == '{' || c == '}') && doubled) {
      text(c);
      ++at;
    } else if (c == '{') {
      const std::size_t end = argument.find('}', at);
      if (end == std::string::npos)
        return Error{ErrorKind::invalid, "a brace is not closed in " + argument + ": {{ stands for {"};
      TRY(word(argument.substr(at + 1, end - at - 1)));
      at = end;
    } else {
      text(c);
    }
  }
  return {};
}

bool is_output(const std::string& word) {
  return word == "out" || word.starts_with("out.");
}

std::string ending_of(const std::string& word, const std::string& suffix) {
  return word == "out" ? suffix : word.substr(3);
}

}  // namespace

Result<Command> parse_command(std::string_view text, const std::filesystem::path& bundle) {
  TRY_ASSIGN(const json::Value document, json::parse(text));
  const json::Value& program = document["program"];
  const json::Value& suffix = document["suffix"];
  if (!program.is_string() || program.string().empty() || !suffix.is_string())
    return Error{ErrorKind::invalid, "wrap.json names no program: sign the bundle again"};
  Command command;
  command.bundle = bundle;
  command.program = program.string();
  command.suffix = suffix.string();
  command.rows = document["rows"].is_boolean() && document["rows"].boolean();
  if (command.rows && command.suffix.empty()) command.suffix = ".txt";
  if (document["compare"].is_string()) command.compare = document["compare"].string();
  for (const json::Value& argument : document["arguments"].elements())
    if (argument.is_string()) command.arguments.push_back(argument.string());
  for (const auto& [name, expression] : document["numbers"].members())
    if (expression.is_string()) command.numbers.emplace_back(name, expression.string());
  std::vector<std::string> rules;
  for (const json::Value& rule : document["ignore"].elements())
    if (rule.is_string()) rules.push_back(rule.string());
  TRY_ASSIGN(command.ignored, Ignored::parse(rules));
  for (const std::string& argument : command.arguments)
    TRY(take_apart(
        argument, [](char) {},
        [&](const std::string& word) -> Status {
          command.names_input |= word == "in";
          if (!is_output(word)) return {};
          const std::string ending = ending_of(word, command.suffix);
          if (std::find(command.endings.begin(), command.endings.end(), ending) == command.endings.end())
            command.endings.push_back(ending);
          return {};
        }));
  command.keeps_standard_output = command.endings.empty();
  if (command.endings.empty()) command.endings.push_back(command.suffix);
  if (command.rows && command.names_input)
    return Error{ErrorKind::invalid, "{in} is the item's file, and items are rows: name {file:COLUMN}"};
  return command;
}

Result<Command> read_command(const std::filesystem::path& self) {
  const auto bundle = std::filesystem::absolute(self).parent_path().parent_path();
  TRY_ASSIGN(const Bytes text, kit::read_file(bundle / "wrap.json", command_bytes_max));
  return parse_command(text, bundle);
}

std::string output_file(const std::string& ending) {
  return "out" + ending;
}

Result<std::string> expand(const Command& command, const std::string& argument,
                           const std::function<Result<std::string>(const std::string&)>& value_of) {
  std::string expanded;
  TRY(take_apart(
      argument, [&](char c) { expanded += c; },
      [&](const std::string& word) -> Status {
        if (is_output(word)) {
          expanded += output_file(ending_of(word, command.suffix));
        } else {
          TRY_ASSIGN(const std::string value, value_of(word));
          expanded += value;
        }
        return {};
      }));
  return expanded;
}

}  // namespace gleaner::wrap
