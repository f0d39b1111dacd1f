#include "server/service/work/accept.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "server/service/core/ban_registry.h"
#include "server/service/core/stage_changes.h"
#include "server/service/core/tokens.h"
#include "server/service/core/waiting.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/reports.h"
#include "server/service/work/reviews.h"
#include "server/service/work/trust.h"
#include "shared/base/limits.h"
#include "shared/crypto/relay_chain.h"
#include "shared/protocol/codec.h"

namespace gleaner::service {
namespace {

// A restored store goes on so many numbers after its backup's at least (store_copy.cpp).
constexpr std::int64_t numbers_of_a_restore = 10'000'000'000;

// What is answered to a segment of which so many items were accepted: the same whenever it is sent.
void acknowledge(protocol::Acknowledgement& answer, std::int64_t items_accepted) {
  answer.items_accepted = items_accepted;
  answer.status = items_accepted > 0 ? protocol::CommitStatus::accepted : protocol::CommitStatus::duplicate;
  if (items_accepted < answer.range.size())
    answer.reason =
        "other hosts had delivered " + std::to_string(answer.range.size() - items_accepted) + " of its items";
}

// The host's row is the caller's to store.
// `host` computed it.
Status record_commit(Transaction& tx, Host& host, Problem& problem, const PreparedCommit& prepared,
                     const policy::CommitOutcome& outcome, protocol::Acknowledgement& acknowledgement) {
  const auto& request = prepared.request;
  storage::SegmentRow row;
  row.problem = problem.row.id;
  row.stage = prepared.stage;
  row.unit = request.unit;
  row.host = host.row.id;
  row.range = request.range;
  row.digest = request.digest;
  row.bytes = request.bytes;
  row.received_at = tx.now;
  row.compute_seconds = request.compute_seconds;
  row.place = prepared.bytes.empty() ? storage::SegmentPlace::blob : storage::SegmentPlace::store;
  for (const Range range : outcome.accepted) row.items_accepted += range.size();
  acknowledge(acknowledgement, row.items_accepted);
  TRY_ASSIGN(row.id, tx.store.add_segment(row, prepared.bytes));
  double cost = 0;
  for (const Range range : outcome.accepted) {
    TRY(tx.store.accept_free(problem.row.id, prepared.stage, range, row.id));
    problem.saved.forget(range);
    cost += problem.stage->view().ledger().costs().of(range);
  }
  host.row.cost_accepted += cost;
  if (cost > 0) problem.pace.delivered(tx.now, cost, request.compute_seconds);
  const bool proves_itself = !is_proven(host.row) && acknowledgement.items_accepted > 0;
  if (proves_itself && host.row.state == protocol::HostState::active)
    tx.effects.add(effect::AdmitToken{host.row.token_digest, host.row.id, true});
  host.row.items_accepted += acknowledgement.items_accepted;
  tx.model.items_accepted += acknowledgement.items_accepted;
  host.row.health = policy::after_success(host.row.health);
  TRY(goes_on(tx, problem));
  if (!outcome.overlapping.empty()) TRY(start_review(tx, problem, outcome.overlapping));
  TRY(note_delivery(tx, problem, host.row.id, row.id, outcome.accepted));
  if (prepared.enough && !problem.stage_row.enough) {
    policy::Changes changes;
    problem.stage->apply(policy::EnoughEvent{}, tx.now, changes);
    problem.stage_row.enough = true;
    TRY(tx.store.put_stage(problem.stage_row));
    TRY(store_stage(tx, problem, changes));
  }
  return {};
}

// Who is said to have computed it, by that host's signature, which is still to be checked. Why it is refused,
// or nothing. A relay has computed nothing itself: it would have the credit of a host under it.
std::string read_computed(const Transaction& tx, HostId deliverer, PreparedCommit& prepared) {
  const protocol::CommitRequest& request = prepared.request;
  const auto asker = tx.model.hosts.find(deliverer);
  const bool relay = asker != tx.model.hosts.end() && asker->second.row.children > 0;
  if (!request.delivery) return relay ? "a relay delivers only results with a host's statement" : "";
  if (!relay && !request.given) return "only relays deliver results of other hosts";
  if (const Status read = read_delivery(prepared); !read.ok()) return read.error().message;
  const auto& delivery = prepared.delivery;
  const auto host = tx.model.hosts.find(delivery->host);
  const std::string named = "host " + std::to_string(delivery->host.value);
  if (host == tx.model.hosts.end()) return named + " is not one of this project's";
  // Who is refused is named, or its relay would bring it for ever.
  prepared.computed =
      Computed{delivery->host, delivery->unit, host->second.row.public_key, *request.delivery};
  if (host->second.row.state == protocol::HostState::revoked)
    return named + " is revoked: its results are refused";
  const bool is_banned = ban_of_key(tx.model, host->second.row.public_key, tx.now) != nullptr ||
                         ban_of_code(tx.model, host->second.row.code, tx.now) != nullptr;
  return is_banned ? named + " is banned: its results are refused" : "";
}

// A host brings what the project gave it under another number. Whether that is signed is still to be checked,
// if it matters: of a unit that is known here. Why it is refused, or nothing.
std::string read_own(const Transaction& tx, HostId deliverer, PreparedCommit& prepared) {
  protocol::CommitRequest& request = prepared.request;
  const auto grant = crypto::read_grant(request.given->grant);
  if (!grant.ok()) return grant.error().message;
  if (grant->unit != request.unit || request.range.empty() || request.range.begin < grant->range.begin ||
      request.range.end > grant->range.end)
    return "the project gave something else to this host";
  policy::Unit unit;
  unit.id = unit.group = grant->unit;
  unit.host = deliverer;
  unit.state = policy::UnitState::cancelled;
  unit.range = grant->range;
  unit.committed = unit.finished = request.range.begin;
  unit.issued = grant->issued_at;
  unit.last_contact = unit.deadline = unit.closed = tx.now;
  unit.reason = "given before this server was restored from a backup";
  prepared.adopted = std::move(unit);
  prepared.problem = grant->problem;
  prepared.stage = grant->stage;
  prepared.given = Given{std::move(*request.given), tx.model.revocations};
  request.given.reset();
  return {};
}

// A host brings itself what its relay gave it: as if that relay's lease of the project brought it, which is
// `prepared.request.unit` from now on. Whether all of it is signed is still to be checked. Why it is refused,
// or nothing.
std::string read_given(const Transaction& tx, HostId deliverer, PreparedCommit& prepared) {
  protocol::CommitRequest& request = prepared.request;
  if (!request.given) return {};
  const protocol::GivenUnit& unit = *request.given;
  if (unit.grant.type == protocol::StatementType::grant) return read_own(tx, deliverer, prepared);
  if (!prepared.computed || prepared.computed->host != deliverer)
    return "a relay's unit is brought by the host that signed its result";
  const auto part = crypto::read_relayed_grant(unit.grant, unit.lease);
  if (!part.ok()) return part.error().message;
  const auto lease = crypto::read_grant(unit.lease.statements.back());
  if (!lease.ok()) return lease.error().message;
  const Range& range = request.range;
  const bool same = part->unit == request.unit && part->unit == prepared.computed->unit;
  if (part->host != deliverer || !same || range.begin < part->range.begin || range.end > part->range.end)
    return "its relay gave something else to this host";
  prepared.holder = lease->host;
  request.unit = lease->unit;
  prepared.given = Given{std::move(*request.given), tx.model.revocations};
  request.given.reset();
  return {};
}

// What its stage says of it. REQUIRES: the problem has one.
void settle_place(const Transaction& tx, HostId host, const Problem& problem, CommitPlace& place) {
  PreparedCommit& prepared = place.prepared;
  const auto preview =
      problem.stage->view().preview_commit(host, prepared.request.unit, prepared.request.range);
  if (!preview.refusal.empty()) {
    prepared.refusal = preview.refusal;
    return;
  }
  prepared.problem = problem.row.id;
  prepared.stage = problem.row.stage;
  place.item_bytes_max = problem.manifest.item_bytes;
  place.manager = manager_setup(tx.model, problem);
}

// Of a unit that is not known here, what its stage may still want.
void adopt_place(const Transaction& tx, CommitPlace& place) {
  PreparedCommit& prepared = place.prepared;
  const auto found = tx.model.problems.find(prepared.problem);
  if (found == tx.model.problems.end() || !found->second.stage || found->second.row.stage != prepared.stage) {
    prepared.refusal = "the problem needs no more results of this stage";
    return;
  }
  // Numbers of problems that were added after the backup are given again.
  const auto grant = crypto::read_grant(prepared.given->unit.grant);
  if (!grant.ok() || !is_grant_of(tx.model, found->second, *grant)) {
    prepared.refusal = "it was given for another problem, which was lost when this server was restored";
    return;
  }
  place.item_bytes_max = found->second.manifest.item_bytes;
  place.manager = manager_setup(tx.model, found->second);
}

// The host that computed it: `deliverer`, or one under that.
Host* computed_by(Transaction& tx, Host& deliverer, const PreparedCommit& prepared) {
  if (!prepared.computed) return &deliverer;
  const auto found = tx.model.hosts.find(prepared.computed->host);
  return found == tx.model.hosts.end() ? nullptr : &found->second;
}

// Its client computes no more of a unit that a result was refused of: what that cost is waste.
Status end_refused(Transaction& tx, const Host& host, const protocol::CommitRequest& request,
                   const std::string& why) {
  const auto place = tx.model.open_units.find(request.unit);
  if (place == tx.model.open_units.end() || !host.units.contains(request.unit)) return {};
  Problem& problem = tx.model.problems.at(place->second);
  if (!problem.stage) return {};
  policy::Changes changes;
  problem.stage->apply(policy::GiveBackEvent{host.row.id, request.unit, policy::GiveBack::returned,
                                             request.range.end, "a result was refused: " + why},
                       tx.now, changes);
  return store_stage(tx, problem, changes);
}

// Takes over a unit that this server granted before it was restored. No number near it is handed out later,
// since other hosts hold units of the same run. `reason`: why it is not adopted.
Status adopt(Transaction& tx, Problem& problem, const policy::Unit& unit, std::string& reason) {
  TRY_ASSIGN(const auto known, tx.store.unit(unit.id));
  if (known && known->unit.host != unit.host) {
    reason = "unit " + std::to_string(unit.id.value) + " is another host's by now";
    return {};
  }
  const UnitId next{(unit.id.value / numbers_of_a_restore + 1) * numbers_of_a_restore};
  TRY(tx.store.start_units(next));
  std::erase_if(tx.model.spare_units, [&](UnitId spare) { return spare < next; });
  problem.stage->apply(policy::RememberEvent{unit}, tx.now);
  return {};
}

// `changed`: rows of hosts that the caller is to store.
Status apply_commit(Transaction& tx, Host& deliverer, const PreparedCommit& prepared,
                    protocol::Acknowledgement& acknowledgement, std::set<HostId>& changed) {
  const auto& request = prepared.request;
  if (prepared.answer) {
    acknowledgement = *prepared.answer;
    return {};
  }
  Host* const host = computed_by(tx, deliverer, prepared);
  if (host == nullptr) return Error{ErrorKind::internal, "a host vanished from the model"};
  acknowledgement = {prepared.computed ? prepared.computed->unit : request.unit,
                     host->row.id,
                     request.range,
                     request.digest,
                     protocol::CommitStatus::refused,
                     prepared.refusal,
                     0,
                     tx.now};
  const auto found = tx.model.problems.find(prepared.problem);
  if (acknowledgement.reason.empty() &&
      (found == tx.model.problems.end() || !found->second.stage || found->second.row.stage != prepared.stage))
    acknowledgement.reason = "the problem needs no more results of this stage";

  if (acknowledgement.reason.empty() && prepared.adopted) {
    // A host must not choose which items it gives a second opinion on.
    if (found->second.stage->view().ledger().accepted().overlaps(request.range)) {
      acknowledge(acknowledgement, 0);
      return {};
    }
    TRY(adopt(tx, found->second, *prepared.adopted, acknowledgement.reason));
  }
  if (acknowledgement.reason.empty()) {
    Problem& problem = found->second;
    policy::Changes changes;
    // Of a lease it is a part, whose last item says nothing of the lease.
    const auto outcome =
        problem.stage->apply(policy::CommitEvent{prepared.holder.value_or(deliverer.row.id), request.unit,
                                                 request.range, request.last && !prepared.holder},
                             tx.now, changes);
    acknowledgement.reason = outcome.refusal;
    if (outcome.refusal.empty()) {
      if (prepared.computed) TRY(touch_host(tx, *host));  // it is there, as far as its relay is believed
      TRY(record_commit(tx, *host, problem, prepared, outcome, acknowledgement));
      changed.insert(host->row.id);
    }
    TRY(store_stage(tx, problem, changes));
  }
  if (acknowledgement.status == protocol::CommitStatus::refused) {
    tx.effects.warn(fmt::format("refused items {}-{} of unit {} from host {}: {}", request.range.begin,
                                request.range.end, request.unit.value, host->row.id.value,
                                acknowledgement.reason));
    if (prepared.blame) {
      host->row.health = policy::after_failure(host->row.health, acknowledgement.reason, tx.now);
      changed.insert(host->row.id);
      // A relay's unit goes on without that one.
      if (!prepared.computed) TRY(end_refused(tx, *host, request, acknowledgement.reason));
    }
  }
  // Refusals are not kept: each sending is judged anew. All else the segment's row says.
  return {};
}

}  // namespace

Status find_checking_place(Transaction& tx, HostId host, UnitId id, Result<CheckingPlace>& place) {
  ProblemId problem;
  std::optional<int> stage;
  if (const auto open = tx.model.open_units.find(id); open != tx.model.open_units.end()) {
    problem = open->second;
  } else {
    TRY_ASSIGN(const auto unit, tx.store.unit(id));
    if (unit && unit->unit.host == host) {
      problem = unit->problem;
      stage = unit->stage;
    }
  }
  const auto found = tx.model.problems.find(problem);
  if (found == tx.model.problems.end() || !found->second.stage ||
      (stage && *stage != found->second.row.stage)) {
    place = Error{ErrorKind::not_found, "no results of unit " + std::to_string(id.value) + " are of use"};
    return {};
  }
  const auto& application = tx.model.applications.at(found->second.row.application).row;
  place = CheckingPlace{found->second.row.stage,
                        found->second.manifest.item_bytes,
                        manager_setup(tx.model, found->second),
                        {application.statement, application.signer}};
  return {};
}

std::size_t segments_max(const Host& host) {
  return static_cast<std::size_t>(host.row.children > 0 ? limits::segments_per_relay_request_max
                                                        : limits::segments_per_request_max);
}

Status count_segments(const Model& model, HostId host, std::size_t count) {
  const auto found = model.hosts.find(host);
  if (found == model.hosts.end() || count <= segments_max(found->second)) return {};
  return Error{ErrorKind::invalid,
               fmt::format("a request of this host brings {} results at most", segments_max(found->second))};
}

Result<CommitPlace> find_own_place(Transaction& tx, HostId host, PreparedCommit delivered) {
  CommitPlace place;
  PreparedCommit& prepared = place.prepared;
  prepared = std::move(delivered);
  prepared.refusal = read_computed(tx, host, prepared);
  if (prepared.refusal.empty()) prepared.refusal = read_given(tx, host, prepared);
  if (!prepared.refusal.empty()) {
    // Nobody gets a refusal of what is another host's, whose copy would go.
    if (prepared.request.given) prepared.computed.reset();
    return place;
  }
  const auto& r = prepared.request;
  const HostId holder = prepared.holder.value_or(host);
  if (const auto open = tx.model.open_units.find(r.unit); open != tx.model.open_units.end()) {
    // Goes on where the unit stands: then it cannot have been answered before, and the model says the rest.
    const auto found = tx.model.problems.find(open->second);
    const bool has_stage = found != tx.model.problems.end() && found->second.stage;
    const policy::Unit* unit = has_stage ? found->second.stage->view().unit(r.unit) : nullptr;
    prepared.adopted.reset();  // it is known here
    const bool goes_on =
        !r.delivery && unit != nullptr && unit->host == host && unit->committed == r.range.begin;
    if (goes_on && !r.range.empty()) {
      settle_place(tx, host, found->second, place);
      return place;
    }
  }
  const HostId by = prepared.computed ? prepared.computed->host : host;
  TRY_ASSIGN(const auto before, tx.store.acknowledgement(r.unit, by, r.range, r.digest));
  if (before) {
    protocol::Acknowledgement answer;
    answer.unit = prepared.computed ? prepared.computed->unit : before->unit;
    answer.host = before->host;
    answer.range = before->range;
    answer.digest = before->digest;
    answer.at = before->at;
    acknowledge(answer, before->items_accepted);
    prepared.answer = std::move(answer);
    return place;
  }
  TRY_ASSIGN(const auto unit, tx.store.unit(r.unit));
  if (!unit && prepared.adopted) {
    adopt_place(tx, place);
    return place;
  }
  prepared.adopted.reset();
  if (!unit || unit->unit.host != holder) {
    prepared.refusal = "this server never gave unit " + std::to_string(r.unit.value) + " to " +
                       (prepared.holder ? "that relay" : "this host");
    return place;
  }
  const auto found = tx.model.problems.find(unit->problem);
  if (found == tx.model.problems.end() || !found->second.stage || found->second.row.stage != unit->stage) {
    prepared.refusal = "the problem needs no more results of this stage";
    return place;
  }
  const Problem& problem = found->second;
  problem.stage->apply(policy::RememberEvent{unit->unit},
                       tx.now);  // a late result of a unit that was given up
  settle_place(tx, holder, problem, place);
  return place;
}

Status take_checked(Transaction& tx, HostId host, std::vector<PreparedCommit> checked,
                    Result<std::vector<PreparedCommit>>& commits) {
  if (const Status few = count_segments(tx.model, host, checked.size()); !few.ok()) {
    commits = few.error();
    return {};
  }
  for (PreparedCommit& commit : checked) {
    PreparedCommit delivered;
    delivered.request = commit.request;
    TRY_ASSIGN(CommitPlace place, tx.model.origin->find_place(tx, host, std::move(delivered)));
    PreparedCommit& found = place.prepared;
    if (found.answer || !found.refusal.empty()) {
      commit = std::move(found);
    } else if (found.adopted || found.problem != commit.problem || found.stage != commit.stage) {
      commits = Error{ErrorKind::conflict, "a segment was checked as one of another problem or stage"};
      return {};
    }
  }
  commits = std::move(checked);
  return {};
}

Status take_ahead(Transaction& tx, HostId host, std::vector<CheckedAhead> checked,
                  Result<std::vector<PreparedCommit>>& commits) {
  if (const Status few = count_segments(tx.model, host, checked.size()); !few.ok()) {
    commits = few.error();
    return {};
  }
  std::vector<PreparedCommit> taken;
  for (CheckedAhead& commit : checked) {
    TRY_ASSIGN(CommitPlace place, tx.model.origin->find_place(tx, host, std::move(commit.prepared)));
    PreparedCommit& found = place.prepared;
    const bool by_this_host = found.computed && found.computed->key == found.computed->statement.key;
    const bool passed = found.leased && (found.leased->known || found.leased->no_room);
    const bool whole = place.checked_above && commit.item_bytes <= place.item_bytes_max;
    if (found.refusal.empty() && !(by_this_host && (passed || whole))) {
      commits = Error{ErrorKind::conflict, "a segment has to be checked with its place"};
      return {};
    }
    taken.push_back(std::move(found));
  }
  commits = std::move(taken);
  return {};
}

Status apply_commits(Transaction& tx, HostId host_id, const std::vector<PreparedCommit>& commits,
                     std::vector<protocol::Acknowledgement>& acknowledgements) {
  if (commits.empty()) return {};
  const auto found = tx.model.hosts.find(host_id);
  if (found == tx.model.hosts.end()) return Error{ErrorKind::internal, "a host vanished from the model"};
  std::set<HostId> changed;
  for (const PreparedCommit& prepared : commits) {
    protocol::Acknowledgement acknowledgement;
    TRY(apply_commit(tx, found->second, prepared, acknowledgement, changed));
    acknowledgements.push_back(std::move(acknowledgement));
  }
  for (const HostId id : changed) TRY(tx.store.update_host(tx.model.hosts.at(id).row));
  return {};
}

}  // namespace gleaner::service
