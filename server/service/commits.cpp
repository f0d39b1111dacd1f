#include "server/service/commits.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "server/service/waiting.h"
#include "shared/base/limits.h"
#include "shared/crypto/statements.h"
#include "shared/io/compression.h"
#include "shared/protocol/codec.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

Result<Bytes> segment_bytes(storage::BlobStore& blobs, const protocol::CommitRequest& request) {
  if (request.data) return io::decompress(*request.data, std::min(request.bytes, limits::segment_bytes_max));
  return blobs.read(request.digest, request.bytes);
}

void refuse(PreparedCommit& prepared, std::string why) {
  prepared.refusal = std::move(why);
  prepared.blame = true;
}

// The bytes of a commit that only the manager can still refuse; null: it is answered, or refused now.
Result<std::shared_ptr<const Bytes>> examine(storage::BlobStore& blobs, CommitPlace& place) {
  PreparedCommit& prepared = place.prepared;
  const std::shared_ptr<const Bytes> nothing;
  const auto refused = [&](std::string why) {
    refuse(prepared, std::move(why));
    return nothing;
  };
  if (prepared.answer || !prepared.refusal.empty()) return nothing;
  const auto& request = prepared.request;
  // Before anything is inflated or read: what cannot be a result takes no memory.
  if (request.bytes > protocol::segment_bytes_bound(request.range.size(), place.item_bytes_max))
    return refused("its bytes are more than so many items of this problem can have");
  auto bytes = segment_bytes(blobs, request);
  if (!bytes.ok()) {
    if (!request.data &&
        (bytes.error().kind == ErrorKind::not_found || bytes.error().kind == ErrorKind::untrusted))
      return Error{ErrorKind::conflict, "upload the segment " + request.digest + " first, then commit it"};
    if (bytes.error().kind == ErrorKind::io) return Error{ErrorKind::unavailable, bytes.error().message};
    return refused("its data cannot be read: " + bytes.error().message);
  }
  const bool as_named = crypto::sha256_hex(*bytes) == request.digest;
  // What was uploaded had that digest.
  if (!as_named && !request.data && !blobs.verify(request.digest).ok())
    return Error{ErrorKind::conflict, "the segment " + request.digest + " was damaged here: upload it again"};
  if (static_cast<std::int64_t>(bytes->size()) != request.bytes || !as_named)
    return refused("its bytes do not have the length and digest it names");
  const auto items = protocol::split_segment(*bytes, request.range.size(), place.item_bytes_max);
  if (!items.ok()) return refused(items.error().message);
  return std::make_shared<const Bytes>(std::move(*bytes));
}

// The commits of one request, which are checked side by side. Thread-safe.
class Round {
 public:
  Round(std::size_t commits, Done<std::vector<PreparedCommit>> then)
      : left_(commits), prepared_(commits), then_(std::move(then)) {}
  void settle(std::size_t index, Result<PreparedCommit> prepared) {
    {
      const std::lock_guard lock(mutex_);
      if (prepared.ok())
        prepared_[index] = std::move(*prepared);
      else if (!error_)
        error_ = prepared.error();
      if (--left_ > 0) return;
    }
    if (error_) return then_(*error_);
    then_(std::move(prepared_));
  }

 private:
  std::mutex mutex_;
  std::size_t left_;
  std::optional<Error> error_;
  std::vector<PreparedCommit> prepared_;
  const Done<std::vector<PreparedCommit>> then_;
};

}  // namespace

void Commits::commit(HostId host, protocol::CommitRequest request, Done<protocol::SignedStatement> done) {
  std::vector<protocol::CommitRequest> requests;
  requests.push_back(std::move(request));
  prepare(host, std::move(requests), [this, host, done](Result<std::vector<PreparedCommit>> prepared) {
    if (!prepared.ok()) return done(prepared.error());
    kernel_.decide<protocol::Acknowledgement>(
        [host, commits = std::move(*prepared)](Transaction& tx,
                                               Result<protocol::Acknowledgement>& answer) -> Status {
          std::vector<protocol::Acknowledgement> answers;
          TRY(apply_commits(tx, host, commits, answers));
          answer = std::move(answers.front());
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
        const auto round = std::make_shared<Round>(places->size(), then);
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

// Refusals are values (the client may delete what can never be taken); errors mean "try again".
void Commits::check(HostId host, CommitPlace place, Prepared then) {
  auto bytes = examine(kernel_.blobs(), place);
  if (!bytes.ok()) return then(bytes.error());
  if (!*bytes) return then(std::move(place.prepared));  // it is answered already
  const bool large = (*bytes)->size() > static_cast<std::size_t>(limits::kept_segment_bytes_max);
  Validations::Question question{
      std::move(place.manager), place.prepared.stage, place.prepared.request.range, *bytes, {}};
  question.done = [this, host, bytes = std::move(*bytes), prepared = std::move(place.prepared),
                   then = std::move(then)](Result<contract::Validation> validation) mutable {
    if (!validation.ok()) {
      kernel_.writer().submit(
          [problem = prepared.problem, why = validation.error().message](Transaction& tx) -> Status {
            const auto found = tx.model.problems.find(problem);
            if (found == tx.model.problems.end() || over(found->second.row.state)) return {};
            return say_it_waits(tx, found->second, "a result cannot be checked: " + why);
          },
          [](const Status&) { return Writer::Answer{}; });
      return then(Error{ErrorKind::unavailable, validation.error().message});
    }
    if (validation->verdict == contract::Verdict::invalid) {
      refuse(prepared, "the application finds it invalid: " + validation->reason);
      return then(std::move(prepared));
    }
    prepared.enough = validation->verdict == contract::Verdict::enough;
    then(keep(host, std::move(prepared), *bytes));
  };
  if (large)
    validations_.ask_now(question);
  else
    validations_.ask(std::move(question));
}

Result<PreparedCommit> Commits::keep(HostId host, PreparedCommit prepared, const Bytes& bytes) {
  if (const Status room = kernel_.has_room(); !room.ok())
    return Error{room.error().kind, room.error().message + ": keep the result and try again later"};
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
  prepared.request.data.reset();
  if (static_cast<std::int64_t>(bytes.size()) <= limits::kept_segment_bytes_max) {
    prepared.bytes = bytes;
    return prepared;
  }
  const auto stored = kernel_.blobs().put(bytes);
  if (!stored.ok()) return Error{ErrorKind::unavailable, stored.error().message};
  return prepared;
}

}  // namespace gleaner::service
