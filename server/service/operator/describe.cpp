#include "server/service/operator/describe.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "server/service/core/copies.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/core/flows.h"
#include "server/service/core/stage_waste.h"
#include "server/service/core/waiting.h"
#include "server/service/operator/error_groups.h"
#include "server/service/operator/fleet_now.h"
#include "server/service/work/failures.h"

namespace gleaner::service {
namespace {

constexpr std::size_t failures_shown_max = 20;

int hosts_at_work(const Model& model, ProblemId problem) {
  const auto count = model.hosts_at_work.find(problem);
  return count == model.hosts_at_work.end() ? 0 : count->second;
}

// How much is done, and when it will be. Of a problem that waits, its last pace says nothing.
void look_ahead(protocol::ProblemInfo& info, const Problem& problem, Timestamp now) {
  const auto& stage = problem.stage_row;
  const bool finished = info.state == protocol::ProblemState::finished;
  // Of one that was ended before, only the number of its items is known still.
  const double accepted = problem.stage || info.items == 0 ? info.cost_accepted
                                                           : info.cost * static_cast<double>(info.accepted) /
                                                                 static_cast<double>(info.items);
  info.done = finished ? 1 : policy::done_of(stage.done_before, accepted, info.cost, stage.cost_ahead);
  const bool goes_on = info.state == protocol::ProblemState::running && info.waits.empty();
  const auto end =
      !goes_on
          ? policy::Forecast{}
          : policy::forecast(problem.pace, info.cost - info.cost_accepted + stage.cost_ahead, info.rate, now);
  info.eta_seconds = finished ? 0 : end.seconds;
  info.eta_low_seconds = end.low;
  info.eta_high_seconds = end.high;
}

// What was computed for nothing, of all that was computed.
double wasted_part(const protocol::ProblemInfo& info, const Problem& problem) {
  const auto& stage = problem.stage_row;
  const double wasted = problem.wasted_before +
                        policy::waste_of(stage.done_before, info.wasted_cost, info.cost, stage.cost_ahead);
  return wasted > 0 ? wasted / (wasted + info.done) : 0;
}

// As described, with who is at it, or what it waits for; only that asks what the fleet does, once for all
// problems.
protocol::ProblemInfo describe_at_work(const Model& model, const Problem& problem,
                                       std::optional<FleetNow>& fleet, Timestamp now) {
  auto info = describe(problem, now);
  info.hosts = hosts_at_work(model, info.id);
  info.flow = flow_of(model, info.name);
  const bool computes = info.hosts > 0 && info.accepted < info.items;
  if (!info.waits.empty() || computes || info.state != protocol::ProblemState::running) return info;
  if (!fleet) fleet = fleet_now(model, now);
  info.waits = waits_for(model, problem, *fleet, now);
  look_ahead(info, problem, now);
  return info;
}

}  // namespace

std::vector<protocol::ProblemInfo> describe_problems(const Model& model, Timestamp now) {
  std::optional<FleetNow> fleet;
  std::vector<protocol::ProblemInfo> all;
  for (const auto& [id, problem] : model.problems)
    all.push_back(describe_at_work(model, problem, fleet, now));
  return all;
}

protocol::ProblemInfo describe(const Problem& problem, Timestamp now) {
  const auto& row = problem.row;
  protocol::ProblemInfo info;
  info.id = row.id;
  info.name = row.name;
  info.application = problem.application_name;
  info.state = is_stopped(problem) ? protocol::ProblemState::stopped : row.state;
  if (row.message.starts_with(waiting_mark))
    info.waits = row.message.substr(waiting_mark.size());
  else
    info.message = row.message;
  info.strategy = row.strategy;
  info.straggler = policy::name_of(row.straggler);
  info.weight = row.weight;
  info.priority = row.priority;
  info.validation = row.validation;
  info.stage = row.stage;
  info.stage_name = problem.stage_row.name;
  info.items = problem.stage_row.items;
  info.disagreements = problem.disagreements;
  info.created_at = row.created_at;
  info.started_at = row.started_at;
  info.finished_at = row.finished_at;
  if (row.started_at != Timestamp{})
    info.elapsed_seconds =
        std::max(0.0, to_seconds((row.finished_at != Timestamp{} ? row.finished_at : now) - row.started_at));
  if (problem.stage) {
    const auto counts = problem.stage->view().counts(now);
    info.accepted = counts.accepted;
    info.free = counts.free;
    info.handed_out = counts.handed_out;
    info.cost = counts.cost;
    info.cost_accepted = counts.cost_accepted;
    info.rate = counts.rate;
    info.units = counts.units;
    info.open_units = counts.open_units;
    info.splits = counts.splits;
    info.recovered = counts.recovered;
    info.duplicates = counts.copies;
    info.wasted_cost = counts.cost_wasted;
  } else {
    const auto& stage = problem.stage_row;
    info.cost = total_cost(stage);
    if (row.state == protocol::ProblemState::finished) {
      info.accepted = stage.items;
      info.cost_accepted = info.cost;
    }
    if (row.state == protocol::ProblemState::cancelled || row.state == protocol::ProblemState::failed)
      info.accepted = problem.accepted_at_end;
    info.units = stage.units;
    info.splits = stage.splits;
    info.recovered = stage.recovered;
    info.duplicates = stage.copies;
    info.wasted_cost = stage.cost_wasted;
  }
  look_ahead(info, problem, now);
  info.wasted = wasted_part(info, problem);
  return info;
}

namespace {

protocol::HostShare describe(const Transaction& tx, const policy::HostRecord& record) {
  protocol::HostShare share;
  share.host = record.host;
  if (const auto host = tx.model.hosts.find(record.host); host != tx.model.hosts.end()) {
    share.name = host->second.row.name;
    share.last_contact_seconds = std::max(0.0, to_seconds(tx.now - host->second.row.last_contact));
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
  return share;
}

// In order of their ids.
std::vector<protocol::HostShare> shares_of(const Transaction& tx,
                                           std::vector<const policy::HostRecord*> records,
                                           std::ptrdiff_t shares_max) {
  const auto did = [](const policy::HostRecord* record) {
    return record->cost_accepted + record->cost_wasted;
  };
  if (std::ssize(records) > shares_max) {
    std::nth_element(records.begin(), records.begin() + shares_max, records.end(),
                     [&](const auto* a, const auto* b) { return did(a) > did(b); });
    records.resize(static_cast<std::size_t>(shares_max));
    std::sort(records.begin(), records.end(), [](const auto* a, const auto* b) { return a->host < b->host; });
  }
  std::vector<protocol::HostShare> shares;
  for (const policy::HostRecord* record : records) shares.push_back(describe(tx, *record));
  return shares;
}

}  // namespace

Result<protocol::ProblemInfo> describe_fully(Transaction& tx, const Problem& problem,
                                             std::ptrdiff_t shares_max) {
  std::optional<FleetNow> fleet;
  protocol::ProblemInfo info = describe_at_work(tx.model, problem, fleet, tx.now);
  info.needs = needs_text(tx.model, problem, tx.now);
  std::vector<policy::HostRecord> stored;
  std::vector<const policy::HostRecord*> records;
  if (problem.stage) {
    records = problem.stage->view().hosts();
  } else {
    TRY_ASSIGN(stored, tx.store.host_records(problem.row.id, problem.row.stage));
    for (const auto& record : stored) records.push_back(&record);
  }
  info.shares_total = static_cast<std::int64_t>(records.size());
  info.shares = shares_of(tx, std::move(records), shares_max);
  TRY_ASSIGN(info.results, tx.store.results(problem.row.id));
  info.errors = group_errors(tx.model, problem);
  const auto& failures = problem.recent_failures;
  for (const Range range : problem.stage_row.set_aside) {
    const auto last = std::find_if(failures.rbegin(), failures.rend(),
                                   [&](const auto& failure) { return range.contains(failure.item); });
    info.set_aside.push_back(
        {UnitId{}, range, last == failures.rend() ? "set aside" : "set aside; last: " + last->message});
  }
  const std::size_t first = failures.size() > failures_shown_max ? failures.size() - failures_shown_max : 0;
  for (std::size_t i = first; i < failures.size(); ++i) {
    info.set_aside.push_back({failures[i].unit,
                              {failures[i].item, failures[i].item + 1},
                              std::string(protocol::name_of(failures[i].kind)) + " on host " +
                                  std::to_string(failures[i].host.value) + ": " + failures[i].message});
  }
  return info;
}

Error no_problem(ProblemId id) {
  return {ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
}

Error no_host(HostId id) {
  return {ErrorKind::not_found, "no host " + std::to_string(id.value) + " here"};
}

protocol::HostInfo describe(const Model& model, const Host& host, Timestamp now) {
  const auto& row = host.row;
  protocol::HostInfo info;
  info.id = row.id;
  info.name = row.name;
  info.state = row.state;
  info.platform = row.platform;
  info.cores = row.cores;
  info.memory_bytes = row.memory_bytes;
  info.client_version = row.client_version;
  info.mflops = row.mflops;
  if (row.speeds != protocol::HostSpeeds{}) info.speeds = row.speeds;
  info.items_accepted = row.items_accepted;
  info.cost_accepted = row.cost_accepted;
  info.failures = row.health.failures;
  info.disagreements = row.disagreements;
  info.enrolled_at = row.enrolled_at;
  info.last_contact = row.last_contact;
  info.open_units = static_cast<int>(host.units.size());
  info.state_reason = row.state_reason;
  info.code = row.code;
  info.tags = row.tags;
  info.on_hold = row.on_hold;
  if (row.relay != HostId{}) info.relay = row.relay;
  info.item = host.item;
  if (host.cores_offered > 0) info.cores_lent = host.lent_cores();
  if (host.memory_offered > 0) info.memory_lent = host.memory_offered;
  info.readings = host.readings;
  info.cpu_day = host.day.percents(now);
  info.capabilities = host.capabilities;
  for (const auto& [id, application] : model.applications) {
    const double right = model.project->reputation().reliability(row.id, id, now);
    if (info.trust < 0 || right < info.trust) info.trust = right;
  }
  if (std::string held = held_back(model, host, now); !held.empty()) info.state_reason = std::move(held);
  if (std::string copied = copied_text(model, host, now); !copied.empty())
    info.state_reason = std::move(copied);
  return info;
}

protocol::UnitInfo describe(const Model& model, const storage::Store::UnitPlace& place) {
  protocol::UnitInfo info;
  const auto problem = model.problems.find(place.problem);
  const policy::Unit* unit = &place.unit;
  if (problem != model.problems.end()) {
    info.problem_name = problem->second.row.name;
    // What an open one has done is newer in memory.
    if (problem->second.stage != nullptr && problem->second.row.stage == place.stage)
      if (const policy::Unit* live = problem->second.stage->view().unit(unit->id); live != nullptr)
        unit = live;
  }
  info.id = unit->id;
  info.problem = place.problem;
  info.stage = place.stage;
  info.slot = unit->slot;
  info.kind = policy::name_of(unit->kind);
  info.state = policy::name_of(unit->state);
  info.range = unit->range;
  info.delivered = std::max<std::int64_t>(0, unit->committed - unit->range.begin);
  info.running_seconds = unit->running_seconds;
  info.issued = unit->issued;
  info.closed = unit->state == policy::UnitState::open ? Timestamp{} : unit->closed;
  info.reason = unit->reason;
  return info;
}

protocol::ApplicationInfo describe(const Application& application) {
  const auto& row = application.row;
  return {row.name,
          row.version,
          row.title,
          row.archive,
          row.archive_bytes,
          row.platforms,
          application.signer_name,
          row.added_at,
          {},
          {},
          application.signer_expires,
          application.manifest.needs};
}

protocol::ApplicationInfo describe_with_form(const Application& application) {
  auto info = describe(application);
  for (const auto& each : application.manifest.form->parameters)
    info.parameters.push_back({each.name, name_of(each.type), each.meaning, each.default_value, each.required,
                               each.low, each.high, each.length, each.choices});
  for (const auto& each : application.manifest.form->inputs)
    info.inputs.push_back({each.name, each.meaning, each.required});
  return info;
}

}  // namespace gleaner::service
