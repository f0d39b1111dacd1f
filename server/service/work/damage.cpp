#include "server/service/work/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "server/service/core/dispatch_terms.h"
#include "server/service/work/failures.h"
#include "shared/base/range_set.h"

namespace gleaner::service {
namespace {

using protocol::ProblemState;
using Lost = std::set<std::string>;

constexpr const char* lost_reason = "their stored results are damaged or gone";

// The segments of the present stage that are lost, and with them their items.
Status drop_segments(Transaction& tx, Problem& problem, const Lost& lost, RangeSet items) {
  if (!problem.stage) return {};
  const auto& row = problem.row;
  TRY_ASSIGN(const auto segments, tx.store.segments_over(row.id, row.stage, {0, problem.stage_row.items}));
  std::set<SegmentId> gone;
  for (const auto& segment : segments)
    if (lost.contains(segment.digest)) gone.insert(segment.id);
  TRY_ASSIGN(const auto accepted, tx.store.accepted(row.id, row.stage));
  for (const auto& piece : accepted)
    if (gone.contains(piece.segment)) items.add(piece.range);
  for (const Range range : items.ranges())
    tx.effects.warn(fmt::format("problem {} ({}): items {}-{} are computed again: {}", row.id.value, row.name,
                                range.begin, range.end, lost_reason));
  if (!items.empty()) TRY(reopen_items(tx, problem, items, lost_reason));
  for (const SegmentId segment : gone) TRY(tx.store.drop_segment(segment));
  return {};
}

// It waits for its administrator.
Status stop(Transaction& tx, Problem& problem, std::string message) {
  auto& row = problem.row;
  if (row.state == ProblemState::paused && row.message == message) return {};  // said already
  row.message = std::move(message);
  if (row.state != ProblemState::paused) row.resume_to = std::exchange(row.state, ProblemState::paused);
  tx.effects.warn(fmt::format("problem {} ({}) is {}", row.id.value, row.name, row.message));
  tell_dispatch(tx, problem);
  tx.effects.add(effect::Announce{});
  return tx.store.update_problem(row);
}

// Its administrator has to bring back what cannot be computed.
Status stop_problem(Transaction& tx, Problem& problem, const protocol::Input& input) {
  const auto& row = problem.row;
  const std::string path = "blobs/" + input.digest.substr(0, 2) + "/" + input.digest;
  std::string message = fmt::format(
      "{}its input {} is damaged or gone: put the file back as {} in the project's directory, or add another "
      "problem with it (`gleaner-admin problem add`), which uploads it again; then `gleaner-admin problem "
      "resume {}`",
      stopped_mark, input.name, path, row.id.value);
  return stop(tx, problem, std::move(message));
}

std::string archive_message(const Application& application) {
  return fmt::format(
      "{}the archive of {}@{} is damaged or gone, and hosts cannot fetch it: `gleaner-admin app add` the "
      "same bundle again, and it continues",
      stopped_mark, application.row.name, application.row.version);
}

Status lose_archive(Transaction& tx, const Application& application) {
  bool needed = false;
  for (auto& [id, problem] : tx.model.problems) {
    if (problem.row.application != application.row.id || over(problem.row.state)) continue;
    needed = true;
    if (problem.row.state != ProblemState::paused) TRY(stop(tx, problem, archive_message(application)));
  }
  if (!needed)
    tx.effects.warn(
        fmt::format("the archive of {}@{} is damaged or gone: `gleaner-admin app add` the same bundle again",
                    application.row.name, application.row.version));
  return {};
}

const protocol::Input* find_input(const Problem& problem, const Lost& lost) {
  for (const auto* inputs : {&problem.row.inputs, &problem.stage_row.inputs})
    for (const auto& input : *inputs)
      if (lost.contains(input.digest)) return &input;
  return nullptr;
}

// What is over has its results, and those are all it needs.
Status tell_of_results(Transaction& tx, const Problem& problem, const Lost& lost) {
  TRY_ASSIGN(const auto files, tx.store.results(problem.row.id));
  for (const auto& file : files)
    if (lost.contains(file.digest))
      tx.effects.warn(
          fmt::format("problem {} ({}): its result {} is damaged or gone: restore blob {} from a backup",
                      problem.row.id.value, problem.row.name, file.name, file.digest));
  return {};
}

Status take(Transaction& tx, Problem& problem, const Lost& lost, const RangeSet& items) {
  if (over(problem.row.state)) return tell_of_results(tx, problem, lost);
  if (const auto* input = find_input(problem, lost)) TRY(stop_problem(tx, problem, *input));
  return drop_segments(tx, problem, lost, items);
}

}  // namespace

bool is_fetched(const Model& model, const std::string& digest) {
  const Lost one{digest};
  return std::any_of(model.applications.begin(), model.applications.end(),
                     [&](const auto& entry) { return entry.second.row.archive == digest; }) ||
         std::any_of(model.problems.begin(), model.problems.end(), [&](const auto& entry) {
           return !over(entry.second.row.state) && find_input(entry.second, one) != nullptr;
         });
}

Status archive_is_back(Transaction& tx, ApplicationId id) {
  const std::string message = archive_message(tx.model.applications.at(id));
  for (auto& [number, problem] : tx.model.problems) {
    if (!is_stopped(problem) || problem.row.application != id || problem.row.message != message) continue;
    std::string refusal;
    TRY(retry(tx, problem, refusal));
  }
  return {};
}

Status take_damage(Transaction& tx, const std::vector<std::string>& digests) {
  const Lost lost(digests.begin(), digests.end());
  for (auto& [id, problem] : tx.model.problems) TRY(take(tx, problem, lost, {}));
  for (const auto& [id, application] : tx.model.applications)
    if (lost.contains(application.row.archive)) TRY(lose_archive(tx, application));
  return {};
}

Status take_damage(Transaction& tx, const effect::Review& review, const std::vector<std::string>& digests) {
  const auto found = tx.model.problems.find(review.problem);
  if (found != tx.model.problems.end() && found->second.stage && found->second.row.stage == review.stage) {
    RangeSet items;
    items.add(review.range);
    TRY(drop_segments(tx, found->second, {digests.begin(), digests.end()}, items));
  }
  return take_damage(tx, digests);
}

}  // namespace gleaner::service
