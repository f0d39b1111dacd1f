#include "server/service/operator/audit.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "server/service/core/acts.h"
#include "server/service/core/audit_head.h"

namespace gleaner::service {

void Audit::page(std::int64_t after, Done<protocol::AuditPage> done) {
  store_refusals();  // in front of the operation below
  kernel_.decide<protocol::AuditPage>(
      [after, noted = noted()](Transaction& tx, Result<protocol::AuditPage>& page) -> Status {
        TRY_ASSIGN(page, read_acts(tx.store, after));
        page->noted = noted;
        return {};
      },
      std::move(done));
}

Status Audit::open(storage::Store& store) {
  if (kernel_.parent() != nullptr) return {};  // nobody changes anything at a relay
  const auto noted = read_audit_head(kernel_.files(), kernel_.settings().directory);
  if (noted.ok()) noted_ = *noted;
  doubt_ = noted.ok() ? Status{} : Status{noted.error()};
  if (noted_) {
    TRY(store.begin());
    doubt_ = check_noted(store, *noted_);
    store.rollback();
  }
  if (doubt_.ok()) return {};
  if (doubt_.error().kind != ErrorKind::untrusted) return doubt_;
  spdlog::critical("{}", doubt_.error().message);
  return {};
}

Status Audit::doubt() const {
  const std::lock_guard lock(mutex_);
  return doubt_;
}

std::optional<protocol::ChainPlace> Audit::noted() const {
  const std::lock_guard lock(mutex_);
  return noted_;
}

void Audit::head_is(const Result<protocol::ChainPlace>& head) {
  const std::lock_guard lock(mutex_);
  if (!head.ok()) {
    if (doubt_.ok()) spdlog::critical("{}", head.error().message);
    doubt_ = head.error();
  } else if (!newest_ || newest_->number < head->number) {
    newest_ = *head;
  }
}

void Audit::note_head() {
  const std::lock_guard lock(mutex_);
  if (kernel_.parent() != nullptr || !doubt_.ok() || !newest_ ||
      (noted_ && newest_->number <= noted_->number))
    return;
  const Status written = write_audit_head(kernel_.files(), kernel_.settings().directory, *newest_);
  if (written.ok()) {
    noted_ = newest_;
    return trouble_.clear();
  }
  if (const auto line = trouble_.say(written.error().message, kernel_.clock().steady()))
    spdlog::warn("the head of the audit log cannot be noted: {}", *line);
}

void Audit::note_last_head() {
  storage::Store& store = kernel_.store();
  if (!store.begin().ok()) return;  // it leads no more
  const auto before = noted();
  const Status there = before ? check_noted(store, *before) : Status{};
  const auto head = acts_head(store);
  store.rollback();
  if (!there.ok() || !head.ok()) return;  // the next start says what is wrong
  head_is(head);
  note_head();
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
