// What the items in hand look like while the rest is computed. The manager that shows it is a process of its
// own, so that results go on being checked; it works in the problem's directory, so nothing is combined until
// it is done.
#include "server/service/service.h"

namespace gleaner::service {
namespace {

constexpr std::size_t previews_max = 2;  // at once: each keeps a thread of the pool, which has at least four

Error no_preview(const Problem& problem, const std::string& why) {
  return {ErrorKind::conflict, "problem " + problem.row.name + " has no preview: " + why};
}

// Why there is nothing to look at; empty if there may be.
std::string obstacle(const Problem& problem) {
  using protocol::ProblemState;
  const ProblemState state = problem.row.state;
  if (state == ProblemState::finished) return "it is finished, `gleaner-admin problem result` has it";
  if (problem.job_running || state == ProblemState::combining)
    return "its stage is being planned or combined, try again in a moment";
  if (problem.stage_row.items == 0) return "it never began";
  return {};
}

}  // namespace

void Service::preview(ProblemId id, Done<protocol::Preview> done) {
  const auto entered = std::make_shared<bool>(false);
  decide<PreviewJob>(
      [this, id, entered](Result<PreviewJob>& job) -> Status {
        job = begin_preview(id);
        *entered = job.ok();
        return {};
      },
      [this, id, entered, done = std::move(done)](Result<PreviewJob> job) {
        Result<protocol::Preview> preview = job.ok() ? make_preview(std::move(*job)) : job.error();
        if (*entered) {
          decide_later([this, id]() -> Status {
            previews_.erase(id);
            return advance(id);  // its last items may have come meanwhile
          });
        }
        done(std::move(preview));
      });
}

Result<Service::PreviewJob> Service::begin_preview(ProblemId id) {
  const auto found = model_.problems.find(id);
  if (found == model_.problems.end())
    return Error{ErrorKind::not_found, "no problem " + std::to_string(id.value) + " here"};
  const Problem& problem = found->second;
  if (const std::string why = obstacle(problem); !why.empty()) return no_preview(problem, why);
  if (previews_.contains(id) || previews_.size() >= previews_max)
    return Error{ErrorKind::unavailable, "the server is making a preview already: try again in a moment"};
  PreviewJob job;
  TRY_ASSIGN(job.pieces, accepted_pieces(problem));
  if (job.pieces.empty()) return no_preview(problem, "none of its items is here yet");
  job.manager = manager_setup(problem);
  job.preview = {id, problem.row.stage, problem.stage_row.name, problem.stage_row.items, 0, {}};
  for (const auto& piece : job.pieces) job.preview.accepted += piece.range.size();
  previews_.insert(id);
  return job;
}

Result<protocol::Preview> Service::make_preview(PreviewJob job) {
  auto shown = managers_.preview(job.manager, job.preview.stage, job.pieces);
  // Asking again would not help: a conflict, whether the manager refused or broke down.
  if (!shown.ok()) return Error{ErrorKind::conflict, "there is no preview: " + shown.error().message};
  for (const auto& file : *shown) {
    TRY_ASSIGN(const std::string digest, blobs_.put_file(file.path));
    TRY_ASSIGN(const std::int64_t bytes, blobs_.size(digest));
    job.preview.files.push_back({file.name, digest, bytes, file.media_type});
  }
  return std::move(job.preview);
}

}  // namespace gleaner::service
