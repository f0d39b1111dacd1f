#include "server/relay/leases/upstream.h"

#include <algorithm>
#include <utility>

#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {
namespace {
// A few messages' worth; beyond it the store is read.
constexpr std::int64_t packed_bytes_max = 8 << 20;
}  // namespace

ResultName name_of(const storage::DeliveryRow& row) {
  return {row.host, row.unit, row.range.begin, row.range.end, row.digest};
}

void owe(Upstream& upstream, storage::DeliveryRow row, Bytes packed) {
  const SegmentId id = row.segment;
  upstream.by_name[name_of(row)] = id;
  upstream.owed_bytes += row.bytes;
  Owed& owed = upstream.owed[id] = Owed{std::move(row), {}};
  const auto bytes = static_cast<std::int64_t>(packed.size());
  if (bytes == 0 || upstream.packed_bytes + bytes > packed_bytes_max) return;
  upstream.packed_bytes += bytes;
  owed.packed = std::make_shared<const Bytes>(std::move(packed));
}

storage::DeliveryRow settle(Upstream& upstream, SegmentId segment) {
  const auto owed = upstream.owed.find(segment);
  storage::DeliveryRow row = std::move(owed->second.row);
  if (owed->second.packed) upstream.packed_bytes -= static_cast<std::int64_t>(owed->second.packed->size());
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

// REQUIRES: nothing is owed of it. Its stage may still be there.
void Upstream::forget(ProblemId problem) {
  relays.erase(problem);
  std::erase_if(leases, [&](const auto& entry) { return entry.second.problem == problem; });
  std::erase_if(chains, [&](const auto& entry) { return !leases.contains(entry.first); });
  quiet_since.erase(problem);
}

Status Upstream::has_room(const Settings& settings) const {
  if (!is_full(*this, settings)) return {};
  return Error{ErrorKind::unavailable,
               "this relay holds as many results as it may until its parent has taken some"};
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

std::vector<ProblemId> Upstream::awaited() const {
  std::vector<ProblemId> waiting;
  for (const auto& [id, relay] : relays)
    if (relay.more_may_come()) waiting.push_back(id);
  return waiting;
}

std::string Upstream::why_nothing() const {
  return trouble.empty() ? "" : "its relay gets no answer from the project: " + trouble;
}

void Upstream::note_missed() {
  missed = true;
  for (auto& [id, relay] : relays) relay.missed();
}

void Upstream::note_offer(HostId host, const protocol::WorkRequest& request, Timestamp now) {
  FromHere& here = from_here.try_emplace(host, FromHere{0, {}, now}).first->second;
  if (request.speeds) here.link_used_at = now;
  offers[host] = {request.platforms, request.applications, request.memory_bytes, request.cores,
                  request.capabilities};
  if (request.relay) performances[host] = request.relay->performance;
}

std::unique_ptr<Origin> make_leased_items() {
  return std::make_unique<Upstream>();
}

Status Upstream::describe(Transaction& tx, protocol::RelayStatus& status) {
  status.trouble = trouble;
  for (const auto& [unit, lease] : leases) {
    if (!lease.open) continue;
    ++status.leases;
    status.leased_items += lease.range.size();
  }
  status.results = std::ssize(owed);
  status.result_bytes = owed_bytes;
  status.full = is_full(*this, tx.settings);
  if (owed.empty()) return {};
  const auto& oldest = owed.begin()->second.row;
  TRY_ASSIGN(const auto segments, tx.store.segments_over(oldest.problem, oldest.stage, oldest.range));
  for (const auto& segment : segments)
    if (segment.id == oldest.segment) status.results_since = segment.received_at;
  return {};
}

}  // namespace gleaner::service
