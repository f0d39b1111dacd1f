#include "server/service/core/model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/policy/strategies.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

bool works_for(const Model& model, const Host& host, ProblemId problem) {
  return std::any_of(host.units.begin(), host.units.end(), [&](UnitId unit) {
    const auto place = model.open_units.find(unit);
    return place != model.open_units.end() && place->second == problem;
  });
}

}  // namespace

void admit_relays(const Model& model, policy::RecordedStage& stage, Timestamp now) {
  for (const HostId relay : model.index.relays().relays()) stage.apply(policy::AdmitRelayEvent{relay}, now);
}

void restore_stage(policy::RestoreEvent stored, const Settings& settings, Timestamp now, Problem& problem,
                   Model& model) {
  const auto& row = problem.row;
  const policy::BeginStageEvent event{row.id, stage_setup(problem, settings), std::move(stored)};
  problem.stage = &model.project->dispatch().apply(event, now);
  if (problem.stage_row.enough) {
    policy::Changes changes;
    problem.stage->apply(policy::EnoughEvent{}, now, changes);
  }
  admit_relays(model, *problem.stage, now);
  for (const auto& unit : event.stored->units) open_unit(model, unit.id, unit.host, row.id);
  for (const auto& record : event.stored->hosts)
    if (record.items_accepted > 0) model.project->has_delivered(record.host, row.application);
}

bool over(protocol::ProblemState state) {
  return state == protocol::ProblemState::finished || state == protocol::ProblemState::cancelled ||
         state == protocol::ProblemState::failed;
}

policy::EndgameRules endgame_rules(const Configuration& configuration) {
  policy::EndgameRules rules;
  rules.heartbeat = static_cast<double>(configuration.heartbeat_seconds);
  rules.heartbeat_endgame = std::min(rules.heartbeat_endgame, rules.heartbeat);
  rules.unit_minimum = configuration.unit_minimum_seconds;
  rules.unit_maximum = std::max(configuration.unit_maximum_seconds, configuration.unit_minimum_seconds);
  rules.lease = static_cast<double>(configuration.lease_hours) * 3600;
  return rules;
}

policy::StageSetup stage_setup(const Problem& problem, const Settings& settings) {
  policy::StageSetup setup;
  setup.items = problem.stage_row.items;
  setup.costs = problem.stage_row.costs;
  setup.sizing = policy::sizing_of(problem.row.strategy);
  setup.straggler = problem.row.straggler;
  setup.commit_seconds = static_cast<double>(problem.row.commit_seconds);
  setup.may_split = problem.manifest.split;
  setup.rules = endgame_rules(settings.configuration);
  setup.elsewhere = settings.relay.valid();
  return setup;
}

void tell_project(Model& model, const storage::HostRow& row) {
  using Place = policy::HostFacts::Place;
  const auto code = model.codes.find(row.code);
  const bool given = code != model.codes.end() && code->second.hosts_max > 0;
  const bool active = row.state == protocol::HostState::active;
  const Place there = row.relay == HostId{} ? Place::here : Place::under_relay;
  // What a host that is gone had still in hand is a stranger's.
  model.project->put_host(row.id, {active ? there : Place::gone, active && row.own, row.last_contact,
                                   given ? row.code : "", row.network});
}

const Application* find_application(const Model& model, const std::string& text) {
  const auto at = text.find('@');
  const std::string name = text.substr(0, at);
  const std::string version = at == std::string::npos ? "" : text.substr(at + 1);
  const Application* application = nullptr;
  for (const auto& [id, known] : model.applications)
    if (known.row.name == name && (version.empty() || known.row.version == version)) application = &known;
  return application;
}

Error no_application(const std::string& text) {
  return {ErrorKind::not_found,
          "no application " + text + " here: see `gleaner-admin app list`, add one with `app add`"};
}

void open_unit(Model& model, UnitId unit, HostId host_id, ProblemId problem) {
  Host& host = model.hosts[host_id];
  if (model.open_units.contains(unit)) return;
  if (!works_for(model, host, problem)) ++model.hosts_at_work[problem];
  model.open_units.emplace(unit, problem);
  host.units.insert(unit);
}

void close_unit(Model& model, UnitId unit, HostId host_id) {
  const auto place = model.open_units.find(unit);
  if (place == model.open_units.end()) return;
  const ProblemId problem = place->second;
  Host& host = model.hosts[host_id];
  host.units.erase(unit);
  model.open_units.erase(place);
  if (works_for(model, host, problem)) return;
  const auto count = model.hosts_at_work.find(problem);
  if (--count->second == 0) model.hosts_at_work.erase(count);
}

ManagerSetup manager_setup(const Model& model, const Problem& problem) {
  const Application& application = model.applications.at(problem.row.application);
  return {problem.row.id, application.row.archive, application.manifest.manager, problem.row.parameters,
          problem.row.inputs};
}

Status store_changes(storage::Store& store, Model& model, Problem& problem, const policy::Changes& changes) {
  const int stage = problem.row.stage;
  for (const UnitId id : changes.units) {
    const policy::Unit* unit = problem.stage->view().unit(id);
    if (unit == nullptr) continue;
    TRY(store.put_unit(problem.row.id, stage, *unit));
    if (unit->state == policy::UnitState::open) {
      open_unit(model, id, unit->host, problem.row.id);
    } else {
      close_unit(model, id, unit->host);
    }
  }
  for (const HostId id : changes.hosts) {
    if (const policy::HostRecord* record = problem.stage->view().host(id); record != nullptr)
      TRY(store.put_host_record(problem.row.id, stage, *record));
  }
  for (const auto& decision : changes.decisions) TRY(store.add_decision({problem.row.id, stage, decision}));
  return {};
}

}  // namespace gleaner::service
