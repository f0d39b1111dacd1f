#include "tools/local/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "apps/wrap/ignored.h"
#include "apps/wrap/item.h"
#include "shared/bundle/wrap.h"
#include "shared/json/text.h"

namespace gleaner::local {
namespace {

constexpr std::size_t context_bytes = 24;  // before the difference, and after it

// The bytes around, as a text; others as in "\x89".
std::string shown(std::string_view bytes, std::size_t at) {
  const std::size_t begin = at - std::min(at, context_bytes);
  std::string text;
  for (const char c : bytes.substr(begin, at - begin + context_bytes))
    text += std::isprint(static_cast<unsigned char>(c)) != 0
                ? std::string(1, c)
                : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return "\"" + text + "\"";
}

std::string where(std::string_view of, std::string_view one, std::string_view other) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
  return fmt::format("from byte {} of its {} on: {} and {}", at, of, shown(one, at), shown(other, at));
}

}  // namespace

Result<wrap::Command> command_of(const LocalBundle& bundle) {
  return wrap::read_command(bundle.manager);
}

Difference difference_of(const LocalBundle& bundle, const Bytes& one, const Bytes& other) {
  if (!bundle::is_completed(bundle.manifest)) return {where("result", one, other), {}};
  const auto ours = wrap::files_in(one), theirs = wrap::files_in(other);
  for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
    if (ours[i] == theirs[i]) continue;
    Difference found{where(ours.size() > 1 ? fmt::format("output {}", i + 1) : "output", ours[i], theirs[i]),
                     {}};
    std::string rules;
    const auto command = command_of(bundle);
    const auto numbers = command.ok() ? command->numbers : decltype(command->numbers)();
    for (const std::string& rule : wrap::proposed_rules(Bytes(ours[i]), Bytes(theirs[i]), numbers))
      rules += (rules.empty() ? "" : ", ") + json::write(rule);
    if (!rules.empty())
      found.advice =
          "if it does not matter, such as a date, add ignore = [" + rules + "] to [wrap] of the manifest";
    return found;
  }
  return {"it ended otherwise", {}};
}

}  // namespace gleaner::local
