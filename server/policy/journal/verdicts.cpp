#include "server/policy/journal/verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "shared/base/limits.h"
#include "shared/json/text.h"

namespace gleaner::policy {
namespace {

constexpr std::size_t opinions_max_read = 4096;  // far beyond what is ever asked for
constexpr std::int64_t line_bytes_max = 1 << 20;

Error bad_line(const std::string& message) {
  return {ErrorKind::invalid, message};
}

json::Value list_of(const std::vector<std::size_t>& indices) {
  json::Value list = json::Value::array();
  for (const std::size_t index : indices) list.push_back(static_cast<std::int64_t>(index));
  return list;
}

bool whole(const json::Value& value, std::int64_t low = 0) {
  return value.is_integer() && value.integer() >= low;
}

bool probability(const json::Value& value) {
  return value.is_number() && value.number() > 0 && value.number() < 1;
}

bool read_indices(const json::Value& list, std::size_t below, std::vector<std::size_t>& indices) {
  if (!list.is_array()) return false;
  for (const auto& each : list.elements()) {
    if (!whole(each) || std::cmp_greater_equal(each.integer(), below)) return false;
    indices.push_back(static_cast<std::size_t>(each.integer()));
  }
  return true;
}

Status read_terms(const json::Value& list, VerdictTerms& terms) {
  if (list.elements().size() != 4 || !list[0].is_number() || !(list[0].number() > 0) ||
      !probability(list[1]) || !whole(list[2], 1) || !whole(list[3], 1) || list[2].integer() > 1000 ||
      list[3].integer() > 1000)
    return bad_line("terms: expected odds, coincidence, agree_min and opinions_max");
  terms = {list[0].number(), list[1].number(), static_cast<int>(list[2].integer()),
           static_cast<int>(list[3].integer())};
  return {};
}

Status read_opinions(const json::Value& list, JudgedItems& judged) {
  const auto& all = list.elements();
  if (!list.is_array() || all.empty() || all.size() > opinions_max_read)
    return bad_line("opinions: expected a list of 1 to 4096");
  for (const auto& row : all) {
    const auto& of = row.elements();
    const bool newer = of.size() == 7 && of[6].is_boolean();  // logs of before do not say who was known
    if ((of.size() != 6 && !newer) || !whole(of[0]) || !whole(of[1]) || !probability(of[2]) ||
        !of[3].is_boolean() || !of[4].is_integer() || !whole(of[5]) ||
        std::cmp_greater_equal(of[5].integer(), all.size()))
      return bad_line("opinions: expected host, segment, reliability, own, party, class and known of each");
    judged.opinions.push_back({HostId{of[0].integer()}, SegmentId{of[1].integer()}, of[2].number(),
                               of[3].boolean(), of[4].integer(), newer && of[6].boolean()});
    judged.verdict.classes.push_back(static_cast<std::size_t>(of[5].integer()));
  }
  return {};
}

}  // namespace

std::string verdict_line(const JudgedItems& judged) {
  json::Value opinions = json::Value::array();
  std::vector<std::size_t> classes = judged.verdict.classes;
  classes.resize(judged.opinions.size());  // a verdict that nobody judged has none
  for (std::size_t i = 0; i < judged.opinions.size(); ++i) {
    const Opinion& each = judged.opinions[i];
    opinions.push_back(json::Value::array({each.host.value, each.segment.value, each.reliability, each.own,
                                           each.party, static_cast<std::int64_t>(classes[i]), each.known}));
  }
  const VerdictTerms& terms = judged.terms;
  return json::write(
      {{"at", to_microseconds(judged.at)},
       {"stage", judged.stage},
       {"range", json::Value::array({judged.range.begin, judged.range.end})},
       {"terms", json::Value::array({terms.odds, terms.coincidence, terms.agree_min, terms.opinions_max})},
       {"opinions", opinions},
       {"kind", static_cast<int>(judged.verdict.kind)},
       {"right", list_of(judged.verdict.right)},
       {"wrong", list_of(judged.verdict.wrong)},
       {"differ", judged.verdict.differ}});
}

Result<JudgedItems> read_verdict_line(std::string_view line) {
  TRY_ASSIGN(const json::Value object, json::parse(line, {.bytes_max = line_bytes_max}));
  JudgedItems judged;
  const auto& range = object["range"];
  if (!object.is_object() || !object["at"].is_integer() || !whole(object["stage"]) ||
      object["stage"].integer() > limits::stages_max || range.elements().size() != 2 || !whole(range[0]) ||
      !whole(range[1]) || range[1].integer() <= range[0].integer())
    return bad_line("expected an object with at, stage and range");
  judged.at = from_microseconds(object["at"].integer());
  judged.stage = static_cast<int>(object["stage"].integer());
  judged.range = {range[0].integer(), range[1].integer()};
  TRY(read_terms(object["terms"], judged.terms));
  TRY(read_opinions(object["opinions"], judged));
  const auto& kind = object["kind"];
  if (!whole(kind, 1) || kind.integer() > static_cast<int>(VerdictKind::undecided))
    return bad_line("kind: expected 1 to 4");
  judged.verdict.kind = static_cast<VerdictKind>(kind.integer());
  const std::size_t count = judged.opinions.size();
  if (!read_indices(object["right"], count, judged.verdict.right) ||
      !read_indices(object["wrong"], count, judged.verdict.wrong))
    return bad_line("right and wrong: expected numbers of opinions");
  if (!object["differ"].is_boolean()) return bad_line("differ: expected true or false");
  judged.verdict.differ = object["differ"].boolean();
  return judged;
}

bool VerdictReplay::is_first_line(std::string_view line) {
  return line == verdict_log_first_line;
}

Status VerdictReplay::feed(std::string_view line, const std::string& file) {
  ++lines_;
  if (is_first_line(line)) return {};
  auto judged = read_verdict_line(line);
  if (!judged.ok()) return judged.error().within(fmt::format("{}:{}", file, lines_));
  const auto& classes = judged->verdict.classes;
  const Verdict again = judge(
      judged->opinions, [&](std::size_t a, std::size_t b) { return classes[a] == classes[b]; },
      judged->terms);
  ++verdicts_;
  JudgedItems replayed = *judged;
  replayed.verdict = again;
  replayed.verdict.classes = classes;  // their numbers, which a log of other hands may count otherwise
  if (verdict_line(replayed) != verdict_line(*judged))
    parting_ = Parting{lines_, verdict_line(*judged), verdict_line(replayed)};
  return {};
}

}  // namespace gleaner::policy
