#include "server/service/core/stage_changes.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "shared/base/figures.h"

namespace gleaner::service {
namespace {

void log_decisions(Transaction& tx, const Problem& problem, const policy::Changes& changes) {
  if (!spdlog::should_log(spdlog::level::debug)) return;
  for (const auto& decision : changes.decisions) {
    tx.effects.add(
        effect::LogLine{effect::LogLine::Level::debug,
                        fmt::format("problem {} unit {} host {} {} [{}, {}): {}", problem.row.id.value,
                                    decision.unit.value, decision.host.value, decision.kind,
                                    decision.range.begin, decision.range.end, decision.reason)});
  }
}

}  // namespace

std::string items_text(std::int64_t count) {
  return counted(count, "item");
}

Status close_units(Transaction& tx, Problem& problem) {
  for (const policy::Unit* unit : problem.stage->view().open_units()) {
    policy::Unit closed = *unit;
    closed.state = policy::UnitState::cancelled;
    closed.closed = tx.now;
    TRY(tx.store.put_unit(problem.row.id, problem.row.stage, closed));
    close_unit(tx.model, unit->id, unit->host);
  }
  return {};
}

Status store_stage(Transaction& tx, Problem& problem, const policy::Changes& changes) {
  TRY(store_changes(tx.store, tx.model, problem, changes));
  log_decisions(tx, problem, changes);
  const auto set_aside = std::find_if(changes.decisions.begin(), changes.decisions.end(),
                                      [](const auto& decision) { return decision.kind == "set-aside"; });
  if (set_aside != changes.decisions.end()) {
    problem.stage_row.set_aside = problem.stage->view().ledger().set_aside().ranges();
    problem.row.message = items_text(problem.stage->view().ledger().set_aside().total()) +
                          " quarantined; the last: " + set_aside->reason +
                          " (see `gleaner-admin problem show`)";
    tx.effects.warn(fmt::format("problem {}: {}", problem.row.id.value, problem.row.message));
    TRY(tx.store.put_stage(problem.stage_row));
    TRY(tx.store.update_problem(problem.row));
  }
  if (problem.stage->view().complete()) tx.due.insert(problem.row.id);
  return {};
}

}  // namespace gleaner::service
