// Who reads the audit log, and what is refused to administrators or to strangers in their place: that is
// counted in memory, by whose token it is and what was tried, and stored by the ticker, so that a flood of it
// costs neither disk nor syncs. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "server/service/core/kernel.h"
#include "shared/base/repeats.h"

namespace gleaner::service {

class Audit {
 public:
  explicit Audit(Kernel& kernel) : kernel_(kernel) {}

  void page(std::int64_t after, Done<protocol::AuditPage> done);
  // REQUIRES: `actor` and `action` are of those that there are, so that the counts are few.
  void refused(const std::string& actor, ErrorKind kind, const std::string& action,
               const std::string& network);
  // Whether the log has the act that was noted outside the store. Before the writer starts. Errors: the
  // store's.
  [[nodiscard]] Status open(storage::Store& store);
  // What is noted outside the store; a relay notes nothing.
  [[nodiscard]] std::optional<protocol::ChainPlace> noted() const;
  // The newest act that would survive a power cut; or that the noted one is there no more.
  void head_is(const Result<protocol::ChainPlace>& head);
  // Notes it outside the store (audit_head.h), if it is not noted there. Once a second.
  void note_head();
  // The same once the writer has stopped.
  void note_last_head();
  // What is wrong with the log; ok: nothing.
  [[nodiscard]] Status doubt() const;
  // What was counted since the last call; a crash may forget a second of it.
  void store_refusals();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  void add(const protocol::RefusalCount& more);

  Kernel& kernel_;
  mutable std::mutex mutex_;
  std::optional<protocol::ChainPlace> newest_, noted_;  // noted: outside the store
  Status doubt_;                                        // then the note stays as it is
  Repeats trouble_;                                     // with writing it
  std::map<Key, protocol::RefusalCount> refusals_;
};

}  // namespace gleaner::service
