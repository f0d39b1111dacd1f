#include "tools/simulator/results.h"

namespace gleaner::simulator {

void Results::deliver(ProblemId problem, Range range, HostId host, std::int64_t answer) {
  opinions_[problem].deliver(range, host, answer);
}

void Results::counted(ProblemId problem, HostId host, const policy::CommitOutcome& outcome,
                      std::uint64_t draw, Timestamp now) {
  take(project_.apply(policy::DeliveredEvent{problem, host, outcome.accepted, draw}, now));
  if (outcome.overlapping.empty()) return;
  const policy::VerdictTerms terms = project_.verdict_terms(problem, now);
  const policy::Witnesses witnesses = project_.witnesses(problem, now);
  for (Range left : outcome.overlapping) {
    while (const auto finding =
               opinions_[problem].review(left, terms, [&](HostId each) { return witnesses.of(each); })) {
      left.begin = finding->range.end;
      take(project_.apply(
          policy::ComparedEvent{problem, finding->range, finding->opinions, finding->verdict, terms}, now));
    }
  }
}

bool Results::may_combine(ProblemId problem, std::uint64_t draw, Timestamp now) {
  policy::ProjectChanges changes = project_.apply(policy::CompletedEvent{problem, draw}, now);
  const bool nothing = changes.stages.empty();
  take(std::move(changes));
  return nothing;
}

void Results::take(policy::ProjectChanges changes) {
  for (const auto& doubted : changes.doubted) opinions_[doubted.problem].forget(doubted.range);
  perform_(std::move(changes));
}

std::int64_t Results::wrong_items(ProblemId problem) const {
  const auto found = opinions_.find(problem);
  return found == opinions_.end() ? 0 : found->second.wrong_items();
}

}  // namespace gleaner::simulator
