#include "server/service/operator/previews.h"

#include "server/service/core/lost_blobs.h"
#include "server/service/work/damage.h"
#include "server/service/work/life_cycle.h"
#include "server/service/work/origins.h"
#include "server/service/work/stage_planning.h"
#include "server/service/work/stored_segments.h"
#include "shared/base/limits.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {

struct Previews::Job {
  ManagerSetup manager;
  std::vector<storage::AcceptedSegment> pieces;
  HostNames hosts;            // of the pieces
  protocol::Preview preview;  // without its files
};

namespace {

constexpr Duration picture_interval = std::chrono::seconds{5};
constexpr Duration no_picture_interval = std::chrono::minutes{1};  // where the application shows none
constexpr Duration picture_kept = std::chrono::hours{12};          // its files stay for a day
constexpr int picture_steps = 20, picture_rest = 10;
constexpr const char* nothing_new = "nothing new is here";
constexpr std::size_t previews_max = 2;  // at once: each keeps a thread of the pool, which has at least four

Error no_preview(const Problem& problem, const std::string& why) {
  return {ErrorKind::conflict, "problem " + problem.row.name + " has no preview: " + why};
}

// Why there is nothing to look at; empty if there may be.
std::string obstacle(const Transaction& tx, const Problem& problem) {
  using protocol::ProblemState;
  const ProblemState state = problem.row.state;
  if (state == ProblemState::finished) return "it is finished, `gleaner-admin problem result` has it";
  if (tx.model.underway.jobs.contains(problem.row.id) || state == ProblemState::combining)
    return "its stage is being planned or combined, try again in a moment";
  if (problem.stage_row.items == 0) return "it never began";
  return {};
}

}  // namespace

void Previews::picture(ProblemId id, Done<protocol::Preview> done) {
  const SteadyTime now = kernel_.clock().steady();
  std::optional<Result<protocol::Preview>> present;
  Shown before;
  bool start = false;
  {
    const std::lock_guard lock(mutex_);
    if (!pictures_.contains(id) && pictures_.size() >= pictures_max) forget_oldest_picture();
    Picture& picture = pictures_[id];
    if (!picture.under_way && picture.last && picture.last->ok() && now - picture.made_at > picture_kept)
      picture = {};
    start = !picture.under_way && now >= picture.next_at;
    picture.under_way = picture.under_way || start;
    present = picture.last;
    if (!present) picture.waiting.push_back(std::move(done));
    before = picture.shown;
  }
  if (start)
    show(
        id, Otherwise::nothing, before,
        {[this, id, now](const Result<protocol::Preview>& shown) { painted(id, now, shown); }, std::nullopt});
  if (present) done(*std::move(present));
}

void Previews::painted(ProblemId id, SteadyTime begun, const Result<protocol::Preview>& shown) {
  const SteadyTime now = kernel_.clock().steady();
  std::vector<Done<protocol::Preview>> waiting;
  {
    const std::lock_guard lock(mutex_);
    Picture& picture = pictures_[id];
    picture.under_way = false;
    waiting.swap(picture.waiting);
    const bool has_one = picture.last && picture.last->ok();
    const bool none = !has_one && !shown.ok() && shown.error().kind == ErrorKind::conflict;
    picture.next_at =
        now + std::max(none ? no_picture_interval : picture_interval, picture_rest * (now - begun));
    if (shown.ok()) {
      picture.shown = {shown->stage, shown->accepted};
      picture.made_at = now;
    }
    if (shown.ok() || !has_one) picture.last = shown;
  }
  for (const auto& done : waiting) done(shown);
}

void Previews::forget_oldest_picture() {
  auto oldest = pictures_.end();
  for (auto each = pictures_.begin(); each != pictures_.end(); ++each)
    if (!each->second.under_way &&
        (oldest == pictures_.end() || each->second.next_at < oldest->second.next_at))
      oldest = each;
  if (oldest != pictures_.end()) pictures_.erase(oldest);
}

void Previews::show(ProblemId id, Otherwise otherwise, Shown before, Done<protocol::Preview> done) {
  const std::optional<Actor> actor = done.actor();  // before it is moved
  kernel_.decide<Job>(
      [id, before](Transaction& tx, Result<Job>& job) -> Status {
        const auto found = tx.model.problems.find(id);
        auto& previews = tx.model.underway.previews;
        if (found == tx.model.problems.end()) {
          job = Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
          return {};
        }
        const Problem& problem = found->second;
        if (const std::string why = obstacle(tx, problem); !why.empty()) {
          job = no_preview(problem, why);
          return {};
        }
        if (previews.contains(id) || previews.size() >= previews_max) {
          job =
              Error{ErrorKind::unavailable, "the server is making a preview already: try again in a moment"};
          return {};
        }
        TRY_ASSIGN(auto pieces, tx.store.accepted_segments(problem.row.id, problem.row.stage));
        if (pieces.empty()) {
          job = no_preview(problem, "none of its items is here yet");
          return {};
        }
        HostNames hosts = host_names(tx.model, pieces);
        Job begun{manager_setup(tx.model, problem), std::move(pieces), std::move(hosts), {}};
        begun.preview = {id, problem.row.stage, problem.stage_row.name, problem.stage_row.items, 0, {}};
        for (const auto& piece : begun.pieces) begun.preview.accepted += piece.range.size();
        const std::int64_t step = std::max<std::int64_t>(1, begun.preview.items / picture_steps);
        const bool is_new =
            begun.preview.stage != before.stage || begun.preview.accepted >= before.accepted + step ||
            (begun.preview.accepted == begun.preview.items && before.accepted < begun.preview.items);
        if (!is_new) {
          job = no_preview(problem, nothing_new);
          return {};
        }
        previews.insert(id);
        job = std::move(begun);
        return {};
      },
      {[this, id, otherwise, done = std::move(done)](Result<Job> job) {
         if (!job.ok()) return done(job.error());
         kernel_.on_blob_pool([this, id, otherwise, done, job = std::move(*job)] {
           auto preview = make(job, otherwise);
           kernel_.writer().submit_surely([id](Transaction& tx) {
             tx.model.underway.previews.erase(id);
             return advance(tx, id);  // its last items may have come meanwhile
           });
           done(std::move(preview));
         });
       },
       actor});
}

Result<protocol::Preview> Previews::make(Job job, Otherwise otherwise) {
  auto lost = damaged_among(kernel_.blobs(), digests_of(job.manager.inputs));
  PieceFiles files(kernel_, kernel_.settings().directory.problem(job.preview.id) / "previewed");
  TRY_ASSIGN(const auto pieces, files.lay_out(job.pieces));
  lost.insert(lost.end(), files.damaged().begin(), files.damaged().end());
  if (!lost.empty()) {
    kernel_.writer().submit_surely([lost](Transaction& tx) { return take_damage(tx, lost); });
    return Error{
        ErrorKind::unavailable,
        "some stored results are damaged; the server repairs or reports them. Try again in a moment"};
  }
  auto shown =
      kernel_.managers().preview(job.manager, job.preview.stage, pieces, origins_of(job.pieces, job.hosts));
  if (!shown.ok() && otherwise == Otherwise::items) shown = write_items(job);
  // Asking again would not help: a conflict, whether the manager refused or broke down.
  if (!shown.ok()) return Error{ErrorKind::conflict, "there is no preview: " + shown.error().message};
  TRY_ASSIGN(job.preview.files, keep_files(kernel_, job.preview.id, *shown));
  return std::move(job.preview);
}

Result<std::vector<contract::CombinedFile>> Previews::write_items(const Job& job) {
  io::Files& files = kernel_.files();
  const io::Path directory = kernel_.settings().directory.problem(job.preview.id) / "accepted";
  TRY(files.remove_all(directory));
  TRY(files.make_directories(directory));
  const io::Path items = directory / "accepted.items";
  std::int64_t written = 0;
  std::string index = "begin\tend\n";
  for (const storage::AcceptedSegment& piece : job.pieces) {
    TRY_ASSIGN(const Bytes segment, read_segment(kernel_, piece.segment));
    Bytes part;
    const Range held = piece.segment.range;
    TRY_ASSIGN(const auto all, protocol::split_segment(segment, held.size(), limits::item_bytes_max));
    for (std::int64_t item = piece.range.begin; item < piece.range.end; ++item)
      protocol::append_item(part, all.at(static_cast<std::size_t>(item - held.begin)));
    TRY(files.write_at(items, written, part));
    written += static_cast<std::int64_t>(part.size());
    index += std::to_string(piece.range.begin) + "\t" + std::to_string(piece.range.end) + "\n";
  }
  TRY(files.write(directory / "accepted.tsv", index, io::Mode::normal));
  return std::vector<contract::CombinedFile>{
      {"accepted.items", items, "application/octet-stream"},
      {"accepted.tsv", directory / "accepted.tsv", "text/tab-separated-values"}};
}

}  // namespace gleaner::service
