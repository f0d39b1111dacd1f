#include "server/service/work/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "server/service/core/copies.h"
#include "server/service/core/put_out.h"
#include "server/service/core/relay_rights.h"
#include "server/service/core/tokens.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/failures.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/reports.h"
#include "shared/base/limits.h"
#include "shared/crypto/relay_chain.h"
#include "shared/crypto/statements.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/text.h"

namespace gleaner::service {
namespace {

// What the host measured of itself, if it is new. A relay's parent is to hear it.
Status note_speed(Transaction& tx, Host& host, const std::optional<protocol::Benchmark>& benchmark,
                  const std::optional<protocol::HostSpeeds>& speeds) {
  const bool measured = benchmark && benchmark->mflops > 0 && std::isfinite(benchmark->mflops) &&
                        benchmark->measured_at != host.row.benchmark_at;
  if (measured) {
    host.row.mflops = benchmark->mflops;
    host.row.benchmark_at = benchmark->measured_at;
    tx.model.index.put(host.row);
  }
  const bool told = speeds && *speeds != host.row.speeds;
  if (told) host.row.speeds = *speeds;
  if (!measured && !told) return {};
  tx.model.origin->note_measured(host.row.id);
  return tx.store.update_host(host.row);
}

void take_readings(Host& host, const protocol::Readings& readings, Timestamp now) {
  host.readings = readings;
  if (readings.cpu) host.day.add(now, *readings.cpu);
}

// What a relay says of the hosts under it, and of itself.
Status note_below(Transaction& tx, const Host& relay, const protocol::WorkRequest& request) {
  if (relay.row.children == 0) return {};
  if (request.measured) {
    for (const auto& one : *request.measured) {
      const auto below = tx.model.hosts.find(one.host);
      if (below == tx.model.hosts.end() || !is_under(tx.model, one.host, relay.row.id)) continue;
      TRY(note_speed(tx, below->second, one.benchmark, one.speeds));
    }
  }
  const std::string trouble = protocol::clean_line(request.trouble.value_or(""), limits::text_length_max);
  const auto known = tx.model.troubles.find(relay.row.id);
  if (trouble == (known == tx.model.troubles.end() ? "" : known->second)) return {};
  if (trouble.empty()) {
    tx.model.troubles.erase(known);
    tx.effects.info(fmt::format("relay {} ({}) works again", relay.row.id.value, relay.row.name));
    return {};
  }
  tx.model.troubles[relay.row.id] = trouble;
  tx.effects.warn(fmt::format("relay {} ({}) cannot work: {}", relay.row.id.value, relay.row.name, trouble));
  return {};
}

Status decide_work(Transaction& tx, HostId id, const protocol::WorkRequest& request,
                   const std::vector<PreparedCommit>& commits, Result<WorkOutcome>& result) {
  const auto found = tx.model.hosts.find(id);
  if (found == tx.model.hosts.end() || found->second.row.state != protocol::HostState::active) {
    result = no_longer_here(found == tx.model.hosts.end() ? std::nullopt
                                                          : std::optional(found->second.row.state_reason));
    return {};
  }
  Host& host = found->second;
  const policy::Heard heard = hear_instance(tx, host, request.instance);
  if (heard == policy::Heard::copy && host.row.children > 0) {
    // Whatever it says of leases is of the same ones that the other relay speaks of.
    WorkOutcome parts;
    parts.reply.instance = order_of(heard);
    result = std::move(parts);
    return {};
  }
  host.cores_offered = request.cores;
  host.memory_offered = request.memory_bytes;
  host.cpu_share = request.cpu_share.value_or(1);
  if (request.readings) take_readings(host, *request.readings, tx.now);
  host.capabilities = request.capabilities;
  host.platforms = request.platforms;
  if (request.relay && request.relay->item) host.item = request.relay->item;
  WorkOutcome outcome;
  TRY(tx.model.origin->take_results(tx, id, commits, outcome));
  tx.model.origin->note_offer(id, request, tx.now);
  TRY(touch_host(tx, host));
  TRY(note_speed(tx, host, request.benchmark, request.speeds));
  TRY(note_below(tx, host, request));
  // What this program does not hold the other one may.
  if (heard == policy::Heard::well || heard == policy::Heard::again)
    TRY(give_back_unknown(tx, host, request));
  if (heard != policy::Heard::copy) {
    TRY(take_reports(tx, id, request.units, outcome.reply.units));
    TRY(advance_due(tx));  // a stage that these results complete may want checks, which this host may make
    TRY(hand_out(tx, host, request, outcome));
  }
  outcome.reply.instance = order_of(heard);
  outcome.reply.interval_seconds = heartbeat_interval(tx, host);
  outcome.reply.slowest_performance = tx.model.index.slowest();
  if (tx.model.revocations.number() > 0) outcome.reply.revocations = tx.model.revocations.number();
  if (auto progress = progress_for(tx, host); !progress.empty()) outcome.reply.progress = std::move(progress);
  outcome.reply.stages = stages_for(tx, host);
  outcome.reply.put_out = put_out_under(tx.model, id);
  if (const std::size_t most = segments_max(host); outcome.passed.size() < most)
    for (auto& answer : tx.model.origin->answers(tx, id, most - outcome.passed.size()))
      outcome.passed.push_back(std::move(answer));
  outcome.wait = tx.model.origin->wait_of(tx, host, request, outcome);
  result = std::move(outcome);
  return {};
}

Status take_heartbeat(Transaction& tx, HostId id, protocol::HeartbeatRequest request,
                      Result<protocol::HeartbeatReply>& result) {
  const auto found = tx.model.hosts.find(id);
  if (found == tx.model.hosts.end()) {
    result = no_longer_here(std::nullopt);
    return {};
  }
  TRY(touch_host(tx, found->second));
  if (request.readings) take_readings(found->second, *request.readings, tx.now);
  protocol::HeartbeatReply reply;
  const policy::Heard heard = hear_instance(tx, found->second, request.instance);
  reply.instance = order_of(heard);
  if (heard != policy::Heard::copy) TRY(take_reports(tx, id, request.units, reply.units));
  if (request.saved) keep_saved(tx, found->second, *request.saved);
  if (request.outputs) keep_outputs(tx, found->second, *request.outputs);
  reply.outputs = outputs_wanted(tx, found->second);
  reply.interval_seconds = heartbeat_interval(tx, found->second);
  reply.stages = stages_for(tx, found->second);
  if (auto answers = tx.model.origin->answers(tx, id, limits::segments_per_request_max); !answers.empty())
    reply.acknowledgements = std::move(answers);
  if (tx.model.revocations.number() > 0) reply.revocations = tx.model.revocations.number();
  result = std::move(reply);
  return {};
}

// What the work key has to say, in the order of take_signed().
std::vector<crypto::UnsignedStatement> statements_of(const WorkOutcome& outcome) {
  std::vector<crypto::UnsignedStatement> statements;
  for (const auto& acknowledgement : outcome.acknowledgements)
    statements.push_back({protocol::StatementType::acknowledgement, protocol::encode(acknowledgement)});
  for (const auto& grant : outcome.grants)
    statements.push_back({protocol::StatementType::grant, protocol::encode(grant)});
  for (const auto& grant : outcome.relay_grants)
    statements.push_back({protocol::StatementType::relay_grant, protocol::encode(grant)});
  return statements;
}

void take_signed(WorkOutcome& outcome, std::vector<protocol::SignedStatement> signed_ones) {
  const auto grants = signed_ones.begin() + static_cast<std::ptrdiff_t>(outcome.acknowledgements.size());
  outcome.reply.acknowledgements.assign(std::make_move_iterator(signed_ones.begin()),
                                        std::make_move_iterator(grants));
  outcome.reply.grants.assign(std::make_move_iterator(grants), std::make_move_iterator(signed_ones.end()));
  for (auto& statement : outcome.passed) outcome.reply.acknowledgements.push_back(std::move(statement));
  if (!outcome.leases.empty()) outcome.reply.leases = std::move(outcome.leases);
  for (const auto& context : outcome.contexts)
    outcome.reply.grants[context.grant].context = context.text->text;
}

}  // namespace

Work::Work(Kernel& kernel, Commits& commits, const ProjectSecrets& secrets)
    : kernel_(kernel), commits_(commits), secrets_(secrets), signer_(kernel, secrets.work_key), rule_([&] {
        auto rule = planning::make_serving_rule(kernel.settings().configuration.service_order);
        CHECK_TRUE(rule.ok());  // the settings were looked at
        return std::move(*rule);
      }()) {}

Status Work::may_serve() const {
  if (kernel_.parent() == nullptr) return {};
  const Status room = kernel_.can_store();
  return room.ok() ? room
                   : Error{room.error().kind, "this relay can take no results: " + room.error().message};
}

void Work::work(HostId host, protocol::WorkRequest request, Done<protocol::WorkReply> done,
                const std::function<void()>& rests) {
  if (const Status may = may_serve(); !may.ok()) return done(may.error());
  if (auto older = waiting_.end(host)) answer(std::move(*older));
  const bool signed_results = !request.commits.empty() && request.commits.front().delivery.has_value();
  auto commits = std::make_shared<std::vector<protocol::CommitRequest>>(request.commits);
  for (auto& commit : request.commits) commit.data.reset();  // that it holds these units is all it says later
  auto shared = std::make_shared<protocol::WorkRequest>(std::move(request));
  auto decided = [this, host, rests, done, shared](Result<WorkOutcome> outcome) {
    if (!outcome.ok()) return done(outcome.error());
    if (outcome->wait == Duration{0}) return answer(std::move(*outcome), shared->proofs, done);
    shared->commits.clear();
    if (rests) rests();
    const SteadyTime until = kernel_.clock().steady() + outcome->wait;
    auto ended = waiting_.keep({host, std::move(*shared), std::move(*outcome), done, 0, until});
    if (ended) answer(std::move(*ended));
  };
  if (!signed_results) return prepare(host, shared, *commits, decided);
  kernel_.on_pool([this, host, shared, commits, decided = std::move(decided)] {
    auto ahead = commits_.check_ahead(host, *commits);
    if (!ahead) return prepare(host, shared, *commits, decided);
    if (const Status room = commits_.has_room(); !room.ok()) return decided(room.error());
    kernel_.decide<WorkOutcome>(
        [host, shared, ahead = std::move(*ahead)](Transaction& tx,
                                                  Result<WorkOutcome>& outcome) mutable -> Status {
          Result<std::vector<PreparedCommit>> taken{std::vector<PreparedCommit>{}};
          TRY(take_ahead(tx, host, std::move(ahead), taken));
          if (taken.ok()) return decide_work(tx, host, *shared, *taken, outcome);
          outcome = taken.error();
          return {};
        },
        [this, host, shared, commits, decided](Result<WorkOutcome> outcome) {
          if (!outcome.ok() && outcome.error().kind == ErrorKind::conflict)
            return prepare(host, shared, *commits, decided);
          decided(std::move(outcome));
        });
  });
}

void Work::prepare(HostId host, const std::shared_ptr<protocol::WorkRequest>& request,
                   std::vector<protocol::CommitRequest> commits, Done<WorkOutcome> decided) {
  commits_.prepare(
      host, std::move(commits),
      [this, host, request, decided = std::move(decided)](Result<std::vector<PreparedCommit>> prepared) {
        if (!prepared.ok()) return decided(prepared.error());
        kernel_.decide<WorkOutcome>(
            [host, request, commits = std::move(*prepared)](Transaction& tx, Result<WorkOutcome>& outcome) {
              return decide_work(tx, host, *request, commits, outcome);
            },
            decided);
      });
}

void Work::serve_waiting() {
  if (waiting_.size() == 0) return;
  const auto waiting = std::make_shared<std::vector<WaitingRequest>>(waiting_.take());
  kernel_.decide<std::vector<EndedWait>>(
      [rule = rule_, waiting, now = kernel_.clock().steady()](
          Transaction& tx, Result<std::vector<EndedWait>>& value) -> Status {
        std::vector<EndedWait> ended;
        TRY(tx.model.origin->serve_waiting(tx, *rule, *waiting, now, ended));
        value = std::move(ended);
        return {};
      },
      [this, waiting](Result<std::vector<EndedWait>> ended) {
        std::vector<bool> over(waiting->size(), !ended.ok());
        if (ended.ok())
          for (EndedWait& each : *ended) {
            over[each.place] = true;
            (*waiting)[each.place].outcome = std::move(each.outcome);
          }
        for (std::size_t i = 0; i < waiting->size(); ++i) {
          std::optional<WaitingRequest> answered;
          if (over[i])
            answered = std::move((*waiting)[i]);
          else
            answered = waiting_.keep(std::move((*waiting)[i]));
          if (answered) answer(std::move(*answered));
        }
      });
}

void Work::stop_waiting() {
  for (WaitingRequest& request : waiting_.close()) answer(std::move(request));
}

void Work::answer(WaitingRequest request) {
  answer(std::move(request.outcome), request.request.proofs, request.done);
}

void Work::work_checked(HostId host, protocol::WorkRequest request, std::vector<PreparedCommit> commits,
                        Done<Answer> done) {
  if (!commits.empty())
    if (const Status room = commits_.has_room(); !room.ok()) return done(room.error());
  const bool proofs = request.proofs;
  kernel_.decide<WorkOutcome>(
      [host, request = std::move(request), checked = std::move(commits)](
          Transaction& tx, Result<WorkOutcome>& outcome) -> Status {
        Result<std::vector<PreparedCommit>> taken{std::vector<PreparedCommit>{}};
        TRY(take_checked(tx, host, checked, taken));
        if (taken.ok()) return decide_work(tx, host, request, *taken, outcome);
        outcome = taken.error();
        return {};
      },
      [this, done = std::move(done), proofs](Result<WorkOutcome> outcome) {
        if (!outcome.ok()) return done(outcome.error());
        std::vector<UnitPlace> units;
        for (const auto& grant : outcome->grants)
          units.push_back(
              {grant.unit, grant.problem, grant.stage,
               std::ranges::count_if(grant.inputs, [](const auto& input) { return !input.range; })});
        answer(std::move(*outcome), proofs,
               [done, units = std::move(units)](Result<protocol::WorkReply> reply) {
                 if (!reply.ok()) return done(reply.error());
                 done(Answer{std::move(*reply), units});
               });
      });
}

void Work::answer(WorkOutcome outcome, bool proofs, const Done<protocol::WorkReply>& done) {
  if (!outcome.leases.empty()) {
    const protocol::SignedStatement certificate = kernel_.parent()->certificate();
    for (auto& lease : outcome.leases) lease.statements.insert(lease.statements.begin(), certificate);
  }
  auto statements = statements_of(outcome);
  auto finish = [outcome = std::move(outcome), done](std::vector<protocol::SignedStatement> all) mutable {
    take_signed(outcome, std::move(all));
    done(std::move(outcome.reply));
  };
  if (proofs) return signer_.sign(std::move(statements), std::move(finish));
  std::vector<protocol::SignedStatement> all;
  for (auto& statement : statements)
    all.push_back(crypto::sign_statement(statement.type, std::move(statement.payload), secrets_.work_key));
  finish(std::move(all));
}

void Work::heartbeat(HostId host, protocol::HeartbeatRequest request, Done<protocol::HeartbeatReply> done) {
  if (const Status may = may_serve(); !may.ok()) return done(may.error());
  kernel_.decide<protocol::HeartbeatReply>(
      [host, request = std::move(request)](Transaction& tx, Result<protocol::HeartbeatReply>& reply) mutable {
        return take_heartbeat(tx, host, std::move(request), reply);
      },
      std::move(done));
}

void Work::failure(HostId host, protocol::FailureReport report, StatusDone done) {
  kernel_.on_pool([this, host, report = std::move(report), done = std::move(done)]() mutable {
    std::optional<protocol::Failure> said;
    if (const auto& statement = report.statement) {
      auto checked = crypto::check_failure(*statement, statement->key, secrets_.project);
      if (!checked.ok()) return done(checked.error());
      said = std::move(*checked);
    }
    kernel_.decide<bool>(
        [host, report = std::move(report), said = std::move(said)](Transaction& tx, Result<bool>& taken) {
          return take_failure(tx, host, report, said, taken);
        },
        [done](Result<bool> taken) { done(taken.ok() ? Status{} : Status{taken.error()}); });
  });
}

}  // namespace gleaner::service
