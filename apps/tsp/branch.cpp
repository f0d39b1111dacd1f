#include "apps/tsp/branch.h"

#include <algorithm>
#include <limits>

#include "apps/kit/packing.h"

namespace gleaner::tsp {
namespace {

constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();

std::uint64_t bit(int city) {
  return std::uint64_t{1} << city;
}

class Search {
 public:
  Search(const Matrix& matrix, const Bounds& bounds)
      : matrix_(matrix), symmetric_(matrix.symmetric()), bounds_(bounds) {
    best_.length = bounds.upper;
    for (int i = 0; i < matrix.cities(); ++i) {
      for (int j = 0; j < matrix.cities(); ++j)
        scaled_[i][j] = bound_scale * matrix.at(i, j) + (symmetric_ ? potential(i) + potential(j) : 0);
    }
  }

  Outcome run(const Prefix& prefix, kit::ItemContext& context) {
    context_ = &context;
    path_ = prefix.path;
    std::uint64_t rest = 0;
    for (const int city : prefix.rest) rest |= bit(city);
    visit(rest, prefix.length);
    if (best_.tour.empty()) best_.length = no_tour;
    best_.visited = visited_;
    return best_;
  }

  // Of the way from `last` through the rest to city 0.
  [[nodiscard]] std::int64_t bound(std::uint64_t rest, int last) const {
    if (rest == 0) return bound_scale * matrix_.at(last, 0);
    return symmetric_ ? tree_bound(rest, last) : legs_bound(rest, last);
  }

 private:
  [[nodiscard]] std::int64_t potential(int city) const {
    return bounds_.potentials[static_cast<std::size_t>(city)];
  }

  // The way is a spanning tree of its cities: its inner ones have two legs each, its ends one. Prim's
  // algorithm; the leg between the ends is no part of it.
  [[nodiscard]] std::int64_t tree_bound(std::uint64_t rest, int last) const {
    int open[cities_max];
    std::int64_t nearest[cities_max];
    int count = 0;
    std::int64_t sum = 0;
    for (std::uint64_t left = rest; left != 0; left &= left - 1) {
      const int city = __builtin_ctzll(left);
      open[count] = city;
      nearest[count++] = scaled_[last][city];
      sum -= 2 * potential(city);
    }
    sum -= potential(last) + potential(0);
    std::int64_t to_home = far;  // from the tree, its root excluded
    bool home_joined = false;
    while (count > 0) {
      int next = 0;
      for (int i = 1; i < count; ++i) {
        if (nearest[i] < nearest[next]) next = i;
      }
      // City 0 may be nearer to the tree than all others; it then joins first and others may hang on it.
      const bool home_first = to_home < nearest[next];
      const int city = home_first ? 0 : open[next];
      sum += home_first ? to_home : nearest[next];
      if (home_first) {
        to_home = far;
        home_joined = true;
      } else {
        open[next] = open[--count];
        nearest[next] = nearest[count];
        if (!home_joined) to_home = std::min(to_home, scaled_[city][0]);
      }
      for (int i = 0; i < count; ++i) nearest[i] = std::min(nearest[i], scaled_[city][open[i]]);
    }
    return home_joined ? sum : sum + to_home;
  }

  [[nodiscard]] std::int64_t legs_bound(std::uint64_t rest, int last) const {
    std::int64_t out = 0;
    std::int64_t in = 0;
    std::int64_t into[cities_max];
    std::fill_n(into, matrix_.cities(), far);
    const std::uint64_t from = rest | bit(last);
    for (std::uint64_t i = from; i != 0; i &= i - 1) {
      const int a = __builtin_ctzll(i);
      std::int64_t cheapest = far;
      const std::uint64_t to = (rest & ~bit(a)) | (a == last ? 0 : bit(0));
      for (std::uint64_t j = to; j != 0; j &= j - 1) {
        const int b = __builtin_ctzll(j);
        cheapest = std::min(cheapest, scaled_[a][b]);
        into[b] = std::min(into[b], scaled_[a][b]);
      }
      out += cheapest;
    }
    for (std::uint64_t j = rest | bit(0); j != 0; j &= j - 1) in += into[__builtin_ctzll(j)];
    return std::max(out, in);
  }

  void visit(std::uint64_t rest, std::int64_t length) {
    ++visited_;
    if (visited_ % 1024 == 0) {
      context_->progress(static_cast<double>(visited_) / static_cast<double>(visited_ + 1'000'000));
      if (context_->abandoned()) given_up_ = true;
    }
    const int last = path_.back();
    if (rest == 0) {
      finish(length + matrix_.at(last, 0));
      return;
    }
    if (symmetric_ && path_.size() > 1 && rest >> path_[1] == 0) return;  // the reversals are visited
    const std::int64_t least = bound_scale * length + bound(rest, last);
    if (least > bound_scale * best_.length) return;
    if (least > bound_scale * (best_.length - 1) && later_than_best()) return;  // at best as long
    int order[cities_max];
    int count = 0;
    for (std::uint64_t left = rest; left != 0; left &= left - 1) order[count++] = __builtin_ctzll(left);
    std::stable_sort(order, order + count, [&](int a, int b) { return scaled_[last][a] < scaled_[last][b]; });
    for (int i = 0; i < count && !given_up_; ++i) {
      path_.push_back(order[i]);
      visit(rest & ~bit(order[i]), length + matrix_.at(last, order[i]));
      path_.pop_back();
    }
  }

  // Every tour with this beginning is lexicographically after the best one.
  [[nodiscard]] bool later_than_best() const {
    return !best_.tour.empty() &&
           std::lexicographical_compare(best_.tour.begin(),
                                        best_.tour.begin() + static_cast<std::ptrdiff_t>(path_.size()),
                                        path_.begin(), path_.end());
  }

  void finish(std::int64_t length) {
    if (symmetric_ && path_.size() > 2 && path_[1] > path_.back()) return;
    if (length > best_.length) return;
    if (length == best_.length && !best_.tour.empty() && best_.tour <= path_) return;
    best_.length = length;
    best_.tour = path_;
  }

  const Matrix& matrix_;
  const bool symmetric_;
  const Bounds& bounds_;
  std::int64_t scaled_[cities_max][cities_max];
  kit::ItemContext* context_ = nullptr;
  std::vector<int> path_;
  Outcome best_;
  std::uint64_t visited_ = 0;
  bool given_up_ = false;
};

}  // namespace

Bytes encode(const Bounds& bounds) {
  Bytes bytes;
  kit::pack(bytes, bounds.upper);
  for (const std::int32_t potential : bounds.potentials) kit::pack(bytes, potential);
  return bytes;
}

Result<Bounds> decode_bounds(std::string_view bytes, int cities) {
  kit::Unpacker unpacker(bytes);
  Bounds bounds;
  bounds.upper = unpacker.get<std::int64_t>();
  for (int i = 0; i < cities; ++i) bounds.potentials.push_back(unpacker.get<std::int32_t>());
  if (!unpacker.complete() || bounds.upper < 0 || bounds.upper > std::int64_t{distance_max} * cities_max)
    return Error{ErrorKind::invalid, "the input 'bounds' is damaged"};
  return bounds;
}

std::int64_t scaled_lower_bound(const Matrix& matrix, const Bounds& bounds, const Prefix& prefix) {
  std::uint64_t rest = 0;
  for (const int city : prefix.rest) rest |= bit(city);
  return bound_scale * prefix.length + Search(matrix, bounds).bound(rest, prefix.path.back());
}

Outcome branch_and_bound(const Matrix& matrix, const Bounds& bounds, const Prefix& prefix,
                         kit::ItemContext& context) {
  return Search(matrix, bounds).run(prefix, context);
}

}  // namespace gleaner::tsp
