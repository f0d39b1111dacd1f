// A decision log from anywhere, line by line. A line that cannot be is an error that names its line; what is
// read as a line is written as one that reads the same.
#include <algorithm>

#include "server/policy/dispatch/log.h"
#include "server/policy/dispatch/replay.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

std::string written(const LogLine& line) {
  const auto* rules = std::get_if<PlanRules>(&line);
  return rules != nullptr ? first_line(*rules) : line_of(std::get<LogEntry>(line));
}

void check_line(std::string_view line) {
  const auto read = read_line(line);
  if (!read.ok()) return;
  const std::string text = written(*read);
  const auto again = read_line(text);
  CHECK_TRUE(again.ok() && written(*again) == text);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  ProjectReplay replay;
  while (!text.empty() && !replay.parting()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    check_line(line);
    if (const Status fed = replay.feed(line, "a.log"); !fed.ok()) {
      CHECK_TRUE(fed.error().message.starts_with("a.log:"));
      return 0;
    }
  }
  return 0;
}
