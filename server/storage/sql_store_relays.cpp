// What a relay has of its parent, and what its hosts delivered for that.
#include "server/storage/sql_store.h"
#include "server/storage/stored_relays.h"

namespace gleaner::storage {

Status SqlStore::put_lease(const LeaseRow& row) {
  return put<LeaseRow>(row);
}

Result<std::vector<LeaseRow>> SqlStore::leases() {
  static const std::string sql = select_from<LeaseRow>("ORDER BY unit");
  return rows<LeaseRow>(sql);
}

Status SqlStore::put_delivery(const DeliveryRow& row) {
  return put<DeliveryRow>(row);
}

Result<std::vector<DeliveryRow>> SqlStore::deliveries(Timestamp answered_after) {
  static const std::string sql =
      select_from<DeliveryRow>("WHERE answered_at = 0 OR answered_at > ? ORDER BY segment");
  return rows<DeliveryRow>(sql, answered_after);
}

Result<std::optional<DeliveryRow>> SqlStore::delivery(UnitId unit, HostId host, Range range,
                                                      const std::string& digest) {
  Query query = connection_->find(table_of<DeliveryRow>());
  query.add(unit).add(host).add(range).add_digest(digest);
  return first_row(query, take_row<DeliveryRow>);
}

Status SqlStore::pass_segment(SegmentId segment) {
  TRY(connection_->query("DELETE FROM segment_bytes WHERE segment = ?").add(segment).run());
  return connection_->query("UPDATE segments SET place = ? WHERE id = ?")
      .add(SegmentPlace::parent)
      .add(segment)
      .run();
}

}  // namespace gleaner::storage
