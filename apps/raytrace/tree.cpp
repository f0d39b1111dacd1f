#include "apps/raytrace/tree.h"

#include <array>
#include <numeric>

namespace gleaner::raytrace {
namespace {

constexpr std::uint32_t leaf_primitives = 2;      // never split below
constexpr std::uint32_t leaf_primitives_max = 8;  // always split above
constexpr int bins = 16;
constexpr int by_count_from_depth =
    36;  // then each half has at most half: 24 further levels hold 2^24 primitives

double along(Vector v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

struct Cut {
  double cost = std::numeric_limits<double>::infinity();
  int axis = 0;
  double at = 0;  // centres below go left
};

}  // namespace

struct Tree::Building {
  std::vector<Box> boxes;
  std::vector<Vector> centres;

  [[nodiscard]] Cut best_cut(const std::vector<std::uint32_t>& order, std::uint32_t begin, std::uint32_t end,
                             const Box& centre_box) const {
    Cut best;
    for (int axis = 0; axis < 3; ++axis) {
      const double low = along(centre_box.low, axis);
      const double width = along(centre_box.high, axis) - low;
      if (!(width > 0)) continue;
      std::array<Box, bins> box{};
      std::array<std::uint32_t, bins> count{};
      for (std::uint32_t i = begin; i < end; ++i) {
        const double part = (along(centres[order[i]], axis) - low) / width;
        const auto bin = static_cast<std::size_t>(std::min(static_cast<int>(part * bins), bins - 1));
        box[bin].add(boxes[order[i]]);
        ++count[bin];
      }
      std::array<double, bins> right_cost{};
      Box right;
      std::uint32_t right_count = 0;
      for (std::size_t bin = bins - 1; bin > 0; --bin) {
        right.add(box[bin]);
        right_count += count[bin];
        right_cost[bin] = right_count ? right.half_area() * right_count : 0;
      }
      Box left;
      std::uint32_t left_count = 0;
      for (std::size_t bin = 1; bin < bins; ++bin) {
        left.add(box[bin - 1]);
        left_count += count[bin - 1];
        if (left_count == 0 || left_count == end - begin) continue;
        const double cost = left.half_area() * left_count + right_cost[bin];
        if (cost < best.cost) best = {cost, axis, low + width * static_cast<double>(bin) / bins};
      }
    }
    return best;
  }
};

Tree::Tree(const Scene& scene) {
  const auto count = static_cast<std::uint32_t>(scene.primitives.size());
  if (count == 0) return;
  Building building;
  building.boxes.reserve(count);
  building.centres.reserve(count);
  for (const Primitive& primitive : scene.primitives) {
    const Box box = primitive.kind == Primitive::Kind::sphere ? box_of(scene.spheres[primitive.place])
                                                              : box_of(scene.triangles[primitive.place]);
    building.boxes.push_back(box);
    building.centres.push_back(0.5 * (box.low + box.high));
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0U);
  nodes_.reserve(2 * static_cast<std::size_t>(count));
  nodes_.emplace_back();
  split(building, 0, 0, count, 0);
}

void Tree::split(Building& building, std::uint32_t node, std::uint32_t begin, std::uint32_t end, int depth) {
  Box box;
  Box centre_box;
  for (std::uint32_t i = begin; i < end; ++i) {
    box.add(building.boxes[order_[i]]);
    centre_box.add({building.centres[order_[i]], building.centres[order_[i]]});
  }
  nodes_[node].box = box;
  const std::uint32_t count = end - begin;
  const auto make_leaf = [&] {
    nodes_[node].first = begin;
    nodes_[node].count = count;
  };
  if (count <= leaf_primitives) return make_leaf();

  std::uint32_t middle = begin + count / 2;
  const Cut cut = depth < by_count_from_depth ? building.best_cut(order_, begin, end, centre_box) : Cut{};
  if (cut.cost < std::numeric_limits<double>::infinity()) {
    constexpr double box_cost = 1.0;  // of two box tests, in primitive tests
    if (count <= leaf_primitives_max && cut.cost + box_cost * box.half_area() >= box.half_area() * count) {
      return make_leaf();
    }
    const auto right =
        std::stable_partition(order_.begin() + begin, order_.begin() + end,
                              [&](std::uint32_t i) { return along(building.centres[i], cut.axis) < cut.at; });
    middle = static_cast<std::uint32_t>(right - order_.begin());
  }
  // Equal centres, or a cut that rounding left one-sided: halve by count.
  if (middle == begin || middle == end) middle = begin + count / 2;
  const auto children = static_cast<std::uint32_t>(nodes_.size());
  nodes_[node].first = children;
  nodes_[node].count = 0;
  nodes_.emplace_back();
  nodes_.emplace_back();
  split(building, children, begin, middle, depth + 1);
  split(building, children + 1, middle, end, depth + 1);
}

}  // namespace gleaner::raytrace
