#include "tests/unit/service/model_text.h"

#include <fmt/format.h>

#include <map>

namespace gleaner::service::testing {
namespace {

std::string text_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range range : ranges) text += fmt::format("[{},{})", range.begin, range.end);
  return text.empty() ? "-" : text;
}

std::string text_of(const policy::Stage& stage) {
  std::string text =
      fmt::format("    accepted {} free {} aside {} complete {}\n",
                  text_of(stage.ledger().accepted().ranges()), text_of(stage.ledger().free().ranges()),
                  text_of(stage.ledger().set_aside().ranges()), stage.complete());
  std::map<UnitId, std::string> units;
  for (const policy::Unit* unit : stage.open_units())
    units[unit->id] =
        fmt::format("    unit {} host {} [{},{}) committed {} kind {}\n", unit->id.value, unit->host.value,
                    unit->range.begin, unit->range.end, unit->committed, static_cast<int>(unit->kind));
  for (const auto& [id, line] : units) text += line;
  return text;
}

std::string text_of(const Host& host) {
  const auto& row = host.row;
  std::string text = fmt::format(
      "host {} {} {} '{}' token {} cores {} mflops {} accepted {} {} failures {} disagreements {} units",
      row.id.value, row.name, protocol::name_of(row.state), row.state_reason, to_hex(row.token_digest),
      row.cores, row.mflops, row.items_accepted, row.cost_accepted, row.health.failures, row.disagreements);
  text += fmt::format(" own {} code {} tags {} network {} on hold {}", row.own, row.code,
                      fmt::join(row.tags, ","), row.network, row.on_hold);
  text +=
      fmt::format(" relay {} proved {} failed {} children {} tls {}", row.relay.value,
                  to_microseconds(row.proved_at), to_microseconds(row.failed_at), row.children, row.tls_key);
  for (const UnitId unit : host.units) text += fmt::format(" {}", unit.value);
  return text + "\n";
}

std::string text_of(const Problem& problem) {
  const auto& row = problem.row;
  const auto& stage = problem.stage_row;
  std::string text =
      fmt::format("problem {} {} {} {} '{}' {} {} weight {} priority {} commit {} started {} finished {}\n",
                  row.id.value, row.name, problem.application_name, protocol::name_of(row.state), row.message,
                  row.strategy, policy::name_of(row.straggler), row.weight, row.priority, row.commit_seconds,
                  to_microseconds(row.started_at), to_microseconds(row.finished_at));
  text += fmt::format(
      "  stage {} '{}' items {} hints {} inputs {} aside {} enough {} begun {} ended {} ahead {} before {}\n",
      row.stage, stage.name, stage.items, stage.costs.size(), stage.inputs.size(), text_of(stage.set_aside),
      stage.enough, to_microseconds(stage.started_at), to_microseconds(stage.finished_at), stage.cost_ahead,
      stage.done_before);
  text += fmt::format("  failures {} disagreements {} parameters {}\n", problem.recent_failures.size(),
                      problem.disagreements, problem.parameters_digest);
  if (problem.stage) text += text_of(problem.stage->view());
  return text;
}

}  // namespace

std::string text_of(const Model& model) {
  std::string text = fmt::format("revocations {}\n", model.revocations.number());
  for (const auto& [id, host] : model.hosts) text += text_of(host);
  for (const auto& [name, code] : model.codes)
    text += fmt::format("code {} {} at most {} expires {} withdrawn {} children {}\n", name,
                        to_hex(code.secret_digest), code.hosts_max, to_microseconds(code.expires_at),
                        to_microseconds(code.withdrawn_at), code.children);
  for (const auto& [name, token] : model.admin_tokens)
    text += fmt::format("admin {} {} {} expires {} withdrawn {}\n", name, to_hex(token.digest),
                        protocol::name_of(token.role), to_microseconds(token.expires_at),
                        to_microseconds(token.withdrawn_at));
  for (const auto& [key, ban] : model.bans)
    text += fmt::format("ban {} {} by {} expires {}: {}\n", protocol::name_of(ban.kind), ban.subject,
                        ban.made_by, to_microseconds(ban.expires_at), ban.reason);
  for (const auto& [name, flow] : model.flows)
    text += fmt::format("flow {} {}\n", name, fmt::join(flow.nodes, ","));
  for (const auto& [id, application] : model.applications) {
    text += fmt::format("application {} {} {} {} by {}\n", id.value, application.row.name,
                        application.row.version, application.row.archive, application.signer_name);
  }
  for (const auto& [id, problem] : model.problems) text += text_of(problem);
  const std::map<UnitId, ProblemId> open(model.open_units.begin(), model.open_units.end());
  for (const auto& [unit, problem] : open) text += fmt::format("open {} of {}\n", unit.value, problem.value);
  for (const auto& [problem, count] : model.hosts_at_work)
    text += fmt::format("{} hosts compute {}\n", count, problem.value);
  return text + fmt::format("slowest {} active {}\n", model.index.slowest(), model.index.active());
}

}  // namespace gleaner::service::testing
