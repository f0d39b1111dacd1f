#include "apps/dlog/walk.h"

#include "apps/dlog/any_size.h"
#include "apps/dlog/one_limb.h"
#include "apps/dlog/step.h"
#include "apps/kit/packing.h"

namespace gleaner::dlog {
namespace {

constexpr std::int64_t group_bytes_max = 64 << 10;

class WalkKernel final : public kit::Kernel {
 public:
  explicit WalkKernel(const Group& group) : walker_(group) {}
  [[nodiscard]] Result<Bytes> compute(int stage, std::int64_t item, kit::ItemContext& context) override {
    if (stage != 0) return Error{ErrorKind::invalid, "dlog has one stage: 0"};
    return encode(walker_.run(item, context));
  }

 private:
  Walker walker_;
};

}  // namespace

Bytes encode(const Points& points) {
  Bytes bytes;
  kit::pack(bytes, points.steps);
  kit::pack(bytes, static_cast<std::uint32_t>(points.points.size()));
  for (const Point& point : points.points) {
    kit::pack(bytes, point.walk);
    bytes += point.element + point.a + point.b;
  }
  return bytes;
}

Result<Points> decode(const Group& group, std::string_view bytes) {
  kit::Unpacker unpacker(bytes);
  Points points;
  points.steps = unpacker.get<std::int64_t>();
  const auto count = unpacker.get<std::uint32_t>();
  const Error wrong{ErrorKind::invalid, "it is not points of this group"};
  if (count > group.walks || points.steps < count) return wrong;
  for (std::uint32_t i = 0; i < count; ++i) {
    Point point;
    point.walk = unpacker.get<std::uint32_t>();
    point.element = unpacker.take(group.element_bytes());
    point.a = unpacker.take(group.exponent_bytes());
    point.b = unpacker.take(group.exponent_bytes());
    if (point.a.empty() || point.b.empty() || point.walk >= group.walks ||
        (i > 0 && point.walk <= points.points.back().walk))
      return wrong;
    points.points.push_back(std::move(point));
  }
  if (!unpacker.complete()) return wrong;
  return points;
}

bool is_distinguished(const Group& group, std::string_view element) {
  kit::Unpacker limb(element.substr(0, 8));
  return distinguished(limb.get<std::uint64_t>(), group.distinguished_bits);
}

class Walker::Any : public AnySize {
  using AnySize::AnySize;
};
class Walker::OneLimb : public OneLimbWalks {
  using OneLimbWalks::OneLimbWalks;
};

Walker::Walker(const Group& group, Path path) {
  if (path == Path::fastest && group.limbs() == 1) {
    one_ = std::make_unique<OneLimb>(group);
  } else {
    any_ = std::make_unique<Any>(group);
  }
}

Walker::~Walker() = default;

Points Walker::run(std::int64_t item, kit::ItemContext& context) {
  return one_ ? one_->run(item, context) : any_->run(item, context);
}

Result<std::unique_ptr<kit::Kernel>> make_kernel(const kit::Problem& problem) {
  TRY_ASSIGN(const Bytes text, problem.read_input("group", group_bytes_max));
  TRY_ASSIGN(const Group group, Group::from_text(text));
  return std::unique_ptr<kit::Kernel>(std::make_unique<WalkKernel>(group));
}

}  // namespace gleaner::dlog
