// What the console shows beyond the admin API's lists: the live view and its curves, out of the snapshot that
// all who look share (overview.h); the map of a problem's items, made on the writer at most once a second for
// all who look. Nobody's looking makes a decision wait longer than that. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "server/console/series.h"
#include "server/service/core/kernel.h"
#include "server/service/operator/flows.h"
#include "server/service/operator/host_pages.h"
#include "server/service/operator/notices.h"
#include "server/service/operator/overview.h"
#include "server/service/operator/recent_answers.h"
#include "server/service/operator/table_pages.h"
#include "shared/protocol/console_messages.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {

class Views {
 public:
  Views(Kernel& kernel, Overview& overview, Notices& notices);

  void live(Done<protocol::LiveView> done);
  void item_map(ProblemId id, Done<protocol::ItemMap> done);
  // What the problem needs of a host, and which hosts online have it (suitable_hosts.h); some seconds old.
  void problem_hosts(ProblemId id, Done<protocol::ProblemHosts> done);
  // The bottleneck of a relay, by the name that its code has; some seconds old. not_found.
  void relay_limit(const std::string& relay, Done<protocol::RelayLimit> done);
  [[nodiscard]] HostPages& host_pages() { return host_pages_; }
  [[nodiscard]] TablePages& table_pages() { return table_pages_; }
  [[nodiscard]] Flows& flows() { return flows_; }
  // The host's last units, the newest first. not_found.
  void host_units(HostId host, int count_max, Done<std::vector<protocol::UnitInfo>> done);
  void days(Done<std::vector<protocol::DayInfo>> done);
  void errors(Done<std::vector<protocol::ErrorGroup>> done);
  // As server.toml has them, by their full names.
  [[nodiscard]] std::vector<protocol::SettingInfo> settings() const;
  // Since the server started.
  [[nodiscard]] std::vector<protocol::OverviewSample> history() const;
  [[nodiscard]] std::vector<protocol::ProblemSample> history(ProblemId id) const;
  // The last of these samples.
  [[nodiscard]] protocol::OverviewSample newest() const;
  // Once a second; every few takes a sample, and looks whether there is something to tell (notices.h).
  void tick();

 private:
  void note(const ProjectSnapshot& snapshot);
  void log_warnings(const protocol::ServerStatus& status);

  Kernel& kernel_;
  Overview& overview_;
  Notices& notices_;
  HostPages host_pages_;
  TablePages table_pages_;
  Flows flows_;
  RecentAnswers<ProblemId, protocol::ItemMap> maps_;
  RecentAnswers<ProblemId, protocol::ProblemHosts> suitable_;
  RecentAnswers<std::string, protocol::RelayLimit> limits_;
  std::uint64_t ticks_ = 0;   // of the ticker's thread
  mutable std::mutex mutex_;  // of what follows
  console::Series<protocol::OverviewSample> samples_;
  std::map<ProblemId, console::Series<protocol::ProblemSample>> problem_samples_;
  protocol::OverviewSample newest_;
  std::int64_t items_accepted_ = 0;
  std::map<std::string, Timestamp> warned_;  // in the log, when
};

}  // namespace gleaner::service
