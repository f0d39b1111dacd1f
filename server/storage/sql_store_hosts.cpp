// Hosts, and what each stage knows of them.
#include <utility>

#include "server/storage/sql_store.h"

namespace gleaner::storage {

Result<HostId> SqlStore::add_host(const HostRow& row) {
  return add_numbered(row, row.id);
}

Status SqlStore::update_host(const HostRow& row) {
  return put<HostDescription>(row);
}

Status SqlStore::renew_host(const HostRow& row) {
  return put<HostRow>(row);
}

Status SqlStore::visit_hosts(const std::function<void(HostRow&&)>& visit) {
  static const std::string sql = select_from<HostRow>("ORDER BY id");
  Query query = connection_->query(sql);
  for (;;) {
    TRY_ASSIGN(const bool found, query.step());
    if (!found) return {};
    HostRow row = take_row<HostRow>(query);
    TRY(query.checked());
    visit(std::move(row));
  }
}

Status SqlStore::put_standing(HostId host, ApplicationId application, const policy::Standing& standing) {
  return put<StandingRow>(StandingRow{host, application, standing});
}

Result<std::vector<StandingRow>> SqlStore::standings() {
  static const std::string sql = select_from<StandingRow>("ORDER BY host, application");
  return rows<StandingRow>(sql);
}

Status SqlStore::put_host_record(ProblemId problem, int stage, const policy::HostRecord& record) {
  TRY(connection_->may_write());
  records_.insert_or_assign({problem, stage, record.host}, record);
  return {};
}

Status SqlStore::write_host_records() {
  for (const auto& [key, record] : std::exchange(records_, {}))
    TRY(put<policy::HostRecord>(
        PlacedRecord<const policy::HostRecord&>{std::get<ProblemId>(key), std::get<int>(key), record}));
  return {};
}

Result<std::vector<policy::HostRecord>> SqlStore::host_records(ProblemId problem, int stage) {
  TRY(write_host_records());
  static const std::string sql =
      select_from<policy::HostRecord>("WHERE problem = ? AND stage = ? ORDER BY host");
  Query query = connection_->query(sql);
  query.add(problem).add(stage);
  return all_rows(query, [](Query& each) { return take_row<policy::HostRecord>(each).record; });
}

}  // namespace gleaner::storage
