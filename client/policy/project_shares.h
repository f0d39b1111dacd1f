// Which project an idle slot asks for work: weighted fair queueing by virtual time. A project's virtual time
// is the core-seconds that it had over its share; the least is asked first, equal ones by key. What its slots
// hold already counts as if it were done, so that many slots that end together do not all run to the same
// project. A project that has nothing to give is passed over (work conserving) and may not save up for later:
// when it has work again it starts where the least of those are that had work meanwhile. Source: A. Demers,
// S. Keshav, S. Shenker, "Analysis and simulation of a fair queueing algorithm", SIGCOMM 1989; the start of
// those that return as min_vruntime of Linux's CFS. Pure. Cost: O(projects) each. Not thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gleaner::client_policy {

struct ProjectUse {
  double virtual_time = 0;  // seconds
  double recent = 0;        // core-seconds, each counting half as much for every half_life that went by
  bool contends = true;     // has work, as far as is known
};

struct ProjectClaim {
  std::string key;
  double share = 1;      // > 0
  double ahead = 0;      // core-seconds that the slots will take which it holds or is asked for
  bool askable = false;  // now
};

class ProjectShares {
 public:
  static constexpr double half_life = 86'400;  // seconds of computing, of all projects together

  // Known from now on; one that is new starts with those that have work.
  void join(const std::string& key);
  // Had `core_seconds` (>= 0) of this computer, at this share (> 0). REQUIRES, as all below: joined.
  void charge(const std::string& key, double core_seconds, double share);
  // Has work, as far as is known, or has none (or cannot be asked, or must not be).
  void set_contends(const std::string& key, bool contends);
  // Index of the one to ask; claims.size() if none can be asked.
  [[nodiscard]] std::size_t next(const std::vector<ProjectClaim>& claims) const;
  [[nodiscard]] double virtual_time(const std::string& key) const { return uses_.at(key).virtual_time; }
  // Of what all had of late, [0, 1]; 0 while nobody had anything.
  [[nodiscard]] double recent_part(const std::string& key) const;

  // To be kept over restarts, and what was kept.
  [[nodiscard]] const std::map<std::string, ProjectUse>& uses() const { return uses_; }
  void restore(std::map<std::string, ProjectUse> uses);

 private:
  void raise_start();
  std::map<std::string, ProjectUse> uses_;
  double start_ = 0;  // of those that return: never goes back
};

}  // namespace gleaner::client_policy
