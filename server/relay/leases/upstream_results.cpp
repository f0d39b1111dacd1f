#include "server/relay/leases/upstream_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "server/service/core/stage_changes.h"
#include "server/service/work/trust.h"
#include "shared/base/figures.h"
#include "shared/base/limits.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/relay_messages.h"

namespace gleaner::service {
namespace {

// A reply may be lost, or its host may not know the work key that signed the answer yet: an answer is sent
// this often, after 3, 12 and 48 seconds. A host that took none of them brings the result once more.
constexpr int told_times = 4;
constexpr Duration told_again = std::chrono::seconds{3};

// Says once that it holds no more results, and once that it does again.
void note_room(Transaction& tx) {
  Upstream& upstream = upstream_of(tx.model);
  const bool full = is_full(upstream, tx.settings);
  if (full == upstream.full) return;
  upstream.full = full;
  if (!full) return tx.effects.info("the parent has taken results: hosts are relieved of theirs again");
  tx.effects.warn(
      fmt::format("{} ({}) wait for the parent, as much as store.results_megabytes allows: hosts keep "
                  "theirs until it has taken some",
                  counted(std::ssize(upstream.owed), "result"), bytes_text(upstream.owed_bytes)));
  // What would wait for more of its unit would wait for ever.
  for (const auto& [segment, owed] : upstream.owed)
    if (owed.held_since == Timestamp{}) upstream.to_send.insert(segment);
}

// The problem's, if that stage is its present one; else null.
Problem* at_stage(Transaction& tx, ProblemId id, int stage) {
  const auto found = tx.model.problems.find(id);
  if (found == tx.model.problems.end() || found->second.stage == nullptr || found->second.row.stage != stage)
    return nullptr;
  return &found->second;
}

// A late result of a unit that was given up: its stage learns of it again.
Status remember(Transaction& tx, HostId host, UnitId id, std::string& refusal) {
  if (tx.model.open_units.contains(id)) return {};
  TRY_ASSIGN(const auto unit, tx.store.unit(id));
  if (!unit || unit->unit.host != host) {
    refusal = fmt::format("this relay never gave unit {} to this host", id.value);
    return {};
  }
  if (Problem* const problem = at_stage(tx, unit->problem, unit->stage); problem != nullptr)
    problem->stage->apply(policy::RememberEvent{unit->unit}, tx.now);
  return {};
}

// The stage counts it; of what it is the first to bring.
Status count(Transaction& tx, Host& host, Problem& problem, const PreparedCommit& prepared,
             storage::SegmentRow& row, std::vector<Range>& accepted) {
  const auto& request = prepared.request;
  policy::Changes changes;
  auto outcome = problem.stage->apply(
      policy::CommitEvent{host.row.id, request.unit, request.range, request.last}, tx.now, changes);
  if (!outcome.refusal.empty())
    tx.effects.info(fmt::format("items {}-{} of unit {} from host {} are passed on uncounted: {}",
                                request.range.begin, request.range.end, request.unit.value, host.row.id.value,
                                outcome.refusal));
  accepted = std::move(outcome.accepted);
  double cost = 0;
  for (const Range range : accepted) {
    row.items_accepted += range.size();
    cost += problem.stage->view().ledger().costs().of(range);
  }
  host.row.items_accepted += row.items_accepted;
  host.row.cost_accepted += cost;
  tx.model.items_accepted += row.items_accepted;
  host.row.health = policy::after_success(host.row.health);
  const policy::DeliveredEvent event{problem.row.id, host.row.id, accepted};
  TRY(store_decided(tx, tx.model.project->apply(event, tx.now)));
  return store_stage(tx, problem, changes);
}

storage::DeliveryRow delivery_row(const PreparedCommit& prepared, HostId via, SegmentId segment) {
  const protocol::Delivery& delivery = *prepared.delivery;
  storage::DeliveryRow row;
  row.unit = delivery.unit;
  row.host = delivery.host;
  row.range = delivery.range;
  row.digest = delivery.digest;
  row.via = via;
  row.segment = segment;
  row.problem = prepared.problem;
  row.stage = prepared.stage;
  row.lease = prepared.leased->lease;
  row.bytes = prepared.request.bytes;
  row.in_store = !prepared.bytes.empty();
  row.compute_seconds = prepared.request.compute_seconds;
  row.statement = protocol::encode(*prepared.request.delivery);
  return row;
}

Status take_delivery(Transaction& tx, Host& host, const PreparedCommit& prepared) {
  const auto& request = prepared.request;
  storage::SegmentRow row;
  row.problem = prepared.problem;
  row.stage = prepared.stage;
  row.unit = request.unit;
  row.host = host.row.id;
  row.range = request.range;
  row.digest = request.digest;
  row.bytes = request.bytes;
  row.received_at = tx.now;
  row.compute_seconds = request.compute_seconds;
  row.place = prepared.bytes.empty() ? storage::SegmentPlace::blob : storage::SegmentPlace::store;
  std::vector<Range> accepted;
  Problem* const problem = at_stage(tx, prepared.problem, prepared.stage);
  if (problem != nullptr) TRY(count(tx, host, *problem, prepared, row, accepted));
  TRY_ASSIGN(row.id, tx.store.add_segment(row, prepared.bytes));
  for (const Range range : accepted)
    TRY(tx.store.accept_free(prepared.problem, prepared.stage, range, row.id));
  auto owed = delivery_row(prepared, host.row.id, row.id);
  TRY(tx.store.put_delivery(owed));
  Upstream& upstream = upstream_of(tx.model);
  const auto items = static_cast<double>(std::max<std::int64_t>(1, row.range.size()));
  upstream.item_up_bytes = static_cast<double>(row.bytes) / items;
  upstream.item_seconds = row.compute_seconds / items;
  owe(upstream, std::move(owed), prepared.packed);
  const auto relay = upstream.relays.find(prepared.problem);
  if (problem != nullptr && relay != upstream.relays.end()) relay->second.accepted(accepted);
  // policy::Relay says when what it counts goes up; the rest goes with the next message.
  const bool counted =
      !accepted.empty() && relay != upstream.relays.end() && relay->second.holds(prepared.leased->lease);
  if (!counted) upstream.to_send.insert(row.id);
  return tx.store.update_host(host.row);
}

// Of a range of the result's stage: parts of no open lease, which nobody is to compute here.
std::vector<Range> leased_no_more(const Upstream& upstream, const storage::DeliveryRow& row, Range range) {
  RangeSet rest;
  rest.add(range);
  for (const auto& [unit, lease] : upstream.leases)
    if (lease.open && lease.problem == row.problem && lease.stage == row.stage) rest.remove(lease.range);
  return rest.ranges();
}

// A project that was restored from a backup knows a lease that it gave after that by its statement alone, and
// has just ended it: the result comes once more, with the statement.
bool comes_with_grant(Upstream& upstream, SegmentId segment) {
  Owed& owed = upstream.owed.at(segment);
  const auto lease = upstream.leases.find(owed.row.lease);
  if (owed.with_grant || lease == upstream.leases.end() || lease->second.open) return false;
  const auto chain = chain_of(upstream, lease->second);
  if (!chain.ok() || (*chain)->statements.statements.front().type != protocol::StatementType::grant)
    return false;
  owed.with_grant = true;
  owed.held_since = {};
  upstream.to_send.insert(segment);
  return true;
}

// The project does not want it, or it is wrong, or lost: nobody has these items here any more.
Status unaccept(Transaction& tx, const storage::DeliveryRow& row, const std::string& why) {
  Problem* const problem = at_stage(tx, row.problem, row.stage);
  if (problem == nullptr) return {};
  TRY_ASSIGN(const auto accepted, tx.store.accepted(row.problem, row.stage));
  policy::Changes changes;
  for (const auto& piece : accepted) {
    if (piece.segment != row.segment) continue;
    TRY(tx.store.unaccept(row.problem, row.stage, piece.range));
    problem->stage->apply(policy::RejectEvent{piece.range, why}, tx.now, changes);
    for (const Range range : leased_no_more(upstream_of(tx.model), row, piece.range))
      problem->stage->apply(policy::TakeAwayEvent{range, why}, tx.now, changes);
  }
  return store_stage(tx, *problem, changes);
}

}  // namespace

Status lose_answered(Transaction& tx, ProblemId id, int stage, Range range) {
  Problem* const problem = at_stage(tx, id, stage);
  if (problem == nullptr || !problem->stage->view().ledger().accepted().overlaps(range)) return {};
  const Upstream& upstream = upstream_of(tx.model);
  TRY_ASSIGN(const auto accepted, tx.store.accepted(id, stage));
  policy::Changes changes;
  for (const auto& piece : accepted) {
    const Range lost = intersection(piece.range, range);
    if (lost.empty() || upstream.owed.contains(piece.segment)) continue;
    TRY(tx.store.unaccept(id, stage, lost));
    problem->stage->apply(policy::RejectEvent{lost, "its parent has lost what was delivered of it"}, tx.now,
                          changes);
  }
  return store_stage(tx, *problem, changes);
}

Result<CommitPlace> Upstream::find_place(Transaction& tx, HostId host_id, PreparedCommit delivered) {
  CommitPlace place;
  place.checked_above = true;
  PreparedCommit& prepared = place.prepared;
  prepared = std::move(delivered);
  const auto refused = [&](std::string why) {
    prepared.refusal = std::move(why);
    return place;
  };
  const auto host = tx.model.hosts.find(host_id);
  if (host == tx.model.hosts.end()) return refused("this host is not known");
  if (!prepared.request.delivery) return refused("a relay takes only signed results");
  if (const Status read = read_delivery(prepared); !read.ok()) return refused(read.error().message);
  const auto& delivery = prepared.delivery;
  if (host->second.row.children == 0) {
    if (delivery->host != host_id || delivery->unit != prepared.request.unit)
      return refused("another host signed it, or for another unit");
    prepared.computed =
        Computed{host_id, delivery->unit, host->second.row.public_key, *prepared.request.delivery};
  }
  prepared.problem = delivery->problem;
  prepared.stage = delivery->stage;
  TRY_ASSIGN(const auto before,
             tx.store.delivery(delivery->unit, delivery->host, delivery->range, delivery->digest));
  const bool lost = before && before->acknowledgement.empty() && before->answered_at != Timestamp{};
  std::optional<protocol::SignedStatement> answered;
  if (before && !before->acknowledgement.empty()) {
    TRY_ASSIGN(answered, protocol::decode<protocol::SignedStatement>(before->acknowledgement));
  }
  // The project signs an answer anew for whoever brings the result again: this relay does.
  const bool outdated = answered && is_outdated(upstream_of(tx.model), *answered);
  if (before && !lost && !outdated) {
    prepared.leased.emplace(LeasedCommit{before->lease, true, false, std::move(answered)});
    return place;
  }
  TRY(remember(tx, host_id, prepared.request.unit, prepared.refusal));
  if (!prepared.refusal.empty()) return place;
  const auto* const lease =
      find_lease(upstream_of(tx.model), prepared.problem, prepared.stage, prepared.request.range);
  if (lease == nullptr) return refused("it belongs to no unit of this relay");
  prepared.leased.emplace(LeasedCommit{lease->unit, false, is_full(upstream_of(tx.model), tx.settings), {}});
  const auto problem = tx.model.problems.find(prepared.problem);
  if (problem == tx.model.problems.end()) return refused("its problem is gone");
  place.item_bytes_max = problem->second.manifest.item_bytes;
  return place;
}

Status Upstream::take_results(Transaction& tx, HostId host_id, const std::vector<PreparedCommit>& commits,
                              WorkOutcome& outcome) {
  const auto found = tx.model.hosts.find(host_id);
  if (found == tx.model.hosts.end()) return Error{ErrorKind::internal, "a host vanished from the model"};
  std::vector<protocol::HeldResult> held;
  for (const PreparedCommit& prepared : commits) {
    const auto& request = prepared.request;
    if (!prepared.refusal.empty()) {
      tx.effects.warn(fmt::format("items {}-{} of unit {} from host {} are not taken: {}",
                                  request.range.begin, request.range.end, request.unit.value, host_id.value,
                                  prepared.refusal));
      continue;
    }
    if (prepared.leased->answered) {
      outcome.passed.push_back(*prepared.leased->answered);
      continue;
    }
    const auto& leased = *prepared.leased;
    if (!leased.known && (leased.no_room || is_full(upstream_of(tx.model), tx.settings))) {
      note_room(tx);
      continue;
    }
    if (!leased.known) TRY(take_delivery(tx, found->second, prepared));
    held.push_back({request.unit, request.range, request.digest});
  }
  if (!held.empty()) outcome.reply.held = std::move(held);
  return {};
}

std::vector<protocol::SignedStatement> Upstream::answers(Transaction& tx, HostId host, std::size_t most) {
  std::vector<protocol::SignedStatement> some;
  const auto found = upstream_of(tx.model).to_tell.find(host);
  if (found == upstream_of(tx.model).to_tell.end()) return some;
  auto& answers = found->second;
  std::erase_if(answers,
                [&](const auto& answer) { return is_outdated(upstream_of(tx.model), answer.statement); });
  // New ones first; they are behind those that were told.
  std::stable_partition(answers.begin(), answers.end(), [](const auto& answer) { return answer.told == 0; });
  for (Upstream::Answer& answer : answers) {
    if (some.size() == most) break;
    if (tx.now < answer.again) continue;
    some.push_back(answer.statement);
    answer.again = tx.now + told_again * (1 << 2 * answer.told);
    ++answer.told;
  }
  std::erase_if(answers, [](const Upstream::Answer& answer) { return answer.told >= told_times; });
  if (answers.empty()) upstream_of(tx.model).to_tell.erase(found);
  return some;
}

Status lose_result(Transaction& tx, SegmentId segment) {
  Upstream& upstream = upstream_of(tx.model);
  if (!upstream.owed.contains(segment)) return {};
  storage::DeliveryRow row = settle(upstream, segment);
  note_room(tx);
  tx.effects.warn(fmt::format("items {}-{} from host {} are damaged or gone here: they are computed again",
                              row.range.begin, row.range.end, row.host.value));
  row.answered_at = tx.now;
  TRY(tx.store.put_delivery(row));
  return unaccept(tx, row, "its result was lost");
}

Status take_answer(Transaction& tx, const protocol::SignedStatement& statement) {
  TRY_ASSIGN(const auto answer, protocol::decode<protocol::Acknowledgement>(statement.payload));
  Upstream& upstream = upstream_of(tx.model);
  const auto segment =
      upstream.by_name.find({answer.host, answer.unit, answer.range.begin, answer.range.end, answer.digest});
  if (segment == upstream.by_name.end()) return {};  // it was answered before
  if (answer.status == protocol::CommitStatus::refused && comes_with_grant(upstream, segment->second))
    return {};
  storage::DeliveryRow row = settle(upstream, segment->second);
  note_room(tx);
  row.acknowledgement = protocol::encode(statement);
  row.answered_at = tx.now;
  TRY(tx.store.put_delivery(row));
  TRY(tx.store.pass_segment(row.segment));
  upstream.to_tell[row.via].push_back({statement, row.problem, 0});
  if (answer.status != protocol::CommitStatus::refused) return {};
  tx.effects.warn(fmt::format("the project refused items {}-{} from host {}: {}", row.range.begin,
                              row.range.end, row.host.value, answer.reason));
  return unaccept(tx, row, "the project refused its result: " + answer.reason);
}

}  // namespace gleaner::service
