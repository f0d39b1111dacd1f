#include "apps/dsearch/align.h"

#include <algorithm>
#include <cmath>

#include "apps/kit/packing.h"
#include "shared/base/check.h"

namespace gleaner::dsearch {
namespace {

constexpr std::int32_t never = -(1 << 30);
constexpr std::int64_t cells_between_looks = 1 << 20;
constexpr std::size_t steps_max = 1 << 26;

// How the best way into a cell comes: the last pair or gap, and whether the gaps that could be there go on.
constexpr unsigned pair = 0, record_gap = 1, query_gap = 2, source = 3, longer_e = 4, longer_f = 8;

// A column of the dynamic programming table, row 0 to query's length. e: best that ends with a residue of the
// record alone.
struct Column {
  std::vector<std::int32_t> h, e;
};

// Gotoh 1982. Sequences may be walked backwards.
class Table {
 public:
  enum class Direction { forwards, backwards };
  Table(const Scheme& scheme, std::string_view query, std::string_view record, Direction direction,
        bool free_ends)
      : scheme_(scheme), query_(query), record_(record), direction_(direction), free_ends_(free_ends) {}

  [[nodiscard]] Column first() const {
    Column column;
    column.e.assign(query_.size() + 1, never);
    for (std::size_t i = 0; i <= query_.size(); ++i)
      column.h.push_back(free_ends_ ? 0 : -scheme_.gap(as_length(i)));
    return column;
  }

  // From column j - 1 to column j. `ways`: nowhere, or a byte a row from 1.
  void step(Column& column, std::size_t j, std::uint8_t* ways) const {
    const std::int8_t* row = scheme_.row(at(record_, j - 1));
    std::int32_t* h = column.h.data();
    std::int32_t* e = column.e.data();
    std::int32_t diagonal = h[0];
    h[0] = free_ends_ ? 0 : -scheme_.gap(as_length(j));
    std::int32_t f = never;
    for (std::size_t i = 1; i <= query_.size(); ++i) {
      const std::int32_t e_opened = h[i] - scheme_.open();
      const std::int32_t e_longer = e[i] - scheme_.extend();
      const std::int32_t f_opened = h[i - 1] - scheme_.open();
      const std::int32_t f_longer = f - scheme_.extend();
      e[i] = std::max(e_opened, e_longer);
      f = std::max(f_opened, f_longer);
      const std::int32_t paired = diagonal + row[static_cast<unsigned char>(at(query_, i - 1))];
      const std::int32_t best = std::max(paired, std::max(e[i], f));
      diagonal = h[i];
      h[i] = best;
      if (ways) {
        const unsigned way = best == paired ? pair : best == e[i] ? record_gap : query_gap;
        ways[i - 1] = static_cast<std::uint8_t>(way | (e_longer > e_opened ? longer_e : 0) |
                                                (f_longer > f_opened ? longer_f : 0));
      }
    }
  }

 private:
  [[nodiscard]] char at(std::string_view text, std::size_t i) const {
    return direction_ == Direction::forwards ? text[i] : text[text.size() - 1 - i];
  }
  static std::int64_t as_length(std::size_t i) { return static_cast<std::int64_t>(i); }

  const Scheme& scheme_;
  std::string_view query_, record_;
  Direction direction_;
  bool free_ends_;
};

class Steps {
 public:
  void add(Step::Kind kind) {
    if (backwards_.empty() || backwards_.back().kind != kind) backwards_.push_back({kind, 0});
    ++backwards_.back().count;
  }
  [[nodiscard]] std::vector<Step> forwards() && {
    std::reverse(backwards_.begin(), backwards_.end());
    return std::move(backwards_);
  }

 private:
  std::vector<Step> backwards_;
};

// Counts cells, and asks now and then.
class Looks {
 public:
  Looks(const GoingOn& going_on, double begin, double end) : going_on_(going_on), begin_(begin), end_(end) {}
  bool go_on(std::size_t cells, double part) {
    cells_ += static_cast<std::int64_t>(cells) + 1;
    if (cells_ < cells_between_looks) return true;
    cells_ = 0;
    return going_on_(begin_ + part * (end_ - begin_));
  }

 private:
  const GoingOn& going_on_;
  double begin_, end_;
  std::int64_t cells_ = 0;
};

Error given_up() {
  return {ErrorKind::unavailable, "given up"};
}

Error wrong_score() {
  return {ErrorKind::invalid, "no alignment of these sequences has the score of the hit"};
}

double part_of(std::size_t j, std::size_t of) {
  return static_cast<double>(j) / static_cast<double>(of + 1);
}

// The whole of both sequences; steps only.
Result<std::vector<Step>> align_globally(const Scheme& scheme, std::string_view query,
                                         std::string_view record, std::int32_t score, Looks looks) {
  const Table table(scheme, query, record, Table::Direction::forwards, false);
  const std::size_t m = query.size();
  const std::size_t n = record.size();
  // A column kept costs 8 bytes a row, one between them 1.
  const auto interval = static_cast<std::size_t>(std::ceil(std::sqrt(8.0 * static_cast<double>(n + 1))));
  std::vector<Column> kept;
  Column column = table.first();
  for (std::size_t j = 0;; ++j) {
    if (j % interval == 0) kept.push_back(column);
    if (j == n) break;
    table.step(column, j + 1, nullptr);
    if (!looks.go_on(m, part_of(j, 2 * n))) return given_up();
  }
  if (column.h[m] != score) return wrong_score();
  Steps steps;
  std::vector<std::uint8_t> ways(m * interval);
  std::size_t i = m;
  std::size_t j = n;
  unsigned state = pair;  // record_gap, query_gap: within that gap
  while (i > 0 && j > 0) {
    const std::size_t first = (j - 1) / interval * interval;  // the column before the interval's
    Column& again = kept[first / interval];
    for (std::size_t k = first + 1; k <= j; ++k) {
      table.step(again, k, ways.data() + (k - first - 1) * m);
      if (!looks.go_on(m, part_of(2 * n - j, 2 * n))) return given_up();
    }
    while (i > 0 && j > first) {
      const unsigned way = ways[(j - first - 1) * m + i - 1];
      if (state == pair) state = way & source;
      if (state == pair) {
        steps.add(query[--i] == record[--j] ? Step::Kind::same : Step::Kind::different);
      } else if (state == record_gap) {
        steps.add(Step::Kind::deletion);
        --j;
        if ((way & longer_e) == 0) state = pair;
      } else {
        steps.add(Step::Kind::insertion);
        --i;
        if ((way & longer_f) == 0) state = pair;
      }
    }
    kept.resize(first / interval + 1);
  }
  for (; j > 0; --j) steps.add(Step::Kind::deletion);
  for (; i > 0; --i) steps.add(Step::Kind::insertion);
  return std::move(steps).forwards();
}

// How much of both sequences, from their ends, an alignment of that score takes.
struct Reach {
  std::size_t query = 0, record = 0;
};
Result<Reach> reach_back(Mode mode, const Scheme& scheme, std::string_view query, std::string_view record,
                         std::int32_t score, Looks looks) {
  const Table table(scheme, query, record, Table::Direction::backwards, false);
  Column column = table.first();
  const std::size_t m = query.size();
  for (std::size_t j = 0;; ++j) {
    if (mode == Mode::local || j == record.size()) {
      const auto found = std::find(column.h.begin(), column.h.end(), score);
      if (found != column.h.end()) return Reach{static_cast<std::size_t>(found - column.h.begin()), j};
    } else if (column.h[m] == score) {
      return Reach{m, j};
    }
    if (j == record.size()) return wrong_score();
    table.step(column, j + 1, nullptr);
    if (!looks.go_on(m, part_of(j, record.size()))) return given_up();
  }
}

Result<Ends> semi_global_ends(const Scheme& scheme, std::string_view query, std::string_view record,
                              Looks looks) {
  const Table table(scheme, query, record, Table::Direction::forwards, true);
  Column column = table.first();
  Ends best{never, 0, 0};
  const std::size_t m = query.size();
  for (std::size_t j = 1; j <= record.size(); ++j) {
    table.step(column, j, nullptr);
    for (std::size_t i = j == record.size() ? 1 : m; i <= m; ++i) {
      if (column.h[i] > best.score)
        best = {column.h[i], static_cast<std::uint32_t>(i - 1), static_cast<std::uint32_t>(j - 1)};
    }
    if (!looks.go_on(m, part_of(j, record.size()))) return given_up();
  }
  return best;
}

}  // namespace

std::int64_t Alignment::count(Step::Kind kind) const {
  std::int64_t sum = 0;
  for (const Step& step : steps) sum += step.kind == kind ? step.count : 0;
  return sum;
}

std::int64_t Alignment::columns() const {
  std::int64_t sum = 0;
  for (const Step& step : steps) sum += step.count;
  return sum;
}

std::string Alignment::cigar() const {
  std::string text;
  for (const Step& step : steps)
    text += std::to_string(step.count) + "=XID"[static_cast<std::size_t>(step.kind)];
  return text;
}

Result<Alignment> align(Mode mode, const Scheme& scheme, std::string_view query, std::string_view record,
                        const Ends& ends, const GoingOn& going_on) {
  CHECK_TRUE(!query.empty() && !record.empty());
  Ends at = ends;
  Reach reach{query.size(), record.size()};
  double done = 0;
  if (mode == Mode::local && (at.query >= query.size() || at.record >= record.size())) return wrong_score();
  if (mode == Mode::global) {
    at.query = static_cast<std::uint32_t>(query.size() - 1);
    at.record = static_cast<std::uint32_t>(record.size() - 1);
  } else {
    if (mode == Mode::semi_global) {
      TRY_ASSIGN(at, semi_global_ends(scheme, query, record, Looks(going_on, 0, 0.3)));
      if (at.score != ends.score) return wrong_score();
    }
    TRY_ASSIGN(reach, reach_back(mode, scheme, query.substr(0, at.query + 1), record.substr(0, at.record + 1),
                                 at.score, Looks(going_on, 0.3, 0.5)));
    done = 0.5;
  }
  Alignment alignment;
  alignment.score = at.score;
  alignment.query_end = at.query + 1;
  alignment.record_end = at.record + 1;
  alignment.query_begin = alignment.query_end - static_cast<std::uint32_t>(reach.query);
  alignment.record_begin = alignment.record_end - static_cast<std::uint32_t>(reach.record);
  TRY_ASSIGN(alignment.steps, align_globally(scheme, query.substr(alignment.query_begin, reach.query),
                                             record.substr(alignment.record_begin, reach.record), at.score,
                                             Looks(going_on, done, 1)));
  return alignment;
}

Result<std::int32_t> rescore(Mode mode, const Scheme& scheme, std::string_view query, std::string_view record,
                             const Alignment& alignment) {
  const Error wrong{ErrorKind::invalid, "the steps are no alignment of these sequences"};
  std::uint64_t i = alignment.query_begin;
  std::uint64_t j = alignment.record_begin;
  const bool from_a_border = i == 0 || j == 0;
  const bool to_a_border = alignment.query_end == query.size() || alignment.record_end == record.size();
  if (mode == Mode::global &&
      (i != 0 || j != 0 || alignment.query_end != query.size() || alignment.record_end != record.size()))
    return wrong;
  if (mode == Mode::semi_global && !(from_a_border && to_a_border)) return wrong;
  std::int64_t score = 0;
  const Step* before = nullptr;
  for (const Step& step : alignment.steps) {
    if (step.count == 0 || (before && before->kind == step.kind)) return wrong;
    const bool in_query = step.kind != Step::Kind::deletion;
    const bool in_record = step.kind != Step::Kind::insertion;
    if ((in_query && i + step.count > query.size()) || (in_record && j + step.count > record.size()))
      return wrong;
    if (in_query && in_record) {
      for (std::uint32_t k = 0; k < step.count; ++k) {
        if ((query[i + k] == record[j + k]) != (step.kind == Step::Kind::same)) return wrong;
        score += scheme.score(query[i + k], record[j + k]);
      }
    } else {
      score -= scheme.gap(step.count);
    }
    i += in_query ? step.count : 0;
    j += in_record ? step.count : 0;
    before = &step;
  }
  if (i != alignment.query_end || j != alignment.record_end || score > INT32_MAX || score < INT32_MIN)
    return wrong;
  return static_cast<std::int32_t>(score);
}

Bytes encode(std::int64_t item, const Alignment& alignment) {
  Bytes bytes;
  kit::pack(bytes, item);
  kit::pack(bytes, alignment.score);
  for (const std::uint32_t place :
       {alignment.query_begin, alignment.query_end, alignment.record_begin, alignment.record_end})
    kit::pack(bytes, place);
  kit::pack(bytes, static_cast<std::uint32_t>(alignment.steps.size()));
  for (const Step& step : alignment.steps)
    kit::pack(bytes, step.count << 4 | static_cast<std::uint32_t>(step.kind));
  return bytes;
}

Result<Alignment> decode_alignment(std::int64_t item, std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  const bool own = unpacker.get<std::int64_t>() == item;
  Alignment alignment;
  alignment.score = unpacker.get<std::int32_t>();
  for (std::uint32_t* place :
       {&alignment.query_begin, &alignment.query_end, &alignment.record_begin, &alignment.record_end})
    *place = unpacker.get<std::uint32_t>();
  const std::size_t count = unpacker.get<std::uint32_t>();
  const Error wrong{ErrorKind::invalid, "it is not the alignment of that hit"};
  if (!own || count > steps_max || unpacker.left() != 4 * count) return wrong;
  for (std::size_t i = 0; i < count; ++i) {
    const auto packed = unpacker.get<std::uint32_t>();
    if ((packed & 15) > 3) return wrong;
    alignment.steps.push_back({static_cast<Step::Kind>(packed & 15), packed >> 4});
  }
  if (!unpacker.complete()) return wrong;
  return alignment;
}

}  // namespace gleaner::dsearch
