#include "server/service/work/segment_check.h"

#include <algorithm>
#include <utility>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/io/compression.h"
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
  const bool passed = prepared.leased && (prepared.leased->known || prepared.leased->no_room);
  if (prepared.answer || passed || !prepared.refusal.empty()) return nothing;
  const auto& request = prepared.request;
  // The host that computed it signed for other bytes: the answer is its relay's, and it keeps its result.
  const auto changed = [&](std::string why) {
    if (!prepared.computed) return refused(std::move(why));
    prepared.computed.reset();
    prepared.refusal = std::move(why);
    return nothing;
  };
  // Before anything is inflated or read: what cannot be a result takes no memory.
  if (request.bytes > protocol::segment_bytes_bound(request.range.size(), place.item_bytes_max))
    return refused("its bytes are more than so many items of this problem can have");
  auto bytes = segment_bytes(blobs, request);
  if (!bytes.ok()) {
    if (!request.data &&
        (bytes.error().kind == ErrorKind::not_found || bytes.error().kind == ErrorKind::untrusted))
      return Error{ErrorKind::conflict, "upload the segment " + request.digest + " first, then commit it"};
    if (bytes.error().kind == ErrorKind::io) return Error{ErrorKind::unavailable, bytes.error().message};
    return changed("its data cannot be read: " + bytes.error().message);
  }
  const bool as_named = crypto::sha256_hex(*bytes) == request.digest;
  // What was uploaded had that digest.
  if (!as_named && !request.data && !blobs.verify(request.digest).ok())
    return Error{ErrorKind::conflict, "the segment " + request.digest + " was damaged here: upload it again"};
  if (static_cast<std::int64_t>(bytes->size()) != request.bytes || !as_named)
    return changed("its bytes do not have the length and digest it names");
  const auto items = protocol::split_segment(*bytes, request.range.size(), place.item_bytes_max);
  if (!items.ok()) return refused(items.error().message);
  return std::make_shared<const Bytes>(std::move(*bytes));
}

}  // namespace

void SegmentCheck::check(CommitPlace place, Then then) {
  auto bytes = examine(blobs_, place);
  if (!bytes.ok()) return then(bytes.error());
  if (!*bytes) return then(Checked{std::move(place.prepared), nullptr});  // it is answered already
  if (place.checked_above) return then(Checked{std::move(place.prepared), std::move(*bytes)});
  const bool large = (*bytes)->size() > static_cast<std::size_t>(limits::kept_segment_bytes_max);
  Validations::Question question{
      std::move(place.manager), place.prepared.stage, place.prepared.request.range, *bytes, {}};
  question.done = [this, bytes = std::move(*bytes), prepared = std::move(place.prepared),
                   then = std::move(then)](Result<contract::Validation> validation) mutable {
    if (!validation.ok()) {
      manager_failed_(prepared.problem, validation.error().message);
      return then(Error{ErrorKind::unavailable, validation.error().message});
    }
    if (validation->verdict == contract::Verdict::invalid) {
      refuse(prepared, "the application finds it invalid: " + validation->reason);
      return then(Checked{std::move(prepared), nullptr});
    }
    prepared.enough = validation->verdict == contract::Verdict::enough;
    then(Checked{std::move(prepared), std::move(bytes)});
  };
  if (large)
    validations_.ask_now(question);
  else
    validations_.ask(std::move(question));
}

}  // namespace gleaner::service
