// How much of this computer each project has used and holds, and which project is asked next
// (project_shares.h). Kept across restarts. Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/engine/memberships.h"
#include "client/policy/project_shares.h"
#include "client/state/days.h"

namespace gleaner::engine {

class ProjectAccounts {
 public:
  ProjectAccounts(Services& services, const Memberships& projects)
      : services_(services), projects_(projects) {}

  // Call once, first.
  void open(SteadyTime now);
  // Charges what was computed since the last call. Saves now and then.
  void charge(SteadyTime now);
  // What this computer contributed, day by day.
  [[nodiscard]] const state::Days& days() const { return days_; }
  void save(SteadyTime now);

  // Hands the slots that want a unit out to projects, one after the other.
  class Round {
   public:
    Round(const ProjectAccounts& accounts, SteadyTime now);
    // Index of the project to ask for a slot's next unit; nothing if none can be asked. `urgent`: it is idle.
    [[nodiscard]] std::optional<std::size_t> next(bool urgent);

   private:
    const ProjectAccounts& accounts_;
    SteadyTime now_;
    std::vector<client_policy::ProjectClaim> claims_;
  };
  [[nodiscard]] double virtual_time(const Membership& project) const {
    return shares_.virtual_time(project.names().key);
  }
  // Of what all had of late, [0, 1].
  [[nodiscard]] double recent_part(const Membership& project) const;

 private:
  [[nodiscard]] double unit_seconds(const Membership& project) const;
  [[nodiscard]] double ahead(const Membership& project) const;
  [[nodiscard]] double take_used(Membership& project);
  void save_days(SteadyTime now);

  Services& services_;
  const Memberships& projects_;
  client_policy::ProjectShares shares_;
  std::map<std::string, double> unit_seconds_;  // core-seconds of a project's units, recent mean
  state::Days days_;
  SteadyTime saved_{}, days_saved_{};
};

}  // namespace gleaner::engine
