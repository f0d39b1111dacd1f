// `problem retry --failed`: a manager says which accepted results are those of failed items, on the pool, and
// the writer opens these items again.
#include "server/service/core/lost_blobs.h"
#include "server/service/operator/describe.h"
#include "server/service/operator/problems.h"
#include "server/service/operator/reopening.h"
#include "server/service/work/damage.h"
#include "server/service/work/failures.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/stored_segments.h"

namespace gleaner::service {
namespace {

using Info = Result<protocol::ProblemInfo>;

struct Look {
  ManagerSetup manager;
  int stage = 0;
  std::vector<storage::AcceptedSegment> pieces;
};

Status begin_look(Transaction& tx, ProblemId id, Result<Look>& look) {
  Error why{ErrorKind::internal, ""};
  const Problem* problem = reopenable(tx, id, why);
  if (problem == nullptr) {
    look = why;
    return {};
  }
  TRY_ASSIGN(auto pieces, tx.store.accepted_segments(id, problem->row.stage));
  look = Look{manager_setup(tx.model, *problem), problem->row.stage, std::move(pieces)};
  tx.model.underway.previews.insert(id);  // nothing is combined meanwhile
  return {};
}

// Of the items that failed, those whose results are still the ones that the manager saw.
Result<RangeSet> unchanged(Transaction& tx, ProblemId id, const Look& look,
                           const std::vector<Range>& failed) {
  std::map<std::int64_t, SegmentId> seen;  // by where their pieces begin
  for (const auto& piece : look.pieces) seen[piece.range.begin] = piece.segment.id;
  TRY_ASSIGN(const auto accepted, tx.store.accepted(id, look.stage));
  RangeSet same;
  for (const auto& piece : accepted)
    if (const auto found = seen.find(piece.range.begin);
        found != seen.end() && found->second == piece.segment)
      same.add(piece.range);
  RangeSet items;
  for (const Range range : failed)
    for (const Range part : same.within(range)) items.add(part);
  return items;
}

Status end_look(Transaction& tx, ProblemId id, const Look& look, const Result<std::vector<Range>>& failed,
                Info& info) {
  Error why{ErrorKind::internal, ""};
  Problem* problem = reopenable(tx, id, why);
  if (problem != nullptr && failed.ok() && problem->row.stage == look.stage) {
    TRY_ASSIGN(const RangeSet items, unchanged(tx, id, look, *failed));
    if (items.empty()) {
      info = refusal_of(*problem, "has no failed items");
    } else {
      TRY(retry_items(tx, *problem, items));
      info = describe(*problem, tx.now);
    }
  } else if (problem == nullptr) {
    info = why;
  } else {
    info = failed.ok() ? refusal_of(*problem, "has begun another stage: try again")
                       : Error{ErrorKind::conflict, failed.error().message};
  }
  return {};
}

Result<std::vector<Range>> ask_manager(Kernel& kernel, const Look& look) {
  auto lost = damaged_among(kernel.blobs(), digests_of(look.manager.inputs));
  PieceFiles files(kernel, kernel.settings().directory.problem(look.manager.problem) / "previewed");
  TRY_ASSIGN(const auto pieces, files.lay_out(look.pieces));
  lost.insert(lost.end(), files.damaged().begin(), files.damaged().end());
  if (lost.empty()) return kernel.managers().failed(look.manager, look.stage, pieces);
  kernel.writer().submit_surely([lost](Transaction& tx) { return take_damage(tx, lost); });
  return Error{ErrorKind::unavailable, "some of what was stored is damaged: try again in a moment"};
}

}  // namespace

void Problems::retry_failed(ProblemId id, Done<protocol::ProblemInfo> done) {
  kernel_.decide<Look>(
      [id](Transaction& tx, Result<Look>& look) { return begin_look(tx, id, look); },
      [this, id, done = std::move(done)](Result<Look> begun) {
        if (!begun.ok()) return done(begun.error());
        kernel_.on_blob_pool([this, id, done, look = std::make_shared<const Look>(std::move(*begun))] {
          const auto failed = std::make_shared<const Result<std::vector<Range>>>(ask_manager(kernel_, *look));
          kernel_.decide<protocol::ProblemInfo>(
              [id, look, failed](Transaction& tx, Info& info) {
                return end_look(tx, id, *look, *failed, info);
              },
              {[this, id, done](Info info) {
                 kernel_.writer().submit_surely([id](Transaction& tx) {
                   tx.model.underway.previews.erase(id);
                   return advance(tx, id);  // its last items may have come meanwhile
                 });
                 done(std::move(info));
               },
               done.actor()});
        });
      });
}

}  // namespace gleaner::service
