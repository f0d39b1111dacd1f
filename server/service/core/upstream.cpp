#include "server/service/core/upstream.h"

#include <algorithm>
#include <utility>

#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {
ResultName name_of(const storage::DeliveryRow& row) {
  return {row.host, row.unit, row.range.begin, row.range.end, row.digest};
}

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

void owe(Upstream& upstream, storage::DeliveryRow row) {
  const SegmentId id = row.segment;
  upstream.by_name[name_of(row)] = id;
  upstream.owed_bytes += row.bytes;
  upstream.owed[id] = Owed{std::move(row), {}};
}

storage::DeliveryRow settle(Upstream& upstream, SegmentId segment) {
  const auto owed = upstream.owed.find(segment);
  storage::DeliveryRow row = std::move(owed->second.row);
  upstream.owed.erase(owed);
  upstream.by_name.erase(name_of(row));
  upstream.to_send.erase(segment);
  upstream.owed_bytes -= row.bytes;
  return row;
}

bool is_outdated(const Upstream& upstream, const protocol::SignedStatement& answer) {
  return !upstream.work_key.empty() && answer.key != upstream.work_key;
}

bool is_full(const Upstream& upstream, const Settings& settings) {
  return upstream.owed_bytes >= settings.configuration.results_megabytes * 1'000'000;
}

void forget(Upstream& upstream, ProblemId problem) {
  upstream.relays.erase(problem);
  std::erase_if(upstream.leases, [&](const auto& entry) { return entry.second.problem == problem; });
  upstream.quiet_since.erase(problem);
}

Result<std::vector<Range>> leased_ranges(storage::Store& store, const storage::StageRow& row) {
  TRY_ASSIGN(const auto leases, store.leases());
  std::vector<Range> ranges;
  for (const auto& lease : leases)
    if (lease.open && lease.problem == row.problem && lease.stage == row.stage) ranges.push_back(lease.range);
  return ranges;
}

const storage::LeaseRow* find_lease(const Upstream& upstream, ProblemId problem, int stage, Range range) {
  const storage::LeaseRow *open = nullptr, *any = nullptr;
  for (const auto& [unit, lease] : upstream.leases) {
    if (lease.problem != problem || lease.stage != stage) continue;
    if (lease.open && lease.range.contains(range)) open = &lease;
    if (Range{lease.range.begin, lease.handed_end}.contains(range)) any = &lease;
  }
  return open != nullptr ? open : any;
}

std::vector<ProblemId> problems_that_wait(const Upstream& upstream) {
  std::vector<ProblemId> waiting;
  for (const auto& [id, relay] : upstream.relays)
    if (relay.more_may_come()) waiting.push_back(id);
  return waiting;
}

void note_missed(Upstream& upstream) {
  upstream.missed = true;
  for (auto& [id, relay] : upstream.relays) relay.missed();
}

void note_offer(Upstream& upstream, HostId host, const protocol::WorkRequest& request, Timestamp now) {
  FromHere& here = upstream.from_here.try_emplace(host, FromHere{0, {}, now}).first->second;
  if (request.speeds) here.link_used_at = now;
  upstream.offers[host] = {request.platforms, request.applications, request.memory_bytes, request.cores};
  if (request.relay) upstream.performances[host] = request.relay->performance;
}

}  // namespace gleaner::service
