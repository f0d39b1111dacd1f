// What an agent may say: every local user who is logged in can send it.
#include "client/agent/report/notice.h"
#include "client/agent/report/report.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::agent;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const std::string clean = printable(text);
  CHECK_TRUE(clean.size() <= report_text_max && printable(clean) == clean);
  if (const auto notice = decode_notice(text); notice.ok())
    CHECK_TRUE(encode(*notice).size() <= notice_line_bytes_max && *decode_notice(encode(*notice)) == *notice);
  if (const auto answer = decode_answer(text); answer.ok())
    CHECK_TRUE(is_answer(encode(*answer)) && *decode_answer(encode(*answer)) == *answer);
  const auto report = decode(text);
  if (!report.ok()) return 0;
  CHECK_TRUE(report->inputs.size() <= report_inputs_max && report->busy.size() <= report_busy_max &&
             report->missing.size() <= report_missing_max);
  for (const auto& input : report->inputs)
    CHECK_TRUE(input.idle >= Duration{0} && input.idle <= report_idle_max &&
               (!input.active || input.idle == Duration{0}));
  const std::string line = encode(*report);
  CHECK_TRUE(line.size() <= report_line_bytes_max && line.find('\n') == std::string::npos);
  const auto again = decode(line);
  CHECK_TRUE(again.ok() && again->busy == report->busy && again->missing == report->missing &&
             again->session == report->session);
  return 0;
}
