#include "tests/faults/failpoints.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <string>
#include <string_view>

#include "shared/base/failpoint.h"
#include "tests/faults/disk.h"

namespace gleaner::faults {
namespace {

constexpr std::array names{"act-added",         "answer-send",    "answer-sent",      "batch-sync",
                           "batch-synced",      "blob-move",      "blob-write",       "blob-written",
                           "effects-performed", "migration-step", "migration-synced", "move-compared",
                           "move-copied",       "move-given-up",  "move-in-place",    "note-write",
                           "problem-finished",  "results-kept",   "results-stored",   "row-inserted",
                           "stage-combine",     "stage-combined"};

enum class What { kill, error, cut };

struct Point {
  std::string name;
  int nth = 1;
  What what = What::kill;
  std::atomic<int> reached{0};
};

std::list<Point> points;

[[noreturn]] void wrong(std::string_view text) {
  std::fprintf(stderr, "GLEANER_FAILPOINT: \"%.*s\" is not NAME:NTH[:kill|error|cut] of a known name\n",
               static_cast<int>(text.size()), text.data());
  ::_exit(2);
}

void add_point(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) wrong(text);
  Point& point = points.emplace_back();
  point.name = text.substr(0, colon);
  if (std::find(names.begin(), names.end(), point.name) == names.end()) wrong(text);
  const std::string_view rest = text.substr(colon + 1);
  const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), point.nth);
  const std::string_view what(parsed.ptr, static_cast<std::size_t>(rest.data() + rest.size() - parsed.ptr));
  if (parsed.ec != std::errc{} || point.nth < 1) wrong(text);
  if (what == ":error")
    point.what = What::error;
  else if (what == ":cut")
    point.what = What::cut;
  else if (!what.empty() && what != ":kill")
    wrong(text);
}

Status reach(const char* name) {
  for (Point& point : points) {
    if (point.name != name || ++point.reached != point.nth) continue;
    std::fprintf(stderr, "failpoint %s, time %d\n", name, point.nth);
    if (point.what == What::error) return Error{ErrorKind::io, std::string("the failpoint ") + name};
    if (point.what == What::cut) cut_power();
    ::kill(::getpid(), SIGKILL);
    ::pause();
  }
  return {};
}

}  // namespace

void set_failpoints() {
  const char* const given = std::getenv("GLEANER_FAILPOINT");
  if (given == nullptr) return;
  std::string_view text = given;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    add_point(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  failpoint_hook = reach;
}

}  // namespace gleaner::faults
