// Addresses that are given to hosts, and what they put there.
#include <algorithm>
#include <utility>

#include "server/storage/object_blobs.h"
#include "server/storage/object_keys.h"
#include "shared/base/limits.h"

namespace gleaner::storage {
namespace {

using objects::piece_bytes;

constexpr std::string_view sent_prefix = "sent/";

std::string sent_key(const std::string& digest, std::string_view sender) {
  return std::string(sent_prefix) + std::string(sender) + "/" + digest;
}

}  // namespace

std::string ObjectBlobs::address(const std::string& digest, Duration valid) const {
  if (origin_.empty() || !is_digest(digest)) return {};
  return bucket_->address(origin_, "GET", key_of(digest), {}, -1, valid);
}

Result<std::vector<protocol::PartAddress>> ObjectBlobs::put_addresses(const std::string& digest,
                                                                      std::int64_t bytes, Duration valid,
                                                                      std::string_view sender) {
  if (!is_digest(digest)) return no_digest();
  if (origin_.empty() || sender.empty()) return BlobStore::put_addresses(digest, bytes, valid, sender);
  std::vector<protocol::PartAddress> parts;
  // Stored, or begun in the other way: who asks for the upload's state goes on from there.
  TRY_ASSIGN(const auto state, upload_state(digest, sender));
  if (state.complete || state.offset >= bytes) return parts;
  TRY_ASSIGN(Sent put, sent(digest, sender));
  if (put.bytes == 0 && state.offset > 0) return parts;
  if (bytes <= piece_bytes) {
    parts.push_back({0, bytes, bucket_->address(origin_, "PUT", put.key, {}, bytes, valid)});
    return parts;
  }
  if (put.upload.empty()) {
    auto begun = bucket_->begin_upload(put.key);
    if (!begun.ok()) return away(begun.error());
    put.upload = std::move(*begun);
  }
  for (std::int64_t offset = 0; offset < bytes; offset += piece_bytes) {
    const int number = static_cast<int>(offset / piece_bytes) + 1;
    const std::int64_t length = std::min(piece_bytes, bytes - offset);
    const bool there = std::any_of(put.parts.begin(), put.parts.end(), [&](const objects::Part& part) {
      return part.number == number && part.bytes == length;
    });
    if (there) continue;
    const objects::Fields query = {{"partNumber", std::to_string(number)}, {"uploadId", put.upload}};
    parts.push_back({offset, length, bucket_->address(origin_, "PUT", put.key, query, length, valid)});
  }
  return parts;
}

Result<ObjectBlobs::Sent> ObjectBlobs::sent(const std::string& digest, std::string_view sender) {
  Sent put{sent_key(digest, sender), 0, {}, {}};
  if (origin_.empty() || sender.empty()) return put;
  TRY(own());
  const auto facts = bucket_->look(put.key);
  if (facts.ok()) {
    put.bytes = facts->bytes;
    return put;
  }
  if (facts.error().kind != ErrorKind::not_found) return away(facts.error());
  const auto uploads = bucket_->uploads(put.key);
  if (!uploads.ok()) return away(uploads.error());
  const objects::OpenUpload* newest = nullptr;
  for (const auto& each : *uploads)
    if (each.key == put.key && (newest == nullptr || newest->begun <= each.begun)) newest = &each;
  if (newest == nullptr) return put;
  auto parts = bucket_->parts(put.key, newest->id);
  if (!parts.ok())
    return parts.error().kind == ErrorKind::not_found ? Result<Sent>(put) : away(parts.error());
  put.upload = newest->id;
  put.parts = std::move(*parts);
  std::sort(put.parts.begin(), put.parts.end(),
            [](const objects::Part& a, const objects::Part& b) { return a.number < b.number; });
  for (std::size_t i = 0; i < put.parts.size() && std::cmp_equal(put.parts[i].number, i + 1); ++i)
    put.bytes += put.parts[i].bytes;
  return put;
}

Result<bool> ObjectBlobs::take_sent(const std::string& digest, std::string_view sender) {
  TRY_ASSIGN(auto state, local_.upload_state(digest, sender));
  if (state.complete || state.offset > 0) return false;
  TRY_ASSIGN(const Sent put, sent(digest, sender));
  if (put.bytes == 0) return false;
  if (!put.upload.empty()) {
    const auto made = bucket_->complete(put.key, put.upload, put.parts);
    if (!made.ok()) return Error{ErrorKind::io, made.error().message};
  }
  std::int64_t all = put.bytes;
  while (state.offset < all) {
    const auto piece = bucket_->get(put.key, state.offset, piece_bytes);
    if (!piece.ok()) return Error{ErrorKind::io, piece.error().message};
    all = piece->all;
    if (piece->bytes.empty() && state.offset < all)
      return Error{ErrorKind::io, "the object store has no more of " + put.key + " than a part"};
    TRY_ASSIGN(state, local_.append(digest, state.offset, piece->bytes, limits::segment_bytes_max, sender));
  }
  return true;
}

Status ObjectBlobs::drop_sent(const std::string& digest, std::string_view sender, Timestamp before) {
  if (origin_.empty() || sender.empty()) return {};
  const std::string key = sent_key(digest, sender);
  const auto facts = bucket_->look(key);
  if (facts.ok() && facts->modified < before) {
    if (const Status gone = bucket_->remove(key); !gone.ok()) return away(gone.error());
  } else if (!facts.ok() && facts.error().kind != ErrorKind::not_found) {
    return away(facts.error());
  }
  return {};
}

// What hosts put there and never had committed.
Result<std::int64_t> ObjectBlobs::collect_sent(Timestamp before) {
  std::int64_t removed = 0;
  std::string from;
  do {
    TRY_ASSIGN(const auto listing, bucket_->list(std::string(sent_prefix), from));
    for (const auto& object : listing.objects) {
      if (object.modified >= before) continue;
      TRY(bucket_->remove(object.key));
      ++removed;
    }
    from = listing.next;
  } while (!from.empty());
  return removed;
}

}  // namespace gleaner::storage
