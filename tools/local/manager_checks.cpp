#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "shared/protocol/segment.h"
#include "tools/local/check_parts.h"

namespace gleaner::local {
namespace {

constexpr std::int64_t parts = 7;
constexpr std::int64_t damaged_items = 8;  // of which one is damaged

// One way of damaging a segment: bad framing, or items that are not the kernel's.
struct Damage {
  std::string what;
  bool framing = false;
  Bytes segment;
};

Bytes framed(const std::vector<Bytes>& items) {
  Bytes segment;
  for (const Bytes& item : items) protocol::append_item(segment, item);
  return segment;
}

// A segment of `items` with item `victim` damaged in every way; `other` is a different item's bytes.
std::vector<Damage> damages(const std::vector<Bytes>& items, std::size_t victim, const Bytes& other,
                            Random& random) {
  std::vector<Damage> all;
  const Bytes whole = framed(items);
  all.push_back({"a segment cut short", true, whole.substr(0, whole.size() - 1)});
  all.push_back({"a segment with bytes too many", true, whole + "x"});
  all.push_back({"a segment with an item too few", true, framed({items.begin(), items.end() - 1})});
  const auto with = [&](const std::string& what, const Bytes& bytes) {
    if (bytes == items[victim]) return;
    std::vector<Bytes> changed = items;
    changed[victim] = bytes;
    all.push_back({what, false, framed(changed)});
  };
  const Bytes& good = items[victim];
  with("an empty item", {});
  with("an item with a byte too many", good + "x");
  with("another item's bytes", other);
  if (good.empty()) return all;
  with("an item cut short", good.substr(0, good.size() - 1));
  Bytes flipped = good;
  char& byte = flipped[random.below(flipped.size())];
  byte = static_cast<char>(byte ^ static_cast<char>(1 << random.below(8)));
  with("a flipped bit", flipped);
  Bytes junk = good;
  for (char& c : junk) c = static_cast<char>(random.below(256));
  with("junk", junk);
  return all;
}

// Empty if both files have the same content.
Result<bool> same_content(const io::Path& a, const io::Path& b) {
  std::ifstream one(a, std::ios::binary), two(b, std::ios::binary);
  if (!one || !two) return Error{ErrorKind::io, "cannot read " + a.string() + " and " + b.string()};
  std::vector<char> left(1 << 16), right(1 << 16);
  for (;;) {
    one.read(left.data(), static_cast<std::streamsize>(left.size()));
    two.read(right.data(), static_cast<std::streamsize>(right.size()));
    if (one.gcount() != two.gcount() || !std::equal(left.begin(), left.begin() + one.gcount(), right.begin()))
      return false;
    if (one.gcount() < static_cast<std::streamsize>(left.size())) return true;
  }
}

std::string list_of(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace

Status ManagerChecks::run() {
  if (reference_.count() == 0) return {};
  TRY(damaged());
  TRY(preview());
  TRY(combined());
  return {};
}

Result<std::unique_ptr<contract::ManagerSession>> ManagerChecks::session(io::Path& directory) {
  directory = context_.fresh("manager");
  TRY(copy_work(reference_.manager_snapshot, directory));
  return context_.manager(context_.work / "problem", directory);
}

Status ManagerChecks::damaged() {
  io::Path directory;
  TRY_ASSIGN(auto manager, session(directory));
  const std::int64_t size = std::min(damaged_items, reference_.count());
  const std::int64_t begin = context_.random.between(0, reference_.count() - size);
  const Range range{begin, begin + size};
  const std::vector<Bytes> items(reference_.items.begin() + range.begin,
                                 reference_.items.begin() + range.end);
  const auto victim = static_cast<std::size_t>(context_.random.below(static_cast<std::uint64_t>(size)));
  // The item after it that has other bytes, if any has.
  Bytes other = items[victim];
  for (std::int64_t i = 1; i < reference_.count() && other == items[victim]; ++i)
    other = reference_.items[static_cast<std::size_t>((begin + static_cast<std::int64_t>(victim) + i) %
                                                      reference_.count())];
  std::vector<std::string> accepted_framing, accepted;
  int refused = 0;
  for (const Damage& damage : damages(items, victim, other, context_.random)) {
    context_.doing("damaging results", 0);
    const auto validation = manager->validate(reference_.stage, range, damage.segment);
    if (!validation.ok() && validation.error().kind == ErrorKind::unavailable) {
      context_.findings.failed("validation", "given " + damage.what + ", " + validation.error().message,
                               "answer `invalid TEXT`: results come from strangers");
      return {};
    }
    if (!validation.ok() || validation->verdict == contract::Verdict::invalid)
      refused += damage.framing ? 0 : 1;
    else
      (damage.framing ? accepted_framing : accepted).push_back(damage.what);
  }
  if (!accepted_framing.empty())
    context_.findings.failed(
        "validation", "the manager accepts " + list_of(accepted_framing),
        "read all items of the segment: each has 4 bytes of length; nothing may be left");
  else if (refused == 0)
    context_.findings.failed(
        "validation", "the manager accepts all damaged items: " + list_of(accepted),
        "check at least its length and form; better, compute one item of the segment again");
  else if (!accepted.empty())
    context_.findings.passed(
        "validation", fmt::format("the manager rejects {} kinds of damaged items; it cannot detect: {}",
                                  refused, list_of(accepted)));
  else
    context_.findings.passed("validation",
                             fmt::format("the manager rejects all {} kinds of damaged items", refused));
  return {};
}

Result<std::vector<contract::Piece>> ManagerChecks::write_pieces(const std::vector<Range>& ranges,
                                                                 bool overlapping) {
  std::vector<contract::Piece> pieces;
  for (const Range range : ranges) {
    // Of a segment that overlaps others only a part counts.
    Range stored = range;
    if (overlapping) {
      stored.begin = std::max<std::int64_t>(0, range.begin - 1);
      stored.end = std::min(reference_.count(), range.end + 1);
    }
    const io::Path path = context_.segments() / ("piece-" + std::to_string(context_.directories++));
    TRY(context_.world.files.write_at(path, 0, segment_of(reference_, stored)));
    pieces.push_back({range, stored.begin, path});
  }
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.range < b.range; });
  return pieces;
}

Status ManagerChecks::preview() {
  io::Path directory;
  TRY_ASSIGN(auto manager, session(directory));
  context_.doing("previewing", 0);
  std::vector<Range> ranges = random_cuts(reference_.count(), 3, context_.random);
  for (const Range range : ranges)
    TRY(manager->validate(reference_.stage, range, segment_of(reference_, range)));
  if (ranges.size() > 1)
    ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(context_.random.below(ranges.size())));
  TRY_ASSIGN(const auto pieces, write_pieces(ranges, false));
  const auto shown = manager->preview(reference_.stage, pieces, {});
  if (shown.ok())
    context_.findings.passed("preview", "the manager makes a preview of the accepted items");
  else if (shown.error().kind != ErrorKind::unavailable)
    context_.findings.passed("preview", "there is none: " + shown.error().message);
  else
    context_.findings.failed(
        "preview", shown.error().message,
        "some items are missing while a problem runs: leave gaps, or answer `error TEXT`");
  return {};
}

Status ManagerChecks::combined() {
  TRY_ASSIGN(const std::string wrong, combine({true, true, true, true, true}));
  if (wrong.empty()) {
    context_.findings.passed("combination",
                             "7 pieces, shuffled, some twice, with a restart, give the same result");
    return {};
  }
  // Which of it was it?
  const struct {
    Division division;
    const char* when;
    const char* advice;
  } culprits[] = {
      {{},
       "when the same pieces are combined again",
       "a result must not have the time, addresses, or other data that changes from run to run"},
      {{true, false, false, false, false},
       "when the items come in 7 pieces instead of one",
       "add up item by item, in their order, not piece by piece"},
      {{true, false, false, false, true},
       "when the pieces' files overlap",
       "use only items BEGIN to END of a piece; its file begins with item FIRST"},
      {{true, true, false, false, false},
       "when the pieces are validated in another order",
       "validate must keep no state of earlier pieces; work from the list of combine"},
      {{true, false, true, false, false},
       "when a piece is validated twice",
       "results arrive more than once: count in combine, from the list"},
      {{true, false, false, true, false},
       "when the manager is started again in between",
       "keep lasting state in a file of the working directory"},
  };
  for (const auto& culprit : culprits) {
    TRY_ASSIGN(const std::string alone, combine(culprit.division));
    if (alone.empty()) continue;
    context_.findings.failed("combination", alone + " " + culprit.when, culprit.advice);
    return {};
  }
  context_.findings.failed("combination",
                           wrong + " when pieces are shuffled, come twice, and the manager is restarted",
                           "the result may depend on the items only; try these one by one");
  return {};
}

Result<std::string> ManagerChecks::combine(const Division& division) {
  io::Path directory;
  TRY_ASSIGN(auto manager, session(directory));
  std::vector<Range> pieces = random_cuts(reference_.count(), division.parts ? parts : 1, context_.random);
  std::vector<Range> order = pieces;
  if (division.shuffled) shuffle(order, context_.random);
  if (division.twice) order.insert(order.end(), {order.front(), order[order.size() / 2]});
  for (std::size_t i = 0; i < order.size(); ++i) {
    context_.doing("combining in parts", static_cast<double>(i) / static_cast<double>(order.size()));
    const auto valid = manager->validate(reference_.stage, order[i], segment_of(reference_, order[i]));
    const bool good = valid.ok() && valid->verdict != contract::Verdict::invalid;
    if (!good)
      return fmt::format("the manager refuses items {} to {} ({})", order[i].begin, order[i].end - 1,
                         valid.ok() ? valid->reason : valid.error().message);
    if (division.restarted && i == order.size() / 2) {
      TRY_ASSIGN(manager, context_.manager(context_.work / "problem", directory));
    }
  }
  TRY_ASSIGN(const auto list, write_pieces(pieces, division.overlapping));
  const auto files = manager->combine(reference_.stage, list, {}, {});
  if (!files.ok()) return files.error().message + ",";
  if (files->size() != reference_.files.size())
    return fmt::format("there are {} results instead of {}", files->size(), reference_.files.size());
  for (const contract::CombinedFile& expected : reference_.files) {
    const auto found = std::find_if(files->begin(), files->end(),
                                    [&](const auto& file) { return file.name == expected.name; });
    if (found == files->end()) return "result " + expected.name + " is missing";
    TRY_ASSIGN(const bool same, same_content(found->path, expected.path));
    if (!same) return "result " + expected.name + " differs";
  }
  return std::string();
}

}  // namespace gleaner::local
