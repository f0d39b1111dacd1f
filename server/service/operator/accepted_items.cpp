#include "server/service/operator/accepted_items.h"

#include <fmt/format.h>

#include "server/service/work/stored_segments.h"
#include "shared/base/limits.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

using Pieces = std::vector<storage::AcceptedSegment>;

constexpr std::size_t reply_bytes = 4 << 20;

// Why nothing can be read; empty: it can.
std::string obstacle(const Problem& problem, int stage) {
  using protocol::ProblemState;
  switch (problem.row.state) {
    case ProblemState::finished:
      return "it is finished: read its results";
    case ProblemState::failed:
    case ProblemState::cancelled:
      return "it is over";
    default:
      break;
  }
  if (problem.row.stage == stage) return {};
  return fmt::format("stage {} is computed, and not stage {}", problem.row.stage + 1, stage + 1);
}

void append_number(Bytes& bytes, std::uint64_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> 8 * i & 0xff);
}

}  // namespace

void AcceptedItems::read(ProblemId id, int stage, RangeSet known, Done<Bytes> done) {
  kernel_.decide<Pieces>(
      [id, stage, known = std::move(known)](Transaction& tx, Result<Pieces>& pieces) -> Status {
        const auto found = tx.model.problems.find(id);
        if (found == tx.model.problems.end()) {
          pieces = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        if (const std::string why = obstacle(found->second, stage); !why.empty()) {
          pieces = Error{ErrorKind::conflict, "problem " + found->second.row.name + ": " + why};
          return {};
        }
        TRY_ASSIGN(const Pieces accepted, tx.store.accepted_segments(id, stage));
        Pieces wanted;
        for (const auto& piece : accepted)
          for (const Range part : known.missing(piece.range)) wanted.push_back({part, piece.segment});
        pieces = std::move(wanted);
        return {};
      },
      [this, done = std::move(done)](Result<Pieces> pieces) {
        if (!pieces.ok()) return done(pieces.error());
        kernel_.on_blob_pool([this, done, pieces = std::move(*pieces)] { done(bytes_of(pieces)); });
      });
}

Result<Bytes> AcceptedItems::bytes_of(const Pieces& pieces) {
  Bytes bytes;
  for (const auto& piece : pieces) {
    const auto segment = read_segment(kernel_, piece.segment);
    if (!segment.ok())  // damage is the scrub's to find; a verdict may have taken it away meanwhile
      return Error{ErrorKind::unavailable, "a result cannot be read now: " + segment.error().message};
    const Range held = piece.segment.range;
    TRY_ASSIGN(const auto all, protocol::split_segment(*segment, held.size(), limits::item_bytes_max));
    for (std::int64_t item = piece.range.begin; item < piece.range.end; ++item) {
      const std::string_view content = all.at(static_cast<std::size_t>(item - held.begin));
      if (!bytes.empty() && bytes.size() + content.size() > reply_bytes) return bytes;
      append_number(bytes, static_cast<std::uint64_t>(item), 8);
      append_number(bytes, content.size(), 4);
      bytes += content;
    }
  }
  return bytes;
}

}  // namespace gleaner::service
