#include "server/service/core/load_model.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/service/core/dispatch_terms.h"
#include "server/service/core/flows.h"
#include "server/service/core/put_out.h"
#include "server/service/core/read_ahead.h"
#include "server/service/core/relay_rows.h"
#include "server/service/core/revocations.h"
#include "server/service/core/stage_waste.h"
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
    model.project->dispatch().apply(policy::ProblemEvent{row.id, terms_of(problem), row.service}, now);
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
  model.project->dispatch().apply(policy::HostEvent{host.row.id, terms_of(model, host, now)}, now);
}

// What there may be a million of.
Status load_many(storage::Store& store, const std::vector<storage::ProblemRow>& problems,
                 const Settings& settings, Timestamp now, Model& model) {
  ReadAhead rows(store, problems);
  TRY_ASSIGN(auto stages, rows.stages());
  for (auto& [problem, stored] : stages)
    restore_stage(std::move(stored), settings, now, model.problems.at(problem), model);
  for (auto hosts = rows.next_hosts(); !hosts.empty(); hosts = rows.next_hosts())
    for (auto& row : hosts) load_host(std::move(row), now, model);
  for (auto& [id, problem] : model.problems)
    if (problem.stage) admit_relays(model, *problem.stage, now);
  TRY_ASSIGN(const auto standings, rows.standings());
  for (const auto& row : standings) model.project->restore(row.host, row.application, row.standing);
  return {};
}

std::unique_ptr<policy::Project> make_project(Model& model, io::Files& files, const Settings& settings) {
  const Configuration& configuration = settings.configuration;
  policy::LogSink sink;
  if (configuration.decisions_megabytes > 0) {
    model.log = std::make_shared<DecisionLog>(files, settings.directory.decisions(),
                                              configuration.decisions_megabytes << 20);
    sink = sink_of(model.log);
  }
  return std::make_unique<policy::Project>(
      policy::PlanRules{static_cast<double>(configuration.heartbeat_seconds),
                        configuration.unit_maximum_seconds},
      std::move(sink), settings.relay.valid() ? policy::Rule::hosts : policy::Rule::everything);
}

}  // namespace

Result<Model> load_model(storage::Store& store, io::Files& files, const Settings& settings, Timestamp now) {
  Model model;
  model.origin = settings.make_origin();
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
  TRY(load_many(store, problems, settings, now, model));
  TRY(load_put_out(store, model));
  TRY(load_flows(store, model));
  TRY(model.origin->load(store, model, now));
  return model;
}

}  // namespace gleaner::service
