// Decision logs from anywhere: of a stage, of a whole server or of verdicts, line by line. A line that cannot
// be is an error that names its line; what is read as a line is written as one that reads the same.
#include <algorithm>

#include "server/policy/dispatch/replay.h"
#include "server/policy/journal/lines.h"
#include "server/policy/journal/replay.h"
#include "server/policy/journal/verdicts.h"
#include "tests/fuzz/fuzz.h"

using namespace gleaner;
using namespace gleaner::policy;

namespace {

constexpr std::int64_t items = 300;

void check_line(std::string_view line) {
  if (const auto setup = read_setup_line(line); setup.ok()) {
    const std::string written = setup_line(*setup);
    const auto again = read_setup_line(written);
    CHECK_TRUE(again.ok() && setup_line(*again) == written);
  }
  if (const auto judged = read_verdict_line(line); judged.ok()) {
    const std::string written = verdict_line(*judged);
    const auto again = read_verdict_line(written);
    CHECK_TRUE(again.ok() && verdict_line(*again) == written);
  }
  if (const auto entry = read_entry_line(line, items); entry.ok()) {
    const std::string written = entry_line(*entry);
    const auto again = read_entry_line(written, items);
    CHECK_TRUE(again.ok() && entry_line(*again) == written);
  }
}

template <typename Log>
void play(std::string_view text) {
  Log log;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    check_line(line);
    const Status fed = log.feed(line, "a.log");
    if (!fed.ok()) return CHECK_TRUE(fed.error().message.find("a.log") != std::string::npos);
    if (log.parting()) return;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (ProjectReplay::is_first_line(text.substr(0, text.find('\n'))))
    play<ProjectReplay>(text);
  else if (VerdictReplay::is_first_line(text.substr(0, text.find('\n'))))
    play<VerdictReplay>(text);
  else
    play<Replay>(text);
  return 0;
}
