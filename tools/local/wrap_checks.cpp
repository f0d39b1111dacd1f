// What is told about a wrapped program alone: its numbers, and the program that compares its results.
#include <fmt/format.h>

#include <regex>

#include "apps/wrap/command.h"
#include "apps/wrap/item.h"
#include "apps/wrap/items.h"
#include "apps/wrap/numbers.h"
#include "shared/base/clean_text.h"
#include "shared/bundle/wrap.h"
#include "tools/local/check_parts.h"
#include "tools/local/difference.h"
#include "tools/local/remedies.h"

namespace gleaner::local {
namespace {

constexpr std::size_t last_words_shown = 1000;

// With other digits, so that no tolerance covers it; without any digit, with a line more.
Bytes altered(std::string_view content) {
  Bytes other(content);
  for (char& c : other)
    if (c >= '0' && c <= '9') c = static_cast<char>('0' + (c - '0' + 5) % 10);
  return other == content ? other + "altered\n" : other;
}

}  // namespace

Status WrapChecks::run() {
  if (!bundle::is_completed(context_.bundle.manifest)) return {};
  TRY_ASSIGN(const wrap::Command command, command_of(context_.bundle));
  TRY(rows(command));
  numbers(command);
  return command.compare.empty() ? Status{} : compare(command);
}

Status WrapChecks::rows(const wrap::Command& command) {
  TRY_ASSIGN(const wrap::Items items, wrap::Items::read(command, kit::Problem(context_.work / "problem")));
  if (!items.are_rows()) return {};
  std::int64_t failed = 0;
  std::string first, words;
  for (std::int64_t item = 0; item < reference_.count(); ++item) {
    const auto outcome = wrap::unseal(items.identity(item), command.endings.size(),
                                      reference_.items[static_cast<std::size_t>(item)]);
    if (!outcome.ok() || outcome->status.empty() || failed++ > 0) continue;
    first = items.name(item) + ": " + outcome->status;
    words = outcome->words;
  }
  if (failed == 0) {
    context_.findings.passed("rows", "no row failed");
    return {};
  }
  const std::string what =
      fmt::format("{} of {} rows failed; {}{}", failed, reference_.count(), first,
                  words.empty() ? "" : ". Its last words: " + clean_line(words.substr(0, last_words_shown)));
  std::string advice = remedy_for(context_.bundle, words);
  if (advice.empty()) advice = "try its command by hand";
  if (failed == reference_.count())
    context_.findings.failed("rows", what, advice);
  else
    context_.findings.noted("rows", what, advice);
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

Status WrapChecks::compare(const wrap::Command& command) {
  TRY_ASSIGN(const wrap::Items items, wrap::Items::read(command, kit::Problem(context_.work / "problem")));
  const std::string program = command.compare.filename().string();
  for (std::int64_t item = 0; item < reference_.count(); ++item) {
    const Bytes& one = reference_.items[static_cast<std::size_t>(item)];
    const auto files = wrap::files_in(one);
    if (files.empty()) continue;  // a failed row
    std::vector<Bytes> contents;
    for (const std::string_view file : files) contents.push_back(altered(file));
    wrap::Outcome outcome;
    outcome.files.assign(contents.begin(), contents.end());
    const auto agreement =
        manager_.compare(reference_.stage, item, one, wrap::seal(items.identity(item), outcome));
    if (!agreement.ok()) return local_error(agreement.error(), "comparing with an altered output");
    if (!agreement->failure.empty())
      context_.findings.noted(
          "compare", "given an altered output, " + agreement->failure,
          "a server has what a Debian system has: take along what it needs, and exit with "
          "0 or 1 whatever the files are");
    else if (agreement->same)
      context_.findings.noted(
          "compare",
          program + " says that the output of " + items.name(item) + " is equal to one with other digits",
          "wrong results would be accepted: exit with 1 where results differ");
    else
      context_.findings.passed("compare", program + " sees that an altered output differs");
    return {};
  }
  return {};
}

}  // namespace gleaner::local
