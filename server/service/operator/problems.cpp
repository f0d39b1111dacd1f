#include "server/service/operator/problems.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "server/policy/calendar.h"
#include "server/policy/mapping/mapping.h"
#include "server/policy/sizing/sizing.h"
#include "server/policy/strategies.h"
#include "server/service/core/certified.h"
#include "server/service/core/dispatch_terms.h"
#include "server/service/operator/describe.h"
#include "server/service/work/failures.h"
#include "server/service/work/life_cycle.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr std::ptrdiff_t shares_shown_max = 1000;  // some 200 kB

using Info = Result<protocol::ProblemInfo>;

// Null, and why: it is not here, or over.
Problem* changeable(Transaction& tx, ProblemId id, Info& info) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) {
    info = no_problem(id);
    return nullptr;
  }
  const auto& row = found->second.row;
  if (!over(row.state)) return &found->second;
  info =
      Error{ErrorKind::conflict, "problem " + row.name + " is " + protocol::name_of(row.state) + " already"};
  return nullptr;
}

// Refusals are the caller's mistakes; nothing has changed.
Status take_refusal(Transaction& tx, const Problem& problem, const std::string& refusal, Info& info) {
  if (refusal.empty()) {
    info = describe(problem, tx.now);
  } else {
    info = Error{ErrorKind::conflict, refusal};
  }
  return {};
}

// Why it cannot go on: its application is revoked, or a certificate has expired. Empty: it can.
std::string obstacle_of(const Transaction& tx, const Problem& problem) {
  const Status good = check_startable(tx, tx.model.applications.at(problem.row.application));
  return good.ok() ? std::string() : good.error().message;
}

Status retry_problem(Transaction& tx, ProblemId id, Info& info) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) {
    info = no_problem(id);
    return {};
  }
  std::string refusal = obstacle_of(tx, found->second);
  if (refusal.empty()) TRY(retry(tx, found->second, refusal));
  return take_refusal(tx, found->second, refusal, info);
}

Status upgrade_problem(Transaction& tx, ProblemId id, const std::string& version, Info& info) {
  const auto found = tx.model.problems.find(id);
  const Application* application = find_application(tx.model, version);
  if (found == tx.model.problems.end() || application == nullptr) {
    info = application == nullptr ? no_application(version) : no_problem(id);
    return {};
  }
  const auto state = found->second.row.state;
  if (state == protocol::ProblemState::finished || state == protocol::ProblemState::cancelled) {
    info = Error{ErrorKind::conflict,
                 "problem " + found->second.row.name + " is " + protocol::name_of(state) + " already"};
    return {};
  }
  std::string refusal;
  if (const Status good = check_startable(tx, *application); !good.ok())
    refusal = good.error().message;
  else
    TRY(upgrade(tx, found->second, *application, refusal));
  return take_refusal(tx, found->second, refusal, info);
}

Status change_state(Transaction& tx, ProblemId id, Problems::Action action, Info& info) {
  using protocol::ProblemState;
  if (action == Problems::Action::retry) return retry_problem(tx, id, info);
  Problem* problem = changeable(tx, id, info);
  if (problem == nullptr) return {};
  if (const std::string obstacle = obstacle_of(tx, *problem);
      action == Problems::Action::resume && !obstacle.empty())
    return take_refusal(tx, *problem, obstacle, info);
  if (action == Problems::Action::resume && is_stopped(*problem)) return retry_problem(tx, id, info);
  auto& state = problem->row.state;
  switch (action) {
    case Problems::Action::pause:
      if (state != ProblemState::paused) problem->row.resume_to = std::exchange(state, ProblemState::paused);
      break;
    case Problems::Action::resume:
      if (state == ProblemState::paused) {
        state = problem->row.resume_to;
        problem->pace = {};  // the pause says nothing of how fast it goes
      }
      break;
    case Problems::Action::cancel:
      TRY(finish_problem(tx, *problem, ProblemState::cancelled, "cancelled by the administrator"));
      break;
    case Problems::Action::retry:
      break;  // retry_problem()
  }
  if (!over(state)) tell_dispatch(tx, *problem);
  TRY(tx.store.update_problem(problem->row));
  TRY(advance(tx, id));
  tx.effects.add(effect::Announce{});
  info = describe(*problem, tx.now);
  return {};
}

Status set_strategy(Transaction& tx, Problem& problem, const std::string& strategy) {
  problem.row.strategy = strategy;
  if (!problem.stage) return {};
  TRY(problem.stage->apply(policy::SizingEvent{policy::sizing_of(strategy)}, tx.now));
  // What the old strategy remembered of the hosts must not come back with a restart.
  for (const policy::HostRecord* record : problem.stage->view().hosts())
    TRY(tx.store.put_host_record(problem.row.id, problem.row.stage, *record));
  return {};
}

Status change_rules(Transaction& tx, ProblemId id, const protocol::ChangeStrategy& request, Info& info) {
  Problem* problem = changeable(tx, id, info);
  if (problem == nullptr) return {};
  // Everything is checked before anything changes.
  const auto kind =
      policy::strategy_kind(request.strategy.empty() ? problem->row.strategy : request.strategy);
  const auto rule = request.straggler.empty() ? Result<policy::Straggler>(problem->row.straggler)
                                              : policy::straggler_from(request.straggler);
  if (!kind.ok() || !rule.ok()) {
    info = kind.ok() ? rule.error() : kind.error();
    return {};
  }
  if (const Status checked = check_share(request.weight.value_or(problem->row.weight),
                                         request.priority.value_or(problem->row.priority));
      !checked.ok()) {
    info = checked.error();
    return {};
  }
  problem->row.weight = request.weight.value_or(problem->row.weight);
  problem->row.priority = request.priority.value_or(problem->row.priority);
  if (!request.strategy.empty()) TRY(set_strategy(tx, *problem, request.strategy));
  if (!request.straggler.empty()) {
    problem->row.straggler = *rule;
    if (problem->stage) TRY(problem->stage->apply(policy::StragglerEvent{name_of(*rule)}, tx.now));
  }
  tx.effects.info(
      fmt::format("problem {} ({}) continues with strategy {}, straggler rule {}, weight {} and priority {}",
                  id.value, problem->row.name, problem->row.strategy, policy::name_of(problem->row.straggler),
                  problem->row.weight, problem->row.priority));
  tell_dispatch(tx, *problem);
  TRY(tx.store.update_problem(problem->row));
  TRY(advance(tx, id));
  tx.effects.add(effect::Announce{});
  info = describe(*problem, tx.now);
  return {};
}

Status delete_problem(Transaction& tx, ProblemId id, Info& deleted) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end()) {
    deleted = no_problem(id);
    return {};
  }
  deleted = describe(found->second, tx.now);
  tx.effects.info(fmt::format("problem {} ({}) is deleted", id.value, found->second.row.name));
  return erase_problem(tx, id);
}

}  // namespace

std::vector<protocol::StrategyInfo> strategies() {
  std::vector<protocol::StrategyInfo> all;
  for (const auto& info : policy::sizing_strategies())
    all.push_back({info.name, "sizing", info.summary, info.source, info.options});
  for (const auto& info : policy::mapping_strategies())
    all.push_back({info.name, "mapping", info.summary, info.source, info.options});
  for (const auto& info : policy::straggler_rules())
    all.push_back({info.name, "straggler", info.summary, info.source, {}});
  return all;
}

void Problems::list(Done<std::vector<protocol::ProblemInfo>> done) {
  kernel_.decide<std::vector<protocol::ProblemInfo>>(
      [](Transaction& tx, Result<std::vector<protocol::ProblemInfo>>& list) -> Status {
        std::vector<protocol::ProblemInfo> all;
        all = describe_problems(tx.model, tx.now);
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Problems::show(ProblemId id, Done<protocol::ProblemInfo> done, Shares shares, Content content) {
  const std::ptrdiff_t shares_max = shares == Shares::all ? limits::list_length_max : shares_shown_max;
  kernel_.decide<protocol::ProblemInfo>(
      [id, shares_max, content](Transaction& tx, Info& info) -> Status {
        const auto found = tx.model.problems.find(id);
        if (found == tx.model.problems.end()) {
          info = no_problem(id);
          return {};
        }
        TRY_ASSIGN(info, describe_fully(tx, found->second, shares_max));
        if (content == Content::told) {
          info->parameters = found->second.row.parameters;
          info->inputs = found->second.row.inputs;
        }
        return {};
      },
      std::move(done));
}

void Problems::change(ProblemId id, Action action, Done<protocol::ProblemInfo> done) {
  kernel_.decide<protocol::ProblemInfo>(
      [id, action](Transaction& tx, Info& info) { return change_state(tx, id, action, info); },
      std::move(done));
}

void Problems::change_strategy(ProblemId id, protocol::ChangeStrategy request,
                               Done<protocol::ProblemInfo> done) {
  kernel_.decide<protocol::ProblemInfo>(
      [id, request = std::move(request)](Transaction& tx, Info& info) {
        return change_rules(tx, id, request, info);
      },
      std::move(done));
}

void Problems::change_application(ProblemId id, protocol::ChangeApplication request,
                                  Done<protocol::ProblemInfo> done) {
  kernel_.decide<protocol::ProblemInfo>(
      [id, request = std::move(request)](Transaction& tx, Info& info) {
        return upgrade_problem(tx, id, request.application, info);
      },
      std::move(done));
}

void Problems::remove(ProblemId id, StatusDone done, std::optional<Actor> actor) {
  Done<protocol::ProblemInfo> clear = {[this, id, done = std::move(done)](const Info& deleted) {
                                         if (!deleted.ok()) return done(deleted.error());
                                         kernel_.managers().end(id, Managers::Keep::no);
                                         done({});
                                       },
                                       std::move(actor)};
  kernel_.decide<protocol::ProblemInfo>(
      [id](Transaction& tx, Info& deleted) { return delete_problem(tx, id, deleted); }, std::move(clear));
}

void Problems::remove_old() {
  kernel_.writer().submit([](Transaction& tx) { return tx.model.origin->drop_quiet(tx); },
                          [](const Status&) { return Writer::Answer{}; });  // the next round will do
  const std::int64_t days = kernel_.settings().configuration.keep_ended_days;
  if (days == 0) return;
  using Ids = std::vector<ProblemId>;
  kernel_.decide<Ids>(
      [days](const Transaction& tx, Result<Ids>& old) -> Status {
        const Timestamp kept_from = tx.now - std::chrono::days{days};
        Ids ids;
        const bool believed =
            tx.model.origin->plans() && policy::may_expire(tx.calendar_agreed, std::chrono::days{days});
        for (const auto& [id, problem] : tx.model.problems)
          if (believed && over(problem.row.state) && problem.row.finished_at < kept_from) ids.push_back(id);
        old = std::move(ids);
        return {};
      },
      [this](const Result<Ids>& old) {
        if (!old.ok()) return;  // the next round will do
        for (const ProblemId id : *old)
          remove(
              id,
              [id](const Status& removed) {
                if (!removed.ok()) spdlog::warn("problem {} is kept: {}", id.value, removed.error().message);
              },
              server_actor("problem expire", std::to_string(id.value)));
      });
}

void Problems::decisions(ProblemId id, int count, Done<std::vector<protocol::DecisionInfo>> done) {
  kernel_.decide<std::vector<protocol::DecisionInfo>>(
      [id, count](Transaction& tx, Result<std::vector<protocol::DecisionInfo>>& list) -> Status {
        if (!tx.model.problems.contains(id)) {
          list = no_problem(id);
          return {};
        }
        TRY_ASSIGN(const auto rows, tx.store.decisions(id, std::clamp(count, 1, 10'000)));
        std::vector<protocol::DecisionInfo> all;
        for (const auto& row : rows) {
          const auto& d = row.decision;
          all.push_back({d.at, d.host, d.unit, d.kind, d.range, d.reason});
        }
        list = std::move(all);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
