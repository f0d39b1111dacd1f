#include "server/service/jobs.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "server/service/core/lost_blobs.h"
#include "server/service/work/damage.h"
#include "server/service/work/dispatch.h"
#include "server/service/work/origins.h"
#include "server/service/work/reviews.h"
#include "server/service/work/stage_planning.h"
#include "server/service/work/stored_segments.h"
#include "shared/base/failpoint.h"
#include "shared/base/limits.h"

namespace gleaner::service {
namespace {

constexpr double planning_seconds_max = 10;  // of a mapping strategy's search

Result<CombinedStage> combine_pieces(Kernel& kernel, const effect::Combine& job,
                                     const std::vector<contract::Piece>& pieces) {
  (void)failpoint("stage-combine");
  TRY_ASSIGN(const auto files,
             kernel.managers().combine(job.manager, job.stage, pieces, origins_of(job.pieces, job.hosts)));
  (void)failpoint("stage-combined");
  CombinedStage combined;
  TRY_ASSIGN(combined.files, keep_files(kernel, job.manager.problem, files));
  (void)failpoint("results-kept");
  TRY_ASSIGN(combined.next, plan_stage(kernel, job.manager, job.stage + 1));
  return combined;
}

Result<CombinedStage> combine_stage(Kernel& kernel, const effect::Combine& job) {
  const auto inputs = digests_of(job.manager.inputs);
  const auto with_inputs = [&](std::vector<std::string> damaged) {
    for (auto& digest : damaged_among(kernel.blobs(), inputs)) damaged.push_back(std::move(digest));
    return damaged;
  };
  CombinedStage nothing;
  PieceFiles files(kernel, kernel.settings().directory.problem(job.manager.problem) / "combined");
  TRY_ASSIGN(const auto pieces, files.lay_out(job.pieces));
  nothing.damaged = with_inputs(files.damaged());
  if (!nothing.damaged.empty()) return nothing;
  auto combined = combine_pieces(kernel, job, pieces);
  // Is the manager to blame, or was something lost under its hands?
  if (!combined.ok()) nothing.damaged = with_inputs(damaged_among(kernel, job.pieces));
  return nothing.damaged.empty() ? std::move(combined) : nothing;
}

}  // namespace

void Jobs::perform(std::vector<Effect> effects) {
  for (auto& effect : effects) {
    std::visit([this](auto& each) { perform(std::move(each)); }, effect);
  }
}

void Jobs::perform(effect::Plan job) {
  kernel_.start_job([this, job = std::move(job)] {
    const auto lost = damaged_among(kernel_.blobs(), digests_of(job.manager.inputs));
    if (!lost.empty()) {
      kernel_.writer().submit_surely([id = job.manager.problem, lost](Transaction& tx) {
        tx.model.underway.jobs.erase(id);
        return take_damage(tx, lost);
      });
      return;
    }
    auto planned = std::make_shared<const Result<PlannedStage>>(plan_stage(kernel_, job.manager, job.stage));
    kernel_.writer().submit_surely(
        [id = job.manager.problem, planned](Transaction& tx) { return take_plan(tx, id, *planned); });
  });
}

void Jobs::perform(effect::Combine job) {
  kernel_.start_job([this, job = std::move(job)] {
    auto combined = std::make_shared<const Result<CombinedStage>>(combine_stage(kernel_, job));
    kernel_.writer().submit_surely([id = job.manager.problem, stage = job.stage, combined](Transaction& tx) {
      return take_combined(tx, id, stage, *combined);
    });
  });
}

void Jobs::perform(effect::Review review) {
  kernel_.start_job([this, job = std::make_shared<const effect::Review>(std::move(review))] {
    if (const auto lost = damaged_among(kernel_, job->segments); !lost.empty()) {
      kernel_.writer().submit_surely([job, lost](Transaction& tx) -> Status {
        TRY(take_damage(tx, *job, lost));
        return settle_review(tx, *job, Error{ErrorKind::untrusted, "stored results are damaged or gone"});
      });
      return;
    }
    auto findings = std::make_shared<const Result<std::vector<ReviewFinding>>>(compare(*job, kernel_));
    kernel_.writer().submit_surely(
        [job, findings](Transaction& tx) { return settle_review(tx, *job, *findings); });
  });
}

void Jobs::perform(effect::Map map) {
  kernel_.start_job([this, job = std::make_shared<const policy::PlanJob>(std::move(map.job))] {
    const SteadyTime begun = kernel_.clock().steady();
    const auto seconds = [&] { return to_seconds(kernel_.clock().steady() - begun); };
    auto plan = std::make_shared<const policy::TaskPlan>(
        policy::make_plan(*job, [&] { return seconds() > planning_seconds_max; }));
    kernel_.writer().submit_surely([job, plan, took = seconds()](Transaction& tx) -> Status {
      take_mapping(tx, *job, *plan, took);
      return {};
    });
  });
}

void Jobs::perform(const effect::EndManager& end) {
  kernel_.start_job([this, id = end.problem] { kernel_.managers().end(id, Managers::Keep::yes); });
}

void Jobs::perform(const effect::AdmitToken& token) {
  tokens_.admit(token.digest, token.host, token.proven);
}

void Jobs::perform(const effect::DropToken& token) {
  tokens_.drop(token.digest);
}

void Jobs::perform(const effect::RefuseToken& token) {
  tokens_.refuse(token.digest, token.why);
}

void Jobs::perform(const effect::PutAdminToken& token) {
  admin_tokens_.put(token.row);
}

void Jobs::perform(const effect::SetBans& bans) {
  bans_.set(bans.table);
}

void Jobs::perform(const effect::RemoveFile& file) {
  if (const Status gone = kernel_.files().remove(file.path); !gone.ok())
    spdlog::warn("{}: remove it by hand", gone.error().message);
}

void Jobs::perform(const effect::Announce& /*announce*/) {
  overview_.outdate();
}

void Jobs::perform(const effect::PublishRevocations& revocations) {
  revocations_.set(revocations.list);
}

void Jobs::perform(const effect::Reload& /*reload*/) {
  (void)kernel_.writer().reload();  // says itself what is wrong, and the next batch tries again
}

void Jobs::perform(const effect::LogLine& line) {
  using Level = effect::LogLine::Level;
  const auto level = line.level == Level::debug     ? spdlog::level::debug
                     : line.level == Level::info    ? spdlog::level::info
                     : line.level == Level::warning ? spdlog::level::warn
                                                    : spdlog::level::err;
  spdlog::log(level, "{}", line.text);
}

}  // namespace gleaner::service
