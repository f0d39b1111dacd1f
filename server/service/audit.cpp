#include "server/service/audit.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace gleaner::service {

void Audit::page(std::int64_t after, Done<protocol::AuditPage> done) {
  store_refusals();  // in front of the operation below
  kernel_.decide<protocol::AuditPage>(
      [after](Transaction& tx, Result<protocol::AuditPage>& page) -> Status {
        TRY_ASSIGN(page, read_acts(tx.store, after));
        return {};
      },
      std::move(done));
}

void Audit::refused(const std::string& actor, ErrorKind kind, const std::string& action,
                    const std::string& network) {
  const Timestamp now = kernel_.clock().now();
  add({actor, name_of(kind), action, 1, now, now, network});
}

void Audit::add(const protocol::RefusalCount& more) {
  const std::lock_guard lock(mutex_);
  const auto [place, fresh] = refusals_.try_emplace(Key{more.actor, more.kind, more.action}, more);
  if (fresh) return;
  protocol::RefusalCount& count = place->second;
  count.times += more.times;
  count.first_at = std::min(count.first_at, more.first_at);
  if (count.last_at < more.last_at) count.last_network = more.last_network;
  count.last_at = std::max(count.last_at, more.last_at);
}

void Audit::store_refusals() {
  std::map<Key, protocol::RefusalCount> counted;
  {
    const std::lock_guard lock(mutex_);
    counted.swap(refusals_);
  }
  if (counted.empty()) return;
  auto shared = std::make_shared<const std::map<Key, protocol::RefusalCount>>(std::move(counted));
  kernel_.writer().submit(
      [shared](Transaction& tx) -> Status {
        for (const auto& [key, count] : *shared) TRY(tx.store.add_refusals(count));
        return {};
      },
      [this, shared](Status stored) -> Writer::Answer {
        if (!stored.ok())
          for (const auto& [key, count] : *shared) add(count);  // the next time
        return {};
      });
}

}  // namespace gleaner::service
