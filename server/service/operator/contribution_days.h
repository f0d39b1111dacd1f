// What hosts contribute, day by day (contribution.h), in the store. Writer thread.
#pragma once

#include <vector>

#include "server/service/core/transaction.h"
#include "shared/protocol/console_messages.h"

namespace gleaner::service {

void count_contribution(Transaction& tx);
[[nodiscard]] Status keep_contribution(Transaction& tx);
// The newest days, oldest first, with what is not stored yet.
[[nodiscard]] Result<std::vector<protocol::DayInfo>> describe_days(Transaction& tx);

}  // namespace gleaner::service
