// Overlap doubles as verification: items that two hosts delivered are compared item by item. If they differ,
// the stage asks a third host; the largest group of agreeing hosts is right, the verdict is stored, and what
// was accepted from the wrong ones is replaced. The stage is not combined while a review is under way.
#include <spdlog/spdlog.h>

#include <algorithm>

#include "server/service/service.h"
#include "shared/base/limits.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {

Status Service::start_review(Problem& problem, const std::vector<Range>& ranges) {
  for (const Range range : ranges) {
    auto job = std::make_shared<ReviewJob>();
    job->problem = problem.row.id;
    job->stage = problem.row.stage;
    job->range = range;
    job->comparison = problem.manifest.comparison;
    job->manager = manager_setup(problem);
    job->item_bytes_max = problem.manifest.item_bytes;
    TRY_ASSIGN(job->segments, store_->segments_over(job->problem, job->stage, range));
    if (problem.manifest.checkpoint) TRY(note_begun_items(*job));
    ++problem.reviews;
    on_pool([this, job] {
      auto findings = std::make_shared<Result<std::vector<ReviewFinding>>>(compare(*job));
      decide_later([this, job, findings] { return settle_review(*job, *findings); });
    });
  }
  return {};
}

Status Service::note_begun_items(ReviewJob& job) {
  for (const auto& segment : job.segments) {
    TRY_ASSIGN(const auto place, store_->unit(segment.unit));
    if (place && place->unit.begun_by.valid())
      job.begun_by[{segment.id, place->unit.range.begin}] = place->unit.begun_by;
  }
  return {};
}

// After a restart: what several hosts delivered and no verdict covers, and what differed and was neither
// decided nor set aside, is judged again from the stored segments.
Status Service::resume_reviews(Problem& problem) {
  if (!problem.stage) return {};
  const ProblemId id = problem.row.id;
  const int stage = problem.row.stage;
  TRY_ASSIGN(const std::int64_t delivered, store_->delivered_items(id, stage));
  if (delivered <= problem.stage->view().accepted().total()) return {};
  TRY_ASSIGN(const auto segments, store_->segments_over(id, stage, {0, problem.stage_row.items}));
  RangeSet seen, pending;
  for (const auto& segment : segments) {
    for (const Range twice : seen.within(segment.range)) pending.add(twice);
    seen.add(segment.range);
  }
  TRY_ASSIGN(const auto verdicts, store_->verdicts(id));
  for (const auto& verdict : verdicts) {
    if (verdict.stage != stage) continue;
    if (!verdict.agree && !verdict.wrong_host.valid()) {
      pending.add(verdict.range);
    } else {
      pending.remove(verdict.range);
    }
  }
  for (const Range range : problem.stage_row.set_aside) pending.remove(range);
  return start_review(problem, pending.ranges());
}

Result<std::vector<Service::ReviewFinding>> Service::compare(const ReviewJob& job) {
  struct Loaded {
    const storage::SegmentRow* row;
    Bytes bytes;
    std::vector<std::string_view> items;
  };
  std::vector<Loaded> loaded(job.segments.size());
  for (std::size_t i = 0; i < job.segments.size(); ++i) {
    loaded[i].row = &job.segments[i];
    TRY_ASSIGN(loaded[i].bytes, blobs_.read(job.segments[i].digest, limits::segment_bytes_max));
    TRY_ASSIGN(loaded[i].items,
               protocol::split_segment(loaded[i].bytes, job.segments[i].range.size(), job.item_bytes_max));
  }
  std::vector<ReviewFinding> findings;
  for (std::int64_t item = job.range.begin; item < job.range.end; ++item) {
    ReviewFinding finding;
    finding.range = {item, item + 1};
    std::vector<std::string_view> bytes;
    for (const auto& segment : loaded) {
      if (!segment.row->range.contains(item)) continue;
      const auto begun = job.begun_by.find({segment.row->id, item});
      finding.opinions.push_back(
          {begun == job.begun_by.end() ? segment.row->host : begun->second, segment.row->id});
      bytes.push_back(segment.items[static_cast<std::size_t>(item - segment.row->range.begin)]);
    }
    Status compared;
    const auto same = [&](std::size_t a, std::size_t b) {
      if (bytes[a] == bytes[b]) return true;
      if (job.comparison == bundle::Comparison::exact || !compared.ok()) return false;
      bool agree = false;
      compared = managers_.with(job.manager, [&](contract::ManagerSession& manager) -> Status {
        TRY_ASSIGN(agree, manager.compare(job.stage, item, bytes[a], bytes[b]));
        return {};
      });
      return agree;
    };
    finding.verdict = policy::judge(finding.opinions, same, policy::EndgameRules{}.opinions_max);
    TRY(compared);
    const bool joins = !findings.empty() && findings.back().verdict.kind == finding.verdict.kind &&
                       findings.back().verdict.right == finding.verdict.right &&
                       findings.back().verdict.wrong == finding.verdict.wrong &&
                       std::equal(findings.back().opinions.begin(), findings.back().opinions.end(),
                                  finding.opinions.begin(), finding.opinions.end(),
                                  [](const auto& a, const auto& b) { return a.segment == b.segment; });
    if (joins) {
      findings.back().range.end = item + 1;
    } else {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Status Service::settle_review(const ReviewJob& job, const Result<std::vector<ReviewFinding>>& findings) {
  const auto found = model_.problems.find(job.problem);
  if (found == model_.problems.end()) return {};
  Problem& problem = found->second;
  problem.reviews = std::max(0, problem.reviews - 1);
  if (!problem.stage || problem.row.stage != job.stage) return {};
  if (!findings.ok()) {
    spdlog::error("items {}-{} of problem {} could not be compared: {}", job.range.begin, job.range.end,
                  job.problem.value, findings.error().message);
  } else {
    for (const auto& finding : *findings) TRY(settle_finding(problem, finding));
  }
  return advance(job.problem);
}

Status Service::settle_finding(Problem& problem, const ReviewFinding& finding) {
  policy::Changes changes;
  storage::VerdictRow row;
  row.problem = problem.row.id;
  row.stage = problem.row.stage;
  row.range = finding.range;
  row.at = now();
  row.first = finding.opinions.front().segment;
  row.second = finding.opinions.back().segment;
  switch (finding.verdict.kind) {
    case policy::VerdictKind::agree:
      row.note = "all agree";
      break;
    case policy::VerdictKind::need_another: {
      row.agree = false;
      row.note = "they differ: another host is asked";
      ++problem.disagreements;
      std::vector<HostId> hosts;
      for (const auto& opinion : finding.opinions) hosts.push_back(opinion.host);
      problem.stage->dispute(finding.range, hosts, now(), changes);
      break;
    }
    case policy::VerdictKind::decided: {
      row.agree = false;
      row.note = "decided by majority";
      const auto& right = finding.opinions[finding.verdict.right.front()];
      TRY(store_->accept(problem.row.id, problem.row.stage, finding.range, right.segment));
      for (const std::size_t wrong : finding.verdict.wrong) {
        Host& host = model_.hosts[finding.opinions[wrong].host];
        row.wrong_host = finding.opinions[wrong].host;
        ++host.row.disagreements;
        host.row.health = policy::after_failure(host.row.health, "its results were found wrong", now());
        TRY(store_->update_host(host.row));
      }
      problem.stage->resolve(finding.range, true, now(), changes);
      break;
    }
    case policy::VerdictKind::undecided:
      row.agree = false;
      row.note = "no two hosts agree: set aside";
      problem.stage->resolve(finding.range, false, now(), changes);
      break;
  }
  if (!row.agree)
    spdlog::warn("problem {}: results of items {}-{} differ; {}", problem.row.id.value, finding.range.begin,
                 finding.range.end, row.note);
  TRY(store_->add_verdict(row));
  return store_stage(problem, changes);
}

}  // namespace gleaner::service
