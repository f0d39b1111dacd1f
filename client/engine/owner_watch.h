// Watches what the owner does with this computer: reads the activity monitor often enough, and has
// client/policy/owner.h judge what it means for computing. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "client/engine/services.h"
#include "client/policy/owner.h"

namespace gleaner::engine {

class OwnerWatch {
 public:
  explicit OwnerWatch(host::ActivityMonitor* activity) : monitor_(activity) {}

  // From now on; what was seen before counts anew. `programs`: beside which nothing is computed.
  void set(const client_policy::OwnerRules& rules, const std::vector<std::string>& programs);

  struct Hands {
    bool kernels = false;  // some compute, or would if the owner did not mind
    bool units = false;    // there is something that could be computed
  };
  // What stands against computing. `alarm`: when to look again.
  [[nodiscard]] std::vector<client_policy::Signal> look(const Hands& hands, SteadyTime now, Alarm& alarm);
  // Did somebody come since? Then look() again, before anything else.
  [[nodiscard]] bool touched() const { return monitor_ != nullptr && monitor_->touched(); }
  // Readable ones mean the same.
  [[nodiscard]] std::vector<io::Waitable> waitables() const;

  // As seen last. In words:
  [[nodiscard]] const std::vector<std::string>& details() const { return seen_.details; }
  // Why nothing may be fetched or delivered; empty: it may.
  // Of the hottest sensor that is believed; nothing: there is none.
  [[nodiscard]] std::optional<double> celsius() const { return seen_.celsius; }
  // Why nothing may be fetched or delivered; empty: it may.
  [[nodiscard]] const std::string& no_network() const { return seen_.no_network; }
  // "18:30": the time so long from now; empty without a monitor, and where a day of the week does not say it.
  [[nodiscard]] std::string time_in(Duration ahead) const;
  [[nodiscard]] bool before_sleep() const { return seen_.before_sleep; }

 private:
  host::ActivityMonitor* monitor_;  // none: nobody but the settings is asked
  client_policy::OwnerRules rules_;
  client_policy::OwnerPolicy policy_;
  client_policy::OwnerVerdict seen_;
};

}  // namespace gleaner::engine
