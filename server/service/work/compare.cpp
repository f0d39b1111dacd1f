#include "server/service/work/compare.h"

#include <algorithm>

#include "server/service/work/stored_segments.h"
#include "shared/protocol/segment.h"

namespace gleaner::service {
namespace {

struct Loaded {
  const storage::SegmentRow* row;
  Bytes bytes;
  std::vector<std::string_view> items;
};

Result<std::vector<Loaded>> load(const effect::Review& job, Kernel& kernel) {
  std::vector<Loaded> loaded(job.segments.size());
  for (std::size_t i = 0; i < job.segments.size(); ++i) {
    loaded[i].row = &job.segments[i];
    TRY_ASSIGN(loaded[i].bytes, read_segment(kernel, job.segments[i]));
    TRY_ASSIGN(loaded[i].items,
               protocol::split_segment(loaded[i].bytes, job.segments[i].range.size(), job.item_bytes_max));
  }
  return loaded;
}

Result<ReviewFinding> compare_item(const effect::Review& job, const std::vector<Loaded>& loaded,
                                   std::int64_t item, Managers& managers) {
  ReviewFinding finding;
  finding.range = {item, item + 1};
  std::vector<std::string_view> bytes;
  for (const auto& segment : loaded) {
    if (!segment.row->range.contains(item)) continue;
    const auto begun = job.begun_by.find({segment.row->id, item});
    policy::Opinion opinion =
        job.witnesses.at(begun == job.begun_by.end() ? segment.row->host : begun->second);
    opinion.segment = segment.row->id;
    finding.opinions.push_back(opinion);
    bytes.push_back(segment.items[static_cast<std::size_t>(item - segment.row->range.begin)]);
  }
  Status compared;
  const auto same = [&](std::size_t a, std::size_t b) {
    if (bytes[a] == bytes[b]) return true;
    if (job.comparison == bundle::Comparison::exact || !compared.ok()) return false;
    contract::ManagerSession::Agreement agreement;
    compared = managers.with(job.manager, [&](contract::ManagerSession& manager) -> Status {
      TRY_ASSIGN(agreement, manager.compare(job.stage, item, bytes[a], bytes[b]));
      return {};
    });
    if (!agreement.failure.empty()) finding.failure = agreement.failure;
    return agreement.same;
  };
  finding.verdict = policy::judge(finding.opinions, same, job.terms);
  TRY(compared);
  return finding;
}

bool same_verdict(const ReviewFinding& a, const ReviewFinding& b) {
  return a.verdict.kind == b.verdict.kind && a.verdict.right == b.verdict.right &&
         a.verdict.wrong == b.verdict.wrong && a.verdict.classes == b.verdict.classes &&
         std::equal(a.opinions.begin(), a.opinions.end(), b.opinions.begin(), b.opinions.end(),
                    [](const auto& x, const auto& y) { return x.segment == y.segment && x.host == y.host; });
}

}  // namespace

Result<std::vector<ReviewFinding>> compare(const effect::Review& job, Kernel& kernel) {
  TRY_ASSIGN(const auto loaded, load(job, kernel));
  std::vector<ReviewFinding> findings;
  for (std::int64_t item = job.range.begin; item < job.range.end; ++item) {
    TRY_ASSIGN(auto finding, compare_item(job, loaded, item, kernel.managers()));
    if (!findings.empty() && same_verdict(findings.back(), finding)) {
      findings.back().range.end = item + 1;
      if (!finding.failure.empty()) findings.back().failure = finding.failure;
    } else {
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace gleaner::service
