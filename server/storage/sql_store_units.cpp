// Units, what failed on them, and why each was handed out.
#include <algorithm>

#include "server/storage/sql_store.h"

namespace gleaner::storage {
namespace {

// Newest rows kept of a problem.
constexpr std::int64_t decisions_kept = 100'000;
constexpr std::int64_t failures_kept = 10'000;
constexpr int failures_shown = 1'000;

Store::UnitPlace take_place(Query& query) {
  PlacedUnit<> found = take_row<policy::Unit>(query);
  return {found.problem, found.stage, std::move(found.unit)};
}

}  // namespace

Status SqlStore::put_unit(ProblemId problem, int stage, const policy::Unit& unit) {
  return put<policy::Unit>(PlacedUnit<const policy::Unit&>{problem, stage, unit});
}

Result<std::vector<policy::Unit>> SqlStore::open_units(ProblemId problem, int stage) {
  static const std::string sql =
      select_from<policy::Unit>("WHERE problem = ? AND stage = ? AND state = 1 ORDER BY id");
  static_assert(static_cast<int>(policy::UnitState::open) == 1, "the index of open units says so, too");
  Query query = connection_->query(sql);
  query.add(problem).add(stage);
  return all_rows(query, [](Query& each) { return take_row<policy::Unit>(each).unit; });
}

Result<std::vector<Store::UnitPlace>> SqlStore::host_units(HostId host, int count_max) {
  static const std::string sql = select_from<policy::Unit>("WHERE host = ? ORDER BY id DESC LIMIT ?");
  Query query = connection_->query(sql);
  query.add(host).add(count_max);
  return all_rows(query, take_place);
}

Result<std::optional<Store::UnitPlace>> SqlStore::unit(UnitId id) {
  Query query = connection_->find(table_of<policy::Unit>());
  query.add(id);
  return first_row(query, take_place);
}

Status SqlStore::add_failure(const FailureRow& row) {
  static const NumberedTexts texts = numbered_texts<FailureRow>();
  return add_to_problem<FailureRow>(row, texts, failures_kept);
}

Result<std::vector<FailureRow>> SqlStore::failures(ProblemId problem) {
  static const std::string sql = select_from<FailureRow>("WHERE problem = ? ORDER BY number DESC LIMIT ?");
  return numbered_rows<FailureRow>(sql, problem, failures_shown);
}

Status SqlStore::add_decision(const DecisionRow& row) {
  static const NumberedTexts texts = numbered_texts<DecisionRow>();
  return add_to_problem<DecisionRow>(row, texts, decisions_kept);
}

Result<std::vector<DecisionRow>> SqlStore::decisions(ProblemId problem, int count_max) {
  static const std::string sql = select_from<DecisionRow>("WHERE problem = ? ORDER BY number DESC LIMIT ?");
  return numbered_rows<DecisionRow>(sql, problem, std::max(count_max, 0));
}

}  // namespace gleaner::storage
