#include "server/relay/leases/upstream_stage.h"

#include <fmt/format.h>

#include <utility>

#include "server/service/core/read_ahead.h"
#include "server/service/core/relay_rows.h"
#include "server/service/core/stage_changes.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/trust.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// The application of the grant, which is here from now on.
Result<ApplicationId> take_application(Transaction& tx, const LeasedStage& stage,
                                       const protocol::Grant& grant) {
  TRY_ASSIGN(const auto statement,
             protocol::decode<protocol::ApplicationStatement>(grant.application.payload));
  for (const auto& [id, application] : tx.model.applications)
    if (application.row.archive == statement.archive) return id;
  TRY_ASSIGN(const auto signer, protocol::decode<protocol::KeyCertificate>(grant.signer.payload));
  Application application;
  application.manifest = stage.manifest;
  application.signer_name = signer.name;
  application.signer_expires = signer.not_after;
  auto& row = application.row;
  row.name = statement.name;
  row.version = statement.version;
  row.archive = statement.archive;
  row.archive_bytes = statement.archive_bytes;
  row.title = stage.manifest.title;
  for (const auto& [platform, kernel] : stage.manifest.kernels) row.platforms.push_back(platform);
  row.statement = grant.application;
  row.signer = grant.signer;
  row.added_at = tx.now;
  TRY_ASSIGN(row.id, tx.store.add_application(row));
  TRY(tx.store.set_value(manifest_value(row.archive), stage.description.manifest));
  const ApplicationId id = row.id;
  tx.model.applications[id] = std::move(application);
  return id;
}

Status take_problem(Transaction& tx, const LeasedStage& stage, const protocol::Grant& grant) {
  TRY_ASSIGN(const ApplicationId application, take_application(tx, stage, grant));
  const auto& description = stage.description;
  Problem& problem = tx.model.problems[grant.problem];
  const bool known = problem.row.id.valid();
  problem.row.id = grant.problem;
  problem.row.name = description.name;
  problem.row.application = application;
  // How the project hands its items out is no rule for who has few of them at a time.
  problem.row.strategy = Configuration{}.strategy;
  problem.row.weight = description.weight;
  problem.row.priority = description.priority;
  problem.row.commit_seconds = grant.commit_seconds;
  problem.row.state = protocol::ProblemState::running;
  problem.manifest = stage.manifest;
  const auto& its = tx.model.applications.at(application).row;
  problem.application_name = its.name + "@" + its.version;
  if (known) return tx.store.update_problem(problem.row);
  problem.row.created_at = problem.row.started_at = tx.now;
  TRY(tx.store.add_problem(problem.row));
  return {};
}

// Rows were appended to it: what its hosts hold stays.
Status extend_leased_stage(Transaction& tx, Problem& problem, std::int64_t items) {
  problem.stage_row.items = items;
  TRY(tx.store.put_stage(problem.stage_row));
  problem.saved = {};
  TRY_ASSIGN(auto stored, read_stage(tx.store, problem.stage_row));
  restore_stage(std::move(stored), tx.settings, tx.now, problem, tx.model);
  upstream_of(tx.model).relays.at(problem.row.id).follow(*problem.stage);
  return restore_audits(tx, problem);
}

}  // namespace

Result<bool> begin_leased_stage(Transaction& tx, const LeasedStage& stage, const protocol::Grant& grant) {
  const auto found = tx.model.problems.find(grant.problem);
  const bool known = found != tx.model.problems.end();
  if (known && found->second.row.stage > grant.stage) return false;
  if (known && found->second.stage != nullptr && found->second.row.stage == grant.stage) {
    if (grant.range.end <= found->second.stage_row.items) return true;
    if (!found->second.stage_row.costs.empty()) return false;
    TRY(extend_leased_stage(tx, found->second, grant.range.end));
    return true;
  }
  Upstream& upstream = upstream_of(tx.model);
  if (known && found->second.stage != nullptr) {
    TRY(close_units(tx, found->second));
    upstream.relays.erase(grant.problem);
    found->second.stage = nullptr;
  }
  for (const auto& [segment, owed] : upstream.owed)
    if (owed.row.problem == grant.problem && owed.row.stage != grant.stage) upstream.to_send.insert(segment);
  TRY(take_problem(tx, stage, grant));
  Problem& problem = tx.model.problems.at(grant.problem);
  PlannedStage planned;
  planned.row.stage = grant.stage;
  planned.row.items = stage.description.items;
  planned.row.costs = stage.costs;
  TRY(begin_stage(tx, problem, std::move(planned)));
  upstream.relays.try_emplace(grant.problem, *problem.stage, policy::RelayRules{});
  return true;
}

}  // namespace gleaner::service
