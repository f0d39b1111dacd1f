// Problems, as an administrator adds, changes and deletes them.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>

#include "server/policy/sharing.h"
#include "server/policy/strategies.h"
#include "server/service/service.h"
#include "shared/base/limits.h"
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
  if (static_cast<int>(request.parameters.size()) > limits::parameters_bytes_max)
    return Error{ErrorKind::too_large, "parameters are over 1 MiB: give large data as inputs"};
  if (const Status json = protocol::check_json_object(request.parameters); !json.ok())
    return json.error().within("parameters");
  if (!std::isfinite(request.weight) || request.weight < 0.001 || request.weight > 1000)
    return Error{ErrorKind::invalid, "weight: expected 0.001 to 1000"};
  if (request.priority < -8 || request.priority > 8)
    return Error{ErrorKind::invalid, "priority: expected a whole number from -8 to 8"};
  for (const auto& input : request.inputs) {
    if (!is_file_name(input.name))
      return Error{ErrorKind::invalid, "input name \"" + input.name + "\": expected a plain file name"};
  }
  return {};
}

}  // namespace

void Service::add_problem(protocol::AddProblem request, Done<protocol::ProblemInfo> done) {
  if (request.strategy.empty()) request.strategy = configuration_.strategy;
  // Gleaner's strategy is both: its sizes count on its end rules.
  const bool gleaners = request.strategy == "gleaner" || request.strategy.starts_with("gleaner,");
  if (request.straggler.empty()) request.straggler = gleaners ? "split" : configuration_.straggler;
  if (const Status checked = check_request(request); !checked.ok()) return done(checked.error());
  for (auto& input : request.inputs) {
    const auto size = blobs_.size(input.digest);
    if (!size.ok()) return done(Error{ErrorKind::conflict, "upload the input " + input.name + " first"});
    input.bytes = *size;
  }
  struct Added {
    ProblemId id;
  };
  decide<Added>(
      [this, request](Result<Added>& added) -> Status {
        const auto at = request.application.find('@');
        const std::string name = request.application.substr(0, at);
        const std::string version = at == std::string::npos ? "" : request.application.substr(at + 1);
        const Application* application = nullptr;
        for (const auto& [id, known] : model_.applications)
          if (known.row.name == name && (version.empty() || known.row.version == version))
            application = &known;
        if (application == nullptr) {
          added =
              Error{ErrorKind::not_found, "no application " + request.application +
                                              " here: see `gleaner-admin app list`, add one with `app add`"};
          return {};
        }
        Problem problem;
        auto& row = problem.row;
        row.name = request.name;
        if (row.name.empty()) {
          int number = 1;
          const auto taken = [this](const std::string& candidate) {
            return std::any_of(model_.problems.begin(), model_.problems.end(),
                               [&](const auto& entry) { return entry.second.row.name == candidate; });
          };
          while (taken(name + "-" + std::to_string(number))) ++number;
          row.name = name + "-" + std::to_string(number);
        }
        for (const auto& [id, other] : model_.problems) {
          if (other.row.name != row.name) continue;
          added = Error{ErrorKind::conflict,
                        "a problem named " + row.name + " is here already: choose another name"};
          return {};
        }
        row.application = application->row.id;
        row.parameters = request.parameters;
        row.inputs = request.inputs;
        row.strategy = request.strategy;
        row.straggler = *policy::straggler_from(request.straggler);
        row.weight = request.weight;
        row.priority = request.priority;
        row.commit_seconds =
            request.commit_seconds > 0 ? request.commit_seconds : configuration_.commit_seconds;
        row.created_at = now();
        std::vector<policy::ShareView> others;
        for (const auto& [id, other] : model_.problems) {
          if (!over(other.row.state))
            others.push_back({id, other.row.weight, other.row.priority, other.row.service});
        }
        row.service = policy::starting_service(others);
        TRY_ASSIGN(row.id, store_->add_problem(row));
        problem.manifest = application->manifest;
        problem.application_name = application->row.name + "@" + application->row.version;
        problem.parameters_digest = crypto::sha256_hex(row.parameters);
        added = Added{row.id};
        model_.problems[row.id] = std::move(problem);
        return {};
      },
      [this, done](Result<Added> added) {
        if (!added.ok()) return done(added.error());
        decide<bool>(
            [this, id = added->id, done](Result<bool>& ignored) -> Status {
              ignored = true;
              // What the manager refuses never was a problem: it goes again, and its author hears why.
              start_planning(model_.problems.at(id), 0, [this, id, done](Result<protocol::ProblemInfo> info) {
                if (info.ok() || info.error().kind == ErrorKind::not_found) return done(std::move(info));
                const Error why = info.error();
                delete_problem(id, [done, why](Status) { done(why); });
              });
              return {};
            },
            [](Result<bool>) {});
      });
}

void Service::problems(Done<std::vector<protocol::ProblemInfo>> done) {
  decide<std::vector<protocol::ProblemInfo>>(
      [this](Result<std::vector<protocol::ProblemInfo>>& list) -> Status {
        std::vector<protocol::ProblemInfo> all;
        for (const auto& [id, problem] : model_.problems) all.push_back(describe(problem));
        list = std::move(all);
        return {};
      },
      std::move(done));
}

void Service::problem(ProblemId id, Done<protocol::ProblemInfo> done) {
  decide<protocol::ProblemInfo>(
      [this, id](Result<protocol::ProblemInfo>& info) -> Status {
        const auto found = model_.problems.find(id);
        if (found == model_.problems.end()) {
          info = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        info = describe_fully(found->second);
        return {};
      },
      std::move(done));
}

void Service::change_problem(ProblemId id, ProblemAction action, Done<protocol::ProblemInfo> done) {
  decide<protocol::ProblemInfo>(
      [this, id, action](Result<protocol::ProblemInfo>& info) -> Status {
        using protocol::ProblemState;
        const auto found = model_.problems.find(id);
        if (found == model_.problems.end()) {
          info = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        Problem& problem = found->second;
        auto& state = problem.row.state;
        if (over(state)) {
          info = Error{ErrorKind::conflict,
                       "problem " + problem.row.name + " is " + protocol::name_of(state) + " already"};
          return {};
        }
        switch (action) {
          case ProblemAction::pause:
            if (state != ProblemState::paused)
              problem.row.resume_to = std::exchange(state, ProblemState::paused);
            break;
          case ProblemAction::resume:
            if (state == ProblemState::paused) state = problem.row.resume_to;
            break;
          case ProblemAction::cancel:
            TRY(finish_problem(problem, ProblemState::cancelled, "cancelled by the administrator"));
            break;
        }
        TRY(store_->update_problem(problem.row));
        TRY(advance(id));
        info = describe(problem);
        return {};
      },
      std::move(done));
}

void Service::delete_problem(ProblemId id, StatusDone done) {
  decide<bool>(
      [this, id](Result<bool>& result) -> Status {
        const auto found = model_.problems.find(id);
        if (found == model_.problems.end()) {
          result = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        if (!over(found->second.row.state))
          TRY(finish_problem(found->second, protocol::ProblemState::cancelled,
                             "deleted by the administrator"));
        TRY(store_->delete_problem(id));
        if (const Status removed = dependencies_.files.remove_all(directory_.decisions(id)); !removed.ok())
          spdlog::warn("{}", removed.error().message);
        model_.problems.erase(found);
        result = true;
        return {};
      },
      [this, id, done = std::move(done)](Result<bool> result) {
        if (!result.ok()) return done(result.error());
        managers_.end(id, Managers::Keep::no);
        done({});
      });
}

void Service::decisions(ProblemId id, int count, Done<std::vector<protocol::DecisionInfo>> done) {
  decide<std::vector<protocol::DecisionInfo>>(
      [this, id, count](Result<std::vector<protocol::DecisionInfo>>& list) -> Status {
        if (!model_.problems.contains(id)) {
          list = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        TRY_ASSIGN(const auto rows, store_->decisions(id, std::clamp(count, 1, 10'000)));
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
