#include <algorithm>

#include "shared/base/limits.h"
#include "shared/base/paths.h"
#include "shared/contract/manager_session.h"
#include "shared/contract/words.h"
#include "shared/io/files.h"

namespace gleaner::contract {
namespace {

constexpr double cost_max = 1e12;

Result<ItemHint> parse_line(std::string_view line) {
  Words words(line);
  ItemHint hint;
  const auto cost = words.fraction(cost_max);
  if (!cost || *cost <= 0)
    return Error{ErrorKind::invalid, "expected a cost above 0, got " + in_quotes(line)};
  hint.cost = *cost;
  while (!words.ended()) {
    std::string_view word = words.next();
    const bool negative = word.starts_with('-');
    if (negative) word.remove_prefix(1);
    const auto number = Words(word).number();
    if (!number)
      return Error{ErrorKind::invalid, "expected whole numbers behind the cost, got " + in_quotes(line)};
    if (hint.parameters.size() == static_cast<std::size_t>(limits::item_parameters_max))
      return Error{ErrorKind::invalid,
                   "more than " + std::to_string(limits::item_parameters_max) + " numbers behind the cost"};
    hint.parameters.push_back(negative ? -*number : *number);
  }
  return hint;
}

}  // namespace

Result<std::vector<ItemHint>> parse_hints(std::string_view text, std::int64_t items) {
  const std::string must = "; there must be one line for each of the " + std::to_string(items) + " items";
  if (items < 0 || items > limits::hinted_items_max)
    return Error{ErrorKind::too_large, "hints can be given for at most " +
                                           std::to_string(limits::hinted_items_max) + " items, not for " +
                                           std::to_string(items)};
  std::vector<ItemHint> hints;
  hints.reserve(std::min(static_cast<std::size_t>(items), text.size() / 2 + 1));
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string where = "line " + std::to_string(hints.size() + 1) + ": ";
    if (hints.size() == static_cast<std::size_t>(items))
      return Error{ErrorKind::invalid, where + "too many lines" + must};
    auto hint = parse_line(text.substr(0, end));
    if (!hint.ok()) return Error{hint.error().kind, where + hint.error().message};
    hints.push_back(std::move(*hint));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (hints.size() < static_cast<std::size_t>(items))
    return Error{ErrorKind::invalid, "it ends after line " + std::to_string(hints.size()) + must};
  return hints;
}

Result<std::vector<ItemHint>> read_hints(const io::Path& path, std::int64_t items) {
  TRY_ASSIGN(const Bytes text, io::real_files().read(path, limits::hints_bytes_max));
  auto hints = parse_hints(text, items);
  if (!hints.ok()) return hints.error().within("hints file " + utf8_text(path));
  return hints;
}

}  // namespace gleaner::contract
