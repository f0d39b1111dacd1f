// What people see of a problem and of the server.
#include <algorithm>
#include <numeric>

#include "server/service/service.h"
#include "shared/base/version.h"

namespace gleaner::service {
namespace {

constexpr auto active_for = std::chrono::minutes{5};
constexpr auto certificate_warning = std::chrono::hours{24 * 30};
constexpr std::size_t failures_shown_max = 20;

double total_cost(const storage::StageRow& row) {
  if (row.costs.empty()) return static_cast<double>(row.items);
  return std::accumulate(row.costs.begin(), row.costs.end(), 0.0);
}

}  // namespace

protocol::ProblemInfo Service::describe(const Problem& problem) const {
  const auto& row = problem.row;
  protocol::ProblemInfo info;
  info.id = row.id;
  info.name = row.name;
  info.application = problem.application_name;
  info.state = row.state;
  info.message = row.message;
  info.strategy = row.strategy;
  info.straggler = policy::name_of(row.straggler);
  info.weight = row.weight;
  info.priority = row.priority;
  info.stage = row.stage;
  info.stage_name = problem.stage_row.name;
  info.items = problem.stage_row.items;
  info.disagreements = problem.disagreements;
  info.created_at = row.created_at;
  info.started_at = row.started_at;
  info.finished_at = row.finished_at;
  if (row.started_at != Timestamp{})
    info.elapsed_seconds = std::max(
        0.0, to_seconds((row.finished_at != Timestamp{} ? row.finished_at : now()) - row.started_at));
  if (problem.stage) {
    const auto counts = problem.stage->view().counts(now());
    info.accepted = counts.accepted;
    info.free = counts.free;
    info.handed_out = counts.handed_out;
    info.cost = counts.cost;
    info.cost_accepted = counts.cost_accepted;
    info.rate = counts.rate;
    info.eta_seconds = counts.remaining_seconds;
    info.units = counts.units;
    info.open_units = counts.open_units;
    info.splits = counts.splits;
    info.recovered = counts.recovered;
    info.duplicates = counts.copies;
    info.wasted_cost = counts.cost_wasted;
    std::set<HostId> hosts;
    for (const policy::Unit* unit : problem.stage->view().open_units()) hosts.insert(unit->host);
    info.hosts = static_cast<int>(hosts.size());
  } else {
    const auto& stage = problem.stage_row;
    info.cost = total_cost(stage);
    if (row.state == protocol::ProblemState::finished) {
      info.accepted = stage.items;
      info.cost_accepted = info.cost;
      info.eta_seconds = 0;
    }
    info.units = stage.units;
    info.splits = stage.splits;
    info.recovered = stage.recovered;
    info.duplicates = stage.copies;
    info.wasted_cost = stage.cost_wasted;
  }
  return info;
}

Result<protocol::ProblemInfo> Service::describe_fully(const Problem& problem) {
  protocol::ProblemInfo info = describe(problem);
  std::vector<policy::HostRecord> records;
  if (problem.stage) {
    for (const policy::HostRecord* record : problem.stage->view().hosts()) records.push_back(*record);
  } else {
    TRY_ASSIGN(records, store_->host_records(problem.row.id, problem.row.stage));
  }
  for (const auto& record : records) {
    protocol::HostShare share;
    share.host = record.host;
    if (const auto host = model_.hosts.find(record.host); host != model_.hosts.end()) {
      share.name = host->second.row.name;
      share.last_contact_seconds = std::max(0.0, to_seconds(now() - host->second.row.last_contact));
    }
    share.requests = record.requests;
    share.units = record.units;
    share.items = record.items_accepted;
    share.cost = record.cost_accepted;
    share.wasted_cost = record.cost_wasted;
    share.rate = record.rate * std::max(1, record.slots);
    share.busy_seconds = record.busy_seconds;
    share.splits = record.cuts;
    share.duplicates = record.copies;
    info.shares.push_back(std::move(share));
  }
  TRY_ASSIGN(info.results, store_->results(problem.row.id));
  for (const Range range : problem.stage_row.set_aside)
    info.set_aside.push_back({UnitId{}, range, "set aside"});
  const auto& failures = problem.recent_failures;
  const std::size_t first = failures.size() > failures_shown_max ? failures.size() - failures_shown_max : 0;
  for (std::size_t i = first; i < failures.size(); ++i) {
    info.set_aside.push_back({failures[i].unit,
                              {failures[i].item, failures[i].item + 1},
                              std::string(protocol::name_of(failures[i].kind)) + " on host " +
                                  std::to_string(failures[i].host.value) + ": " + failures[i].message});
  }
  return info;
}

void Service::status(Done<protocol::ServerStatus> done) {
  decide<protocol::ServerStatus>(
      [this](Result<protocol::ServerStatus>& result) -> Status {
        protocol::ServerStatus status;
        status.project = secrets_.project;
        status.name = configuration_.name;
        status.server_version = version_text;
        status.join_code = protocol::to_text(join_code(configuration_, secrets_, port_));
        status.started_at = started_at_;
        status.now = now();
        for (const auto& [id, host] : model_.hosts) {
          if (host.row.state != protocol::HostState::active) continue;
          ++status.hosts;
          if (status.now - host.row.last_contact < active_for) ++status.hosts_active;
          status.open_units += static_cast<std::int64_t>(host.units.size());
        }
        for (const auto& [id, problem] : model_.problems)
          if (problem.row.finished_at == Timestamp{}) ++status.problems_open;
        status.work_certificate_expires = secrets_.work_certificate_expires;
        if (status.work_certificate_expires - status.now < certificate_warning)
          status.warnings.push_back(
              "the work key's certificate runs out on " + to_rfc3339(status.work_certificate_expires) +
              ": certify it again with `gleaner-admin keys work` and the offline root key");
        const auto free = dependencies_.files.free_bytes(directory_.root());
        if (free.ok() && *free < 2 * configuration_.disk_reserve_megabytes * (1 << 20))
          status.warnings.push_back("the disk under " + directory_.root().string() + " is nearly full");
        result = std::move(status);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
