#include "server/policy/journal/play.h"

#include <fmt/format.h>

#include <type_traits>

namespace gleaner::policy {
namespace {

std::string text_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range range : ranges) text += fmt::format(" [{}, {})", range.begin, range.end);
  return text.empty() ? " none" : text;
}

// What `apply` answers, in words.
template <typename Apply>
std::string answer_of(const Apply& apply) {
  if constexpr (std::is_void_v<decltype(apply())>) {
    apply();
    return {};
  } else {
    return policy::text_of(apply());
  }
}

}  // namespace

StageAnswer play(Stage& stage, const StageEvent& event, Timestamp now, Changes& changes) {
  const std::size_t before = changes.decisions.size();
  const auto apply = [&](const auto& one) {
    if constexpr (requires { stage.apply(one, now, changes); })
      return answer_of([&] { return stage.apply(one, now, changes); });
    else
      return answer_of([&] { return stage.apply(one, now); });
  };
  StageAnswer answer{std::visit(apply, event), {}};
  for (std::size_t i = before; i < changes.decisions.size(); ++i)
    answer.decisions.push_back(text_of(changes.decisions[i]));
  return answer;
}

std::string text_of(const Grant& grant) {
  if (grant.unit) return fmt::format("unit {}", grant.unit->value);
  return fmt::format("nothing, again in {} s: {}", grant.retry_after, grant.reason);
}

std::string text_of(const protocol::UnitOrder& order) {
  return fmt::format("{} until {}{}{}", name_of(order.action), order.end, order.reason.empty() ? "" : ": ",
                     order.reason);
}

std::string text_of(const CommitOutcome& outcome) {
  if (!outcome.refusal.empty()) return "refused: " + outcome.refusal;
  std::string text = "accepted" + text_of(outcome.accepted);
  if (!outcome.overlapping.empty()) text += ", had" + text_of(outcome.overlapping);
  return text;
}

std::string text_of(const Decision& decision) {
  return fmt::format("{} unit {} of host {} [{}, {}): {}", decision.kind, decision.unit.value,
                     decision.host.value, decision.range.begin, decision.range.end, decision.reason);
}

std::string text_of(const Status& changed) {
  return changed.ok() ? "" : changed.error().message;
}

std::string text_of(bool kept) {
  return kept ? "kept" : "of no use";
}

}  // namespace gleaner::policy
