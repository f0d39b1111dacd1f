// Who reads the audit log, and what is refused to administrators or to strangers in their place: that is
// counted in memory, by whose token it is and what was tried, and stored by the ticker, so that a flood of it
// costs neither disk nor syncs. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "server/service/kernel.h"

namespace gleaner::service {

class Audit {
 public:
  explicit Audit(Kernel& kernel) : kernel_(kernel) {}

  void page(std::int64_t after, Done<protocol::AuditPage> done);
  // REQUIRES: `actor` and `action` are of those that there are, so that the counts are few.
  void refused(const std::string& actor, ErrorKind kind, const std::string& action,
               const std::string& network);
  // What was counted since the last call; a crash may forget a second of it.
  void store_refusals();

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  void add(const protocol::RefusalCount& more);

  Kernel& kernel_;
  std::mutex mutex_;
  std::map<Key, protocol::RefusalCount> refusals_;
};

}  // namespace gleaner::service
