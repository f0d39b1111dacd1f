#include "server/service/commits.h"

#include <algorithm>

#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

Result<Bytes> segment_bytes(const storage::BlobStore& blobs, const protocol::CommitRequest& request) {
  if (request.data) return io::decompress(*request.data, std::min(request.bytes, limits::segment_bytes_max));
  return blobs.read(request.digest, request.bytes);
}

}  // namespace

void Commits::commit(HostId host, protocol::CommitRequest request, Done<protocol::SignedStatement> done) {
  std::vector<protocol::CommitRequest> requests;
  requests.push_back(std::move(request));
  prepare(host, std::move(requests), [this, host, done](Result<std::vector<PreparedCommit>> prepared) {
    if (!prepared.ok()) return done(prepared.error());
    kernel_.decide<protocol::Acknowledgement>(
        [host, commit = std::move(prepared->front())](Transaction& tx,
                                                      Result<protocol::Acknowledgement>& answer) -> Status {
          protocol::Acknowledgement acknowledgement;
          TRY(apply_commit(tx, host, commit, acknowledgement));
          answer = std::move(acknowledgement);
          return {};
        },
        [this, done](Result<protocol::Acknowledgement> answer) {
          if (!answer.ok()) return done(answer.error());
          done(crypto::sign_statement(protocol::StatementType::acknowledgement, protocol::encode(*answer),
                                      secrets_.work_key));
        });
  });
}

void Commits::prepare(HostId host, std::vector<protocol::CommitRequest> requests,
                      Done<std::vector<PreparedCommit>> then) {
  if (requests.empty()) return then(std::vector<PreparedCommit>{});
  kernel_.decide<std::vector<CommitPlace>>(
      [host, requests = std::move(requests)](Transaction& tx,
                                             Result<std::vector<CommitPlace>>& places) -> Status {
        std::vector<CommitPlace> found;
        for (const auto& request : requests) {
          TRY_ASSIGN(auto place, find_place(tx, host, request));
          found.push_back(std::move(place));
        }
        places = std::move(found);
        return {};
      },
      [this, host, then = std::move(then)](Result<std::vector<CommitPlace>> places) {
        if (!places.ok()) return then(places.error());
        std::vector<PreparedCommit> prepared;
        for (auto& place : *places) {
          auto checked = check(host, std::move(place));
          if (!checked.ok()) return then(checked.error());
          prepared.push_back(std::move(*checked));
        }
        then(std::move(prepared));
      });
}

// Refusals are values (the client may delete what can never be taken); errors mean "try again".
Result<PreparedCommit> Commits::check(HostId host, CommitPlace place) const {
  PreparedCommit& prepared = place.prepared;
  if (prepared.answer || !prepared.refusal.empty()) return std::move(prepared);
  const auto& request = prepared.request;
  const auto refuse = [&prepared](std::string why) -> Result<PreparedCommit> {
    prepared.refusal = std::move(why);
    prepared.blame = true;
    return std::move(prepared);
  };
  // Before anything is inflated or read: what cannot be a result takes no memory.
  if (request.bytes > protocol::segment_bytes_bound(request.range.size(), place.item_bytes_max))
    return refuse("its bytes are more than so many items of this problem can have");
  auto bytes = segment_bytes(kernel_.blobs(), request);
  if (!bytes.ok()) {
    if (bytes.error().kind == ErrorKind::not_found)
      return Error{ErrorKind::conflict, "upload the segment " + request.digest + " first, then commit it"};
    if (bytes.error().kind == ErrorKind::io) return Error{ErrorKind::unavailable, bytes.error().message};
    return refuse("its data cannot be read: " + bytes.error().message);
  }
  const bool as_named = crypto::sha256_hex(*bytes) == request.digest;
  // What was uploaded had that digest.
  if (!as_named && !request.data && !kernel_.blobs().verify(request.digest).ok())
    return Error{ErrorKind::conflict, "the segment " + request.digest + " was damaged here: upload it again"};
  if (static_cast<std::int64_t>(bytes->size()) != request.bytes || !as_named)
    return refuse("its bytes do not have the length and digest it names");
  const auto items = protocol::split_segment(*bytes, request.range.size(), place.item_bytes_max);
  if (!items.ok()) return refuse(items.error().message);

  contract::Validation validation;
  TRY(kernel_.managers().with(place.manager, [&](contract::ManagerSession& manager) -> Status {
    TRY_ASSIGN(validation, manager.validate(prepared.stage, request.range, *bytes));
    return {};
  }));
  if (validation.verdict == contract::Verdict::invalid)
    return refuse("the application finds it invalid: " + validation.reason);
  prepared.enough = validation.verdict == contract::Verdict::enough;

  if (const Status room = kernel_.has_room(); !room.ok())
    return Error{room.error().kind, room.error().message + ": keep the result and try again later"};
  if (!request.data) {
    uploads_.close(host, request.digest);
  } else if (static_cast<std::int64_t>(bytes->size()) <= limits::kept_segment_bytes_max) {
    prepared.bytes = std::move(*bytes);
    prepared.request.data.reset();
  } else {
    const auto stored = kernel_.blobs().put(*bytes);
    if (!stored.ok()) return Error{ErrorKind::unavailable, stored.error().message};
  }
  return std::move(prepared);
}

}  // namespace gleaner::service
