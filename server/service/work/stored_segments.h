// The bytes of delivered results, wherever they are: small segments in the store, large ones in blobs. What
// is read here was compared with its digest. Blocks: on the pool. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "server/service/core/effects.h"
#include "server/service/core/kernel.h"
#include "server/service/core/lost_blobs.h"
#include "shared/contract/manager_session.h"

namespace gleaner::service {

// untrusted: they are damaged; not_found: they are gone; io.
[[nodiscard]] Result<Bytes> read_segment(Kernel& kernel, const storage::SegmentRow& segment);

// Digests of those that cannot be used. A blob that is damaged is no blob any more.
[[nodiscard]] std::vector<std::string> damaged_among(Kernel& kernel,
                                                     const std::vector<storage::SegmentRow>& segments);
[[nodiscard]] std::vector<std::string> damaged_among(Kernel& kernel,
                                                     const std::vector<storage::AcceptedSegment>& pieces);

// Accepted items as files that a manager can read: blobs where they are, and what is in the store written
// out, neighbours one behind the other in files of at most 64 MiB. Those go with this object.
class PieceFiles {
 public:
  // `directory`: for what is written out; emptied first.
  PieceFiles(Kernel& kernel, io::Path directory) : kernel_(kernel), directory_(std::move(directory)) {}
  ~PieceFiles();
  PieceFiles(const PieceFiles&) = delete;
  PieceFiles& operator=(const PieceFiles&) = delete;

  // In the order of the pieces, which is that of their items. Pieces that cannot be used are left out, and
  // their digests are in damaged().
  [[nodiscard]] Result<std::vector<contract::Piece>> lay_out(
      const std::vector<storage::AcceptedSegment>& pieces);
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }

 private:
  [[nodiscard]] Status append(const storage::AcceptedSegment& piece, std::vector<contract::Piece>& files);
  [[nodiscard]] Status flush(const std::vector<contract::Piece>& files);

  Kernel& kernel_;
  const io::Path directory_;
  std::vector<std::string> damaged_;
  int written_ = 0;        // files begun
  std::int64_t size_ = 0;  // of the last one, with what waits to be written
  Bytes waiting_;
};

}  // namespace gleaner::service
