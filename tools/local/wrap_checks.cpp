// What is told about a wrapped program alone: its numbers.
#include <fmt/format.h>

#include <regex>

#include "apps/wrap/command.h"
#include "apps/wrap/item.h"
#include "apps/wrap/numbers.h"
#include "shared/bundle/wrap.h"
#include "tools/local/check_parts.h"
#include "tools/local/difference.h"

namespace gleaner::local {

Status WrapChecks::run() {
  if (!bundle::is_completed(context_.bundle.manifest)) return {};
  TRY_ASSIGN(const wrap::Command command, command_of(context_.bundle));
  numbers(command);
  return {};
}

void WrapChecks::numbers(const wrap::Command& command) {
  std::string missing;
  for (const auto& [name, expression] : command.numbers) {
    const std::regex searched(expression);
    std::int64_t rows = 0, found = 0;
    for (const Bytes& item : reference_.items) {
      const auto files = wrap::files_in(item);
      if (files.empty()) continue;  // a failed row
      ++rows;
      found += wrap::find_number(files, searched).empty() ? 0 : 1;
    }
    if (found < rows)
      missing += fmt::format("{}{} is found in {} of {} rows", missing.empty() ? "" : "; ", name,
                             found == 0 ? "none" : std::to_string(found), rows);
  }
  if (!missing.empty())
    context_.findings.noted(
        "numbers", missing,
        "its column is empty elsewhere; the expression is matched with each line of the "
        "files that are kept: standard output, or those of {out} where the command has any");
  else if (!command.numbers.empty())
    context_.findings.passed("numbers", "each is found in all rows that did not fail");
}

}  // namespace gleaner::local
