#include "client/policy/notices.h"

#include <algorithm>

namespace gleaner::client_policy {
namespace {

using Holds = TroubleSeen::Holds;

template <typename One>
bool is_of(const One& one, const std::string& project, Trouble trouble) {
  return one.project == project && one.trouble == trouble;
}

std::string text_of(Trouble trouble, const std::string& name) {
  switch (trouble) {
    case Trouble::revoked:
      return name + " no longer accepts this computer. If it may return, join again with a new join code.";
    case Trouble::held_back:
      return name + " gives this computer no work because its results failed. Run `gleaner why` for details.";
    case Trouble::unreachable:
      return "This computer has not reached " + name + " for a week. Run `gleaner why` for the reason.";
    case Trouble::undelivered:
      return "This computer has not been able to deliver its results to " + name +
             " for a week. Run `gleaner why` for details.";
    case Trouble::no_work:
      return "This computer has had no work for a week. Run `gleaner why` for the reason.";
  }
  return {};
}

}  // namespace

void Notices::take(const TroubleSeen& seen, Timestamp now, SteadyTime steady) {
  const auto entry = std::find_if(memory_.entries.begin(), memory_.entries.end(),
                                  [&](const Entry& one) { return is_of(one, seen.project, seen.trouble); });
  const bool known = entry != memory_.entries.end();
  if (known) entry->since = std::min(entry->since, now);
  if (seen.holds != Holds::yes)
    std::erase_if(tried_, [&](const Tried& one) { return is_of(one, seen.project, seen.trouble); });
  if (seen.holds == Holds::unknown || (seen.holds == Holds::no && !known)) return;
  if (seen.holds == Holds::no) {
    if (entry->told && !entry->well_since) entry->well_since = now;
    if (!entry->told || now - *entry->well_since >= well_for) memory_.entries.erase(entry);
    return;
  }
  if (!known) memory_.entries.push_back({seen.project, seen.trouble, now});
  if (known) entry->well_since.reset();
  if (std::none_of(tried_.begin(), tried_.end(),
                   [&](const Tried& one) { return is_of(one, seen.project, seen.trouble); }))
    tried_.push_back({seen.project, seen.trouble, steady});
}

std::optional<SteadyTime> Notices::tried_since(const Entry& entry) const {
  for (const Tried& one : tried_)
    if (is_of(one, entry.project, entry.trouble)) return one.since;
  return std::nullopt;
}

bool Notices::ripe(const Entry& entry, Timestamp now, SteadyTime steady) const {
  const auto tried = tried_since(entry);
  if (entry.told || !tried) return false;
  if (entry.trouble == Trouble::revoked) return true;
  if (entry.trouble == Trouble::held_back) return now - entry.since >= held_back_for;
  return now - entry.since >= week && steady - *tried >= tried_for;
}

std::optional<Notice> Notices::due(const std::vector<TroubleSeen>& seen, Timestamp now, SteadyTime steady) {
  for (const TroubleSeen& one : seen) take(one, now, steady);
  // Of projects that were left nothing is told.
  std::erase_if(memory_.entries, [&seen](const Entry& entry) {
    return std::none_of(seen.begin(), seen.end(), [&entry](const TroubleSeen& one) {
      return is_of(one, entry.project, entry.trouble);
    });
  });
  if (memory_.shown_at) memory_.shown_at = std::min(*memory_.shown_at, now);
  const bool may = !memory_.shown_at || now - *memory_.shown_at >= between;
  for (const TroubleSeen& one : seen)
    for (const Entry& entry : memory_.entries) {
      if (!may || !is_of(entry, one.project, one.trouble) || !ripe(entry, now, steady)) continue;
      if (!due_ || !is_of(*due_, entry.project, entry.trouble))
        due_ = Under{{++last_number_, "Gleaner needs your attention", text_of(one.trouble, one.name)},
                     one.project,
                     one.trouble};
      return due_->notice;
    }
  due_.reset();
  return std::nullopt;
}

void Notices::shown(std::int64_t number, Timestamp now) {
  if (!due_ || due_->notice.number != number) return;
  for (Entry& entry : memory_.entries)
    if (is_of(entry, due_->project, due_->trouble)) entry.told = true;
  memory_.shown_at = now;
  due_.reset();
}

}  // namespace gleaner::client_policy
