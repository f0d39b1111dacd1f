// A bounding volume hierarchy over a scene's spheres and triangles, built top down by the surface area
// heuristic (Wald 2007, binned). Finds exactly what a loop over all primitives finds: it only leaves out
// primitives whose box the ray does not meet. Building is deterministic; walking is const and thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/raytrace/geometry.h"

namespace gleaner::raytrace {

class Tree {
 public:
  explicit Tree(const Scene& scene);

  // Calls `visit(primitive)` for the primitives that the ray may meet before `limit`, near ones first on the
  // whole; visit may lower `limit` meanwhile and stops the walk by returning true. Returns boxes tested.
  template <typename Visit>
  int walk(const Ray& ray, double& limit, Visit&& visit) const {
    if (nodes_.empty() || nodes_[0].box.enter(ray, limit) > limit) return 1;
    struct Waiting {
      std::uint32_t node;
      double enter;
    };
    Waiting stack[depth_limit + 1];
    int waiting = 0;
    int boxes = 1;
    std::uint32_t current = 0;
    for (;;) {
      const Node& node = nodes_[current];
      if (node.count > 0) {
        for (std::uint32_t i = 0; i < node.count; ++i) {
          if (visit(order_[node.first + i])) return boxes;
        }
      } else {
        const double left = nodes_[node.first].box.enter(ray, limit);
        const double right = nodes_[node.first + 1].box.enter(ray, limit);
        boxes += 2;
        const bool left_first = left <= right;
        const double near = left_first ? left : right;
        const double far = left_first ? right : left;
        if (near < infinite) {
          if (far < infinite) stack[waiting++] = {node.first + (left_first ? 1 : 0), far};
          current = node.first + (left_first ? 0 : 1);
          continue;
        }
      }
      do {
        if (waiting == 0) return boxes;
        --waiting;
      } while (stack[waiting].enter > limit * (1 + 1e-14));
      current = stack[waiting].node;
    }
  }

  [[nodiscard]] std::size_t nodes() const { return nodes_.size(); }
  [[nodiscard]] Box bounds() const { return nodes_.empty() ? Box{} : nodes_[0].box; }

 private:
  static constexpr int depth_limit = 60;  // cannot be reached: deep down, nodes are halved by count
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  struct Node {
    Box box;
    std::uint32_t first = 0;  // inner: the left child, the right one follows; leaf: in order_
    std::uint32_t count = 0;  // 0: inner
  };
  struct Building;
  void split(Building& building, std::uint32_t node, std::uint32_t begin, std::uint32_t end, int depth);

  std::vector<Node> nodes_;
  std::vector<std::uint32_t> order_;  // primitives, leaf by leaf
};

}  // namespace gleaner::raytrace
