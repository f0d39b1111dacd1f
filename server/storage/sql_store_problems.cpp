// Applications, problems and their results.
#include "server/storage/sql_store.h"

namespace gleaner::storage {

Result<ApplicationId> SqlStore::add_application(const ApplicationRow& row) {
  return add_numbered(row, ApplicationId{});
}

Result<std::vector<ApplicationRow>> SqlStore::applications() {
  static const std::string sql = select_from<ApplicationRow>("ORDER BY id");
  return rows<ApplicationRow>(sql);
}

Result<ProblemId> SqlStore::next_problem() {
  TRY_ASSIGN(const std::int64_t next, connection_->next_number(table_of<ProblemRow>()));
  return ProblemId{next};
}

Result<ProblemId> SqlStore::add_problem(const ProblemRow& row) {
  return add_numbered(row, row.id);
}

Status SqlStore::update_problem(const ProblemRow& row) {
  return put<ProblemRow>(row);
}

Result<std::vector<ProblemRow>> SqlStore::problems() {
  static const std::string sql = select_from<ProblemRow>("ORDER BY id");
  return rows<ProblemRow>(sql);
}

Status SqlStore::delete_problem(ProblemId id) {
  TRY(write_host_records());
  // Whatever refers to the problem first, the problem last.
  for (const char* sql :
       {"DELETE FROM leases WHERE problem = ?", "DELETE FROM deliveries WHERE problem = ?",
        "DELETE FROM acknowledgements WHERE unit IN (SELECT id FROM units WHERE problem = ?)",
        "DELETE FROM decisions WHERE problem = ?", "DELETE FROM failures WHERE problem = ?",
        "DELETE FROM verdicts WHERE problem = ?", "DELETE FROM accepted WHERE problem = ?",
        "DELETE FROM segment_bytes WHERE segment IN (SELECT id FROM segments WHERE problem = ?)",
        "DELETE FROM segments WHERE problem = ?", "DELETE FROM host_records WHERE problem = ?",
        "DELETE FROM units WHERE problem = ?", "DELETE FROM stage_costs WHERE problem = ?",
        "DELETE FROM stages WHERE problem = ?", "DELETE FROM results WHERE problem = ?"}) {
    TRY(connection_->query(sql).add(id).run());
  }
  TRY_ASSIGN(const std::int64_t deleted,
             connection_->query("DELETE FROM problems WHERE id = ?").add(id).apply());
  if (deleted == 0) return Error{ErrorKind::not_found, "there is no problem " + std::to_string(id.value)};
  std::erase_if(numbers_, [id](const auto& entry) { return entry.first.second == id; });
  return {};
}

Status SqlStore::put_results(ProblemId problem, const std::vector<protocol::ResultFile>& files) {
  TRY(connection_->query("DELETE FROM results WHERE problem = ?").add(problem).run());
  std::int64_t position = 0;
  for (const auto& file : files)
    TRY(put<protocol::ResultFile>(PlacedResult<const protocol::ResultFile&>{problem, position++, file}));
  return {};
}

Result<std::vector<protocol::ResultFile>> SqlStore::results(ProblemId problem) {
  static const std::string sql = select_from<protocol::ResultFile>("WHERE problem = ? ORDER BY position");
  Query query = connection_->query(sql);
  query.add(problem);
  return all_rows(query, [](Query& each) { return take_row<protocol::ResultFile>(each).file; });
}

}  // namespace gleaner::storage
