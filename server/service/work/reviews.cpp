#include "server/service/work/reviews.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "server/service/core/waiting.h"
#include "server/service/work/trust.h"

namespace gleaner::service {
namespace {

Status note_begun_items(Transaction& tx, effect::Review& job) {
  for (const auto& segment : job.segments) {
    TRY_ASSIGN(const auto place, tx.store.unit(segment.unit));
    if (place && place->unit.begun_by.valid())
      job.begun_by[{segment.id, place->unit.range.begin}] = place->unit.begun_by;
  }
  return {};
}

// While results were compared, one of their hosts may have been found wrong by another verdict, or a file
// found damaged: what had been delivered is gone, and its items are open again or accepted from somebody
// else.
Result<bool> is_stale(Transaction& tx, const Problem& problem, const ReviewFinding& finding) {
  if (!problem.stage->view().ledger().accepted().contains(finding.range)) return true;
  TRY_ASSIGN(const auto segments, tx.store.segments_over(problem.row.id, problem.row.stage, finding.range));
  return std::any_of(finding.opinions.begin(), finding.opinions.end(), [&](const policy::Opinion& opinion) {
    return std::none_of(segments.begin(), segments.end(),
                        [&](const auto& segment) { return segment.id == opinion.segment; });
  });
}

// What is there now and is still to be compared, is compared anew.
Status review_again(Transaction& tx, Problem& problem, Range range) {
  std::vector<Range> again;
  const policy::Ledger& ledger = problem.stage->view().ledger();
  for (const Range part : ledger.accepted().within(range)) {
    TRY_ASSIGN(const auto segments, tx.store.segments_over(problem.row.id, problem.row.stage, part));
    if (segments.size() > 1 || ledger.disputed().overlaps(part)) again.push_back(part);
  }
  return start_review(tx, problem, again);
}

// What those opinions cost was of no use, or that of the right one was, after all. By all but the first, who
// was accepted, it was counted when it came, unless they had been asked for a check.
Status count_use(Transaction& tx, Problem& problem, const ReviewFinding& finding,
                 const std::vector<std::size_t>& useless, policy::Changes& changes) {
  using Use = policy::Stage::Use;
  TRY_ASSIGN(const auto segments, tx.store.segments_over(problem.row.id, problem.row.stage, finding.range));
  const auto count = [&](std::size_t index, Use use) -> Status {
    const auto segment = std::find_if(segments.begin(), segments.end(), [&](const auto& each) {
      return each.id == finding.opinions[index].segment;
    });
    if (segment == segments.end()) return {};
    TRY_ASSIGN(const auto unit, tx.store.unit(segment->unit));
    const bool was_counted = index > 0 && !(unit && unit->unit.kind == policy::UnitKind::check);
    if (was_counted == (use == Use::after_all))
      problem.stage->count_use(segment->host, finding.range, use, changes);
    return {};
  };
  for (const std::size_t index : useless) TRY(count(index, Use::none));
  return finding.verdict.right.empty() ? Status{} : count(finding.verdict.right.front(), Use::after_all);
}

std::vector<std::size_t> all_of(const ReviewFinding& finding) {
  std::vector<std::size_t> all(finding.opinions.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

Status settle_finding(Transaction& tx, Problem& problem, const ReviewFinding& finding,
                      const policy::VerdictTerms& terms, const RangeSet& disputed_before) {
  if (finding.opinions.empty()) return {};  // the segments that had it were dropped
  TRY_ASSIGN(const bool stale, is_stale(tx, problem, finding));
  if (stale) return review_again(tx, problem, finding.range);
  using Settlement = policy::ProjectChanges::Settlement;
  policy::ProjectChanges changes = tx.model.project->apply(
      policy::ComparedEvent{problem.row.id, finding.range, finding.opinions, finding.verdict, terms}, tx.now);
  bool is_new = true;  // agreement of too few is no verdict yet, and a dispute is written down once
  storage::VerdictRow row;
  row.problem = problem.row.id;
  row.stage = problem.row.stage;
  row.range = finding.range;
  row.at = tx.now;
  row.first = finding.opinions.front().segment;
  row.second = finding.opinions.back().segment;
  switch (changes.settlement) {
    case Settlement::nothing:
      return store_decided(tx, changes);
    case Settlement::agreed:
      row.note = "all agree";
      break;
    case Settlement::disputed:
      row.agree = !finding.verdict.differ;
      row.note = dispute_note;
      is_new = finding.verdict.differ && !disputed_before.contains(finding.range);
      if (is_new) ++problem.disagreements;
      break;
    case Settlement::decided: {
      row.agree = false;
      row.note = "decided by majority";
      const auto& right = finding.opinions[finding.verdict.right.front()];
      TRY(tx.store.accept(problem.row.id, problem.row.stage, finding.range, right.segment));
      for (const std::size_t wrong : finding.verdict.wrong) {
        Host& host = tx.model.hosts[finding.opinions[wrong].host];
        row.wrong_host = finding.opinions[wrong].host;
        ++host.row.disagreements;
        host.row.health = policy::after_failure(host.row.health, "its results were found wrong", tx.now);
        TRY(tx.store.update_host(host.row));
      }
      TRY(count_use(tx, problem, finding, finding.verdict.wrong, changes.of(problem.row.id)));
      break;
    }
    case Settlement::undecided:
      row.agree = false;
      row.note = "no two hosts agree: quarantined";
      TRY(count_use(tx, problem, finding, all_of(finding), changes.of(problem.row.id)));
      TRY(tx.store.unaccept(problem.row.id, problem.row.stage, finding.range));
      break;
  }
  if (!row.agree)
    tx.effects.warn(fmt::format("problem {}: results of items {}-{} differ; {}", problem.row.id.value,
                                finding.range.begin, finding.range.end, row.note));
  if (is_new) TRY(tx.store.add_verdict(row));
  return store_decided(tx, changes);
}

// A problem whose results cannot be compared ends with items set aside: people must hear why.
Status tell_failure(Transaction& tx, Problem& problem, const std::string& failure) {
  const std::string message = "comparing two results failed, which counts as a difference: " + failure;
  if (problem.row.message == message) return {};
  problem.row.message = message;
  tx.effects.warn(fmt::format("problem {} ({}): {}", problem.row.id.value, problem.row.name, message));
  return tx.store.update_problem(problem.row);
}

}  // namespace

Status start_review(Transaction& tx, Problem& problem, const std::vector<Range>& ranges,
                    const RangeSet& disputed_before) {
  if (ranges.empty()) return {};
  const policy::VerdictTerms terms = tx.model.project->verdict_terms(problem.row.id, tx.now);
  const policy::Witnesses witnesses = tx.model.project->witnesses(problem.row.id, tx.now);
  for (const Range range : ranges) {
    effect::Review job;
    job.problem = problem.row.id;
    job.stage = problem.row.stage;
    job.range = range;
    job.disputed_before = disputed_before;
    job.comparison = problem.manifest.comparison;
    job.manager = manager_setup(tx.model, problem);
    job.item_bytes_max = problem.manifest.item_bytes;
    job.terms = terms;
    TRY_ASSIGN(job.segments, tx.store.segments_over(job.problem, job.stage, range));
    if (job.segments.empty()) continue;  // all of them were dropped
    if (problem.manifest.checkpoint) TRY(note_begun_items(tx, job));
    for (const auto& segment : job.segments) job.witnesses[segment.host] = witnesses.of(segment.host);
    for (const auto& [place, host] : job.begun_by) job.witnesses[host] = witnesses.of(host);
    ++tx.model.underway.reviews[job.problem];
    tx.effects.add(std::move(job));
  }
  return {};
}

Status resume_reviews(Transaction& tx, Problem& problem) {
  if (!problem.stage) return {};
  const ProblemId id = problem.row.id;
  // After a failed transaction comparisons may be under way: none is made twice.
  if (tx.model.underway.reviews.contains(id)) return {};
  const int stage = problem.row.stage;
  TRY_ASSIGN(const std::int64_t delivered, tx.store.delivered_items(id, stage));
  if (delivered <= problem.stage->view().ledger().accepted().total()) return {};
  TRY_ASSIGN(const auto segments, tx.store.segments_over(id, stage, {0, problem.stage_row.items}));
  RangeSet seen, pending, disputed;
  for (const auto& segment : segments) {
    for (const Range twice : seen.within(segment.range)) pending.add(twice);
    seen.add(segment.range);
  }
  TRY_ASSIGN(const auto verdicts, tx.store.verdicts(id));
  for (const auto& verdict : verdicts) {
    if (verdict.stage != stage) continue;
    if (!verdict.agree && !verdict.wrong_host.valid()) {
      pending.add(verdict.range);
      disputed.add(verdict.range);
    } else {
      pending.remove(verdict.range);
      disputed.remove(verdict.range);
    }
  }
  for (const Range range : problem.stage_row.set_aside) pending.remove(range);
  return start_review(tx, problem, pending.ranges(), disputed);
}

Status settle_review(Transaction& tx, const effect::Review& job,
                     const Result<std::vector<ReviewFinding>>& findings) {
  auto& reviews = tx.model.underway.reviews;
  if (const auto count = reviews.find(job.problem); count != reviews.end() && --count->second <= 0)
    reviews.erase(count);
  const auto found = tx.model.problems.find(job.problem);
  if (found == tx.model.problems.end()) return {};
  Problem& problem = found->second;
  if (!problem.stage || problem.row.stage != job.stage) return {};
  if (!findings.ok()) {
    const std::string what = fmt::format("items {}-{} could not be compared: {}", job.range.begin,
                                         job.range.end, findings.error().message);
    if (may_pass(findings.error())) {
      problem.unreviewed.add(job.range);
      return put_off_job(tx, problem, what);
    }
    tx.effects.add(effect::LogLine{effect::LogLine::Level::error,
                                   fmt::format("problem {}: {}", job.problem.value, what)});
    tx.due.insert(job.problem);
    return {};
  }
  if (problem.unreviewed.empty()) TRY(goes_on(tx, problem));
  for (const auto& finding : *findings) {
    TRY(settle_finding(tx, problem, finding, job.terms, job.disputed_before));
    if (!problem.stage) return {};
  }
  for (const auto& finding : *findings)
    if (!finding.failure.empty()) TRY(tell_failure(tx, problem, finding.failure));
  tx.due.insert(job.problem);
  return {};
}

}  // namespace gleaner::service
