// Notifications to the owner (client/policy/notices.h), shown by the agent of a desktop session; without an
// agent they wait for one. Kept across restarts; a kill loses at most an hour of counting. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/engine/memberships.h"
#include "client/policy/notices.h"

namespace gleaner::engine {

class OwnerNotices {
 public:
  OwnerNotices(Services& services, const Memberships& projects) : services_(services), projects_(projects) {}

  // Call once, first.
  void open(SteadyTime now);
  // Whether the owner wants to be told.
  void set(bool wanted) { wanted_ = wanted; }
  // `no_network`: the owner permits no transfers now.
  void look(bool no_network, SteadyTime now, Alarm& alarm);
  void save(SteadyTime now);

 private:
  [[nodiscard]] std::vector<client_policy::TroubleSeen> seen(bool no_network);
  void add(std::vector<client_policy::TroubleSeen>& all, const Membership& project, bool no_network);

  Services& services_;
  const Memberships& projects_;
  client_policy::Notices notices_;
  client_policy::NoticeMemory saved_;
  SteadyTime saved_at_{};
  SteadyTime look_at_{};
  std::map<std::string, std::int64_t> accepted_;  // commits of each project when it was looked at last
  std::int64_t number_ = 0;                       // of the notice that is to be shown; 0: none
  bool wanted_ = true;
};

}  // namespace gleaner::engine
