// What an operation of the writer wants to happen outside of the store: jobs for the pool, files, tokens,
// lines of the log. An operation has no other way to reach anything outside: it adds values here, and jobs.h
// performs them after the sync, in order and before anybody is answered; after a failed transaction they are
// dropped. Writer thread only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "server/policy/dispatch/mapping_group.h"
#include "server/policy/trust/verdict.h"
#include "server/service/core/manager_setup.h"
#include "server/storage/store.h"
#include "shared/bundle/manifest.h"
#include "shared/crypto/revocations.h"

namespace gleaner::service {

class BanTable;  // ban_registry.h

namespace effect {

// The manager says what the stage is.
struct Plan {
  ManagerSetup manager;
  int stage = 0;
};

// The manager combines the stage and plans the next.
struct Combine {
  ManagerSetup manager;
  int stage = 0;
  std::vector<storage::AcceptedSegment> pieces;
  HostNames hosts = {};  // of the pieces
};

// Items that several hosts delivered are compared.
struct Review {
  ProblemId problem;
  int stage = 0;
  Range range;
  RangeSet disputed_before;  // of which it is written down already that hosts differ
  bundle::Comparison comparison = bundle::Comparison::exact;
  ManagerSetup manager;
  std::int64_t item_bytes_max = 0;
  policy::VerdictTerms terms;
  std::map<HostId, policy::Opinion> witnesses;  // of whom there are segments: how far each is believed
  std::vector<storage::SegmentRow> segments;    // all that overlap the range, oldest first
  // Whose opinion an item in a segment is, if not that of its host: who began it stands for it.
  std::map<std::pair<SegmentId, std::int64_t>, HostId> begun_by;
};

// A mapping strategy plans the tasks that are free.
struct Map {
  policy::PlanJob job;
};

// Ends the manager's process; nothing else of the problem is touched.
struct EndManager {
  ProblemId problem;
};

// From now on the token whose digest this is stands for the host.
struct AdmitToken {
  Bytes digest;
  HostId host;
  bool proven = false;  // it has delivered, or is the project's own (load.h)
};

struct DropToken {
  Bytes digest;
};

// Its host is not served any more.
struct RefuseToken {
  Bytes digest;
  std::string why;
};

// From now on the administrator's token is so.
struct PutAdminToken {
  storage::TokenRow row;
};

// From now on these are banned.
struct SetBans {
  std::shared_ptr<const BanTable> table;
};

// A file that is not needed any more.
struct RemoveFile {
  io::Path path;
};

// What people see has just changed: a snapshot from before says what is no longer true (overview.h).
struct Announce {};

// Answers name this list from now on, and the project's document carries it.
struct PublishRevocations {
  crypto::Revocations list;
};

// The model is read back from the store.
struct Reload {};

struct LogLine {
  enum class Level { debug, info, warning, error } level = Level::info;
  std::string text;
};

}  // namespace effect

using Effect = std::variant<effect::Plan, effect::Combine, effect::Review, effect::Map, effect::EndManager,
                            effect::AdmitToken, effect::DropToken, effect::RefuseToken, effect::PutAdminToken,
                            effect::SetBans, effect::RemoveFile, effect::Announce, effect::PublishRevocations,
                            effect::Reload, effect::LogLine>;

class Effects {
 public:
  void add(Effect effect) { all_.push_back(std::move(effect)); }
  void info(std::string text) { add(effect::LogLine{effect::LogLine::Level::info, std::move(text)}); }
  void warn(std::string text) { add(effect::LogLine{effect::LogLine::Level::warning, std::move(text)}); }
  [[nodiscard]] std::vector<Effect> take() { return std::exchange(all_, {}); }

 private:
  std::vector<Effect> all_;
};

}  // namespace gleaner::service
