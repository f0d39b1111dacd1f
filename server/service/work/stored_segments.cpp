#include "server/service/work/stored_segments.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "server/service/core/lost_blobs.h"
#include "shared/base/limits.h"
#include "shared/crypto/keys.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

constexpr std::int64_t file_bytes_max = 64 << 20;
constexpr std::size_t write_bytes = 1 << 20;  // at once

bool usable(Kernel& kernel, const storage::SegmentRow& segment) {
  return segment.place == storage::SegmentPlace::blob ? !is_lost(kernel.blobs().verify(segment.digest))
                                                      : read_segment(kernel, segment).ok();
}

std::vector<std::string> unique(std::vector<std::string> digests) {
  std::sort(digests.begin(), digests.end());
  digests.erase(std::unique(digests.begin(), digests.end()), digests.end());
  return digests;
}

}  // namespace

Result<Bytes> read_segment(Kernel& kernel, const storage::SegmentRow& segment) {
  const bool in_store = segment.place == storage::SegmentPlace::store;
  auto bytes = in_store ? kernel.store().segment_bytes(segment.id)
                        : kernel.blobs().read(segment.digest, limits::segment_bytes_max);
  if (bytes.ok() && crypto::sha256_hex(*bytes) != segment.digest)
    return Error{ErrorKind::untrusted,
                 "the stored segment " + std::to_string(segment.id.value) + " is damaged"};
  return bytes;
}

std::vector<std::string> damaged_among(Kernel& kernel, const std::vector<storage::SegmentRow>& segments) {
  std::vector<std::string> damaged;
  for (const auto& segment : segments)
    if (!usable(kernel, segment)) damaged.push_back(segment.digest);
  return unique(std::move(damaged));
}

std::vector<std::string> damaged_among(Kernel& kernel, const std::vector<storage::AcceptedSegment>& pieces) {
  std::vector<std::string> damaged;
  SegmentId last;  // a segment's pieces are often neighbours
  for (const auto& piece : pieces) {
    if (std::exchange(last, piece.segment.id) == piece.segment.id) continue;
    if (!usable(kernel, piece.segment)) damaged.push_back(piece.segment.digest);
  }
  return unique(std::move(damaged));
}

PieceFiles::~PieceFiles() {
  if (written_ > 0) (void)kernel_.files().remove_all(directory_);
}

Result<std::vector<contract::Piece>> PieceFiles::lay_out(
    const std::vector<storage::AcceptedSegment>& pieces) {
  std::vector<contract::Piece> files;
  TRY(kernel_.files().remove_all(directory_));  // what a server that was killed left
  for (const storage::AcceptedSegment& piece : pieces) {
    const auto& segment = piece.segment;
    if (segment.place == storage::SegmentPlace::store) {
      TRY(append(piece, files));
      continue;
    }
    const Status whole = kernel_.blobs().verify(segment.digest);
    if (is_lost(whole)) {
      damaged_.push_back(segment.digest);
      continue;
    }
    TRY(whole);
    TRY(flush(files));
    TRY_ASSIGN(const io::Path path, kernel_.blobs().fetch(segment.digest));
    files.push_back({piece.range, segment.range.begin, std::filesystem::absolute(path)});
  }
  TRY(flush(files));
  damaged_ = unique(std::move(damaged_));
  return files;
}

Status PieceFiles::append(const storage::AcceptedSegment& piece, std::vector<contract::Piece>& files) {
  const auto& segment = piece.segment;
  const auto bytes = read_segment(kernel_, segment);
  const auto items = bytes.ok()
                         ? protocol::split_segment(*bytes, segment.range.size(), limits::item_bytes_max)
                         : Result<std::vector<std::string_view>>(bytes.error());
  if (!items.ok()) {
    damaged_.push_back(segment.digest);
    return {};
  }
  const bool goes_on =
      !files.empty() && size_ > 0 && size_ < file_bytes_max && files.back().range.end == piece.range.begin;
  if (!goes_on) {
    TRY(flush(files));
    if (written_ == 0) TRY(kernel_.files().make_directories(directory_));
    files.push_back({{piece.range.begin, piece.range.begin},
                     piece.range.begin,
                     std::filesystem::absolute(directory_ / std::to_string(written_++))});
  }
  const std::size_t before = waiting_.size();
  for (std::int64_t item = piece.range.begin; item < piece.range.end; ++item)
    protocol::append_item(waiting_, (*items)[static_cast<std::size_t>(item - segment.range.begin)]);
  size_ += static_cast<std::int64_t>(waiting_.size() - before);
  files.back().range.end = piece.range.end;
  if (waiting_.size() < write_bytes) return {};
  TRY(kernel_.files().write_at(files.back().path, size_ - static_cast<std::int64_t>(waiting_.size()),
                               waiting_));
  waiting_.clear();
  return {};
}

// What waits goes into the last file, and nothing more follows there.
Status PieceFiles::flush(const std::vector<contract::Piece>& files) {
  if (size_ > 0 && !waiting_.empty())
    TRY(kernel_.files().write_at(files.back().path, size_ - static_cast<std::int64_t>(waiting_.size()),
                                 waiting_));
  waiting_.clear();
  size_ = 0;
  return {};
}

}  // namespace gleaner::service
