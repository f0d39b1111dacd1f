#include "server/relay/leases/upstream_failures.h"

#include <algorithm>

namespace gleaner::service {
namespace {

// A message each, while results wait for the same thread.
constexpr std::size_t told_at_once = 16;

}  // namespace

std::vector<protocol::FailureReport> next_failures(Transaction& tx) {
  const Upstream& upstream = upstream_of(tx.model);
  if (tx.now < upstream.tells_at) return {};
  std::vector<protocol::FailureReport> some;
  std::erase_if(tx.model.failures_below, [&](const FailureBelow& failure) {
    if (some.size() == told_at_once) return false;
    const std::int64_t item = failure.report.item;
    const auto* const lease = find_lease(upstream, failure.problem, failure.stage, {item, item + 1});
    if (lease == nullptr) return true;
    some.push_back(failure.report);
    some.back().unit = lease->unit;
    return false;
  });
  return some;
}

void failures_told(Transaction& tx, const std::vector<protocol::FailureReport>& told, Timestamp again) {
  upstream_of(tx.model).tells_at = again;
  std::erase_if(tx.model.failures_below, [&](const FailureBelow& failure) {
    return std::any_of(told.begin(), told.end(), [&](const protocol::FailureReport& report) {
      return report.statement->signature == failure.report.statement->signature;
    });
  });
}

}  // namespace gleaner::service
