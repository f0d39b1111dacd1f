#include "server/service/core/relay_rows.h"

#include "shared/crypto/keys.h"

namespace gleaner::service {

Status number_units(storage::Store& store, HostId relay) {
  constexpr const char* done = "units numbered";
  TRY_ASSIGN(const auto before, store.get_value(done));
  if (before) return {};
  // Some hundred million for each, below what a log's whole number may be.
  constexpr int bits = 28;
  constexpr std::int64_t relays = std::int64_t{1} << 21;
  const Bytes random = crypto::random_secret(4);
  std::int64_t start = 0;
  for (const char byte : random) start = start << 8 | static_cast<unsigned char>(byte);
  start &= (std::int64_t{1} << (bits - 1)) - 1;
  TRY(store.start_units(UnitId{((relay.value % relays) << bits) + start + 1}));
  return store.set_value(done, std::to_string(relay.value));
}

Result<std::vector<Range>> leased_ranges(storage::Store& store, const storage::StageRow& row) {
  TRY_ASSIGN(const auto leases, store.leases());
  std::vector<Range> ranges;
  for (const auto& lease : leases)
    if (lease.open && lease.problem == row.problem && lease.stage == row.stage) ranges.push_back(lease.range);
  return ranges;
}

}  // namespace gleaner::service
