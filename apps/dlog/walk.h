// An item: some walks, each to its distinguished point. One limb has a path of its own, which takes several
// walks side by side; both give the same bytes.
//
// The item's bytes: steps made in all (8), points (4); then for each point the number of its walk (4), the
// element in Montgomery form, and exponents a and b with element = g^a y^b, all little-endian.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "apps/dlog/group.h"
#include "apps/kit/kernel.h"

namespace gleaner::dlog {

struct Point {
  std::uint32_t walk = 0;
  Bytes element;  // as in the item
  Bytes a, b;
};
struct Points {
  std::int64_t steps = 0;
  std::vector<Point> points;
};
[[nodiscard]] Bytes encode(const Points& points);
// invalid if the bytes are not of encode()'s form for that group.
[[nodiscard]] Result<Points> decode(const Group& group, std::string_view bytes);

[[nodiscard]] bool is_distinguished(const Group& group, std::string_view element);

// Thread-compatible.
class Walker {
 public:
  enum class Path { fastest, any_size };
  explicit Walker(const Group& group, Path path = Path::fastest);
  ~Walker();
  // An abandoned item's points are worth nothing.
  [[nodiscard]] Points run(std::int64_t item, kit::ItemContext& context);

 private:
  class Any;
  class OneLimb;
  std::unique_ptr<Any> any_;
  std::unique_ptr<OneLimb> one_;
};

// The kernel's factory.
[[nodiscard]] Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem);

}  // namespace gleaner::dlog
