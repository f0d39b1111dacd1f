#include "shared/usage/usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace gleaner::usage {
namespace {

// Levenshtein's distance.
std::size_t distance(const std::string& one, const std::string& other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}

// The command that was understood last: `gleaner-admin problem` of `gleaner-admin problem lst`.
const CLI::App& reached(const CLI::App& program) {
  const auto chosen = program.get_subcommands();
  return chosen.empty() ? program : reached(*chosen.back());
}

std::string full_name(const CLI::App& command) {
  const CLI::App* above = command.get_parent();
  return (above == nullptr ? "" : full_name(*above) + " ") + command.get_name();
}

std::vector<std::string> names_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_name().empty()) names.push_back(each->get_name());
  return names;
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
  const auto names = names_of(command);
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& one, const auto& other) {
    return distance(one, word) < distance(other, word);
  });
  const std::string name = full_name(command);
  if (nearest != names.end() && 2 * distance(*nearest, word) <= std::max(nearest->size(), word.size()))
    return fmt::format("`{}` has no command `{}`: did you mean `{}`?", name, word, *nearest);
  return fmt::format("`{}` has no command `{}` (see `{} --help`)", name, word, name);
}

}  // namespace

std::string explain(const CLI::App& program, const CLI::ParseError& mistake) {
  const CLI::App& command = reached(program);
  const std::string name = full_name(command);
  if (const auto names = names_of(command); !names.empty() && command.get_subcommands().empty()) {
    // The words that nothing took, in their order, of whatever command they were left to.
    const auto rest = program.remaining(true);
    const auto word = std::find_if(rest.begin(), rest.end(),
                                   [](const auto& each) { return !each.empty() && each.front() != '-'; });
    if (word != rest.end()) return unknown_command(command, *word);
    if (dynamic_cast<const CLI::RequiredError*>(&mistake) != nullptr)
      return fmt::format("`{}` needs a command: {} (see `{} --help`)", name, fmt::join(names, ", "), name);
  }
  return fmt::format("{} (see `{} --help`)", mistake.what(), name);
}

}  // namespace gleaner::usage
