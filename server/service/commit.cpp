// A host delivers a finished prefix of a unit. In three steps: where does it belong (writer), are the bytes
// what they claim to be and stored durably (pool), take them (writer). Only then is it acknowledged.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/service/service.h"
#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {

void Service::commit(HostId host, protocol::CommitRequest request, Done<protocol::SignedStatement> done) {
  std::vector<protocol::CommitRequest> requests;
  requests.push_back(std::move(request));
  prepare_commits(
      host, std::move(requests), [this, host, done](Result<std::vector<PreparedCommit>> prepared) {
        if (!prepared.ok()) return done(prepared.error());
        decide<protocol::Acknowledgement>(
            [this, host,
             commit = std::move(prepared->front())](Result<protocol::Acknowledgement>& answer) -> Status {
              protocol::Acknowledgement acknowledgement;
              TRY(apply_commit(host, commit, acknowledgement));
              answer = std::move(acknowledgement);
              return {};
            },
            [this, done](Result<protocol::Acknowledgement> answer) {
              if (!answer.ok()) return done(answer.error());
              done(sign(*answer));
            });
      });
}

protocol::SignedStatement Service::sign(const protocol::Acknowledgement& acknowledgement) const {
  return crypto::sign_statement(protocol::StatementType::acknowledgement, protocol::encode(acknowledgement),
                                secrets_.work_key);
}

void Service::prepare_commits(HostId host, std::vector<protocol::CommitRequest> requests,
                              std::function<void(Result<std::vector<PreparedCommit>>)> then) {
  if (requests.empty()) return then(std::vector<PreparedCommit>{});
  decide<std::vector<CommitPlace>>(
      [this, host, requests = std::move(requests)](Result<std::vector<CommitPlace>>& places) -> Status {
        std::vector<CommitPlace> found;
        for (const auto& request : requests) {
          TRY_ASSIGN(auto place, find_place(host, request));
          found.push_back(std::move(place));
        }
        places = std::move(found);
        return {};
      },
      [this, then = std::move(then)](Result<std::vector<CommitPlace>> places) {
        if (!places.ok()) return then(places.error());
        std::vector<PreparedCommit> prepared;
        for (auto& place : *places) {
          auto checked = check_commit(std::move(place));
          if (!checked.ok()) return then(checked.error());
          prepared.push_back(std::move(*checked));
        }
        then(std::move(prepared));
      });
}

Result<Service::CommitPlace> Service::find_place(HostId host, protocol::CommitRequest request) {
  CommitPlace place;
  TRY_ASSIGN(const auto before, store_->acknowledgement(request.unit, host, request.range, request.digest));
  place.prepared.request = std::move(request);
  const auto& r = place.prepared.request;
  if (before) {
    place.prepared.answer =
        protocol::Acknowledgement{before->unit,   before->host,   before->range,          before->digest,
                                  before->status, before->reason, before->items_accepted, before->at};
    return place;
  }
  TRY_ASSIGN(const auto unit, store_->unit(r.unit));
  if (!unit || unit->unit.host != host) {
    place.prepared.refusal = "this server never gave unit " + std::to_string(r.unit.value) + " to this host";
    return place;
  }
  const auto found = model_.problems.find(unit->problem);
  if (found == model_.problems.end() || !found->second.stage || found->second.row.stage != unit->stage) {
    place.prepared.refusal = "the problem needs no more results of this stage";
    return place;
  }
  const Problem& problem = found->second;
  problem.stage->remember(unit->unit, now());  // a late result of a unit that was given up
  const auto preview = problem.stage->view().preview_commit(host, r.unit, r.range);
  if (!preview.refusal.empty()) {
    place.prepared.refusal = preview.refusal;
    return place;
  }
  place.prepared.problem = unit->problem;
  place.prepared.stage = unit->stage;
  place.item_bytes_max = problem.manifest.item_bytes;
  place.manager = manager_setup(problem);
  return place;
}

Result<Bytes> Service::segment_bytes(const protocol::CommitRequest& request) const {
  if (request.data) return io::decompress(*request.data, std::min(request.bytes, limits::segment_bytes_max));
  return blobs_.read(request.digest, limits::segment_bytes_max);
}

// Refusals are values (the client may delete what can never be taken); errors mean "try again".
Result<Service::PreparedCommit> Service::check_commit(CommitPlace place) {
  PreparedCommit& prepared = place.prepared;
  if (prepared.answer || !prepared.refusal.empty()) return std::move(prepared);
  const auto& request = prepared.request;
  const auto refuse = [&prepared](std::string why) -> Result<PreparedCommit> {
    prepared.refusal = std::move(why);
    prepared.blame = true;
    return std::move(prepared);
  };
  auto bytes = segment_bytes(request);
  if (!bytes.ok()) {
    if (bytes.error().kind == ErrorKind::not_found)
      return Error{ErrorKind::conflict, "upload the segment " + request.digest + " first, then commit it"};
    if (bytes.error().kind == ErrorKind::io) return Error{ErrorKind::unavailable, bytes.error().message};
    return refuse("its data cannot be read: " + bytes.error().message);
  }
  if (static_cast<std::int64_t>(bytes->size()) != request.bytes ||
      crypto::sha256_hex(*bytes) != request.digest)
    return refuse("its bytes do not have the length and digest it names");
  const auto items = protocol::split_segment(*bytes, request.range.size(), place.item_bytes_max);
  if (!items.ok()) return refuse(items.error().message);

  contract::Validation validation;
  TRY(managers_.with(place.manager, [&](contract::ManagerSession& manager) -> Status {
    TRY_ASSIGN(validation, manager.validate(prepared.stage, request.range, *bytes));
    return {};
  }));
  if (validation.verdict == contract::Verdict::invalid)
    return refuse("the application finds it invalid: " + validation.reason);
  prepared.enough = validation.verdict == contract::Verdict::enough;

  const auto free = dependencies_.files.free_bytes(directory_.root());
  if (free.ok() && *free < configuration_.disk_reserve_megabytes * (1 << 20))
    return Error{ErrorKind::unavailable,
                 "the server's disk is nearly full: keep the result and try again later"};
  if (request.data) {
    const auto stored = blobs_.put(*bytes);
    if (!stored.ok()) return Error{ErrorKind::unavailable, stored.error().message};
  }
  return std::move(prepared);
}

Status Service::apply_commit(HostId host_id, const PreparedCommit& prepared,
                             protocol::Acknowledgement& acknowledgement) {
  const auto& request = prepared.request;
  if (prepared.answer) {
    acknowledgement = *prepared.answer;
    return {};
  }
  acknowledgement = {
      request.unit,     host_id, request.range, request.digest, protocol::CommitStatus::refused,
      prepared.refusal, 0,       now()};
  const auto host_found = model_.hosts.find(host_id);
  if (host_found == model_.hosts.end()) return Error{ErrorKind::internal, "a host vanished from the model"};
  Host& host = host_found->second;
  const auto found = model_.problems.find(prepared.problem);
  if (acknowledgement.reason.empty() &&
      (found == model_.problems.end() || !found->second.stage || found->second.row.stage != prepared.stage))
    acknowledgement.reason = "the problem needs no more results of this stage";

  if (acknowledgement.reason.empty()) {
    Problem& problem = found->second;
    policy::Changes changes;
    const auto outcome =
        problem.stage->commit(host_id, request.unit, request.range, request.last, now(), changes);
    acknowledgement.reason = outcome.refusal;
    if (outcome.refusal.empty()) TRY(record_commit(host, problem, prepared, outcome, acknowledgement));
    TRY(store_stage(problem, changes));
  }
  if (acknowledgement.status == protocol::CommitStatus::refused) {
    spdlog::warn("refused items {}-{} of unit {} from host {}: {}", request.range.begin, request.range.end,
                 request.unit.value, host_id.value, acknowledgement.reason);
    if (prepared.blame) {
      host.row.health = policy::after_failure(host.row.health, acknowledgement.reason, now());
      TRY(store_->update_host(host.row));
    }
  }
  // Refusals are not kept: each sending is judged anew.
  if (acknowledgement.status == protocol::CommitStatus::refused) return {};
  return store_->add_acknowledgement({request.unit, host_id, request.range, request.digest,
                                      acknowledgement.status, acknowledgement.reason,
                                      acknowledgement.items_accepted, acknowledgement.at});
}

Status Service::record_commit(Host& host, Problem& problem, const PreparedCommit& prepared,
                              const policy::CommitOutcome& outcome,
                              protocol::Acknowledgement& acknowledgement) {
  const auto& request = prepared.request;
  storage::SegmentRow row;
  row.problem = problem.row.id;
  row.stage = prepared.stage;
  row.unit = request.unit;
  row.host = host.row.id;
  row.range = request.range;
  row.digest = request.digest;
  row.bytes = request.bytes;
  row.received_at = now();
  row.compute_seconds = request.compute_seconds;
  TRY_ASSIGN(row.id, store_->add_segment(row));
  for (const Range range : outcome.accepted) {
    TRY(store_->accept(problem.row.id, prepared.stage, range, row.id));
    acknowledgement.items_accepted += range.size();
    problem.saved.forget(range);
    host.row.cost_accepted += problem.stage->view().cost(range);
  }
  host.row.items_accepted += acknowledgement.items_accepted;
  host.row.health = policy::after_success(host.row.health);
  acknowledgement.status = acknowledgement.items_accepted > 0 ? protocol::CommitStatus::accepted
                                                              : protocol::CommitStatus::duplicate;
  if (acknowledgement.items_accepted < request.range.size())
    acknowledgement.reason = "other hosts had delivered " +
                             std::to_string(request.range.size() - acknowledgement.items_accepted) +
                             " of its items";
  if (!outcome.overlapping.empty()) TRY(start_review(problem, outcome.overlapping));
  if (prepared.enough && !problem.stage_row.enough) {
    policy::Changes changes;
    problem.stage->enough(now(), changes);
    problem.stage_row.enough = true;
    TRY(store_->put_stage(problem.stage_row));
    TRY(store_stage(problem, changes));
  }
  return store_->update_host(host.row);
}

}  // namespace gleaner::service
