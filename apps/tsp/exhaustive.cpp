#include "apps/tsp/exhaustive.h"

#include <algorithm>
#include <limits>

namespace gleaner::tsp {
namespace {

// Fewer than this are visited one by one.
constexpr int lanes_from = 6;

bool may_be_last(const Prefix& prefix, bool half, int city) {
  return !half || prefix.path.size() < 2 || city > prefix.path[1];
}

// The same without lanes, for few cities.
class PlainVisitor {
 public:
  PlainVisitor(const Matrix& matrix, const Prefix& prefix, bool half, Outcome& outcome)
      : matrix_(matrix), half_(half), outcome_(outcome), path_(prefix.path), rest_(prefix.rest) {
    visit(prefix.length);
  }

 private:
  void visit(std::int64_t length) {
    if (rest_.empty()) {
      finish(length + matrix_.at(path_.back(), 0));
      return;
    }
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const int city = rest_[i];
      const std::int64_t longer = length + matrix_.at(path_.back(), city);
      rest_.erase(rest_.begin() + static_cast<std::ptrdiff_t>(i));
      path_.push_back(city);
      visit(longer);
      path_.pop_back();
      rest_.insert(rest_.begin() + static_cast<std::ptrdiff_t>(i), city);
    }
  }
  void finish(std::int64_t length) {
    if (half_ && path_.size() > 2 && path_[1] > path_.back()) return;
    ++outcome_.visited;
    outcome_.sum += static_cast<std::uint64_t>(length);
    if (outcome_.length != no_tour && length >= outcome_.length) return;
    outcome_.length = length;
    outcome_.tour = path_;
  }

  const Matrix& matrix_;
  const bool half_;
  Outcome& outcome_;
  std::vector<int> path_;
  std::vector<int> rest_;
};

// Lengths of the ways from each city through each set of four others back to city 0.
struct Groups {
  std::vector<std::int32_t> lengths;
  std::vector<std::uint16_t> rank;
  int sets = 0;
};

Groups group_lengths(const Matrix& matrix, const std::vector<int>& rest) {
  const auto count = static_cast<int>(rest.size());
  Groups groups;
  groups.rank.resize(std::size_t{1} << count);
  std::vector<std::uint32_t> masks;
  for (std::uint32_t mask = 0; mask < groups.rank.size(); ++mask) {
    if (__builtin_popcount(mask) != 4) continue;
    groups.rank[mask] = static_cast<std::uint16_t>(masks.size());
    masks.push_back(mask);
  }
  groups.sets = static_cast<int>(masks.size());
  groups.lengths.resize(static_cast<std::size_t>(count) * masks.size() * group_tours);
  std::int32_t* to = groups.lengths.data();
  for (const int from : rest) {
    for (const std::uint32_t mask : masks) {
      int members[4];
      int member = 0;
      for (int i = 0; i < count; ++i) {
        if ((mask >> i & 1) != 0) members[member++] = rest[static_cast<std::size_t>(i)];
      }
      for (const auto& place : group_order.place) {
        const int a = members[place[0]], b = members[place[1]], c = members[place[2]], d = members[place[3]];
        *to++ = matrix.at(from, a) + matrix.at(a, b) + matrix.at(b, c) + matrix.at(c, d) + matrix.at(d, 0);
      }
    }
  }
  return groups;
}

struct Progress {
  kit::ItemContext& context;
  double total;
};

bool still_wanted(void* pointer, std::uint64_t visited) {
  Progress& progress = *static_cast<Progress*>(pointer);
  progress.context.progress(static_cast<double>(visited) / progress.total);
  return !progress.context.abandoned();
}

using Visit = void (*)(const Work&, Best&);

Visit variant(kit::CpuLevel level) {
#if defined(__x86_64__)
  if (level >= kit::CpuLevel::avx2) return avx2::visit;
#endif
  CHECK_TRUE(level == kit::CpuLevel::baseline);
  return baseline::visit;
}

}  // namespace

Outcome visit_all(const Matrix& matrix, const Prefix& prefix, bool half, kit::CpuLevel level,
                  kit::ItemContext& context) {
  const auto count = static_cast<int>(prefix.rest.size());
  CHECK_TRUE(count <= rest_max);
  Outcome outcome;
  if (count < lanes_from || prefix.path.size() < 2) {
    const PlainVisitor visited(matrix, prefix, half, outcome);
    return outcome;
  }
  const Groups groups = group_lengths(matrix, prefix.rest);
  Work work{};
  work.cities = count;
  for (int i = 0; i < count; ++i) {
    const int city = prefix.rest[static_cast<std::size_t>(i)];
    work.from_prefix[i] = matrix.at(prefix.path.back(), city);
    if (may_be_last(prefix, half, city)) work.last_allowed |= 1U << i;
    for (int j = 0; j < count; ++j)
      work.distance[i][j] = matrix.at(city, prefix.rest[static_cast<std::size_t>(j)]);
  }
  work.groups = groups.lengths.data();
  work.rank = groups.rank.data();
  work.sets = groups.sets;
  work.prefix_length = static_cast<std::int32_t>(prefix.length);
  Progress progress{context, static_cast<double>(factorial(count))};
  work.wanted = still_wanted;
  work.context = &progress;
  Best best{0, 0, std::numeric_limits<std::int32_t>::max(), {}};
  variant(level)(work, best);
  outcome.visited = best.visited;
  outcome.sum = best.sum;
  if (best.visited == 0 || context.abandoned()) return outcome;
  outcome.length = best.length;
  outcome.tour = prefix.path;
  for (int i = 0; i < count; ++i) outcome.tour.push_back(prefix.rest[best.tour[i]]);
  return outcome;
}

Outcome expected_totals(const Matrix& matrix, const Prefix& prefix, bool half) {
  const auto length = static_cast<std::uint64_t>(prefix.length);
  const auto distance = [&](int from, int to) { return static_cast<std::uint64_t>(matrix.at(from, to)); };
  const int from = prefix.path.back();
  Outcome totals;
  if (prefix.rest.empty()) {
    totals.visited = !half || prefix.path.size() < 3 || prefix.path[1] < from ? 1 : 0;
    totals.sum = totals.visited * (length + (prefix.path.size() > 1 ? distance(from, 0) : 0));
    return totals;
  }
  // For each last city, all orders of the others: each of them comes first, and next to the last, equally
  // often, and so does each pair in a row.
  for (const int last : prefix.rest) {
    if (!may_be_last(prefix, half, last)) continue;
    const auto others = static_cast<int>(prefix.rest.size()) - 1;
    const std::uint64_t orders = factorial(others);
    totals.visited += orders;
    totals.sum += orders * (length + distance(last, 0));
    if (others == 0) {
      totals.sum += distance(from, last);
      continue;
    }
    std::uint64_t legs = 0;
    for (const int i : prefix.rest) {
      if (i == last) continue;
      legs += distance(from, i) + distance(i, last);
      for (const int j : prefix.rest) {
        if (j != last && j != i) legs += distance(i, j);
      }
    }
    totals.sum += factorial(others - 1) * legs;
  }
  return totals;
}

Outcome whole_totals(const Matrix& matrix, bool half) {
  const int n = matrix.cities();
  std::uint64_t legs = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) legs += i == j ? 0 : static_cast<std::uint64_t>(matrix.at(i, j));
  }
  Outcome totals;
  totals.visited = factorial(n - 1);
  totals.sum = n < 2 ? 0 : factorial(n - 2) * legs;
  if (!half || n < 3) return totals;
  totals.visited /= 2;
  totals.sum = n == 3 ? legs / 2 : factorial(n - 2) / 2 * legs;
  return totals;
}

}  // namespace gleaner::tsp
