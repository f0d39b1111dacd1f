#include "server/service/work/stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "shared/io/compression.h"
#include "shared/protocol/stage_costs.h"

namespace gleaner::service {
namespace {

Result<const Problem*> find_stage(const Model& model, HostId asker, ProblemId id, int stage) {
  const auto host = model.hosts.find(asker);
  if (host == model.hosts.end() || host->second.row.children == 0)
    return Error{ErrorKind::forbidden, "only relays may read this"};
  const auto found = model.problems.find(id);
  if (found == model.problems.end() || found->second.stage == nullptr || found->second.row.stage != stage)
    return Error{ErrorKind::not_found,
                 fmt::format("stage {} of problem {} is not under way", stage, id.value)};
  return &found->second;
}

protocol::StageDescription describe_stage(const Problem& problem) {
  const auto& row = problem.row;
  protocol::StageDescription stage;
  stage.problem = row.id;
  stage.stage = row.stage;
  stage.name = row.name;
  stage.manifest = bundle::render_manifest(problem.manifest);
  stage.items = problem.stage_row.items;
  stage.costs = !problem.stage_row.costs.empty();
  stage.weight = row.weight;
  stage.priority = row.priority;
  return stage;
}

}  // namespace

void Stages::describe(HostId asker, ProblemId problem, int stage, Done<protocol::StageDescription> done) {
  kernel_.decide<protocol::StageDescription>(
      [asker, problem, stage](Transaction& tx, Result<protocol::StageDescription>& description) -> Status {
        const auto found = find_stage(tx.model, asker, problem, stage);
        description = found.ok() ? Result(describe_stage(**found)) : found.error();
        return {};
      },
      std::move(done));
}

void Stages::costs(HostId asker, ProblemId problem, int stage, std::int64_t from, Done<Bytes> done) {
  kernel_.decide<Bytes>(
      [asker, problem, stage, from](Transaction& tx, Result<Bytes>& bytes) -> Status {
        const auto found = find_stage(tx.model, asker, problem, stage);
        if (!found.ok()) {
          bytes = found.error();
          return {};
        }
        const auto& costs = (*found)->stage_row.costs;
        if (from >= std::ssize(costs)) {
          bytes = Error{ErrorKind::not_found,
                        fmt::format("of stage {} of problem {} no costs of items from {} on are known", stage,
                                    problem.value, from)};
          return {};
        }
        const auto count = std::min(protocol::costs_per_reply_max, std::ssize(costs) - from);
        bytes = protocol::pack_costs(
            std::span(costs).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count)));
        return {};
      },
      Done<Bytes>([done = std::move(done)](Result<Bytes> bytes) {
        done(bytes.ok() ? Result(io::compress(*bytes)) : std::move(bytes));
      }));
}

}  // namespace gleaner::service
