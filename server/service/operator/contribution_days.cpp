#include "server/service/operator/contribution_days.h"

#include <algorithm>

#include "server/service/operator/fleet_now.h"

namespace gleaner::service {

void count_contribution(Transaction& tx) {
  const SlotsNow now = slots_now(tx.model, tx.now);
  tx.model.contribution.count(tx.now, now.busy, now.watts, tx.model.items_accepted);
}

Status keep_contribution(Transaction& tx) {
  for (const auto& row : tx.model.contribution.pending()) TRY(tx.store.add_to_day(row));
  tx.model.contribution.stored();
  return {};
}

Result<std::vector<protocol::DayInfo>> describe_days(Transaction& tx) {
  TRY_ASSIGN(auto rows, tx.store.days(protocol::DayInfo::shown_max));
  for (const auto& more : tx.model.contribution.pending()) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& each) { return each.day == more.day; });
    if (row == rows.end()) row = rows.insert(rows.end(), {more.day, 0, 0, 0});
    row->core_seconds += more.core_seconds;
    row->joules += more.joules;
    row->items += more.items;
  }
  constexpr double joules_per_kilowatt_hour = 3.6e6;
  std::vector<protocol::DayInfo> days;
  for (const auto& row : rows)
    days.push_back({Timestamp{std::chrono::days{row.day}}, row.core_seconds / 3600,
                    row.joules / joules_per_kilowatt_hour, row.items});
  if (days.size() > protocol::DayInfo::shown_max) days.erase(days.begin());
  return days;
}

}  // namespace gleaner::service
