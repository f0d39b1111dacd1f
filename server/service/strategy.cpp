// Strategies: what there is, and other rules for a problem that runs.
#include <spdlog/spdlog.h>

#include "server/policy/mapping/mapping.h"
#include "server/policy/sizing/sizing.h"
#include "server/policy/strategies.h"
#include "server/service/service.h"

namespace gleaner::service {

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

void Service::change_strategy(ProblemId id, protocol::ChangeStrategy request,
                              Done<protocol::ProblemInfo> done) {
  decide<protocol::ProblemInfo>(
      [this, id, request = std::move(request)](Result<protocol::ProblemInfo>& info) -> Status {
        const auto found = model_.problems.find(id);
        if (found == model_.problems.end()) {
          info = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        Problem& problem = found->second;
        if (over(problem.row.state)) {
          info = Error{ErrorKind::conflict, "problem " + problem.row.name + " is " +
                                                protocol::name_of(problem.row.state) + " already"};
          return {};
        }
        // Everything is checked before anything changes.
        const auto kind =
            policy::strategy_kind(request.strategy.empty() ? problem.row.strategy : request.strategy);
        const auto rule = request.straggler.empty() ? Result<policy::Straggler>(problem.row.straggler)
                                                    : policy::straggler_from(request.straggler);
        if (!kind.ok() || !rule.ok()) {
          info = kind.ok() ? rule.error() : kind.error();
          return {};
        }
        if (!request.strategy.empty()) {
          problem.row.strategy = request.strategy;
          if (problem.stage) {
            TRY(problem.stage->set_sizing(sizing_text(problem.row.strategy), now()));
            // What the old strategy remembered of the hosts must not come back with a restart.
            for (const policy::HostRecord* record : problem.stage->view().hosts())
              TRY(store_->put_host_record(id, problem.row.stage, *record));
          }
        }
        if (!request.straggler.empty()) {
          problem.row.straggler = *rule;
          if (problem.stage) problem.stage->set_straggler(*rule, now());
        }
        spdlog::info("problem {} ({}) goes on with strategy {} and straggler rule {}", id.value,
                     problem.row.name, problem.row.strategy, policy::name_of(problem.row.straggler));
        for (auto& [text, group] : model_.groups) group.queues.forget(id);
        TRY(store_->update_problem(problem.row));
        TRY(advance(id));
        info = describe(problem);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
