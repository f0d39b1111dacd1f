// The log of a problem's verdicts, beside those of its stages: what was judged, by which terms, and what came
// out, as lines of JSON that replay to the same outcome.
//
//   {"gleaner_verdict_log":1}
//   {"at":1767225600000000,"stage":0,"range":[3,5],"terms":[100.0,0.01,2,13],
//    "opinions":[[1,17,0.9,false,1,0,false],[2,19,0.9,false,2,0,false]],"kind":1,"right":[0,1],"wrong":[],"differ":false}
//
// Terms are odds, coincidence, agree_min and opinions_max. An opinion is host, segment, reliability, own,
// party, the class that it was found to agree with, and known: replays take these for granted (results are
// not in the log) and judge anew. Each start of the server writes the first line again. The version grows
// when the rules of verdict.h change. Pure. Errors: invalid, "LOG:12: opinions: expected ...".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/policy/journal/replay.h"
#include "server/policy/trust/verdict.h"
#include "shared/base/clock.h"
#include "shared/base/range_set.h"

namespace gleaner::policy {

struct JudgedItems {
  Timestamp at{};
  int stage = 0;
  Range range;
  VerdictTerms terms;
  std::vector<Opinion> opinions;
  Verdict verdict;
};

inline constexpr std::string_view verdict_log_first_line = "{\"gleaner_verdict_log\":1}";
// Without a newline.
[[nodiscard]] std::string verdict_line(const JudgedItems& judged);
[[nodiscard]] Result<JudgedItems> read_verdict_line(std::string_view line);

class VerdictReplay {
 public:
  [[nodiscard]] static bool is_first_line(std::string_view line);
  // As Replay.
  [[nodiscard]] Status feed(std::string_view line, const std::string& file);
  [[nodiscard]] const std::optional<Parting>& parting() const { return parting_; }
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] std::int64_t events() const { return verdicts_; }
  [[nodiscard]] std::int64_t decisions() const { return verdicts_; }

 private:
  std::int64_t lines_ = 0, verdicts_ = 0;
  std::optional<Parting> parting_;
};

}  // namespace gleaner::policy
