#include "server/service/work/commits.h"

#include <algorithm>
#include <utility>

#include "server/service/core/round.h"
#include "server/service/core/waiting.h"
#include "shared/base/limits.h"
#include "shared/crypto/relay_chain.h"
#include "shared/io/compression.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

constexpr Duration room_believed_for = std::chrono::seconds{1};  // of small results, some megabytes

// The bytes that were sent along, if they are as the request says; else nothing.
std::optional<Bytes> whole_bytes(const protocol::CommitRequest& request, std::int64_t& item_bytes) {
  auto bytes = io::decompress(*request.data, request.bytes);
  if (!bytes.ok() || static_cast<std::int64_t>(bytes->size()) != request.bytes ||
      crypto::sha256_hex(*bytes) != request.digest)
    return std::nullopt;
  const auto items = protocol::split_segment(*bytes, request.range.size(), request.bytes);
  if (!items.ok()) return std::nullopt;
  for (const std::string_view item : *items)
    item_bytes = std::max(item_bytes, static_cast<std::int64_t>(item.size()));
  return std::move(*bytes);
}

}  // namespace

void Commits::place(HostId host, UnitId unit, Done<CheckingPlace> done) {
  kernel_.decide<CheckingPlace>(
      [host, unit](Transaction& tx, Result<CheckingPlace>& place) {
        return find_checking_place(tx, host, unit, place);
      },
      std::move(done));
}

Status Commits::has_room() {
  const SteadyTime now = kernel_.clock().steady();
  if (now < room_until_.load(std::memory_order_relaxed)) return {};
  TRY(room_now());
  room_until_.store(now + room_believed_for, std::memory_order_relaxed);
  return {};
}

Status Commits::room_now() const {
  if (const Status room = kernel_.has_room(); !room.ok())
    return Error{room.error().kind, room.error().message + ": keep the result and try again later"};
  return {};
}

std::optional<std::vector<CheckedAhead>> Commits::check_ahead(
    HostId host, const std::vector<protocol::CommitRequest>& requests) const {
  std::vector<CheckedAhead> all;
  for (const protocol::CommitRequest& request : requests) {
    if (!request.delivery || !request.data || request.given || request.bytes > limits::kept_segment_bytes_max)
      return std::nullopt;
    CheckedAhead& ahead = all.emplace_back();
    PreparedCommit& prepared = ahead.prepared;
    prepared.request = request;
    if (!read_delivery(prepared).ok() || prepared.delivery->host != host ||
        prepared.delivery->project != secrets_.project ||
        !crypto::check_signature(*request.delivery, protocol::StatementType::delivery).ok())
      return std::nullopt;
    auto bytes = whole_bytes(request, ahead.item_bytes);
    if (!bytes) return std::nullopt;
    prepared.bytes = std::move(*bytes);
    prepared.packed = std::move(*prepared.request.data);
    prepared.request.data.reset();
  }
  return all;
}

void Commits::prepare(HostId host, std::vector<protocol::CommitRequest> requests,
                      Done<std::vector<PreparedCommit>> then) {
  if (requests.empty()) return then(std::vector<PreparedCommit>{});
  kernel_.decide<std::vector<CommitPlace>>(
      [host, requests = std::move(requests)](Transaction& tx,
                                             Result<std::vector<CommitPlace>>& places) -> Status {
        if (const Status few = count_segments(tx.model, host, requests.size()); !few.ok()) {
          places = few.error();
          return {};
        }
        std::vector<CommitPlace> found;
        for (const auto& request : requests) {
          PreparedCommit delivered;
          delivered.request = request;
          TRY_ASSIGN(auto place, tx.model.origin->find_place(tx, host, std::move(delivered)));
          found.push_back(std::move(place));
        }
        places = std::move(found);
        return {};
      },
      [this, host, then = std::move(then)](Result<std::vector<CommitPlace>> places) {
        if (!places.ok()) return then(places.error());
        const auto round = std::make_shared<Round<PreparedCommit>>(places->size(), then);
        for (std::size_t i = 0; i < places->size(); ++i)
          check_aside(host, std::move((*places)[i]),
                      [round, i](Result<PreparedCommit> prepared) { round->settle(i, std::move(prepared)); });
      });
}

void Commits::check_aside(HostId host, CommitPlace place, Prepared then) {
  const auto& request = place.prepared.request;
  const bool waits = kernel_.blobs().remote() && !place.prepared.answer &&
                     (!request.data || request.bytes > limits::kept_segment_bytes_max);
  if (!waits) return check(host, std::move(place), std::move(then));
  auto job = [this, host, place = std::make_shared<CommitPlace>(std::move(place)),
              then = std::move(then)]() mutable { check(host, std::move(*place), std::move(then)); };
  kernel_.on_blob_pool(std::move(job));
}

void Commits::check_computed(PreparedCommit& prepared) const {
  if (!prepared.computed || prepared.answer || !prepared.refusal.empty()) return;
  const auto delivery =
      crypto::check_delivery(prepared.computed->statement, prepared.computed->key, secrets_.project);
  if (!delivery.ok())
    prepared.refusal = delivery.error().message;
  else if (delivery->problem != prepared.problem || delivery->stage != prepared.stage)
    prepared.refusal = "its delivery is of another problem or stage than the relay's unit";
  else if (prepared.holder)
    prepared.refusal = check_given(*prepared.given, prepared.computed->host);
}

// As of when it was given: the certificate of a relay that is gone ends, and so do its leases.
std::string Commits::check_given(const Given& given, HostId host) const {
  const auto part = crypto::read_relayed_grant(given.unit.grant, given.unit.lease);
  if (!part.ok()) return part.error().message;
  const auto checked = crypto::check_relayed_grant(given.unit.grant, given.unit.lease,
                                                   trust_of(given.revocations), host, part->issued_at);
  return checked.ok() ? std::string() : checked.error().message;
}

crypto::ProjectTrust Commits::trust_of(const crypto::Revocations& revocations) const {
  protocol::ProjectDocument document;
  document.work_certificate = secrets_.work_certificate;
  document.former_work_certificates = secrets_.former_work_certificates;
  return {secrets_.project, secrets_.root_key, secrets_.work_key.public_key(), std::move(document),
          revocations};
}

// Whoever it was given to: that is not known here any more.
void Commits::check_adopted(PreparedCommit& prepared) const {
  if (!prepared.adopted || prepared.answer || !prepared.refusal.empty()) return;
  const auto& statement = prepared.given->unit.grant;
  const auto grant = crypto::read_grant(statement);
  const auto checked = grant.ok() ? crypto::check_grant(statement, trust_of(prepared.given->revocations),
                                                        grant->host, grant->issued_at)
                                  : grant;
  if (!checked.ok()) prepared.refusal = checked.error().message;
}

void Commits::check(HostId host, CommitPlace place, Prepared then) {
  check_computed(place.prepared);
  check_adopted(place.prepared);
  check_.check(std::move(place),
               [this, host, then = std::move(then)](Result<SegmentCheck::Checked> checked) mutable {
                 if (!checked.ok()) return then(checked.error());
                 if (!checked->bytes) return then(std::move(checked->prepared));
                 then(keep(host, std::move(checked->prepared), *checked->bytes));
               });
}

void Commits::say_it_waits(ProblemId problem, const std::string& why) {
  kernel_.writer().submit(
      [problem, why](Transaction& tx) -> Status {
        const auto found = tx.model.problems.find(problem);
        if (found == tx.model.problems.end() || over(found->second.row.state)) return {};
        return service::say_it_waits(tx, found->second, "a result cannot be checked: " + why);
      },
      [](const Status&) { return Writer::Answer{}; });
}

Result<PreparedCommit> Commits::keep(HostId host, PreparedCommit prepared, const Bytes& bytes) {
  TRY(room_now());
  if (!prepared.request.data) {
    if (kernel_.blobs().remote()) {  // it is there; may the store be relied on for it?
      const auto there = kernel_.blobs().upload_state(prepared.request.digest);
      if (!there.ok()) return Error{ErrorKind::unavailable, there.error().message};
      if (!there->complete)
        return Error{ErrorKind::conflict,
                     "upload the segment " + prepared.request.digest + " first, then commit it"};
    }
    uploads_.close(host, prepared.request.digest);
    return prepared;
  }
  Bytes packed = std::move(*prepared.request.data);
  prepared.request.data.reset();
  if (static_cast<std::int64_t>(bytes.size()) <= limits::kept_segment_bytes_max) {
    prepared.bytes = bytes;
    if (prepared.leased) prepared.packed = std::move(packed);
    return prepared;
  }
  const auto stored = kernel_.blobs().put(bytes);
  if (!stored.ok()) return Error{ErrorKind::unavailable, stored.error().message};
  return prepared;
}

}  // namespace gleaner::service
