#include "server/service/model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/policy/strategies.h"
#include "server/service/describe.h"
#include "server/service/dispatch.h"
#include "server/service/put_out.h"
#include "server/service/read_ahead.h"
#include "server/service/revocations.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

Status load_application(const storage::ApplicationRow& row, io::Files& files, const Settings& settings,
                        storage::Store& store, Model& model) {
  Application application;
  application.row = row;
  if (settings.relay.valid()) {
    TRY_ASSIGN(const auto text, store.get_value(manifest_value(row.archive)));
    TRY_ASSIGN(application.manifest, bundle::parse_manifest(text.value_or(""), row.name));
  } else {
    const auto path = settings.directory.bundle(row.archive) / "manifest.toml";
    TRY_ASSIGN(const Bytes text, files.read(path, limits::parameters_bytes_max));
    TRY_ASSIGN(application.manifest, bundle::parse_manifest(text, path.string()));
  }
  TRY_ASSIGN(const auto certificate, protocol::decode<protocol::KeyCertificate>(row.signer.payload));
  application.signer_name = certificate.name;
  application.signer_expires = certificate.not_after;
  model.applications[row.id] = std::move(application);
  return {};
}

// By all stages before that one.
Result<double> wasted_before(storage::Store& store, const storage::StageRow& present) {
  double wasted = 0;
  std::optional<storage::StageRow> last;
  const auto follow = [&](const storage::StageRow& next) {
    if (last) wasted = wasted_after(wasted, *last, next.done_before);
  };
  for (int stage = 0; stage < present.stage; ++stage) {
    TRY_ASSIGN(auto row, store.stage(present.problem, stage));
    if (!row) continue;  // of an early server; what it wasted is not known
    follow(*row);
    last = std::move(row);
  }
  follow(present);
  return wasted;
}

// Without what its present stage is restored from.
Status load_problem(storage::Store& store, const storage::ProblemRow& row, Timestamp now, Model& model) {
  Problem& problem = model.problems[row.id];
  problem.row = row;
  problem.parameters_digest = crypto::sha256_hex(row.parameters);
  const auto application = model.applications.find(row.application);
  if (application == model.applications.end())
    return Error{ErrorKind::invalid,
                 "problem " + row.name + " names an application that the store does not have"};
  problem.manifest = application->second.manifest;
  problem.application_name = application->second.row.name + "@" + application->second.row.version;
  TRY_ASSIGN(problem.recent_failures, store.failures(row.id));  // newest first
  if (problem.recent_failures.size() > recent_failures_max)
    problem.recent_failures.resize(recent_failures_max);
  std::reverse(problem.recent_failures.begin(), problem.recent_failures.end());
  TRY_ASSIGN(const auto verdicts, store.verdicts(row.id));
  problem.disagreements =
      std::count_if(verdicts.begin(), verdicts.end(), [](const auto& v) { return v.note == dispute_note; });

  if (!over(row.state)) {
    model.project->put_problem(row.id, facts_of(problem));
    model.project->dispatch().put_problem(row.id, terms_of(problem), now, row.service);
  }
  TRY_ASSIGN(auto stage_row, store.stage(row.id, row.stage));
  if (!stage_row) return {};  // not planned yet
  problem.stage_row = std::move(*stage_row);
  TRY_ASSIGN(problem.wasted_before, wasted_before(store, problem.stage_row));
  if (row.state == protocol::ProblemState::cancelled || row.state == protocol::ProblemState::failed) {
    TRY_ASSIGN(const auto accepted, store.accepted(row.id, row.stage));
    for (const auto& piece : accepted) problem.accepted_at_end += piece.range.size();
  }
  return {};
}

// At a start, once the hosts are read, too.
void admit_relays(const Model& model, policy::RecordedStage& stage, Timestamp now) {
  for (const HostId relay : model.index.relays().relays()) stage.admit_relay(relay, now);
}

void load_host(storage::HostRow&& row, Timestamp now, Model& model) {
  Host& host = model.hosts[row.id];
  host.row = std::move(row);
  model.items_accepted += host.row.items_accepted;
  host.stored_contact = host.row.last_contact;
  model.index.put(host.row);
  tell_project(model, host.row);
  if (host.row.state != protocol::HostState::active) return;
  model.contacts.heard({}, host.row.last_contact, now);
  if (host.row.relay != HostId{}) return;  // its relay asks for it
  model.project->dispatch().put_host(host.row.id, terms_of(model, host, now), now);
}

// What there may be a million of.
Status load_many(storage::Store& store, const std::vector<storage::ProblemRow>& problems, io::Files& files,
                 const Settings& settings, Timestamp now, Model& model) {
  ReadAhead rows(store, problems);
  TRY_ASSIGN(const auto stages, rows.stages());
  for (const auto& [problem, stored] : stages)
    TRY(restore_stage(stored, settings, now, model.problems.at(problem), model, &files));
  for (auto hosts = rows.next_hosts(); !hosts.empty(); hosts = rows.next_hosts())
    for (auto& row : hosts) load_host(std::move(row), now, model);
  for (auto& [id, problem] : model.problems)
    if (problem.stage) admit_relays(model, *problem.stage, now);
  TRY_ASSIGN(const auto standings, rows.standings());
  for (const auto& row : standings) model.project->restore(row.host, row.application, row.standing);
  return {};
}

bool works_for(const Model& model, const Host& host, ProblemId problem) {
  return std::any_of(host.units.begin(), host.units.end(), [&](UnitId unit) {
    const auto place = model.open_units.find(unit);
    return place != model.open_units.end() && place->second == problem;
  });
}

policy::LogSink sink_of(std::shared_ptr<DecisionLog> log) {
  return {[log](const std::string& line) { log->line(line); },
          [log](std::size_t bytes) { return log->has_room(bytes); }};
}

std::unique_ptr<policy::Project> make_project(Model& model, io::Files& files, const Settings& settings) {
  const Configuration& configuration = settings.configuration;
  policy::RecordedStage::Sink sink;
  if (configuration.decisions_megabytes > 0) {
    model.log = std::make_shared<DecisionLog>(settings.directory.decisions(),
                                              configuration.decisions_megabytes << 20);
    model.log->open(files);
    sink = sink_of(model.log);
  }
  return std::make_unique<policy::Project>(
      policy::PlanRules{static_cast<double>(configuration.heartbeat_seconds),
                        configuration.unit_maximum_seconds},
      std::move(sink), settings.relay.valid() ? policy::Rule::hosts : policy::Rule::everything);
}

}  // namespace

Status restore_stage(const policy::RestoreEvent& stored, const Settings& settings, Timestamp now,
                     Problem& problem, Model& model, io::Files* files) {
  const auto& row = problem.row;
  policy::LogSink log = open_log(problem, settings);
  if (problem.log && files != nullptr) problem.log->open(*files);
  problem.stage = &model.project->dispatch().restore_stage(row.id, stage_setup(problem, settings), stored,
                                                           now, std::move(log));
  if (problem.stage_row.enough) {
    policy::Changes changes;
    problem.stage->enough(now, changes);
  }
  admit_relays(model, *problem.stage, now);
  for (const auto& unit : stored.units) open_unit(model, unit.id, unit.host, row.id);
  for (const auto& record : stored.hosts)
    if (record.items_accepted > 0) model.project->has_delivered(record.host, row.application);
  return {};
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

policy::RecordedStage::Sink open_log(Problem& problem, const Settings& settings) {
  problem.log.reset();
  if (settings.configuration.decisions_megabytes <= 0) return {};
  problem.log = std::make_shared<DecisionLog>(settings.directory.decisions(problem.row.id) /
                                                  ("stage-" + std::to_string(problem.row.stage) + ".jsonl"),
                                              settings.configuration.decisions_megabytes << 20);
  return sink_of(problem.log);
}

Result<Model> load_model(storage::Store& store, io::Files& files, const Settings& settings, Timestamp now) {
  Model model;
  model.project = make_project(model, files, settings);
  TRY_ASSIGN(const auto codes, store.codes());
  for (const auto& row : codes) model.codes[row.name] = row;
  TRY_ASSIGN(const auto tokens, store.tokens());
  for (const auto& row : tokens) model.admin_tokens[row.name] = row;
  TRY_ASSIGN(const auto bans, store.bans());
  for (const auto& ban : bans) model.bans[{ban.kind, ban.subject}] = ban;
  TRY_ASSIGN(const auto audit_key, store.get_value("audit_key"));
  model.audit_key = audit_key.value_or("");
  TRY_ASSIGN(model.revocations, stored_revocations(store));
  TRY_ASSIGN(const auto applications, store.applications());
  for (const auto& row : applications) TRY(load_application(row, files, settings, store, model));
  TRY_ASSIGN(const auto problems, store.problems());
  for (const auto& row : problems) TRY(load_problem(store, row, now, model));
  TRY(load_many(store, problems, files, settings, now, model));
  TRY(load_put_out(store, model));
  if (!settings.relay.valid()) return model;
  model.upstream = std::make_unique<Upstream>();
  TRY(load_upstream(store, model, now - std::chrono::hours{1}));
  return model;
}

void tell_project(Model& model, const storage::HostRow& row) {
  using Place = policy::HostFacts::Place;
  const auto code = model.codes.find(row.code);
  const bool given = code != model.codes.end() && code->second.hosts_max > 0;
  const Place there = row.relay == HostId{} ? Place::here : Place::under_relay;
  model.project->put_host(row.id, {row.state == protocol::HostState::active ? there : Place::gone, row.own,
                                   row.last_contact, given ? row.code : "", row.network});
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
