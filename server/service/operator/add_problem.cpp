// How a problem comes to be: a number and a name are reserved (in memory), its manager plans stage 0 on the
// pool, and both the problem and its stage are stored in one transaction. If anything fails, or the server
// ends meanwhile, there is no trace of it.
#include <algorithm>
#include <cmath>

#include "server/policy/strategies.h"
#include "server/policy/trust/validation.h"
#include "server/service/core/certified.h"
#include "server/service/core/lost_blobs.h"
#include "server/service/operator/applications.h"
#include "server/service/operator/describe.h"
#include "server/service/operator/problems.h"
#include "server/service/work/application_form.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/revocation_watch.h"
#include "server/service/work/stage_planning.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/json/text.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {

namespace {

bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= limits::name_length_max && name != "." && name != ".." &&
         name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
         name.find('\n') == std::string::npos;
}

Status check_request(const protocol::AddProblem& request) {
  TRY(policy::strategy_kind(request.strategy));
  TRY(policy::straggler_from(request.straggler));
  if (!request.validation.empty()) TRY(policy::parse_validation(request.validation));
  if (static_cast<int>(request.parameters.size()) > limits::parameters_bytes_max)
    return Error{ErrorKind::too_large, "parameters are over 1 MiB: give large data as inputs"};
  if (const Status json = protocol::check_json_object(request.parameters); !json.ok())
    return json.error().within("parameters");
  TRY(check_share(request.weight, request.priority));
  for (const auto& input : request.inputs) {
    if (!is_file_name(input.name))
      return Error{ErrorKind::invalid, "input name \"" + input.name + "\": expected a plain file name"};
  }
  return {};
}

bool is_taken(const Model& model, const std::string& name) {
  const auto named = [&](const auto& entry) { return entry.second.row.name == name; };
  const auto drafted = [&](const auto& entry) { return entry.second == name; };
  return std::any_of(model.problems.begin(), model.problems.end(), named) ||
         std::any_of(model.underway.drafts.begin(), model.underway.drafts.end(), drafted);
}

std::string free_name(const Model& model, const std::string& application) {
  int number = 1;
  while (is_taken(model, application + "-" + std::to_string(number))) ++number;
  return application + "-" + std::to_string(number);
}

storage::ProblemRow row_of(const protocol::AddProblem& request, const Transaction& tx) {
  storage::ProblemRow row;
  row.name = request.name;
  row.parameters = request.parameters;
  row.inputs = request.inputs;
  row.strategy = request.strategy;
  row.straggler = *policy::straggler_from(request.straggler);
  row.weight = request.weight;
  row.priority = request.priority;
  row.commit_seconds =
      request.commit_seconds > 0 ? request.commit_seconds : tx.settings.configuration.commit_seconds;
  row.created_at = tx.now;
  row.validation = request.validation;
  return row;
}

Status store_draft(Transaction& tx, storage::ProblemRow row, const PlannedStage& planned,
                   Result<protocol::ProblemInfo>& info) {
  const Application& application = tx.model.applications.at(row.application);
  if (row.validation.empty())
    row.validation = application.manifest.checks == bundle::Checks::all ? "checks" : "adaptive";
  TRY_ASSIGN(row.id, tx.store.add_problem(row));
  Problem& problem = tx.model.problems[row.id];
  problem.row = std::move(row);
  problem.manifest = application.manifest;
  problem.application_name = application.row.name + "@" + application.row.version;
  problem.parameters_digest = crypto::sha256_hex(problem.row.parameters);
  tx.model.underway.drafts.erase(problem.row.id);
  TRY(begin_stage(tx, problem, planned));
  TRY(stop_revoked(tx));  // perhaps since it was drafted
  info = describe(problem, tx.now);
  return {};
}

}  // namespace

Result<ProblemId> next_number(Transaction& tx) {
  TRY_ASSIGN(ProblemId id, tx.store.next_problem());
  const auto& drafts = tx.model.underway.drafts;
  while (drafts.contains(id)) ++id.value;
  return id;
}

Status check_share(double weight, int priority) {
  if (!std::isfinite(weight) || weight < 0.001 || weight > 1000)
    return Error{ErrorKind::invalid, "weight: expected 0.001 to 1000"};
  if (priority < -8 || priority > 8)
    return Error{ErrorKind::invalid, "priority: expected a whole number from -8 to 8"};
  return {};
}

Status Problems::check_inputs(std::vector<protocol::Input>& inputs) {
  for (auto& input : inputs) {
    const auto size = kernel_.blobs().size(input.digest);
    if (!size.ok() && size.error().kind == ErrorKind::io)
      return Error{ErrorKind::unavailable, size.error().message};
    if (!size.ok()) return Error{ErrorKind::conflict, "upload the input " + input.name + " first"};
    input.bytes = *size;
  }
  return {};
}

void Problems::draft(protocol::AddProblem request, std::function<void(Result<Draft>)> next) {
  const Configuration& configuration = kernel_.settings().configuration;
  if (request.strategy.empty()) request.strategy = configuration.strategy;
  if (request.straggler.empty())
    request.straggler = policy::straggler_for(request.strategy, configuration.straggler);
  if (const Status checked = check_request(request); !checked.ok()) return next(checked.error());
  if (!kernel_.blobs().remote()) return draft_checked(std::move(request), std::move(next));
  kernel_.on_blob_pool([this, request = std::move(request), next = std::move(next)]() mutable {
    draft_checked(std::move(request), std::move(next));
  });
}

void Problems::draft_checked(protocol::AddProblem request, std::function<void(Result<Draft>)> next) {
  if (const Status checked = check_inputs(request.inputs); !checked.ok()) return next(checked.error());
  kernel_.decide<Draft>(
      [request, parameters = json::parse_or_null(request.parameters)](Transaction& tx,
                                                                      Result<Draft>& draft) -> Status {
        const Application* application = find_application(tx.model, request.application);
        if (application == nullptr) {
          draft = no_application(request.application);
          return {};
        }
        if (const Status good = check_startable(tx, *application); !good.ok()) {
          draft = Error{ErrorKind::conflict, good.error().message};
          return {};
        }
        if (const Status good = check_form(*application, parameters, request.inputs); !good.ok()) {
          draft = good.error();
          return {};
        }
        if (is_taken(tx.model, request.name)) {
          draft = Error{ErrorKind::conflict,
                        "a problem named " + request.name + " is here already: choose another name"};
          return {};
        }
        Problem drafted;
        drafted.row = row_of(request, tx);
        drafted.row.application = application->row.id;
        if (drafted.row.name.empty()) drafted.row.name = free_name(tx.model, application->row.name);
        TRY_ASSIGN(drafted.row.id, next_number(tx));
        tx.model.underway.drafts[drafted.row.id] = drafted.row.name;
        draft = Draft{drafted.row, manager_setup(tx.model, drafted)};
        return {};
      },
      std::move(next));
}

Result<PlannedStage> Problems::plan(const Draft& draft) {
  kernel_.managers().end(draft.row.id, Managers::Keep::no);  // what a draft of this number left behind
  const auto planned = [&]() -> Result<PlannedStage> {
    for (const auto& input : draft.row.inputs) {
      const Status whole = kernel_.blobs().verify(input.digest);
      if (!whole.ok() && !is_lost(whole)) return Error{ErrorKind::unavailable, whole.error().message};
      if (!whole.ok())
        return Error{ErrorKind::conflict, "the input " + input.name + " was damaged here: upload it again"};
    }
    return plan_stage(kernel_, draft.manager, 0);
  };
  auto stage = planned();
  if (!stage.ok()) forget(draft);
  return stage;
}

void Problems::add(protocol::AddProblem request, Done<protocol::ProblemInfo> done) {
  draft(std::move(request), [this, done = std::move(done)](const Result<Draft>& draft) {
    if (!draft.ok()) return done(draft.error());
    kernel_.on_blob_pool([this, draft = *draft, done] {
      auto planned = plan(draft);
      if (!planned.ok()) return done(planned.error());
      keep(draft, *std::move(planned), done);
    });
  });
}

void Problems::keep(const Draft& draft, PlannedStage stage, const Done<protocol::ProblemInfo>& done) {
  kernel_.decide<protocol::ProblemInfo>(
      [row = draft.row, stage = std::move(stage)](Transaction& tx, Result<protocol::ProblemInfo>& info) {
        return store_draft(tx, row, stage, info);
      },
      {[this, draft, done](Result<protocol::ProblemInfo> info) {
         if (!info.ok()) forget(draft);
         done(std::move(info));
       },
       done.actor()});
}

void Problems::forget(const Draft& draft) {
  kernel_.managers().end(draft.row.id, Managers::Keep::no);
  kernel_.writer().submit_surely([id = draft.row.id](Transaction& tx) -> Status {
    tx.model.underway.drafts.erase(id);
    return {};
  });
}

}  // namespace gleaner::service
